package sqlitefn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
)

// With such an epsilon the noise is 0 but for a probability of 1e-40 an answer. ana has 3, 4 and 5, bo 2, cy 9.
func TestPersonAnswers(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`SELECT budget_limit('*', 'record', 9000000)`)
	for query, want := range map[string]string{
		`SELECT dx_sum(dx_person(kwh, 0, 20), 10000) FROM s`:                                                                                "[[23]]",
		`SELECT dx_sum(dx_person(kwh, 0, 10), 10000, 'dh'), dx_avg(dx_person(kwh, 0, 10), 10000) FROM s`:                                    "[[21 7]]",
		`SELECT dx_min(dx_person(kwh, 3, 10), 1000), dx_max(dx_person(kwh, 3, 10), 1000) FROM s`:                                            "[[3 10]]",
		`SELECT dx_median(dx_person(kwh, 0, 20), 1000), dx_percentile(dx_person(kwh, 0, 20), 100, 1000) FROM s`:                             "[[9 12]]",
		`SELECT round(dx_variance(dx_person(kwh, 0, 12), 900000), 1) FROM s`:                                                                "[[17.6]]", // of 12, 2, 9
		`SELECT round(dx_stddev(dx_person(kwh, 0, 12), 900000, 'dh'), 1) FROM s`:                                                            "[[4.2]]",
		`SELECT bin.value ->> 'count' FROM (SELECT dx_histogram(dx_person(kwh, 1, 12), 1000, 3) AS h FROM s), json_each(h) bin`:             "[[1] [0] [2]]",
		`SELECT p.value ->> 'value' FROM (SELECT dx_percentiles(dx_person(kwh, 0, 12), '[10, 50, 90]', 10000) AS a FROM s), json_each(a) p`: "[[2] [9] [12]]",
		`SELECT zone, dx_sum(dx_person(kwh, 0, 20), 10000) FROM s GROUP BY zone`:                                                            "[[1 5] [2 18]]",
		`SELECT dx_sum(dx_person(dx_narrow(kwh, 3, 4), 0, 20), 10000) FROM s`:                                                               "[[18]]", // 3+4+4, 3, 4
		`SELECT dx_sum(dx_person(kwh, -20, -10), 10000), dx_sum(dx_person(kwh, 100, 110), 10000) FROM s`:                                    "[[-30 300]]",
		`SELECT dx_sum(dx_person(kwh, 0, 20), 10000) FROM s WHERE 0`:                                                                        "[[<nil>]]",
		`SELECT dx_sum(dx_person(NULL, 0, 20), 1), typeof(dx_person(NULL, 0, 20)), length(dx_person(kwh, 0, 20)) FROM s LIMIT 1`:            "[[<nil> null 73]]",
		`SELECT dx_avg(dx_person(v, 0, 20), 10000) FROM (SELECT kwh AS v FROM s WHERE id > 3 UNION ALL SELECT NULL)`:                        "[[5.5]]",
		`SELECT dx_within(dx_sum(dx_person(kwh, 0, 20), 1), 0.5) FROM s`:                                                                    "[[13]]", // 0.655*20, as hi - lo is
		`SELECT dx_rank_within(dx_median(dx_person(kwh, 0, 10), 2)) FROM s`:                                                                 "[[5]]",
	} {
		d.with(t).answers(query, want)
	}
}

