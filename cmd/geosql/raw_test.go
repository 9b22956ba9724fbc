package main

import (
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

func TestRaw(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT 'a "b"' || char(10) || 'c,d'`:    "a \"b\"\nc,d\n",
		"SELECT 1e21":                            "1000000000000000000000\n",
		"SELECT NULL":                            "\n",
		"SELECT x'00ff'":                         "\x00\xff",
		"SELECT 1 WHERE 0":                       "",
		"CREATE TABLE t(x); SELECT 1; SELECT ''": "1\n\n",
	} {
		if got := clitest.Query(t, "--raw", ":memory:", sql); got != want {
			t.Errorf("%s prints %q", sql, got)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", "--raw", ":memory:", "SELECT 1, 2"), 1, "the answer has 2 columns, and --raw prints one value")
	r := clitest.Run(t, "", "--raw", ":memory:", "SELECT 1 UNION ALL SELECT 2")
	if r.Status != 1 || r.Out != "1\n" || r.Err != "geosql: the answer has more than one row, and --raw prints one value\n" {
		t.Errorf("two rows: %+v", r)
	}
}

// An answer of several columns is refused before anybody pays for it.
func TestRawRefusesFirst(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, "SELECT dx_universe('u', 0, 1, 1, 'kWh'); SELECT budget_limit('*', 'kWh', 1)")
	clitest.WantError(t, clitest.Run(t, "", "--raw", db, "SELECT dx_value('ana', 1, 1, 'u'), 2"), 1, "2 columns")
	if spent := clitest.Query(t, "--raw", db, "SELECT budget_spent('ana', 'kWh')"); spent != "0\n" {
		t.Errorf("spent %s", spent)
	}
}
