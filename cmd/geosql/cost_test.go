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
	t.Parallel()
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup)
	before := clitest.Query(t, "-csv", db, "SELECT * FROM ledger_balance; SELECT * FROM ledger_charges; SELECT * FROM trip; SELECT * FROM sqlite_schema")
	const (
		all     = "geosql: 3 evaluations charge 0.024/m to 2 accounts, at most 0.016/m each\n"
		one     = "geosql: 1 evaluation charges 0.008/m to 1 account, at most 0.008/m each\n"
		payable = "geosql: all accounts can pay that\n"
		perhaps = "geosql: this is not certain: the charges may depend on released values\n"
	)
	for _, c := range []struct{ mode, sql, want, summary string }{
		{"-csv", releaseSQL, "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n" +
			"geoind_laplace,ana,m,2,0.016,0.016,0.02,\ngeoind_laplace,bo,m,1,0.008,0.008,0.02,\n", all + payable},
		{"-csv", releaseSQL + " LIMIT 9 + abs(random()) % 9", "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n" +
			"geoind_laplace,ana,m,2,0.016,0.02,0.02,\ngeoind_laplace,bo,m,1,0.008,0.02,0.02,\n*,*,*,,,,,\n", all + payable + perhaps},
		{"-json", "CREATE TABLE private AS " + releaseSQL + " WHERE t.person = 'bo'", `[{"function":"geoind_laplace","account":"bo","unit":"m",` +
			`"evaluations":1,"epsilon":0.008,"at_most":0.008,"remaining":0.02,"rule":null}]` + "\n", one + payable},
		{"-table", "INSERT INTO place " + releaseSQL, `function        account  unit  evaluations  epsilon  at_most  remaining  rule
--------------  -------  ----  -----------  -------  -------  ---------  ----
geoind_laplace  ana      m               2    0.016    0.016       0.02
geoind_laplace  bo       m               1    0.008    0.008       0.02
`, all + payable},
		{"-csv", "SELECT 'it''s free'; -- quoted", "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n", "geosql: the statement charges nothing\n"},
	} {
		got := clitest.Run(t, "", c.mode, "cost", db, c.sql)
		if got.Status != 0 || got.Out != c.want {
			t.Errorf("%s printed\n%s\nwant\n%s", c.sql, got.Out, c.want)
		}
		if got.Err != c.summary {
			t.Errorf("%s: the summary is\n%s\nwant\n%s", c.sql, got.Err, c.summary)
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
	if r := clitest.Run(t, "", "cost", db, "SELECT 1"); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	if left, _ := filepath.Glob(db + "-*"); left != nil {
		t.Errorf("cost created %v", left)
	}
}

func TestCostOfAnotherLedger(t *testing.T) {
	db, ledger := clitest.TempFile(t, "x.db"), clitest.TempFile(t, "my ledger")
	clitest.Query(t, db, "--ledger", ledger, costSetup)
	if got := clitest.Run(t, "", "-csv", "--ledger="+ledger, "cost", db, releaseSQL); !strings.Contains(got.Out, "\ngeoind_laplace,ana,m,2,0.016,0.016,0.02,\n") {
		t.Errorf("printed %+v", got)
	}
	if _, err := os.Stat(db + "-ledger"); err == nil {
		t.Error("cost made a ledger")
	}
}

// The verdict names an account that cannot pay, the number of such accounts, and a limit that would suffice.
func TestCostVerdict(t *testing.T) {
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup+`; SELECT budget_limit('ana', 'm', 0.01)`)
	for sql, verdict := range map[string]string{
		releaseSQL: "geosql: the statement would be refused: geoind_laplace: account 'ana' has 0.010/m left of 0.010/m, 0.016/m asked, 0.006/m short; " +
			"1 of 2 accounts cannot pay for the whole statement; a limit of 0.016/m would suffice\n",
		releaseSQL + " LIMIT 9 + abs(random()) % 9": "geosql: the statement would be refused, if it charged this: geoind_laplace: account 'ana' has",
		"SELECT dx_count(person, 1) FROM trip": "geosql: the statement would be refused: dx_count: account 'ana' has no budget in unit 'record' (limits exist for 'm'); " +
			"set one: SELECT budget_limit('ana', 'record', EPSILON) or budget_limit('*', 'record', EPSILON); 2 of 2 accounts cannot pay for the whole statement; limits of 2/record would suffice\n",
	} {
		if r := clitest.Run(t, "", "-csv", "cost", db, sql); r.Status != 3 || !strings.Contains(r.Err, verdict) {
			t.Errorf("%s: %+v, want %s", sql, r, verdict)
		}
	}
}