// An account pays epsilon of record once for a group and a place, however many rows it has.
func TestPersonCharges(t *testing.T) {
	t.Parallel()
	for _, c := range []charge{
		{`SELECT dx_sum(dx_person(kwh, 0, 50), 1) FROM s`, "record", 1, 1},
		{`SELECT dx_sum(dx_person(kwh, 0, 50), 1, 'dh') FROM s GROUP BY zone`, "record", 2, 1},
		{`SELECT dx_sum(dx_person(kwh, 0, 50), 1), dx_avg(dx_person(kwh, 0, 50), 2) FROM s`, "record", 3, 3},
		{`SELECT dx_sum(dx_person(kwh, 0, 50), 1) FROM s UNION ALL SELECT dx_sum(dx_person(kwh, 0, 50), 1) FROM s`, "record", 2, 2},
		{`SELECT dx_histogram(dx_person(kwh, 0, 50), 1, 3) FROM s`, "record", 1, 1},
		{`SELECT dx_percentiles(dx_person(kwh, 0, 50), '[10, 50, 90]', 1, 'dh') FROM s`, "record", 1, 1},
		{`SELECT dx_median(dx_person(kwh, 0, 50), 0.5) FROM s`, "record", 0.5, 0.5},
		{`SELECT dx_variance(dx_person(dx_narrow(kwh, 1, 2), 0, 50), 1) FROM s`, "record", 1, 1},
		{`SELECT (SELECT dx_sum(dx_person(kwh, 0, 50), 1) FROM s WHERE s.zone >= z.zone) FROM (SELECT DISTINCT zone FROM s) z`, "record", 2, 1},
	} {
		t.Run(c.query, func(t *testing.T) {
			d := newSealed(t, sealedRows)
			cost := fmt.Sprint(d.rows(`SELECT account, sum(epsilon), sum(at_most) FROM budget_cost(?) WHERE account <> 'cy' GROUP BY 1`, c.query))
			d.rows(c.query)
			d.spends("ana", c.unit, c.ana)
			d.spends("bo", c.unit, c.bo)
			d.spends("ana", "kWh", 0)
			if want := fmt.Sprintf("[[ana %v %[1]v] [bo %v %[2]v]]", c.ana, c.bo); cost != want {
				t.Errorf("budget_cost says %s, want %s", cost, want)
			}
		})
	}
}

// An account with several pseudonyms has one record, which is moved into the range once, and pays once. Where the
// groups are those of pseudonyms it has a record in each, and pays for each.
func TestPersonOfSeveralPseudonyms(t *testing.T) {
	d := newSealed(t, sealedRows)
	for _, name := range []string{"second", "third"} {
		d.insert(d.collector(d.database, name), "ana", 6)
	}
	d.answers(`SELECT count(DISTINCT who) FROM s`, "[[5]]")
	d.answers(`SELECT dx_sum(dx_person(kwh, 0, 10), 100) FROM s`, "[[21]]") // and not 10 + 6 + 6 + 2 + 9
	d.answers(`SELECT dx_max(dx_person(kwh, 0, 50), 100) FROM s`, "[[24]]")
	d.answers(`SELECT bin.value ->> 'count' FROM (SELECT dx_histogram(dx_person(kwh, 0, 50), 100, 51) AS h FROM s), json_each(h) bin WHERE bin.key IN (2, 6, 9, 12, 24)`, "[[1] [0] [1] [0] [1]]")
	d.spends("ana", "record", 300)
	d.spends("bo", "record", 300)
	d.rows(`SELECT dx_sum(dx_person(kwh, 0, 10), 1) FROM s GROUP BY who`)
	d.spends("ana", "record", 303)
	d.spends("bo", "record", 301)
	d.record(catalog.Erased("ana"))
	d.answers(`SELECT dx_sum(dx_person(kwh, 0, 10), 100) FROM s`, "[[11]]")
}

// A row that a join repeats is added as often, where that is allowed, and costs nothing more.
func TestPersonOfRepeatedRows(t *testing.T) {
	d := newSealed(t, sealedRows, sqlitefn.WithMaxRepeat(2))
	const twice = ` FROM s, (SELECT 1 UNION ALL SELECT 2)`
	d.answers(`SELECT dx_sum(dx_person(kwh, 0, 20), 10000)`+twice, "[[42]]") // 24 is 20
	d.spends("ana", "record", 10000)
	d.fails(`SELECT dx_sum(dx_person(kwh, 0, 20), 1) FROM s, (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)`, "more than 2 times")
	d.spends("ana", "record", 10000)
}

