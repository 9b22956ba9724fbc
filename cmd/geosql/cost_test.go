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

// costDeclared declares more than costSetup.
const costDeclared = `; SELECT dx_universe('u', 0, 90, 1, 'kWh'); SELECT budget_limit('*', 'kWh', 1);
	SELECT trace_policy('walk', 'ana', 'predictive', '{"epsilon": 0.02, "alpha": 600}')`

const releaseSQL = "SELECT g.lat FROM trip t, geoind_laplace(t.person, t.lat, t.lon, 0.008) g"

func TestCost(t *testing.T) {
	t.Parallel()
	db := clitest.TempFile(t, "x.db")
	clitest.Query(t, db, costSetup+costDeclared)
	before := clitest.Query(t, "-csv", db, "SELECT * FROM ledger_balance; SELECT * FROM ledger_charges; SELECT * FROM trip; SELECT * FROM sqlite_schema")
	const (
		all     = "unit,epsilon,accounts,total,left,short,rule\nm,0.016,2,0.024,0.004,0,\n"
		each    = "function,account,unit,evaluations,epsilon,at_most,remaining,rule\n"
		payable = "geosql: all accounts can pay that\n"

		ofSecrets = "geosql: the groups are made of lat, which no function has released: which groups there are is public, and tells true values, however " +
			"noisy the answers are. dx_heatmap counts true locations, and dx_histogram true readings; released and public values may be grouped\n"
	)
	for _, c := range []struct {
		flags             []string
		sql, want, errOut string
	}{
		{[]string{"-csv"}, releaseSQL, all, payable},
		{[]string{"-csv", "--each"}, releaseSQL, each + "geoind_laplace,ana,m,2,0.016,0.016,0.02,\ngeoind_laplace,bo,m,1,0.008,0.008,0.02,\n", payable},
		{[]string{"-json"}, "CREATE TABLE private AS " + releaseSQL + " WHERE t.person = 'bo'",
			`[{"unit":"m","epsilon":0.008,"accounts":1,"total":0.008,"left":0.012,"short":0,"rule":null}]` + "\n", payable},
		{[]string{"-table"}, "INSERT INTO place " + releaseSQL, "unit  epsilon  accounts  total   left  short  rule\n" +
			"----  -------  --------  -----  -----  -----  ----\nm       0.016         2  0.024  0.004      0\n", payable},
		{[]string{"-csv"}, "SELECT dx_value(person, 1, 0.25, 'u'), geoind_laplace(person, lat, lon, 0.008) FROM trip",
			"unit,epsilon,accounts,total,left,short,rule\nkWh,0.5,2,0.75,0.5,0,\nm,0.016,2,0.024,0.004,0,\n", payable},
		{[]string{"-csv"}, "SELECT lat > 48.855, dx_sum(person, lat, 0.1, 'u') FROM trip GROUP BY 1",
			"unit,epsilon,accounts,total,left,short,rule\nkWh,0.1,2,0.2,0.9,0,2 groups cost once\n", ofSecrets + payable},
		{[]string{"-csv"}, "SELECT n, dx_sum(person, lat, 0.1, 'u') FROM trip, (SELECT 1 AS n UNION ALL SELECT 2) GROUP BY 1",
			"unit,epsilon,accounts,total,left,short,rule\nkWh,0.2,2,0.4,0.8,0,\"2 groups cost one by one: a row of table trip may be used several times; make the groups of its readings alone first, WITH g AS MATERIALIZED (SELECT .. GROUP BY ..) SELECT .. FROM g JOIN .., or join by a unique key\"\n", payable},
		{[]string{"-csv"}, "SELECT 'it''s free'; -- quoted", "unit,epsilon,accounts,total,left,short,rule\n", "geosql: the statement charges nothing\n"},
		{[]string{"-csv"}, "SELECT predictive_step('walk', 1000, 48.85, 2.33)", "unit,epsilon,accounts,total,left,short,rule\nm,0.006482866949,1,0.006482866949,0.013517133051,0,\n",
			"geosql: all accounts can pay that; it may be less, since the cost of a step depends on its draw\n"},
	} {
		got := clitest.Run(t, "", append(c.flags, "cost", db, c.sql)...)
		if got.Status != 0 || got.Out != c.want {
			t.Errorf("%s printed\n%s\nwant\n%s", c.sql, got.Out, c.want)
		}
		if got.Err != c.errOut {
			t.Errorf("%s: the verdict is\n%s\nwant\n%s", c.sql, got.Err, c.errOut)
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
		{[]string{"cost", db, ""}, 1, "sql holds no statement"},
		{[]string{"cost", db, "SELECT 1; SELECT 2"}, 1, "sql holds more than one statement"},
		{[]string{"cost", db, "SELECT\nnosuch"}, 1, "no such column: nosuch"},
		{[]string{"cost", db, "PRAGMA user_version"}, 1, "sql must be one of SELECT"},
		{[]string{"cost", db, "SELECT geoind_laplace('ana', 91, 0, 1)"}, 1, "geoind_laplace: lat must lie between"},
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
	if got := clitest.Run(t, "", "-csv", "--ledger="+ledger, "cost", db, releaseSQL); !strings.Contains(got.Out, "\nm,0.016,2,0.024,0.004,0,\n") {
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
		releaseSQL + " LIMIT 9 + abs(random()) % 9": "geosql: the statement would be refused: the charges may exceed what is left: released or random values decide them; ",
		"SELECT dx_count(person, 1) FROM trip": "geosql: the statement would be refused: dx_count: account 'ana' has no budget in unit 'record' (limits exist for 'm'); " +
			"set one: SELECT budget_limit('ana', 'record', EPSILON) or budget_limit('*', 'record', EPSILON); 2 of 2 accounts cannot pay for the whole statement; limits of 2/record would suffice\n",
	} {
		if r := clitest.Run(t, "", "-csv", "cost", db, sql); r.Status != 3 || !strings.Contains(r.Err, verdict) {
			t.Errorf("%s: %+v, want %s", sql, r, verdict)
		}
	}
}
