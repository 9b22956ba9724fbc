package sqlitefn_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn"
)

// A desk runs the statements of analysts on a connection without key and ledger, and evaluates their functions on that
// of the owner.
type desk struct {
	*sealedDatabase
	owner      *database // another connection to it
	evaluator  *sqlitefn.Evaluator
	ledger     ledger.Ledger
	analyst    sqlitefn.Analyst
	conn       *sqlite.Conn
	evaluation *sqlitefn.Evaluation
	report     sqlitefn.Report // of the last statement
	quote      bool
	limit      *sqlitefn.Report
	recall     bool // whether only answers that the role has seen are given
}

// amounts returns a budget or cap of the same epsilon in every unit.
func amounts(epsilon int64) func(budget.Unit) (budget.Amount, bool) {
	return func(budget.Unit) (budget.Amount, bool) { return budget.Amount(epsilon) * budget.One, true }
}

func newDesk(t testing.TB, rows []sealedRow) *desk {
	t.Helper()
	return newDeskOf(t, newSealed(t, rows))
}

func newDeskOf(t testing.TB, hidden *sealedDatabase) *desk {
	t.Helper()
	d := &desk{sealedDatabase: hidden, owner: hidden.again()}
	d.analyst = sqlitefn.Analyst{
		Context: t.Context(), Role: "ann", MayAsk: func(catalog.ColumnName) bool { return true }, MaxRepeat: 1, Largest: amounts(1000), Least: func(budget.Unit) budget.Amount { return 0 },
		Budget: amounts(1_000_000),
	}
	d.open([32]byte{1})
	conn, err := sqlite.Open(strings.TrimSuffix(d.path, "?_sync=OFF"), sqlite.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := sqlitefn.RegisterRemote(conn, d); err != nil {
		t.Fatal(err)
	}
	d.conn = conn
	return d
}

// open opens the evaluator, again if there is one.
func (d *desk) open(key [32]byte) {
	d.owner.raw(func(c *sqlitefn.Conn) { d.evaluator, d.ledger = c.Evaluator(d, key), c.Ledger(d) })
}

// rewind makes the evaluator draw from the beginning of a tape.
func (d *desk) rewind(number uint64) {
	d.owner.drawing(tape(number))
}

// roleBudgets returns the amounts that the analyst's role has spent, by account and unit.
func (d *desk) roleBudgets() map[[2]string]float64 {
	d.Helper()
	list, err := d.ledger.RoleBudgets(d.analyst.Role)
	if err != nil {
		d.Fatal(err)
	}
	spent := map[[2]string]float64{}
	for _, p := range list {
		if p.Spent > 0 {
			spent[[2]string{p.Account, string(p.Unit)}] = p.Spent.Float64()
		}
	}
	return spent
}

func (d *desk) Call(function string, args []sqlite.Value) (sqlitefn.Released, error) {
	if err := d.evaluation.Put(function, args); err != nil {
		return nil, err
	}
	answers, err := d.evaluation.Answers()
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

func (d *desk) Group(function string) sqlitefn.RemoteGroup {
	return &deskGroup{desk: d, function: function}
}

type deskGroup struct {
	desk     *desk
	function string
	group    *sqlitefn.EvaluatedGroup
}

func (g *deskGroup) Step(args []sqlite.Value) (err error) {
	if g.group == nil {
		if g.group, err = g.desk.evaluation.Group(g.function, len(args)); err != nil {
			return err
		}
	}
	return g.group.Step(args)
}

func (g *deskGroup) Final() (sqlitefn.Released, error) { return g.group.Final() }

// ask runs a statement of the analyst.
func (d *desk) ask(query string) (rows []string, err error) {
	d.evaluation = d.evaluator.Begin(d.analyst, d.quote)
	if d.limit != nil {
		d.evaluation.Limit(*d.limit)
	}
	d.evaluation.Recall(d.recall)
	err = d.conn.Each(query, func(v []sqlite.Value) error {
		var cells []string
		for i := range v {
			cells = append(cells, show(&v[i]))
		}
		rows = append(rows, strings.Join(cells, " "))
		return nil
	})
	d.report = d.evaluation.Report()
	d.evaluation.End()
	return rows, err
}

func show(v *sqlite.Value) string {
	switch v.Type() {
	case sqlite.Null:
		return "NULL"
	case sqlite.Integer:
		return fmt.Sprint(v.Int())
	case sqlite.Float:
		return fmt.Sprint(v.Float())
	}
	return v.Text()
}

func (d *desk) gets(query, want string) {
	d.Helper()
	rows, err := d.ask(query)
	if got := strings.Join(rows, ", "); err != nil || got != want {
		d.Errorf("%s\ngets %s, %v, want %s", query, got, err, want)
	}
}

func (d *desk) isRefused(query, want string) error {
	d.Helper()
	rows, err := d.ask(query)
	if err == nil || !strings.Contains(err.Error(), want) {
		d.Errorf("%s\ngets %v, %v, want an error with %q", query, rows, err, want)
	}
	return err
}

// paid returns the amounts that accounts and role budgets have spent in a unit, by name.
func (d *desk) paid(unit budget.Unit) (accounts, roles map[string]budget.Amount) {
	d.Helper()
	accounts, roles = map[string]budget.Amount{}, map[string]budget.Amount{}
	for b, err := range ledger.AllBalances(d.ledger) {
		if err != nil {
			d.Fatal(err)
		}
		if b.Unit == unit && b.Account != ledger.Everyone && b.Spent > 0 {
			accounts[b.Account] = b.Spent
		}
	}
	list, err := d.ledger.RoleBudgets(d.analyst.Role)
	if err != nil {
		d.Fatal(err)
	}
	for _, p := range list {
		if p.Unit == unit && p.Spent > 0 {
			roles[p.Account] = p.Spent
		}
	}
	return accounts, roles
}

// paysIn checks the amounts that accounts and role budgets have spent, as multiples of 1.
func (d *desk) paysIn(unit budget.Unit, accounts, roles string) {
	d.Helper()
	a, p := d.paid(unit)
	if got := short(a); got != accounts {
		d.Errorf("accounts have paid %s of %s, want %s", got, unit, accounts)
	}
	if got := short(p); got != roles {
		d.Errorf("role budgets have paid %s of %s, want %s", got, unit, roles)
	}
}

func short(m map[string]budget.Amount) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s=%v", name, m[name].Float64()))
	}
	return strings.Join(list, " ")
}

