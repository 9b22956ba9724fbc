package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/sqlite"
)

// hostile returns a copy of a sealed database that somebody has edited.
func (p sealedPlace) hostile(sql string) string {
	p.Helper()
	out := copyFiles(p.T, p.out, "-ledger")
	conn, err := sqlite.Open(out, sqlite.ReadWrite)
	check(p.T, err)
	defer conn.Close()
	check(p.T, conn.Exec(sql))
	return out
}

// A sealed database may come back edited. A view in the place of one of geosql's tables is an error of every command that
// reads them, which names it.
func TestHostileSealedDatabase(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2,48,2\nbo,1,3,48,2\n")
	const kept = "ALTER TABLE geosql_sealed_account RENAME TO kept; CREATE VIEW geosql_sealed_account AS "
	in := clitest.WriteFile(t, "who,room,kwh,lat,lon\ncy,1,1,48,2\n")
	for name, view := range map[string]string{
		"spins":      "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT kept.* FROM r, kept WHERE i < 0",
		"recurses":   "SELECT * FROM kept WHERE (SELECT dx_sum(kwh, 0.1) FROM meter) IS NOT NULL",
		"charges bo": "SELECT * FROM kept WHERE dx_value('bo', 1, 1, 'load') IS NOT NULL",
	} {
		out := p.hostile(kept + view)
		commands := [][]string{
			{"--key", p.key, out, "SELECT dx_sum(kwh, 0.1) FROM meter WHERE who = (SELECT who FROM meter LIMIT 1)"},
			{"append", out, "meter", in, "--key", p.pub},
			{"erase", out, "--account", "ana", "--key", p.key},
		}
		if runtime.GOOS != "windows" {
			commands = append(commands, []string{"serve", out, "--key", p.key, "--listen", "127.0.0.1:0"})
		}
		for _, args := range commands {
			r := clitest.Run(t, "", args...)
			if r.Status != 1 || !strings.Contains(r.Err, "geosql_sealed_account is a view") || strings.Count(r.Err, "\n") != 1 {
				t.Errorf("%s: geosql %s: %+v", name, args[0], r)
			}
		}
		if spent := clitest.Query(t, "-csv", out, "SELECT budget_spent('bo', 'kWh') AS spent"); spent != "spent\n0\n" {
			t.Errorf("%s: bo has spent %s", name, spent)
		}
	}
	out := p.hostile("CREATE TRIGGER hook AFTER INSERT ON geosql_sealed_session BEGIN DELETE FROM meter; END")
	if r := clitest.Run(t, "", "append", out, "meter", in, "--key", p.pub); r.Status != 1 || !strings.Contains(r.Err, "has the trigger hook") {
		t.Errorf("%+v", r)
	}
	out = p.hostile("ALTER TABLE geosql_ledger RENAME TO was; CREATE VIEW geosql_ledger AS SELECT * FROM was WHERE dx_value('bo', 1, 1, 'load')")
	for _, args := range [][]string{{"backup", out, clitest.TempFile(t, "copy.db")}, {out, "SELECT budget_limit('*', 'kWh', 9)"}} {
		if r := clitest.Run(t, "", args...); r.Status != 1 || !strings.Contains(r.Err, "geosql_ledger is a view") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

// The owner's own views may call the functions.
func TestHonestSealedDatabase(t *testing.T) {
	p := newSealed(t)
	p.append("ana,1,2,48,2\nbo,1,3,48,2\n")
	out := p.hostile("CREATE VIEW rooms AS SELECT room, dx_sum(kwh, 100) AS kwh FROM meter GROUP BY room; CREATE VIEW geosql_people AS SELECT pseudonym FROM geosql_sealed_account")
	clitest.Query(t, out, "SELECT budget_limit('*', 'kWh', 1000)")
	if got := clitest.Query(t, "-csv", "--key", p.key, out, "SELECT room, kwh, (SELECT count(*) FROM geosql_people) FROM rooms"); !strings.HasSuffix(got, "\n1,5,2\n") {
		t.Errorf("%q", got)
	}
}
