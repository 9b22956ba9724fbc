package misuse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/trials"
)

// A queryMaker writes random queries over sealedSchema and counts their uses of sealed values.
type queryMaker struct {
	*rand.Rand
	misuses int     // sealed values used as if they were the hidden values
	certain int     // those of them that SQLite cannot leave out, since nothing shows them
	sorts   bool    // the whole query is sorted by a sealed value, unless SQLite finds that it need not be
	inner   int     // how deep the query is that is being made
	rate    float64 // of misuses
	names   int
}

// A madeColumn is a column or an expression, which may be a sealed value.
type madeColumn struct {
	text   string
	sealed bool
}

func (q *queryMaker) chance(p float64) bool { return q.Float64() < p }

func (q *queryMaker) name() string {
	q.names++
	return fmt.Sprint("n", q.names)
}

func (q *queryMaker) misuse() {
	q.misuses++
	if q.inner == 0 {
		q.certain++
	}
}

func pick[T any](q *queryMaker, list []T) T { return list[q.IntN(len(list))] }

// of returns a sealed or a public one of columns. There is always a public one.
func (q *queryMaker) of(columns []madeColumn, sealed bool) string {
	var list []string
	for _, c := range columns {
		if c.sealed == sealed {
			list = append(list, c.text)
		}
	}
	if len(list) == 0 {
		return "NULL"
	}
	return pick(q, list)
}

func hasSealedColumn(columns []madeColumn) bool {
	for _, c := range columns {
		if c.sealed {
			return true
		}
	}
	return false
}

// expression returns an expression over columns, outside aggregates.
func (q *queryMaker) expression(columns []madeColumn) madeColumn {
	p, p2 := q.of(columns, false), q.of(columns, false)
	if !hasSealedColumn(columns) || q.chance(0.5) {
		return madeColumn{fmt.Sprintf(pick(q, []string{"%[1]s", "%[1]s + %[2]s", "max(%[1]s, %[2]s, 3)", "printf('%%s %%s', %[1]s, %[2]s)", "%[1]s > %[2]s",
			"coalesce(%[1]s, %[2]s)", "CASE WHEN %[1]s < %[2]s THEN 1 ELSE %[2]s END", "%[1]s IN (1, 2, 3, %[2]s)", "%[1]s LIKE 'a%%'", "abs(%[1]s)"}), p, p2), false}
	}
	s, s2 := q.of(columns, true), q.of(columns, true)
	switch {
	case q.chance(q.rate):
		q.misuse()
		return madeColumn{fmt.Sprintf(pick(q, []string{"%[1]s + 1", "%[2]s * %[1]s", "abs(%[1]s)", "%[1]s > %[2]s", "%[1]s = %[3]s", "upper(%[1]s)", "%[1]s || 'x'",
			"CAST(%[1]s AS REAL)", "%[1]s IN (1, 2, 3)", "max(%[1]s, %[2]s)", "nullif(%[1]s, 3)", "CASE WHEN %[1]s THEN 1 ELSE 2 END", "-%[1]s", "NOT %[1]s",
			"%[1]s BETWEEN 1 AND %[2]s", "round(coalesce(%[1]s, %[3]s), 1)", "printf('%%s %%s', %[2]s, %[1]s)", "replace(%[1]s, 'a', 'b')",
			"CASE %[1]s WHEN 1 THEN %[2]s END", "instr(%[1]s, '1')", "%[1]s IN (SELECT x FROM plain)"}), s, p, s2), false}
	case q.chance(0.4):
		return madeColumn{fmt.Sprintf(pick(q, []string{"typeof(%s)", "length(%s)", "%s IS NULL", "%s IS NOT NULL"}), s), false}
	}
	return madeColumn{fmt.Sprintf(pick(q, []string{"%[1]s", "coalesce(%[1]s, %[2]s)", "ifnull(%[1]s, %[2]s)", "CASE WHEN %[3]s > 1 THEN %[1]s ELSE %[2]s END",
		"iif(%[3]s > 2, %[1]s, %[2]s)"}), s, s2, p), true}
}

// aggregate returns an aggregate over columns.
func (q *queryMaker) aggregate(columns []madeColumn) madeColumn {
	p := q.of(columns, false)
	if !hasSealedColumn(columns) || q.chance(0.5) {
		return madeColumn{fmt.Sprintf(pick(q, []string{"sum(%s)", "count(nullif(%s, 1))", "min(%s)", "group_concat(%s)", "avg(%s)", "count(DISTINCT %s)"}), p), false}
	}
	s := q.of(columns, true)
	if q.chance(q.rate) {
		q.misuse()
		return madeColumn{fmt.Sprintf(pick(q, []string{"sum(%s)", "avg(%s)", "total(%s)", "group_concat(%s)", "count(DISTINCT %s)", "sum(abs(%s))",
			"count(*) FILTER (WHERE %s > 3)"}), s), false}
	}
	return madeColumn{fmt.Sprintf(pick(q, []string{"dx_sum(%s, 0.5)", "count(%s)", "dx_max(%s, 0.1)", "sum(length(%s))", "max(typeof(%s))"}), s), false}
}