// An analyst elsewhere gets the answers that the owner gets.
func TestEvaluatedAnswers(t *testing.T) {
	d := newDesk(t, sealedRows)
	for query, want := range map[string]string{
		`SELECT dx_sum(kwh, 100), dx_avg(kwh, 100), dx_min(kwh, 100), dx_max(kwh, 100), dx_median(kwh, 100) FROM s`:                          "23 4.6 2 9 4",
		`SELECT dx_percentile(kwh, 50, 100, 'dh'), dx_percentile(kwh, 100, 100, 'dinf') FROM s`:                                              "4 9",
		`SELECT zone, dx_sum(kwh, 100) FROM s GROUP BY zone`:                                                                                 "1 5, 2 18",
		`SELECT dx_count(one, 100), dx_accounts(one, 100) FROM s`:                                                                            "3 2",
		`SELECT id, dx_value(kwh, 100) FROM s`:                                                                                               "1 3, 2 4, 3 5, 4 2, 5 9",
		`SELECT dx_curve(kwh, 100, 2) ->> '$.sums', dx_curve_percentile(dx_curve(kwh, 100, 2), 95) FROM s`:                                   "[5,18] 6",
		`SELECT dx_histogram(kwh, 100, 11) ->> '$[9].count', count(kwh) FROM s`:                                                              "1 5",
		`SELECT geo_distance(lat, lon, 39.9, 116.3) < 2 FROM s, geoind_laplace(s.place, 100) WHERE id = 1`:                                   "1",
		`SELECT geoind_laplace(place, 100) LIKE 'POINT(116._______ 39._______)' FROM s WHERE id = 1`:                                         "1",
		`SELECT geoind_density(g.lat, g.lon, 1, NULL, 20000) ->> 'points' FROM s, geoind_laplace(s.place, 1) g`:                              "5",
		`SELECT dx_centroid(place, 100) LIKE 'POINT(%)' FROM s`:                                                                              "1",
		`SELECT sum(value ->> '$.properties.count') FROM json_each((SELECT dx_heatmap(place, 200, 20000, 'adaptive') FROM s), '$.features')`: "5",
		`SELECT json_array_length(dx_heatmap(place, 100, 20000) -> 'features') FROM s`:                                                       "4",
		`SELECT dx_sum(dx_narrow(kwh, 3, 5), 100), dx_avg(dx_narrow(kwh, 3, 5), 100, 'nd1') FROM s`:                                          "20 4",
		`SELECT dx_sum(kwh, 100), dx_count(kwh, 100) FROM s WHERE 0`:                                                                         "NULL NULL",
		`SELECT dx_sum(NULL, 100), dx_value(NULL, 100), dx_count(NULL, 100) FROM s`:                                                          "NULL NULL 0",
		`SELECT dx_radius('sum', 0.9, 1, 'u')`:                                                                                               "2",
	} {
		d.gets(query, want)
	}
}

