package worker

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
)

// psqlCommands are psql's commands that look into the catalogue, each with a text that must be in its answer.
var psqlCommands = []struct{ command, want string }{
	{`\d`, "reading"}, {`\d reading`, "kwh|sealed"}, {`\d+ reading`, "sealed"}, {`\d recent`, "home|text"}, {`\da`, ""}, {`\dA`, ""}, {`\dAc`, ""}, {`\dAf`, ""},
	{`\dAo`, ""}, {`\dAp`, ""}, {`\db`, ""}, {`\dc`, ""}, {`\dC`, ""}, {`\dconfig`, ""}, {`\dd`, ""}, {`\dD`, "sealed"}, {`\ddp`, ""}, {`\dE`, ""},
	{`\des`, ""}, {`\det`, ""}, {`\deu`, ""}, {`\dew`, ""}, {`\df`, ""}, {`\dF`, ""}, {`\dFd`, ""}, {`\dFp`, ""}, {`\dFt`, ""}, {`\dg`, "ann"},
	{`\di`, "reading_pkey"}, {`\dl`, ""}, {`\dL`, ""}, {`\dm`, ""}, {`\dn`, "public"}, {`\do`, ""}, {`\dO`, ""}, {`\dp`, "reading"}, {`\dP`, ""}, {`\drds`, ""},
	{`\dRp`, ""}, {`\dRs`, ""}, {`\ds`, ""}, {`\dt`, "reading"}, {`\dT`, "sealed"}, {`\du`, "ann"}, {`\dv`, "recent"}, {`\dx`, ""}, {`\dX`, ""}, {`\dy`, ""},
	{`\l`, "homes"}, {`\z`, "reading"}, {`\sv recent`, "SELECT home, hour, kwh FROM reading"}, {`\dt+`, "reading"}, {`\dn+`, "public"}, {`\l+`, "homes"}, {`\du+`, "ann"},
	{`\dS`, "pg_class"}, {`SELECT count(*) FROM reading`, "5"}, {`SELECT 'a'::text || E'\tb'`, "a\tb"},
}

// psql runs commands in Debian's psql and returns its output.
func (s *site) psql(commands []string, arguments ...string) (out, said string, err error) {
	s.t.Helper()
	arguments = append([]string{"-X", "-At", "-v", "ON_ERROR_STOP=1", s.dsn()}, arguments...)
	for _, c := range commands {
		arguments = append(arguments, "-c", c)
	}
	cmd := exec.Command(need.Program(s.t, "psql"), arguments...)
	cmd.Env = append(os.Environ(), "PGPASSWORD=secret", "LC_ALL=C")
	var output, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &errors
	err = cmd.Run()
	return output.String(), errors.String(), err
}

// Debian's psql shows answers, notices and errors.
func TestPsql(t *testing.T) {
	s := serve(t, Config{Timeout: 10 * time.Second})
	for _, x := range []struct{ command, out, said string }{
		{"SELECT kwh FROM reading LIMIT 1", "\\x7365616c6564\n", "NOTICE:  kwh is sealed: ask with a private function, such as dx_sum(kwh, 0.1)\n"},
		{"SELECT home, sum(kwh) FROM reading GROUP BY home", "", "ERROR:  sum over the sealed column reading.kwh would be a wrong number\n" +
			"HINT:  Write dx_sum(kwh, epsilon), or SET geosql.epsilon = 0.1 and ask as you did.\n"},
		{"SELECT id, nope FROM reading", "", "ERROR:  no such column: nope\nLINE 1: SELECT id, nope FROM reading\n                   ^\n"},
		{"DROP TABLE reading", "", "ERROR:  cannot execute DROP in a read-only transaction\n"},
	} {
		if out, said, _ := s.psql([]string{x.command}); out != x.out || said != x.said {
			t.Errorf("%s: %q %q", x.command, out, said)
		}
	}
	// psql's FETCH_COUNT declares cursors.
	if out, said, err := s.psql([]string{"SELECT id FROM reading"}, "-v", "FETCH_COUNT=2"); err != nil || out != "1\n2\n3\n4\n5\n" {
		t.Error(out, said, err)
	}
}

// The questions of psql, drivers and tools need less than half of a session's limits, which leaves room for
// their next versions.
func TestLimits(t *testing.T) {
	before := limits
	t.Cleanup(func() { limits = before })
	limits = map[sqlite.Limit]int{}
	for l, most := range before {
		if limits[l] = most / 2; most == 1 {
			limits[l] = 1
		}
	}
	s := serve(t, Config{})
	const mark = "=====\n"
	var commands []string
	for _, c := range psqlCommands {
		commands = append(commands, c.command, `\echo =====`)
	}
	out, said, err := s.psql(commands)
	answers := strings.Split(out, mark)
	if err != nil || strings.Contains(said, "ERROR") || len(answers) != len(psqlCommands)+1 {
		t.Fatalf("%v %s: the last answer was that of %s", err, said, psqlCommands[min(len(answers)-1, len(psqlCommands)-1)].command)
	}
	for i, c := range psqlCommands {
		if !strings.Contains(answers[i], c.want) {
			t.Errorf("%s: %s", c.command, answers[i])
		}
	}
	c := s.connect()
	oid := func(sql string) string {
		rows, failure := c.try(sql)
		if len(rows) != 1 {
			t.Fatal(sql, rows, failure)
		}
		return rows[0]
	}
	replace := strings.NewReplacer("{reading}", oid("SELECT oid FROM pg_class WHERE relname = 'reading'"),
		"{recent}", oid("SELECT oid FROM pg_class WHERE relname = 'recent'"), "{sealed}", "16000", "{version}", oid("SELECT oid FROM pg_proc WHERE proname = 'version'"))
	if pgcatalog.SealedOID != 16000 {
		t.Error("the OID of sealed is another one")
	}
	asked := 0
	for _, file := range []string{"drivers.sql", "tools.sql"} {
		b, err := os.ReadFile(filepath.Join("..", "pgcatalog", "testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(b), "\n--- ")[1:] {
			name, body, _ := strings.Cut(part, "\n")
			sql := ""
			var args [][]byte
			for _, line := range strings.Split(body, "\n") {
				if p, ok := strings.CutPrefix(line, "-- $ "); ok {
					for _, a := range strings.Split(p, ", ") {
						args = append(args, []byte(replace.Replace(a)))
					}
				} else {
					sql += line + "\n"
				}
			}
			asked++
			if r := c.PgConn().ExecParams(t.Context(), replace.Replace(sql), args, nil, nil, nil).Read(); r.Err != nil {
				t.Errorf("%s: %v", name, r.Err)
			}
		}
	}
	if asked < 20 {
		t.Errorf("%d questions", asked)
	}
}
