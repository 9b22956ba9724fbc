package sqlitefn_test

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

// decided returns a random statement in which released values of groups decide something: which rows are shown, how often
// something is evaluated, or nothing that matters. Answers differ by a few units between runs, so that their remainders do.
func (q randomSQL) decided() string {
	groups := func() string { return "(" + withArguments(strings.ReplaceAll(q.groups(), "%s(", "dx_sum(")) + ")" }
	value := "dx_value('ana', " + q.of("k", "3") + ", 0.5, 'u')"
	odd := func() string {
		return q.of("y % 2", "CAST(y AS INTEGER) % 3 = 1", "y > (SELECT avg(x) FROM r)", "abs(y) % 3 IN (1, 2)", "y % 2 AND k > 0", "printf('%d', y) LIKE '%3'", "y % 2 BETWEEN k % 2 AND 1")
	}
	switch q.IntN(23) {
	case 0:
		return "SELECT k, y FROM " + groups() + " WHERE " + odd() + q.first()
	case 1:
		return strings.TrimSuffix(strings.TrimPrefix(groups(), "("), ")") + " " + q.of("ORDER BY y % 2, k LIMIT 2", "ORDER BY y", "LIMIT 2")
	case 2:
		return "SELECT DISTINCT y % 2 FROM " + groups() + q.of("", " LIMIT 1")
	case 3:
		return "SELECT k, " + q.of("CASE WHEN "+odd()+" THEN "+value+" END", value, "CASE WHEN k > 0 THEN "+value+" ELSE y END") + " FROM " + groups()
	case 4:
		return "SELECT k FROM " + groups() + " WHERE " + q.of(odd()+" AND "+value+" > 0", value+" > 0 AND "+odd(), odd()+" OR "+value+" > 0")
	case 5:
		return "SELECT k, (SELECT " + q.of("dx_sum('ana', r.x, 1, 'u')", "max(r.x)", "count(*)") + " FROM r WHERE r.g " + q.of("> y % 2", "= k", "< 2") + ") FROM " + groups()
	case 6:
		return "SELECT count(*), max(y), group_concat(k) FROM " + groups() + q.of("", " GROUP BY "+q.of("k", "y % 2"))
	case 7:
		return "SELECT k, y FROM " + groups() + q.of(" UNION ", " EXCEPT ", " INTERSECT ", " UNION ALL ") + "SELECT g, x FROM r" + q.first()
	case 8:
		return "SELECT k, " + q.window("k", "y") + " AS w FROM " + groups() + q.first()
	case 9:
		return "SELECT * FROM (SELECT k, y, " + q.window("y", "k") + " AS w FROM " + groups() + ") WHERE " + q.of("w > 2", "y % 2", "k")
	case 10:
		return "INSERT INTO out SELECT k, y FROM " + groups() + q.of("", " WHERE "+odd())
	case 11:
		return "SELECT m.k, n.x FROM " + groups() + " m " + q.of("JOIN", "LEFT JOIN") + " r n ON n.g = " + q.of("m.y % 3", "m.k") + q.of("", " WHERE "+value+" > 0")
	case 12:
		return "WITH m AS " + q.of("", "MATERIALIZED ") + groups() + " SELECT k, y FROM m WHERE y > (SELECT " + q.of("avg", "min") + "(y) FROM m)"
	case 13:
		return "SELECT k FROM " + groups() + " WHERE EXISTS (SELECT 1 FROM " + groups() + " WHERE " + odd() + ") " + q.of("", "AND "+value+" > 0")
	case 14:
		return "SELECT dx_sum('ana', n.x, 1, 'u') FROM " + groups() + " m JOIN r n ON n.g = " + q.of("m.y % 3", "m.k") + " GROUP BY " + q.of("m.k", "n.h", "m.y")
	case 15: // rows that released values have chosen, kept before they are read
		return "WITH m AS MATERIALIZED (SELECT k, y FROM " + groups() + q.of(" WHERE "+odd(), " ORDER BY y LIMIT 2", "") + ") SELECT " + value + " FROM m"
	case 16:
		return "SELECT " + value + " FROM (SELECT DISTINCT k, " + q.of("1", "y % 2") + " FROM " + groups() + q.of(" WHERE "+odd(), "") + q.of("", " ORDER BY k", " ORDER BY 2") + ")"
	case 17: // the row with the largest
		return "SELECT " + q.of("k", value, "dx_value('ana', k, 0.5, 'u')") + ", " + q.of("max(y)", "min(y)", "max(k), min(k)") + " FROM " + groups() + q.of("", " GROUP BY k % 2", " GROUP BY y % 2")
	case 18: // rows that JSON of released values has
		list := q.of("'[1,2]'", "json_array(m.k, m.y)", "CASE WHEN "+odd()+" THEN '[1]' ELSE '[]' END", "'['||m.k||']'")
		return "SELECT m.k, j." + q.of("value", "key") + q.of("", ", dx_value('ana', j.atom, 0.5, 'u')", ", "+value) + " FROM " + groups() + " m " + q.of("JOIN ", "LEFT JOIN ") +
			q.of("json_each(", "json_tree(") + list + ") j" + q.of("", " WHERE "+odd(), " ORDER BY y LIMIT 2", " GROUP BY j.value")
	case 19:
		return strings.TrimSuffix(strings.TrimPrefix(groups(), "("), ")") + q.of(" UNION ALL ", " UNION ", " EXCEPT ") + strings.TrimSuffix(strings.TrimPrefix(groups(), "("), ")") +
			q.of("", " ORDER BY 1", " ORDER BY 2") + q.of("", " LIMIT 2", " LIMIT 2 OFFSET 1")
	case 20: // rows that replace others
		return "INSERT OR " + q.of("REPLACE", "IGNORE") + " INTO kept SELECT " + q.of("k", "y") + ", " + q.of("y", value) + " FROM " + groups() + q.of("", " WHERE "+odd(), " ORDER BY y LIMIT 2")
	case 21: // rows found by a released value
		return "SELECT m.k, n.x, " + q.of("dx_value('ana', n.x, 0.5, 'u')", value, "1") + " FROM " + groups() + " m " + q.of("JOIN", "LEFT JOIN") + " r n ON n.id = " + q.of("CAST(abs(m.y) % 5 AS INTEGER)", "m.k")
	default:
		return "SELECT k, y, (SELECT k + " + odd() + ") FROM " + groups() + " ORDER BY " + odd() + " LIMIT " + q.of("3", "1 OFFSET 1", "(SELECT count(*) FROM s)")
	}
}

// A statement charges its certain count, for all answers.
func TestCertainCountsAreCharged(t *testing.T) {
	var d *database
	q := randomSQL{trials.Rand(t)}
	certain, statements := 0, trials.Count(t, "GEOSQL_STATEMENTS", 100)
	for i := range statements {
		if i%100 == 0 { // statements fill tables, which slow down the ones after them
			d = newReadings(t)
			d.run(`CREATE TABLE kept(k PRIMARY KEY, y)`)
		}
		statement := q.decided()
		if q.IntN(2) == 0 && !strings.HasPrefix(statement, "WITH") && !strings.HasPrefix(statement, "INSERT") {
			statement = q.with() + statement
		}
		if _, err := d.try(`SELECT * FROM budget_cost(?)`, statement); err != nil {
			continue // not every random statement means something
		}
		foretold := d.cost(statement)
		if foretold.proved() {
			certain++
		}
		for range 3 {
			if err := foretold.contradicts(d.really(statement)); err != nil {
				t.Errorf("%s\n%v", statement, err)
				break
			}
		}
	}
	t.Logf("%d of %d statements have certain counts", certain, statements)
	if certain < statements/8 {
		t.Error("too few to be a test")
	}
}