// An analyst has no function that charges an account named by the statement, none of the owner's, and no account but
// the one in a value.
func TestAnalystsHaveSealedFormsOnly(t *testing.T) {
	d := newDesk(t, sealedRows)
	for query, want := range map[string]string{
		`SELECT dx_count('ana', 1)`:                                   "dx_count: account must be a sealed value",
		`SELECT dx_sum('ana', 1, 1, 'u')`:                             "wrong number of arguments",
		`SELECT geoind_laplace('ana', 39.9, 116.3, 0.01)`:             "wrong number of arguments",
		`SELECT budget_limit('ana', 'kWh', 5)`:                        "no such function",
		`SELECT budget_left('ana', 'kWh')`:                            "no such function",
		`SELECT geoind_gauss('ana', 39.9, 116.3, 1)`:                  "no such function",
		`SELECT dx_sum(kwh, -1) FROM s`:                               "dx_sum: epsilon must be above 0",
		`SELECT dx_sum(x'00', 1)`:                                     "dx_sum: sealed is not a value",
		`SELECT dx_sum(zeroblob(56), 1)`:                              "dx_sum: sealed is not a value that was sealed for this database",
		`SELECT dx_sum(kwh, 1) FROM s, (SELECT 1 UNION ALL SELECT 2)`: "the same value more than once",
		`SELECT dx_count(kwh, 1) FROM s`:                              "universe 0, 1",
	} {
		d.isRefused(query, want)
	}
	d.paysIn("kWh", "", "")
}

// Roles have grants, caps and budgets. A statement that breaks them charges nobody.
func TestAnalystsAreBound(t *testing.T) {
	d := newDesk(t, sealedRows)
	d.analyst.MayAsk = func(c catalog.ColumnName) bool { return c != catalog.ColumnName{Table: "s", Column: "one"} }
	d.analyst.Largest = func(u budget.Unit) (budget.Amount, bool) { return 2 * budget.One, u == "kWh" }
	d.analyst.Budget = func(u budget.Unit) (budget.Amount, bool) { return 3 * budget.One, u != "m" }
	var denied *sqlitefn.PermissionError
	for query, want := range map[string]string{
		`SELECT dx_count(one, 1) FROM s`:             "dx_count: role ann may not ask about s.one",
		`SELECT dx_sum(kwh, 2.001) FROM s`:           "dx_sum: epsilon 2.001 is above 2, the most that role ann may spend per kWh in a call",
		`SELECT dx_value(kwh, 2.001) FROM s LIMIT 1`: "dx_value: epsilon 2.001 is above 2",
		`SELECT dx_centroid(place, 0.01) FROM s`:     "dx_centroid: role ann has no budget per m",
		`SELECT geoind_laplace(place, 0.01) FROM s`:  "geoind_laplace: role ann has no budget per m",
	} {
		d.isRefused(query, want)
		if !errors.As(d.evaluation.Err(), &denied) {
			t.Errorf("%s: %v", query, d.evaluation.Err())
		}
	}
	d.paysIn("kWh", "", "")
	// The cap is on all that a call costs an account: ana has three of the rows.
	d.analyst.MaxRepeat = 3
	d.analyst.Largest = amounts(2)
	for query, want := range map[string]string{
		`SELECT dx_histogram(kwh, 1, 3) FROM s`:                   "dx_histogram: epsilon 1, 3 times for an account, is above 2, the most that role ann may spend per record in a call",
		`SELECT dx_sum(kwh, 0.75, 'dh') FROM s`:                   "dx_sum: epsilon 0.75, 3 times for an account, is above 2",
		`SELECT dx_count(kwh, 0.75) FROM s`:                       "dx_count",
		`SELECT dx_sum(kwh, 0.75) FROM s, (VALUES (1), (2), (3))`: "dx_sum: epsilon 0.75, 3 times for an account, is above 2, the most that role ann may spend per kWh in a call",
		`SELECT dx_avg(kwh, 2.1, 'dinf') FROM s`:                  "dx_avg: epsilon 2.1 is above 2",
		`SELECT dx_median(kwh, 1.5) FROM s, (VALUES (1), (2))`:    "dx_median: epsilon 1.5, 2 times for an account, is above 2",
		`SELECT dx_heatmap(place, 1, 50000) FROM s`:               "dx_heatmap: epsilon 1, 3 times for an account, is above 2",
		`SELECT dx_sum(kwh, 2) + dx_histogram(kwh, 1, 3) FROM s`:  "dx_histogram: epsilon 1, 3 times",
	} {
		for _, d.quote = range []bool{true, false} {
			d.isRefused(query, want)
		}
	}
	d.paysIn("record", "", "")
	d.analyst.MaxRepeat = 1
	d.analyst.Largest = func(budget.Unit) (budget.Amount, bool) { return 0, false }
	if _, err := d.ask(`SELECT dx_sum(kwh, 3, 'dh') FROM s WHERE id > 3`); err != nil {
		t.Error(err)
	}
	d.isRefused(`SELECT dx_sum(kwh, 1, 'dh') FROM s`, "role 'ann' has, for account 'bo', 0/record left of 3/record, 1/record asked")
	d.paysIn("record", "bo=3 cy=3", "bo=3 cy=3")
}

