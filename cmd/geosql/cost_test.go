package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

const costSetup = `CREATE TABLE trip(person TEXT, lat REAL, lon REAL);
	INSERT INTO trip VALUES ('ana', 48.85, 2.33), ('ana', 48.86, 2.34), ('bo', 48.87, 2.35);
	CREATE TABLE place(lat REAL);
	SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1);
	SELECT budget_limit('*', 'm', 0.02)`

const releaseSQL = "SELECT g.lat FROM trip t, geoind_laplace(t.person, t.lat, t.lon, 0.008) g"

func TestCost(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup)
	before := clitest.Query(t, "-csv", db, "SELECT * FROM ledger_balance; SELECT * FROM ledger_charges; SELECT * FROM trip; SELECT * FROM sqlite_schema")
	for _, c := range []struct{ mode, sql, want string }{
		{"-csv", releaseSQL, "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n" +
			"geoind_laplace,ana,m,2,0.016,0.016,0.02,\ngeoind_laplace,bo,m,1,0.008,0.008,0.02,\n"},
		{"-csv", releaseSQL + " WHERE g.lat > 48", "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n" +
			"geoind_laplace,ana,m,2,0.016,0.02,0.02,\ngeoind_laplace,bo,m,1,0.008,0.02,0.02,\n*,*,*,,,,,\n"},
		{"-json", "CREATE TABLE private AS " + releaseSQL + " WHERE t.person = 'bo'", `[{"function":"geoind_laplace","account":"bo","unit":"m",` +
			`"evaluations":1,"epsilon":0.008,"at_most":0.008,"remaining":0.02,"rule":null}]` + "\n"},
		{"-table", "INSERT INTO place " + releaseSQL, `function        account  unit  evaluations  epsilon  at_most  remaining  rule
--------------  -------  ----  -----------  -------  -------  ---------  ----
geoind_laplace  ana      m               2    0.016    0.016       0.02
geoind_laplace  bo       m               1    0.008    0.008       0.02
`},
		{"-csv", "SELECT 'it''s free'; -- quoted", "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n"},
	} {
		if got := clitest.Query(t, c.mode, "cost", db, c.sql); got != c.want {
			t.Errorf("%s printed\n%s\nwant\n%s", c.sql, got, c.want)
		}
	}
	if after := clitest.Query(t, "-csv", db, "SELECT * FROM ledger_balance; SELECT * FROM ledger_charges; SELECT * FROM trip; SELECT * FROM sqlite_schema"); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	clitest.Query(t, db, releaseSQL)
	if got := clitest.Query(t, "-csv", db, "SELECT account, spent FROM ledger_balance WHERE account <> '*' ORDER BY account"); got != "account,spent\nana,0.016\nbo,0.008\n" {
		t.Errorf("charged %s", got)
	}
}

func TestCostErrors(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup)
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{"cost"}, 2, "cost: too few arguments"},
		{[]string{"cost", db}, 2, "cost: too few arguments"},
		{[]string{"cost", db, "SELECT", "1"}, 2, "cost: too many arguments"},
		{[]string{"cost", "", "SELECT 1"}, 2, "empty name"},
		{[]string{"cost", db, ""}, 1, "budget_cost: sql holds no statement"},
		{[]string{"cost", db, "SELECT 1; SELECT 2"}, 1, "budget_cost: sql holds more than one statement"},
		{[]string{"cost", db, "SELECT\nnosuch"}, 1, "budget_cost: no such column: nosuch"},
		{[]string{"cost", db, "PRAGMA user_version"}, 1, "budget_cost: sql must be one of SELECT"},
		{[]string{"cost", db, "SELECT geoind_laplace('ana', 91, 0, 1)"}, 1, "budget_cost: geoind_laplace: lat must lie between"},
	} {
		r := clitest.Run(t, "", c.args...)
		clitest.WantError(t, r, c.status, c.text)
		if r.Out != "" {
			t.Errorf("%q printed %q", c.args, r.Out)
		}
	}
}

func TestCostCreatesNothing(t *testing.T) {
	db := clitest.TempFile(t, "none.db")
	clitest.WantError(t, clitest.Run(t, "", "cost", db, "SELECT 1"), 1, "no such database")
	if left, _ := filepath.Glob(db + "*"); left != nil {
		t.Errorf("cost created %v", left)
	}
	clitest.Query(t, db, "CREATE TABLE t(a)")
	clitest.Query(t, "cost", db, "SELECT 1")
	if left, _ := filepath.Glob(db + "-*"); left != nil {
		t.Errorf("cost created %v", left)
	}
}

func TestCostOfAnotherLedger(t *testing.T) {
	db, ledger := clitest.TempFile(t, "x.db"), clitest.TempFile(t, "my ledger")
	clitest.Query(t, db, "--ledger", ledger, costSetup)
	if got := clitest.Query(t, "-csv", "--ledger="+ledger, "cost", db, releaseSQL); !strings.Contains(got, "\ngeoind_laplace,ana,m,2,0.016,0.016,0.02,\n") {
		t.Errorf("printed %s", got)
	}
	if _, err := os.Stat(db + "-ledger"); err == nil {
		t.Error("cost made a ledger")
	}
}