// window returns a window function over columns.
func (q *queryMaker) window(columns []madeColumn) madeColumn {
	over := fmt.Sprintf("OVER (PARTITION BY %s ORDER BY %s, %s)", q.of(columns, false), q.of(columns, false), q.of(columns, false))
	if hasSealedColumn(columns) && q.chance(0.5) {
		s := q.of(columns, true)
		if q.chance(q.rate) {
			q.misuse()
			return madeColumn{pick(q, []string{"sum(" + s + ") " + over, "rank() OVER (ORDER BY " + s + ")", "max(" + s + ") " + over}), false}
		}
		return pick(q, []madeColumn{{"count(" + s + ") " + over, false}, {"lag(" + s + ") " + over, true}, {"first_value(" + s + ") " + over, true}, {"last_value(" + s + ") " + over, true}})
	}
	return madeColumn{pick(q, []string{"sum(", "count(", "lag(", "max("}) + q.of(columns, false) + ") " + over, false}
}

// from returns a FROM clause, with parentheses where it is a query, and its columns.
func (q *queryMaker) from(depth int) (string, []madeColumn) {
	as := q.name()
	named := func(columns ...madeColumn) []madeColumn {
		for i := range columns {
			columns[i].text = as + "." + columns[i].text
		}
		return columns
	}
	switch kind := q.IntN(8); {
	case depth > 0 && kind < 3:
		q.inner++
		text, columns := q.query(depth - 1)
		q.inner--
		return "(" + text + ") AS " + as, named(columns...)
	case depth > 0 && kind == 3:
		left, a := q.from(depth - 1)
		right, b := q.from(0)
		join := fmt.Sprintf("%s %s %s ON %s = %s", left, pick(q, []string{"JOIN", "LEFT JOIN"}), right, q.of(a, false), q.of(b, false))
		return join, append(a, b...)
	case kind == 4:
		return "plain AS " + as, named(madeColumn{"id", false}, madeColumn{"home", false}, madeColumn{"x", false})
	case kind == 5:
		return "twin AS " + as, named(madeColumn{"at", false}, madeColumn{"kwh", true}, madeColumn{"tag", false})
	case kind == 6:
		return "copied AS " + as, named(madeColumn{"home", false}, madeColumn{"k", true}, madeColumn{"p", false})
	}
	return "reading AS " + as, named(madeColumn{"id", false}, madeColumn{"home", false}, madeColumn{"at", false}, madeColumn{"kwh", true}, madeColumn{"price", false})
}

// query returns a query and the columns of its result.
func (q *queryMaker) query(depth int) (string, []madeColumn) {
	from, columns := q.from(depth)
	var items []madeColumn
	grouped := q.chance(0.3)
	key := q.of(columns, false)
	if grouped {
		items = append(items, madeColumn{key, false})
	}
	for range 1 + q.IntN(3) {
		switch {
		case grouped:
			items = append(items, q.aggregate(columns))
		case q.chance(0.15):
			items = append(items, q.window(columns))
		default:
			items = append(items, q.expression(columns))
		}
	}
	items = append(items, madeColumn{"1", false}) // there is a public one
	distinct, where, tail := "", "", ""
	if q.chance(0.4) {
		condition := q.expression(columns)
		if condition.sealed {
			condition.text += " IS NOT NULL"
		}
		where = " WHERE " + condition.text
	}
	if grouped {
		tail += " GROUP BY " + key
	}
	var out []madeColumn
	var list []string
	for i, item := range items {
		out = append(out, madeColumn{fmt.Sprint("c", i), item.sealed})
		list = append(list, fmt.Sprintf("%s AS c%d", item.text, i))
	}
	sealed := hasSealedColumn(out)
	if q.chance(0.15) && (!sealed || q.chance(q.rate)) {
		distinct = "DISTINCT "
		if sealed {
			q.misuse()
		}
	}
	text := "SELECT " + distinct + strings.Join(list, ", ") + " FROM " + from + where + tail
	if q.chance(0.2) {
		text += pick(q, []string{" UNION ALL ", " UNION ALL "}) + "SELECT " + distinct + strings.Join(list, ", ") + " FROM " + from + where + tail
	} else if q.chance(0.1) && (!sealed || q.chance(q.rate)) {
		text += " UNION SELECT " + strings.Join(list, ", ") + " FROM " + from + where + tail
		if sealed {
			q.misuse()
		}
	}
	if q.chance(0.4) {
		by := q.IntN(len(out) - 1)
		if !out[by].sealed || q.chance(q.rate) {
			if out[by].sealed {
				q.misuses++
				q.sorts = q.sorts || q.inner == 0
			}
			text += fmt.Sprintf(" ORDER BY %d", by+1)
			if q.chance(0.3) {
				text += " LIMIT 5"
			}
		}
	}
	return text, out
}