// The same question gets the same answer, in any order of rows, and nobody pays twice, also after a restart. Another question is
// another one.
func TestAnswersAreRemembered(t *testing.T) {
	d := newDesk(t, sealedRows)
	first, err := d.ask(`SELECT dx_sum(kwh, 0.01), dx_count(one, 0.01), dx_histogram(kwh, 0.01, 3), dx_curve(kwh, 0.01), dx_centroid(place, 0.0001), dx_heatmap(place, 0.5, 50000), geoind_laplace(max(place), 0.0001) FROM s`)
	if err != nil {
		t.Fatal(err)
	}
	balances := d.state()
	again := func(query string, want string, remembered int) {
		t.Helper()
		d.gets(query, want)
		if d.report.Remembered != remembered || d.report.Answers != remembered {
			t.Errorf("%s: %d of %d answers are remembered", query, d.report.Remembered, d.report.Answers)
		}
		if state := d.state(); state != balances {
			t.Errorf("%s\nis charged: %s, then %s", query, balances, state)
		}
	}
	same := `SELECT dx_sum(kwh, 0.01), dx_count(one, 0.01), dx_histogram(kwh, 0.01, 3), dx_curve(kwh, 0.01), dx_centroid(place, 0.0001), dx_heatmap(place, 0.5, 50000), geoind_laplace(max(place), 0.0001) FROM s`
	again(same, first[0], 7)
	again(strings.Replace(same, "FROM s", "FROM (SELECT * FROM s ORDER BY id DESC)", 1), first[0], 7)
	d.open([32]byte{1})
	again(same, first[0], 7)

	d.analyst.Role = "ben" // he has not seen it, and pays from his budget
	d.gets(same, first[0])
	if state := d.state(); state != balances || d.report.Remembered != 7 {
		t.Errorf("another role: %s, then %s", balances, state)
	}
	d.paysIn("kWh", "ana=0.02 bo=0.02 cy=0.02", "ana=0.02 bo=0.02 cy=0.02")
	d.analyst.Role = "ann"
	for _, other := range []string{
		`SELECT dx_sum(kwh, 0.01) FROM s WHERE id > 1`, `SELECT dx_sum(kwh, 0.010000001) FROM s`, `SELECT dx_sum(dx_narrow(kwh, 0, 9), 0.01) FROM s`,
		`SELECT dx_curve(kwh, 0.01, 2) FROM s`, `SELECT dx_curve(kwh, 0.01, '[50]') FROM s`, `SELECT dx_avg(kwh, 0.01) FROM s`, `SELECT dx_sum(kwh, 0.01, 'dh') FROM s`, `SELECT dx_sum(one, 0.01) FROM s`,
		`SELECT dx_median(kwh, 0.01) FROM s`, `SELECT dx_median(kwh, 0.01, 'd1/score') FROM s`, `SELECT dx_median(kwh, 0.01, 'd1/noise') FROM s`,
		`SELECT dx_median(kwh, 0.01, 'd1/window') FROM s`,
	} {
		if _, err := d.ask(other); err != nil || d.report.Remembered != 0 {
			t.Errorf("%s: %d remembered, %v", other, d.report.Remembered, err)
		}
	}
	d.open([32]byte{2})
	if _, err := d.ask(`SELECT dx_sum(kwh, 0.01) FROM s`); err != nil || d.report.Remembered != 0 {
		t.Errorf("another key finds answers: %v", err)
	}
	d.open([32]byte{1})
	d.record(catalog.Erased("ana")) // the question is about other rows now
	if _, err := d.ask(`SELECT dx_sum(kwh, 0.01) FROM s`); err != nil || d.report.Remembered != 0 {
		t.Errorf("after an erasure: %d remembered, %v", d.report.Remembered, err)
	}
}