func TestPersonMisuse(t *testing.T) {
	d := newSealed(t, sealedRows)
	const metric = "one number a person is a record: the metric is 'dh', or left out"
	for query, want := range map[string]string{
		`SELECT dx_sum(dx_person(kwh, 0, 50), 1, 'd1') FROM s`:                           "dx_sum: " + metric,
		`SELECT dx_sum(dx_person(kwh, 0, 50), 1, 'nd1') FROM s`:                          "dx_sum: " + metric,
		`SELECT dx_avg(dx_person(kwh, 0, 50), 1, 'dinf') FROM s`:                         "dx_avg: " + metric,
		`SELECT dx_median(dx_person(kwh, 0, 50), 1, 'x') FROM s`:                         "dx_median: metric",
		`SELECT dx_median(dx_person(kwh, 0, 50), 1, 'd1/window') FROM s`:                 "dx_median: " + metric,
		`SELECT dx_percentiles(dx_person(kwh, 0, 50), '[50]', 1, 'd1') FROM s`:           "dx_percentiles: " + metric,
		`SELECT dx_value(dx_person(kwh, 0, 50), 1) FROM s`:                               "dx_value: sealed is one number a person, which this function does not take",
		`SELECT dx_count(dx_person(one, 0, 50), 1) FROM s`:                               "dx_count: account is one number a person",
		`SELECT dx_accounts(dx_person(one, 0, 50), 1) FROM s`:                            "dx_accounts: account is one number a person",
		`SELECT dx_curve(dx_person(kwh, 0, 50), 1) FROM s`:                               "dx_curve: " + metric,
		`SELECT dx_centroid(dx_person(place, 0, 50), 1) FROM s`:                          "dx_centroid: sealed is a location, which has no sum",
		`SELECT dx_heatmap(dx_person(place, 0, 5), 1, 20000) FROM s`:                     "dx_heatmap: sealed is a location, which has no sum",
		`SELECT geoind_laplace(dx_person(place, 0, 5), 1) FROM s`:                        "geoind_laplace: sealed is a location, which has no sum",
		`SELECT dx_sum(dx_person(place, 0, 50), 1) FROM s`:                               "dx_sum: sealed is a location, where a reading belongs",
		`SELECT dx_person(kwh, 5, 5) FROM s`:                                             "dx_person: lo must be below hi, got 5 and 5",
		`SELECT dx_person(kwh, 5, 1e999) FROM s`:                                         "dx_person: hi must be finite",
		`SELECT dx_sum(dx_person(kwh, 0, 0.5), 1) FROM s`:                                "dx_sum: sealed is one number a person from 0 to 0.5: 0.5 is not a multiple of 1",
		`SELECT dx_sum(dx_person(kwh, 0, 1e13), 1) FROM s`:                               "more than 2^40 values",
		`SELECT dx_person(dx_person(kwh, 0, 5), 0, 5) FROM s`:                            "dx_person: sealed is one number a person already",
		`SELECT dx_narrow(dx_person(kwh, 0, 5), 0, 5) FROM s`:                            "dx_narrow: sealed is one number a person already: write dx_person(dx_narrow(..), ..)",
		`SELECT dx_sum(dx_person(kwh, 0, 20 + id), 1) FROM s`:                            "changes its universe, domain or range within a group",
		`SELECT dx_sum(CASE id WHEN 1 THEN kwh ELSE dx_person(kwh, 0, 5) END, 1) FROM s`: "changes its universe, domain or range within a group",
		`SELECT dx_sum(dx_person(zeroblob(56), 0, 5), 1)`:                                "is not a value that was sealed for this database",
		`SELECT dx_sum('ana', dx_person(kwh, 0, 5), 1, 'u') FROM s`:                      "x must be a number, got BLOB",
	} {
		d.with(t).fails(query, want)
	}
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations were charged", n)
	}
}

