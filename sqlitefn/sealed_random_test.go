package sqlitefn_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/sqlitefn"
)

// sealedSQL writes random statements over three databases that have the same rows: one with
// plain values, one with sealed ones, and a shadow, where a value names itself. They share
// the public columns id, a, zone and h. The parts that they write differently are in braces: the columns of
// a table, {cols} or {l.cols}, and calls, {name column epsilon metric}.
type sealedSQL struct{ randomSQL }

var (
	inBraces = regexp.MustCompile(`\{[^}]*\}`)

	secretColumns = map[string][]string{
		"plain": {"who", "x", "y", "lat", "lon"}, "sealed": {"x", "y", "z"}, "shadow": {"x", "y", "z"},
	}
)

// in returns a statement as a database writes it.
func in(database, statement string) string {
	return inBraces.ReplaceAllStringFunc(statement, func(s string) string {
		fields := strings.Fields(s[1 : len(s)-1])
		if prefix, ok := strings.CutSuffix(fields[0], "cols"); ok {
			return prefix + strings.Join(append([]string{"id", "a", "zone", "h"}, secretColumns[database]...), ", "+prefix)
		}
		return callIn(database, fields[0], fields[1], fields[2], strings.Join(fields[3:], ""))
	})
}

func callIn(database, name, column, epsilon, metric string) string {
	if database == "shadow" {
		return fmt.Sprintf("seen('%s %s', %s, %s)", name, metric, epsilon, column)
	}
	args := []string{epsilon}
	declared := map[string]string{"x": "'u'", "y": "'bit'", "z": "'beijing'"}[column]
	if metric == "person" { // one number of each account, which costs no more than all of its rows
		metric = "dh"
		switch database {
		case "sealed":
			column = "dx_person(" + column + ", 0, 15)"
		case "plain":
			column += " + 0" // another expression than that of all rows: SQLite answers equal ones once
		}
	}
	if database == "plain" {
		args = append(args, declared)
	}
	switch name {
	case "dx_percentile":
		args = slices.Insert(args, 0, "75")
	case "dx_curve":
		args, metric = append(args, "2"), ""
	case "dx_histogram":
		args, metric = append(args, "2"), ""
	case "dx_heatmap":
		args = append(args, "50000")
	case "dx_count", "dx_accounts":
		if database == "plain" {
			return name + "(CASE y WHEN 1 THEN who END, " + epsilon + ")"
		}
	}
	if metric != "" {
		args = append(args, "'"+metric+"'")
	}
	switch {
	case database == "sealed":
		args = slices.Insert(args, 0, column)
	case column == "z":
		args = slices.Insert(args, 0, "who", "lat", "lon")
	default:
		args = slices.Insert(args, 0, "who", column)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// call returns a call with an epsilon that is one of a few or an expression that is constant in a group.
func (q sealedSQL) call(expressions ...string) string {
	epsilon := q.of(append(expressions, "0.25", "0.5", "1", "1.5")...)
	x := q.of("x", "x", "y")
	switch q.IntN(10) {
	case 0:
		return "{dx_count y " + epsilon + "}"
	case 1:
		return "{dx_accounts y " + epsilon + "}"
	case 2:
		return "{dx_histogram x " + epsilon + q.of("", "", " person") + "}"
	case 3:
		return "{dx_centroid z " + epsilon + "}"
	case 4:
		return "{dx_heatmap z " + epsilon + "}"
	case 5, 6:
		return "{dx_sum " + x + " " + epsilon + " " + q.of("", "", "", "d1", "nd1", "dh", "person") + "}"
	case 7:
		if q.IntN(3) == 0 {
			return "{dx_curve " + x + " " + epsilon + "}"
		}
		return "{" + q.of("dx_variance", "dx_stddev") + " " + x + " " + epsilon + " " + q.of("", "d1", "dh") + "}"
	default:
		return "{" + q.of("dx_avg", "dx_min", "dx_max", "dx_median", "dx_percentile") + " " + x + " " + epsilon + " " + q.of("", "d1", "dinf", "nd1", "dh", "person") + "}"
	}
}

// source returns something with the columns {cols}.
func (q sealedSQL) source(depth int) string {
	if depth == 0 {
		return q.of("t", "t", "t", "t2", "v", "w", "c")
	}
	one := func() string { return q.source(q.IntN(depth)) }
	side := q.of("l", "l", "l", "k")
	switch q.IntN(16) {
	case 0, 1:
		return "(SELECT {cols} FROM " + one() + " WHERE " + q.condition("") + ")"
	case 2:
		return "(SELECT {cols} FROM " + one() + q.of(" UNION ALL ", " UNION ") + "SELECT {cols} FROM " + one() + ")"
	case 3:
		return "(SELECT {cols}, max(id) FROM " + one() + " GROUP BY " + q.of("id", "a", "zone, h") + ")"
	case 4, 5:
		return "(SELECT {l.cols} FROM " + one() + " l JOIN pub p ON p.zone " + q.of("=", "=", "<=") + " l.zone)"
	case 6, 7:
		return "(SELECT {" + side + ".cols} FROM " + one() + " l" + q.of(" JOIN ", " LEFT JOIN ") + one() + " k ON " + q.of("l.id = k.id", "l.id = k.id + 1", "l.h = k.h", "l.zone = k.zone") + ")"
	case 8:
		return "(SELECT {cols} FROM " + one() + " ORDER BY h, id LIMIT 5)"
	case 9:
		return "(SELECT {l.cols}, row_number() OVER (PARTITION BY l.zone ORDER BY l.id) AS n FROM " + one() + " l)"
	case 10:
		return "(SELECT {l.cols} FROM (SELECT DISTINCT zone FROM t) n JOIN " + one() + " l ON l.zone >= n.zone)"
	case 11:
		return "(SELECT {l.cols} FROM " + one() + " l LEFT JOIN (VALUES (1), (2)) n ON n.column1 = l.h)"
	default:
		return one()
	}
}

func (q sealedSQL) condition(t string) string {
	return q.of(t+"h > 0", t+"id > 4", t+"zone IN (0, 1)", t+"zone IN (SELECT zone FROM t2 WHERE h > 1)", "EXISTS (SELECT 1 FROM t2 k WHERE k.zone = "+t+"h)", t+"h = 2 OR "+t+"zone = 1")
}

func (q sealedSQL) statement() string {
	selects := func() string {
		keys := q.of("zone", "zone", "zone", "h", "zone, h", "h % 2", "a", "id", "", "")
		var epsilons []string
		if strings.HasPrefix(keys, "zone") {
			epsilons = []string{"coalesce(zone,0)+0.5"}
		}
		calls := []string{q.call(epsilons...)}
		for q.IntN(3) == 0 {
			calls = append(calls, q.call(epsilons...))
		}
		if q.IntN(4) == 0 {
			calls[0] += " FILTER (WHERE " + q.of("h < 3", "zone = 1", "id % 2") + ")"
		}
		query := "SELECT count(*) AS n, " + strings.Join(calls, ", ") + " FROM " + q.source(q.IntN(4))
		if q.IntN(3) == 0 {
			query += " WHERE " + q.condition("")
		}
		if keys != "" {
			query += " GROUP BY " + keys + q.of("", "", " HAVING count(*) > 1", " ORDER BY max(id) DESC")
		}
		return query
	}
	with := "WITH c AS " + q.of("", "MATERIALIZED ", "NOT MATERIALIZED ") + "(SELECT {cols} FROM " + q.of("t", "t2", "w", "t WHERE h > 1") + ") "
	switch q.IntN(10) {
	case 0:
		return with + "SELECT * FROM (" + q.correlated() + ") UNION ALL SELECT * FROM (" + q.correlated() + ")"
	case 1, 2:
		return with + q.correlated()
	case 3:
		return "INSERT INTO out " + with + "SELECT 1, n FROM (" + selects() + ")"
	case 4:
		return with + "SELECT * FROM (" + selects() + ") LIMIT " + q.of("1", "2", "20")
	case 5:
		return with + "SELECT m.*, o.* FROM (" + selects() + ") m, (" + selects() + ") o LIMIT 20"
	default:
		return with + selects()
	}
}

// correlated returns a query with a column of answers that a subquery gives for each row.
func (q sealedSQL) correlated() string {
	return "SELECT l.zone, (SELECT " + q.call("l.zone+0.5") + " FROM " + q.source(1) + " k WHERE k.zone " + q.of("=", "=", "<") + " l.zone) FROM (SELECT DISTINCT zone FROM " + q.of("t", "w") + ") l"
}

// newTriplet opens the three databases, the sealed one under a name. The draws of the first two come from a tape.
func newTriplet(t *testing.T, dsn string, most int) (plain *database, hidden *sealedDatabase, shadow *database) {
	plain, shadow = open(t, ":memory:"), open(t, ":memory:")
	hidden = sealRows(t, dsn, sealedtest.NewKey(t), nil, sqlitefn.WithMaxRepeat(most))
	plain.run(declarations...)
	plain.run(`SELECT dx_universe('bit', 0, 1, 1, 'yes'), budget_limit('*', 'yes', 9000000)`,
		`CREATE TABLE t(id INTEGER PRIMARY KEY, a, zone, h, who, x, y, lat, lon)`, `CREATE TABLE t2 AS SELECT * FROM t`)
	shadow.run(`CREATE TABLE t(id INTEGER PRIMARY KEY, a, zone, h, x, y, z)`, `CREATE TABLE t2 AS SELECT * FROM t`)
	hidden.run(`DROP TABLE s`, `CREATE TABLE t(id INTEGER PRIMARY KEY, a, zone, h, x, y, z)`, `CREATE TABLE t2 AS SELECT * FROM t`)
	for i := 1; i <= 14; i++ {
		table := []string{"t", "t", "t2"}[i%3]
		a := i * i % 3
		who := []string{"ana", "bo", "cy"}[a]
		public := fmt.Sprintf("%d, %d, %d, %d", i, a, i%4%3, i*i%7%4)
		x, y, lat, lon := int64(i*7%11), int64(i*5%3%2), 39.5+float64(i)/10, 115.5+float64(i)/8
		values := map[string][]string{
			"plain":  {"'" + who + "'", fmt.Sprint(x), fmt.Sprint(y), fmt.Sprint(lat), fmt.Sprint(lon)},
			"sealed": {hidden.seal.Reading(columnKWh, who, x), hidden.seal.Reading(columnOne, who, y), hidden.seal.Location(columnPlace, who, lat, lon)},
			"shadow": {fmt.Sprintf("'%s x %d'", who, i), fmt.Sprintf("'%s y %d'", who, i), fmt.Sprintf("'%s z %d'", who, i)},
		}
		if i%6 == 0 { // no readings
			values["plain"][1], values["plain"][2], values["sealed"][0], values["sealed"][1], values["shadow"][0], values["shadow"][1] = "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"
		}
		for name, d := range map[string]*database{"plain": plain, "sealed": hidden.database, "shadow": shadow} {
			d.run(`INSERT INTO ` + table + ` VALUES(` + public + `, ` + strings.Join(values[name], ", ") + `)`)
		}
	}
	for name, d := range map[string]*database{"plain": plain, "sealed": hidden.database, "shadow": shadow} {
		d.run(in(name, `CREATE VIEW v AS SELECT {cols} FROM t WHERE h < 3`), in(name, `CREATE VIEW w AS SELECT {cols} FROM t UNION ALL SELECT {cols} FROM t2`),
			`CREATE TABLE out(g, y)`, `CREATE TABLE pub(zone, name)`, `INSERT INTO pub VALUES (0, 'north'), (1, 'south'), (2, 'west')`)
	}
	return plain, hidden, shadow
}

// balances returns the amounts that accounts have spent, by account and unit.
func (d *database) balances() map[[2]string]float64 {
	d.Helper()
	spent := map[[2]string]float64{}
	for _, row := range d.rows(`SELECT account, unit, spent FROM ledger_balance WHERE spent > 0`) {
		spent[[2]string{row[0].(string), row[1].(string)}] = row[2].(float64)
	}
	return spent
}

// charges runs a statement that draws from the beginning of a tape, undoes its writes, and
// returns its rows and its charges.
func (d *database) charges(number uint64, statement string) (rows [][]any, charged map[[2]string]float64, err error) {
	d.Helper()
	d.drawing(tape(number))
	before := d.balances()
	d.run(`SAVEPOINT before`)
	rows, err = d.try(statement)
	d.run(`ROLLBACK TO before`, `RELEASE before`)
	charged = d.balances()
	for at, spent := range charged {
		if charged[at] = spent - before[at]; charged[at] == 0 {
			delete(charged, at)
		}
	}
	return rows, charged, err
}

// Sealed values answer as plain ones do where the law is the same, charge exactly by the rule of the shadow, and
// never more than the plain ones if no group repeats a value.
func TestSealedAndPlainAlike(t *testing.T) {
	t.Parallel()
	q := sealedSQL{randomSQL{trials.Rand(t)}}
	statements := trials.Count(t, "GEOSQL_STATEMENTS", 400)
	var compared, refused, dearer, cheaper, repeated int
	for most := 1; most <= 3; most++ {
		plain, hidden, other := newTriplet(t, ":memory:", most)
		var s *shadow
		other.raw(func(c *sqlitefn.Conn) {
			if err := c.RegisterAggregator("seen", func() *shadowGroup { return s.group() }, false); err != nil {
				t.Fatal(err)
			}
		})
		for i := range statements / 3 {
			statement := q.statement()
			s = newShadow(most)
			if _, _, err := other.charges(0, in("shadow", statement)); err != nil {
				t.Fatalf("%s\n%v", in("shadow", statement), err)
			}
			want, wantCharged, failed := plain.charges(uint64(i), in("plain", statement))
			if failed != nil {
				t.Fatalf("%s\n%v", in("plain", statement), failed)
			}
			rows, charged, err := hidden.charges(uint64(i), in("sealed", statement))
			if wrong := s.contradicts(charged); wrong != "" {
				t.Errorf("%s\nat most %d times: charged %v, %s", in("sealed", statement), most, charged, wrong)
			}
			switch {
			case s.tooOften && (err == nil || !strings.Contains(err.Error(), "a group has the same value more than")):
				t.Errorf("%s\nanswers %v, %v; a group repeats a value", in("sealed", statement), rows, err)
			case s.tooOften:
				refused++
				continue
			case err != nil:
				t.Errorf("%s\n%v", in("sealed", statement), err)
				continue
			}
			if s.empty || s.differs { // it has no answer or one of another law, and those after it come from other draws
				want, rows = shapeOf(want), shapeOf(rows)
			} else {
				compared++
			}
			if fmt.Sprint(rows) != fmt.Sprint(want) {
				t.Errorf("%s\nanswers\n%v, plain\n%v", in("sealed", statement), rows, want)
			}
			if s.repeated {
				repeated++
			}
			for at, c := range charged {
				switch {
				case c > wantCharged[at] && !s.repeated && !s.ones:
					t.Errorf("%s\ncharges %s %v/%s, plain %v", in("sealed", statement), at[0], c, at[1], wantCharged[at])
				case c > wantCharged[at]:
					dearer++
				case c < wantCharged[at]:
					cheaper++
				}
			}
		}
	}
	t.Logf("%d with equal answers, %d repeat values too often, %d as often as is allowed; %d charges are smaller, %d larger since values repeat or ones are counted", compared, refused, repeated, cheaper, dearer)
	// The rarest is one in thirteen: of 400, fewer than 5 have a probability below 1e-8.
	if least := statements / 80; compared < least || refused < least || repeated < least || cheaper < least {
		t.Error("too few to be a test")
	}
}

// A statement evaluated elsewhere, for an analyst, answers as plain values do and charges accounts and role budgets by
// the rule of the shadow. A question that a statement asks twice costs once.
func TestEvaluatedAndPlainAlike(t *testing.T) {
	t.Parallel()
	q := sealedSQL{randomSQL{trials.Rand(t)}}
	statements := trials.Count(t, "GEOSQL_STATEMENTS", 200)
	compared, refused, remembered := 0, 0, 0
	for most := 1; most <= 2; most++ {
		plain, hidden, other := newTriplet(t, t.TempDir()+"/sealed.db?_sync=OFF", most)
		d := newDeskOf(t, hidden)
		d.analyst.MaxRepeat = most
		var s *shadow
		other.raw(func(c *sqlitefn.Conn) {
			if err := c.RegisterAggregator("seen", func() *shadowGroup { return s.group() }, false); err != nil {
				t.Fatal(err)
			}
		})
		for i := range statements / 2 {
			statement := q.statement()
			if strings.HasPrefix(statement, "INSERT") {
				continue
			}
			s = newShadow(most)
			if _, _, err := other.charges(0, in("shadow", statement)); err != nil {
				t.Fatalf("%s\n%v", in("shadow", statement), err)
			}
			want, _, failed := plain.charges(uint64(i), in("plain", statement))
			if failed != nil {
				t.Fatalf("%s\n%v", in("plain", statement), failed)
			}
			d.open([32]byte{byte(most), byte(i), byte(i >> 8)}) // nothing is remembered of other statements
			d.rewind(uint64(i))
			before, roles := hidden.balances(), d.roleBudgets()
			rows, err := d.ask(in("sealed", statement))
			charged, taken := since(before, hidden.balances()), since(roles, d.roleBudgets())
			s.again = d.report.Remembered > 0
			switch {
			case s.tooOften:
				refused++
				if wrong := s.contradicts(charged); wrong != "" || err == nil || !strings.Contains(err.Error(), "a group has the same value more than") {
					t.Errorf("%s\n%v: %s", in("sealed", statement), err, wrong)
				}
				continue
			case err != nil:
				t.Errorf("%s\n%v", in("sealed", statement), err)
				continue
			case !maps.Equal(charged, taken):
				t.Errorf("%s\ncharges accounts %v and role budgets %v", in("sealed", statement), charged, taken)
			}
			if s.again {
				remembered++
				for at, c := range charged {
					if c > s.charges()[at] {
						t.Errorf("%s\ncharges %v, want at most %v", in("sealed", statement), charged, s.charges())
					}
				}
				continue
			}
			if wrong := s.contradicts(charged); wrong != "" {
				t.Errorf("%s\nat most %d times: charged %v, %s", in("sealed", statement), most, charged, wrong)
			}
			if !s.empty && !s.differs && !slices.Equal(rows, shown(want)) {
				t.Errorf("%s\nanswers\n%v, plain\n%v", in("sealed", statement), rows, shown(want))
			}
			compared++
		}
	}
	t.Logf("%d with equal answers and charges, %d repeat values too often, %d ask a question twice", compared, refused, remembered)
	// One in six is refused: of 200, fewer than 2 have a probability below 1e-13. One in fifty is remembered, and one of 1,280 has to be.
	if least := statements / 80; compared < 4*least || refused < least || remembered < least/16 {
		t.Error("too few to be a test")
	}
}

// since returns the amounts by which balances exceed earlier ones.
func since(before, after map[[2]string]float64) map[[2]string]float64 {
	more := map[[2]string]float64{}
	for at, spent := range after {
		if by := spent - before[at]; by != 0 {
			more[at] = by
		}
	}
	return more
}

// shown returns rows as a desk shows them.
func shown(rows [][]any) (list []string) {
	for _, row := range rows {
		var cells []string
		for _, cell := range row {
			switch c := cell.(type) {
			case nil:
				cells = append(cells, "NULL")
			case []byte:
				cells = append(cells, string(c))
			default:
				cells = append(cells, fmt.Sprint(c))
			}
		}
		list = append(list, strings.Join(cells, " "))
	}
	return list
}

// shapeOf returns rows of as many cells.
func shapeOf(rows [][]any) (shape [][]any) {
	for _, row := range rows {
		shape = append(shape, make([]any, len(row)))
	}
	return shape
}