// Refreshing a dashboard costs only the buckets that have changed.
// An evaluation that only recalls gives the answers that its role has seen. Others fail, and nobody is charged.
func TestRecalls(t *testing.T) {
	d := newDesk(t, sealedRows)
	const question = `SELECT dx_sum(kwh, 1) FROM s`
	d.recall = true
	d.isRefused(question, "has not seen")
	d.paysIn("kWh", "", "")
	d.recall = false
	seen, err := d.ask(question)
	if err != nil {
		t.Fatal(err)
	}
	accounts, roles := d.paid("kWh")
	d.recall = true
	d.gets(question, seen[0])
	d.isRefused(`SELECT dx_sum(kwh, 2) FROM s`, "has not seen")
	d.analyst.Role = "ben"
	d.isRefused(question, "has not seen")
	if _, others := d.paid("kWh"); len(others) > 0 {
		t.Errorf("another role has paid %v", others)
	}
	d.paysIn("kWh", short(accounts), "")
	d.analyst.Role = "ann"
	d.paysIn("kWh", short(accounts), short(roles))
}

func TestDashboardsPayForChangedBuckets(t *testing.T) {
	var rows []sealedRow
	for hour := range 8 {
		rows = append(rows, sealedRow{"ana", hour, int64(hour), 1, 40, 116}, sealedRow{"bo", hour, 2, 1, 40, 116})
	}
	d := newDesk(t, rows)
	window := func(from int) string {
		return fmt.Sprintf(`SELECT zone, dx_sum(kwh, 1) FROM s WHERE zone BETWEEN %d AND %d GROUP BY zone`, from, from+3)
	}
	for from := range 4 {
		before, err := d.ask(window(from))
		if err != nil {
			t.Fatal(err)
		}
		if want := 3 * min(from, 1); d.report.Remembered != want {
			t.Errorf("window %d: %d answers are remembered", from, d.report.Remembered)
		}
		paid := fmt.Sprintf("ana=%d bo=%[1]d", from+1) // 1 for all four buckets, then 1 for each new one
		d.paysIn("kWh", paid, paid)
		if after, err := d.ask(window(from)); err != nil || !slices.Equal(before, after) {
			t.Errorf("window %d: %v, then %v, %v", from, before, after, err)
		}
		d.paysIn("kWh", paid, paid)
	}
	d.analyst.Role = "ben"
	if _, err := d.ask(`SELECT zone, dx_sum(kwh, 1) FROM s GROUP BY zone`); err != nil || d.report.Remembered != 7 {
		t.Errorf("%d remembered, %v", d.report.Remembered, err)
	}
	d.paysIn("kWh", "ana=5 bo=5", "ana=1 bo=1") // one bucket is new, and all are new to him
}

// Accounts that cannot pay are left out if the role says so, and how many is told.
func TestAnalystsLeaveOut(t *testing.T) {
	d := newDesk(t, sealedRows)
	d.run(`SELECT budget_limit('ana', 'kWh', 0.5), budget_limit('cy', 'record', 0)`)
	d.isRefused(`SELECT dx_sum(kwh, 100) FROM s`, "account 'ana' has 0.5/kWh left")
	d.analyst.LeaveOut = true
	d.gets(`SELECT dx_sum(kwh, 100), dx_max(kwh, 100) FROM s`, "11 9")
	if d.report.LeftOut != 1 {
		t.Errorf("%d are left out", d.report.LeftOut)
	}
	d.gets(`SELECT dx_count(one, 100), dx_accounts(one, 100), dx_histogram(kwh, 100, 11) ->> '$[9].count' FROM s`, "2 1 0")
	d.gets(`SELECT id, dx_value(kwh, 100) FROM s`, "1 NULL, 2 NULL, 3 NULL, 4 2, 5 9")
	d.gets(`SELECT zone, dx_sum(kwh, 100) FROM s WHERE who = (SELECT who FROM s WHERE id = 1) GROUP BY zone`, "1 NULL, 2 NULL")
	d.paysIn("record", "ana=700 bo=300", "ana=700 bo=300")
	d.run(`SELECT budget_limit('ana', 'kWh', 1000)`)
	d.gets(`SELECT dx_sum(kwh, 100) FROM s`, "23")
}