// A suffix as dx_person writes it is not authenticated, so nothing in it may do more than dx_person may.
func TestForgedPersons(t *testing.T) {
	d := newSealed(t, sealedRows)
	value := fmt.Sprintf("%x", d.seal.Value(columnKWh, "ana", 7))
	const zero, three, ten, half, nan, inf = "0000000000000000", "4008000000000000", "4024000000000000", "3fe0000000000000", "7ff8000000000001", "7ff0000000000000"
	d.unharmed(func() {
		for suffix, want := range map[string]string{
			"70" + zero + half: "0.5 is not a multiple of 1", "70" + nan + ten: "NaN is not finite", "70" + zero + inf: "Inf is not finite",
			"70" + ten + three: "hi 3 is not above lo 10", "70" + three + three: "hi 3 is not above lo 3",
			zero + "4026000000000000" + "70" + zero + ten: "11 is not a value of",
			"71" + zero + ten: damaged, "70" + zero: damaged, "70" + zero + ten + "70" + zero + ten: damaged, "70" + zero + ten + zero + ten: damaged,
		} {
			_, err := d.try(`SELECT dx_sum(x'` + value + suffix + `', 1)`)
			if err == nil || !strings.Contains(err.Error(), want) {
				d.Errorf("%s: %v, want %q", suffix, err, want)
			}
		}
	})
	d.answers(`SELECT dx_sum(x'`+value+"70"+zero+three+`', 100)`, "[[3]]")
}

// Random rows of three accounts by two collectors answer as a model says: the order of rows does not matter, nor which of the
// pseudonyms they have.
func TestPersonsAreAModel(t *testing.T) {
	random := trials.Rand(t)
	for range 12 {
		d := newSealed(t, nil, sqlitefn.WithMaxRepeat(3))
		collectors := []*sealedtest.Database{d.seal, d.collector(d.database, "second")}
		sums := map[string]int64{}
		for range 3 + random.IntN(12) {
			who, kwh := []string{"ana", "bo", "cy"}[random.IntN(3)], int64(random.IntN(14)-2) // a collector may seal any value
			times := 1 + random.IntN(3)
			d.insert(collectors[random.IntN(2)], who, kwh)
			d.run(fmt.Sprintf(`UPDATE s SET one = %d WHERE id = (SELECT max(id) FROM s)`, times))
			sums[who] += int64(times) * min(max(kwh, 0), 10)
		}
		lo := int64(random.IntN(40) - 10)
		hi := lo + 1 + int64(random.IntN(20))
		total, list := int64(0), []int64{}
		for _, sum := range sums {
			list = append(list, min(max(sum, lo), hi))
			total += list[len(list)-1]
		}
		slices.Sort(list)
		d.answers(fmt.Sprintf(`SELECT dx_sum(dx_person(kwh, %d, %d), 10000), dx_min(dx_person(kwh, %[1]d, %[2]d), 1000), dx_max(dx_person(kwh, %[1]d, %[2]d), 1000)
			FROM (SELECT kwh FROM s, (VALUES (1), (2), (3)) n WHERE n.column1 <= s.one ORDER BY random())`, lo, hi),
			fmt.Sprintf("[[%d %d %d]]", total, list[0], list[len(list)-1]))
	}
}