// shownRows runs a query and returns its rows. Sealed values, which are 56 bytes long, show only that
// they are there.
func shownRows(conn *sqlite.Conn, sql string) string {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return err.Error()
	}
	defer stmt.Close()
	var b strings.Builder
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return b.String() + fmt.Sprint(err)
		}
		for i := range stmt.Columns() {
			switch v := stmt.Column(i); v.Type() {
			case sqlite.Blob:
				fmt.Fprintf(&b, "%d bytes ", len(v.Bytes()))
			case sqlite.Integer:
				fmt.Fprint(&b, v.Int(), " ")
			case sqlite.Float:
				fmt.Fprint(&b, v.Float(), " ")
			case sqlite.Text:
				fmt.Fprintf(&b, "%q ", v.Bytes())
			default:
				b.WriteString("NULL ")
			}
		}
		b.WriteByte('\n')
	}
}

// sorts reports whether SQLite sorts the result of a query. It does not where at most one row has the value.
func sorts(t *testing.T, conn *sqlite.Conn, sql string) (found bool) {
	err := conn.Each("EXPLAIN QUERY PLAN "+sql, func(step []sqlite.Value) error {
		found = found || strings.Contains(step[3].Text(), "FOR ORDER BY")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// secretRows fills the tables of sealedSchema. The sealed values are blobs that begin with digits, which
// SQLite takes for a number, so that a sum of them tells about them.
const secretRows = `
	DELETE FROM reading;
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
	INSERT INTO reading(home, at, kwh, price) SELECT substr('abc', i %% 3 + 1, 1), i %% 5,
		CAST(printf('%%-56d', (i * %[1]d) %% 101 + 1) AS BLOB), i %% 4 + 0.5 FROM n;
	INSERT INTO twin(at, kwh, tag) SELECT at, kwh, home || id FROM reading WHERE id < 6;
	INSERT INTO plain(home, x) VALUES ('b', 3), ('c', 1), (NULL, 5)`

// The analysis is compared with two things that do not know it: with how a random query was made, and
// with the query's answers over two databases that differ in sealed values only. A query that it finds
// clean must not have been made with a misuse, or answer differently.
func TestRandomMisuses(t *testing.T) {
	_, m := sealedGate(t)
	conn, _ := sealedGate(t)
	other, _ := sealedGate(t)
	for i, c := range []*sqlite.Conn{conn, other} {
		// An automatic index may give rows that no ORDER BY tells apart in the order of sealed values.
		if err := c.Exec("PRAGMA automatic_index = OFF;" + fmt.Sprintf(secretRows, []int{37, 53}[i])); err != nil {
			t.Fatal(err)
		}
	}
	var made, clean, differ, falseAlarms int
	var alarms []string
	queries := trials.Count(t, "GEOSQL_STATEMENTS", 200)
	for query := range queries {
		q := &queryMaker{Rand: trials.Rand(t), rate: []float64{0, 0.3}[query%2]}
		sql, _ := q.query(2)
		stmt, _, err := conn.Prepare(sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		stmt.Close()
		list, err := m.Misuses(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		made++
		different := shownRows(conn, sql) != shownRows(other, sql)
		if different {
			differ++
		}
		switch {
		case len(list) == 0 && different:
			t.Errorf("query %d: %s\nis found clean, but tells about sealed values", query, sql)
		case len(list) == 0:
			clean++
			if q.certain > 0 || q.sorts && sorts(t, conn, sql) {
				t.Errorf("query %d: %s\nis found clean, but was made with a misuse", query, sql)
			}
		case q.misuses == 0:
			falseAlarms++
			alarms = append(alarms, fmt.Sprintf("query %d: %s\n\t%s", query, sql, summary(list)))
		}
	}
	t.Logf("%d queries, %d clean, %d false alarms; %d tell about sealed values", made, clean, falseAlarms, differ)
	for _, a := range alarms[:min(len(alarms), 5)] {
		t.Log(a)
	}
	// One in 24 tells, 1 in 600 is a false alarm and 6 in 7 are clean: of 200 or more, this has a probability below 1e-7.
	if falseAlarms > made/50+3 || differ < made/300 || clean < made/4 {
		t.Errorf("%d of %d queries are false alarms, %d are clean, %d tell about sealed values", falseAlarms, made, clean, differ)
	}
}