// A report tells how far from the truth answers are, if public facts tell that of all of them alike.
func TestReportedRadius(t *testing.T) {
	d := newDesk(t, sealedRows)
	for query, want := range map[string]string{
		`SELECT dx_sum(kwh, 0.1) FROM s`:                          "30 kWh",
		`SELECT zone, dx_sum(kwh, 0.1) FROM s GROUP BY zone`:      "30 kWh",
		`SELECT dx_avg(kwh, 0.1) FROM s`:                          "6 kWh",
		`SELECT zone, dx_avg(kwh, 0.1) FROM s GROUP BY zone`:      "10 kWh", // of the smaller group: more than the universe is wide
		`SELECT dx_count(one, 0.1) FROM s`:                        "30 ",
		`SELECT dx_sum(kwh, 0.1), dx_avg(kwh, 0.1) FROM s`:        "0 ",
		`SELECT dx_sum(kwh, 0.1), dx_count(one, 0.1) FROM s`:      "0 ",
		`SELECT dx_median(kwh, 0.1) FROM s`:                       "0 ",
		`SELECT dx_sum(kwh, 0.1), dx_value(max(kwh), 0.1) FROM s`: "0 ",
	} {
		if _, err := d.ask(query); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprintf("%.3g %s", d.report.Radius, d.report.Unit); got != want {
			t.Errorf("%s\nis within %s, want %s", query, got, want)
		}
	}
}

// An evaluation knows how far from the truth each answer may be, also when it is given again: in the unit, or else in ranks.
func TestEvaluatedIntervals(t *testing.T) {
	d := newDesk(t, sealedRows)
	for query, want := range map[string]string{
		`SELECT dx_sum(kwh, 0.1) FROM s`:               "± 30",
		`SELECT dx_count(one, 0.1) FROM s`:             "± 30",
		`SELECT dx_median(kwh, 0.1, 'dh') FROM s`:      "± 104 ranks", // 20 ln(10*19) = 104.9
		`SELECT dx_median(kwh, 2) FROM s WHERE id = 1`: "± 1",         // with noise, since that is better for a single reading
		`SELECT dx_max(kwh, 0.1, 'dinf') FROM s`:       "± 10",
		`SELECT dx_stddev(kwh, 0.1) FROM s`:            "± 5", // as far as it can be
		`SELECT dx_stddev(kwh, 0.1, 'dh') FROM s`:      "",
		`SELECT dx_histogram(kwh, 0.1, 2) FROM s`:      "",
		`SELECT 4`:                             "",
		`SELECT dx_sum(kwh, 0.1) + 0.5 FROM s`: "",
	} {
		for range 2 {
			rows, err := d.ask(query)
			if err != nil {
				t.Fatal(err)
			}
			x, _ := strconv.ParseFloat(rows[0], 64)
			if got := d.evaluation.Intervals()(x).String(); got != want {
				t.Errorf("%s\nis %v %s, want %s", query, rows, got, want)
			}
		}
	}
}

// A quote tells the cost of a statement, and changes nothing. A run that would cost more fails before it charges.
func TestQuotes(t *testing.T) {
	d := newDesk(t, sealedRows)
	query := `SELECT zone, dx_sum(kwh, 1), dx_count(one, 2) FROM s GROUP BY zone`
	before := d.state()
	d.quote = true
	if _, err := d.ask(query); err != nil {
		t.Fatal(err)
	}
	quoted := d.report
	if got := fmt.Sprint(quoted.Answers, quoted.Remembered, quoted.Costs); got != "4 0 [{kWh 3 1 3 1 1} {record 3 6 3 6 1}]" {
		t.Errorf("the quote is %s", got)
	}
	if after := d.state(); after != before {
		t.Errorf("a quote changes %s into %s", before, after)
	}
	d.quote, d.limit = false, &quoted
	if _, err := d.ask(query); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.report.Costs); got != fmt.Sprint(quoted.Costs) {
		t.Errorf("the cost is %s, and was to be %v", got, quoted.Costs)
	}
	d.paysIn("kWh", "ana=1 bo=1 cy=1", "ana=1 bo=1 cy=1")
	charged := d.state()
	d.limit = &sqlitefn.Report{Costs: []sqlitefn.Cost{{Unit: "kWh", Accounts: 3, Most: budget.One - 1, RoleAccounts: 3, RoleMost: budget.One}}}
	var over *sqlitefn.OverQuoteError
	if _, err := d.ask(`SELECT dx_avg(kwh, 1) FROM s`); err == nil || !errors.As(d.evaluation.Err(), &over) {
		t.Errorf("more than was quoted: %v", err)
	}
	if after := d.state(); after != charged {
		t.Errorf("it changes %s into %s", charged, after)
	}
	if _, err := d.ask(query); err != nil { // is remembered, and free
		t.Error(err)
	}
}