// At a server the same question about the same rows is answered again, for free. Other ends of the range are another question.
func TestPersonsAreRemembered(t *testing.T) {
	d := newDesk(t, sealedRows)
	const question = `SELECT dx_sum(dx_person(kwh, 0, 20), 0.1) FROM s`
	first, err := d.ask(question)
	if err != nil || d.report.Remembered != 0 {
		t.Fatal(err)
	}
	d.paysIn("record", "ana=0.1 bo=0.1 cy=0.1", "ana=0.1 bo=0.1 cy=0.1")
	d.gets(`SELECT dx_sum(dx_person(kwh, 0, 20), 0.1) FROM (SELECT * FROM s ORDER BY id DESC)`, first[0])
	if d.report.Remembered != 1 {
		t.Error("the same question is charged")
	}
	for _, other := range []string{
		`SELECT dx_sum(dx_person(kwh, 0, 21), 0.1) FROM s`, `SELECT dx_sum(dx_person(kwh, -1, 20), 0.1) FROM s`, `SELECT dx_sum(dx_person(dx_narrow(kwh, 0, 9), 0, 20), 0.1) FROM s`,
		`SELECT dx_sum(dx_narrow(kwh, 0, 9), 0.1, 'dh') FROM s`, `SELECT dx_sum(dx_person(kwh, 0, 9), 0.1) FROM s`, `SELECT dx_sum(dx_person(dx_narrow(kwh, 0, 9), 0, 9), 0.1) FROM s`,
		`SELECT dx_sum(kwh, 0.1) FROM s`, `SELECT dx_avg(dx_person(kwh, 0, 20), 0.1) FROM s`, `SELECT dx_sum(dx_person(kwh, 0, 20), 0.1) FROM s WHERE id > 1`,
	} {
		if _, err := d.ask(other); err != nil || d.report.Remembered != 0 {
			t.Errorf("%s: %d remembered, %v", other, d.report.Remembered, err)
		}
	}
	d.record(catalog.Erased("ana"))
	if _, err := d.ask(question); err != nil || d.report.Remembered != 0 {
		t.Errorf("after an erasure: %d remembered, %v", d.report.Remembered, err)
	}
}

// A role's cap counts a person once, accounts that cannot pay are left out with all their rows, and the quoted radius is that of
// people and not of rows.
func TestPersonsOfAnalysts(t *testing.T) {
	d := newDesk(t, sealedRows)
	d.analyst.Largest = amounts(2)
	if _, err := d.ask(`SELECT dx_sum(dx_person(kwh, 0, 20), 2) FROM s`); err != nil {
		t.Error(err)
	}
	d.isRefused(`SELECT dx_sum(dx_person(kwh, 0, 20), 2.1) FROM s`, "dx_sum: epsilon 2.1 is above 2")
	d.analyst.Largest = amounts(100000)
	d.quote = true
	for query, want := range map[string]string{
		`SELECT dx_sum(dx_person(kwh, 0, 20), 1) FROM s`: "60 kWh",
		`SELECT dx_avg(dx_person(kwh, 0, 20), 1) FROM s`: "20 kWh", // 60 over three people
		`SELECT dx_sum(kwh, 1, 'dh') FROM s`:             "30 kWh",
		`SELECT dx_avg(kwh, 1, 'dh') FROM s`:             "6 kWh", // 30 over five rows
	} {
		if _, err := d.ask(query); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprintf("%.2g %s", d.report.Radius, d.report.Unit); got != want {
			t.Errorf("%s\nis within %s, want %s", query, got, want)
		}
	}
	d.quote = false
	d.run(`SELECT budget_limit('ana', 'record', 0)`)
	d.isRefused(`SELECT dx_sum(dx_person(kwh, 0, 10), 10000) FROM s`, "account 'ana'")
	d.analyst.LeaveOut = true
	d.gets(`SELECT dx_sum(dx_person(kwh, 0, 10), 10000), dx_max(dx_person(kwh, 0, 10), 1000) FROM s`, "11 9")
	if d.report.LeftOut != 1 {
		t.Errorf("%d are left out", d.report.LeftOut)
	}
}

// A price of many rows says how to pay once, and an analyst's refusal does.
func TestPersonsAreTheCure(t *testing.T) {
	var rows []sealedRow
	for i := range 12 {
		rows = append(rows, sealedRow{"ana", i % 2, int64(i % 10), 1, 40, 116})
	}
	d := newSealed(t, rows)
	d.answers(`SELECT rule FROM budget_cost('SELECT dx_sum(dx_narrow(kwh, 1, 5), 1, ''dh'') FROM s')`,
		"[[once per row: to charge each account once, write dx_sum(dx_person(dx_narrow(kwh, 1, 5), lo, hi), 1, 'dh')]]")
	d.answers(`SELECT rule FROM budget_cost('SELECT dx_histogram(kwh, 1, 2) FROM s')`,
		"[[once per row: to charge each account once, write dx_histogram(dx_person(kwh, lo, hi), 1, 2)]]")
	d.answers(`SELECT rule, epsilon FROM budget_cost('SELECT dx_sum(dx_person(kwh, 0, 50), 1) FROM s')`, "[[<nil> 1]]")
	desk := newDeskOf(t, d)
	desk.analyst.Largest = amounts(1)
	desk.isRefused(`SELECT dx_sum(kwh, 1, 'dh') FROM s`, "one record of each account costs epsilon once: dx_person(column, lo, hi), or FROM (SELECT column FROM table GROUP BY account)")
}

