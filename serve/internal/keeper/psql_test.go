package keeper

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/serve/internal/role"
)

// psql runs a script as ann, and returns all that it prints.
func (s *site) psql(dsn, script string) string {
	s.t.Helper()
	dsn = strings.Replace(dsn, "password=secret", "", 1)
	cmd := exec.Command(need.Program(s.t, "psql"), "-X", "-q", "-A", "-t", dsn)
	cmd.Env = append(os.Environ(), "PGPASSWORD=secret", "LC_ALL=C.UTF-8")
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Errorf("psql: %v", err)
	}
	return string(out)
}

func TestPsql(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) { r.LeaveOut = true })
	got := s.psql(s.serve(), `SELECT count(*) FROM reading;
SELECT count(*) FROM (SELECT dx_sum(kwh, 0.4) FROM reading GROUP BY hour < 12);
SET geosql.epsilon = 0.25;
SELECT 'sum', count(x) FROM (SELECT sum(kwh) AS x FROM reading);
\d geosql.last_cost
SELECT * FROM geosql.last_cost;
SELECT 'again', count(x) FROM (SELECT sum(kwh) AS x FROM reading);
\dt
COPY (SELECT hour, count(*) FROM reading GROUP BY 1 LIMIT 2) TO STDOUT;
BEGIN; DECLARE c CURSOR FOR SELECT hour, dx_sum(kwh, 0.01) > -100000 FROM reading GROUP BY hour; FETCH 2 FROM c; FETCH 1 FROM c; COMMIT;
SELECT nothing;
SELECT dx_sum(kwh, 7) FROM reading;
`)
	t.Log(got)
	for _, part := range []string{
		"96\n", "NOTICE:  cost up to 0.4/kWh for each of 4 accounts", "sum|1\n", "NOTICE:  cost up to 0.25/kWh for each of 4 accounts; 95 % of answers are within",
		"again|1", "radius_unit|text|", "epsilon|double precision|", "kWh|0.25|4|account|1|0|1", "NOTICE:  given before", "public|reading|table", "0\t4\n1\t4\n", "0|t\n1|t\n", "2|t\n", `near "nothing"`,
		"4 accounts are left out",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("psql does not print %q", part)
		}
	}
	for _, home := range homes {
		if strings.Contains(got, " "+home+" ") {
			t.Errorf("psql prints %s", home)
		}
	}
	// Each FETCH is a statement, so that those of a cursor add up.
	if got := s.spent("cy"); got != amount(t, "0.67") {
		t.Errorf("%v is spent, want 0.67", got)
	}
}