// A quote refuses what somebody cannot pay for as a whole, although each answer alone could be paid for. A question that
// stands twice is paid for once.
func TestQuotesOfTheWhole(t *testing.T) {
	d := newDesk(t, sealedRows)
	d.run(`SELECT budget_limit('ana', 'record', 5)`)
	before := d.state()
	d.quote = true
	d.isRefused(`SELECT dx_accounts(one, 3) FROM s UNION ALL SELECT dx_accounts(one, 2.5) FROM s`, "left of 5")
	if after := d.state(); after != before {
		t.Errorf("a quote changes %s into %s", before, after)
	}
	if _, err := d.ask(`SELECT dx_accounts(one, 3) FROM s UNION ALL SELECT dx_accounts(one, 3) FROM s`); err != nil || d.report.Costs[0].Most != 3*budget.One {
		t.Errorf("the same question twice: %v, %v", d.report, err)
	}
	d.quote = false
	if _, err := d.ask(`SELECT dx_accounts(one, 3) FROM s UNION ALL SELECT dx_accounts(one, 3) FROM s`); err != nil || d.report.Costs[0].Most != 3*budget.One {
		t.Errorf("it costs %v, %v", d.report, err)
	}
}

// After an error nothing of the statement is charged any more, and neither is after its end.
func TestFailedEvaluationsChargeNobody(t *testing.T) {
	d := newDesk(t, sealedRows)
	d.isRefused(`SELECT dx_sum(kwh, 1), dx_sum(CASE id WHEN 5 THEN zeroblob(56) ELSE kwh END, 1) FROM s`, "is not a value")
	d.evaluation = d.evaluator.Begin(d.analyst, false)
	err := d.conn.Each(`SELECT dx_sum(kwh, 1), dx_count(one, 1) FROM (SELECT * FROM s)`, func([]sqlite.Value) error { return nil })
	if err != nil {
		t.Error(err)
	}
	accounts, roles := d.paid("kWh")
	d.evaluation.End()
	if _, err := d.evaluation.Group("dx_sum", 2); err == nil {
		t.Error("an ended evaluation begins a group")
	}
	err = d.conn.Each(`SELECT dx_sum(kwh, 1) FROM s WHERE id < 3`, func([]sqlite.Value) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "the statement has ended") {
		t.Errorf("after the end: %v", err)
	}
	if a, p := d.paid("kWh"); !maps.Equal(a, accounts) || !maps.Equal(p, roles) {
		t.Errorf("after the end %v and %v are %v and %v", accounts, roles, a, p)
	}
}