// Of a universe that a sealed column has, the accuracy is that of sealed values: how many there are is public.
func TestRadiusOfSealedColumns(t *testing.T) {
	d := newSealed(t, sealedRows)
	d.run(`INSERT INTO other VALUES(1, `+d.seal.Reading(columnOther, "ana", 7)+`)`, `SELECT dx_universe('far', 100, 110, 1, 'kWh')`)
	desk := newDeskOf(t, d)
	for query, want := range map[string]string{
		`SELECT dx_radius('sum', 0.5, 1, 'wide', 'dh'), dx_radius('sum', 0.5, 1, 'wide', 'nd1')`:   "69 73", // 0.655*105, on a staircase, and 105 ln 2
		`SELECT dx_radius('sum', 0.5, 1, 'far', 'dh')`:                                             "72",    // no column has it: 0.655*110
		`SELECT dx_radius('avg', 0.5, 1, 'u', 'dh', 7)`:                                            "1.001", // 7 steps of 1/7, and rounding
		`SELECT dx_radius('avg', 0.5, 1, 'far', 'dh', 7) > dx_radius('avg', 0.5, 1, 'u', 'dh', 7)`: "1",
		`SELECT round(dx_epsilon_for('avg', 1, 0.5, 'u', 'dh', 7), 3)`:                             "1.016",
	} {
		desk.gets(query, want)
		d.with(t).answers(query, "[["+want+"]]")
	}
}

// A home with 1,488 half hours pays epsilon once for one number of its own, over plain tables by a subquery and over sealed values
// by dx_person. Its records cost as often as there are.
func TestPersonsCostTheSameAsASubquery(t *testing.T) {
	const halfHours = 1488
	d := newSealed(t, sealedRows)
	d.run(`SELECT dx_universe('month', 0, 20000, 1, 'kWh'), budget_limit('*', 'record', 100000)`)
	seal := d.collector(d.database, "second")
	d.run(`BEGIN`)
	for i := range halfHours {
		d.insert(seal, "home", int64(i%11))
	}
	d.run(`COMMIT`, fmt.Sprintf(`INSERT INTO p(who, kwh) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT 'home', i %% 11 FROM n`, halfHours-1))
	want := 0.0
	for _, c := range []struct {
		query string
		cost  float64
	}{
		{`SELECT dx_sum(who, s, 1, 'month', 'dh') FROM (SELECT who, sum(kwh) AS s FROM p GROUP BY who)`, 1},
		{`SELECT dx_sum(dx_person(kwh, 0, 20000), 1) FROM s`, 1},
		{`SELECT dx_avg(dx_person(kwh, 0, 20000), 1) FROM s`, 1},
		{`SELECT dx_sum(who, kwh, 1, 'u', 'dh') FROM p`, halfHours},
		{`SELECT dx_sum(kwh, 1, 'dh') FROM s`, halfHours},
	} {
		d.rows(c.query)
		want += c.cost
		d.spends("home", "record", want)
	}
	d.answers(`SELECT dx_max(who, s, 100, 'month', 'dh') FROM (SELECT who, sum(kwh) AS s FROM p GROUP BY who)`, "[[7428]]")
	d.answers(`SELECT dx_max(dx_person(kwh, 0, 20000), 100) FROM s`, "[[7428]]")
}