// Random statements of two roles cost as much as in a model that knows nothing of how sums are kept: an account
// pays, for each statement, the largest sum of epsilon for one of its values over the answers that are drawn, and a role the
// same over the answers that it has not seen.
func TestEvaluatedCharges(t *testing.T) {
	t.Parallel()
	const accounts, values = 4, 12
	var rows []sealedRow
	for i := range values {
		rows = append(rows, sealedRow{fmt.Sprint("a", i%accounts), i, int64(i % 10), int64(i % 2), 40, 116})
	}
	random := rand.New(rand.NewPCG(21, 1))
	for round := range 12 {
		d := newDesk(t, rows)
		d.analyst.MaxRepeat, d.analyst.LeaveOut = 2, round%2 == 1
		if d.analyst.LeaveOut {
			d.run(`SELECT budget_limit('a1', 'kWh', 7)`)
		}
		m := chargeModel{given: map[string]map[string]bool{}, accounts: map[string]int64{}, roles: map[string]map[string]int64{"ann": {}, "ben": {}}}
		for range 25 {
			d.analyst.Role = []string{"ann", "ben"}[random.IntN(2)]
			var groups [][]int // ids of rows, some twice
			for range 1 + random.IntN(4) {
				var ids []int
				for id := 1; id <= values; id++ {
					for range []int{0, 0, 1, 1, 1, 2}[random.IntN(6)] {
						ids = append(ids, id)
					}
				}
				if random.IntN(3) == 0 { // a group that comes again
					ids = []int{1, 2, 3, 5}
				}
				groups = append(groups, ids)
			}
			var parts []string
			for _, ids := range groups {
				var list []string
				for _, id := range ids {
					list = append(list, fmt.Sprint(id))
				}
				parts = append(parts, fmt.Sprintf(`SELECT dx_sum(s.kwh, %d) FROM json_each('[%s]') j JOIN s ON s.id = j.value`, 1+len(ids)%2, strings.Join(list, ",")))
			}
			if _, err := d.ask(strings.Join(parts, " UNION ALL ")); err != nil {
				t.Fatal(err)
			}
			if !d.analyst.LeaveOut {
				m.statement(d.analyst.Role, groups)
				accounts, roles := d.paid("kWh")
				for name, want := range m.accounts {
					if got := accounts[name]; got != budget.Amount(want)*budget.One {
						t.Fatalf("round %d: account %s has paid %v, want %d", round, name, got, want)
					}
				}
				for name, want := range m.roles[d.analyst.Role] {
					if got := roles[name]; got != budget.Amount(want)*budget.One {
						t.Fatalf("round %d: the role budget for %s has paid %v, want %d", round, name, got, want)
					}
				}
			} else if accounts, _ := d.paid("kWh"); accounts["a1"] > 7*budget.One {
				t.Fatalf("account a1 has paid %v of 7", accounts["a1"])
			}
		}
	}
}

// chargeModel computes the costs of statements of sums to accounts and role budgets.
type chargeModel struct {
	given    map[string]map[string]bool // which roles have seen the answer to a question
	accounts map[string]int64
	roles    map[string]map[string]int64
}

func (m *chargeModel) statement(role string, groups [][]int) {
	account, forRole := map[int]int64{}, map[int]int64{} // by value
	for _, ids := range groups {
		if len(ids) == 0 {
			continue
		}
		question := fmt.Sprint(ids)
		epsilon := int64(1 + len(ids)%2)
		seen, drawn := m.given[question], false
		if seen == nil {
			seen, drawn = map[string]bool{}, true
			m.given[question] = seen
		}
		for _, id := range ids {
			if drawn {
				account[id] += epsilon
			}
			if !seen[role] {
				forRole[id] += epsilon
			}
		}
		seen[role] = true
	}
	most := func(of map[int]int64, to map[string]int64) {
		top := map[string]int64{}
		for id, sum := range of {
			name := fmt.Sprint("a", (id-1)%4)
			top[name] = max(top[name], sum)
		}
		for name, sum := range top {
			to[name] += sum
		}
	}
	most(account, m.accounts)
	most(forRole, m.roles[role])
}

// Groups that are open at a time count how often they have a value for themselves, however their rows come.
func TestOpenGroupsCountForThemselves(t *testing.T) {
	d := newDesk(t, sealedRows)
	e := d.evaluator.Begin(d.analyst, false)
	defer e.End()
	var groups []*sqlitefn.EvaluatedGroup
	for range 3 {
		g, err := e.Group("dx_sum", 2)
		if err != nil {
			t.Fatal(err)
		}
		groups = append(groups, g)
	}
	step := func(g *sqlitefn.EvaluatedGroup, id int) (err error) {
		failed := d.conn.Each(fmt.Sprintf(`SELECT kwh, 1 FROM s WHERE id = %d`, id), func(v []sqlite.Value) error {
			err = g.Step(v)
			return nil
		})
		return errors.Join(err, failed)
	}
	for id := 1; id <= 5; id++ {
		for _, g := range groups {
			if err := step(g, id); err != nil {
				t.Fatal(err)
			}
		}
	}
	groups[1].Drop()
	if _, err := groups[2].Final(); err != nil {
		t.Fatal(err)
	}
	d.paysIn("kWh", "ana=1 bo=1 cy=1", "ana=1 bo=1 cy=1")
	if err := step(groups[0], 3); err == nil || !strings.Contains(err.Error(), "the same value more than once") {
		t.Errorf("a value that came in between: %v", err)
	}
	if _, err := groups[0].Final(); err == nil {
		t.Error("a group that failed is answered")
	}
	d.paysIn("kWh", "ana=1 bo=1 cy=1", "ana=1 bo=1 cy=1")
}
