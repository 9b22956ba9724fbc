package worker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

// newSecrets makes a database with tables for everybody and tables without a grant. Only the contents of the latter depend on secret.
func newSecrets(t *testing.T, secret int) string {
	t.Helper()
	path := newFile(t)
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sql := `CREATE TABLE r(id INTEGER PRIMARY KEY, name TEXT, sql TEXT, n INTEGER); CREATE TABLE s(name TEXT, n INTEGER, cid INTEGER);
		CREATE INDEX s_name ON s(name); CREATE VIEW v AS SELECT name, n FROM r;
		CREATE TABLE geosql_one(name TEXT, n INTEGER, sql TEXT); CREATE TABLE geosql_two(name TEXT PRIMARY KEY, cid INTEGER) WITHOUT ROWID;
		CREATE INDEX geosql_one_n ON geosql_one(n, name);`
	for i := range 4 {
		sql += fmt.Sprintf(`INSERT INTO r VALUES (%d, 'r', 'sql%d', %d); INSERT INTO s VALUES ('r', %d, %d);`, i, i, i, i, i%2)
	}
	for i := range 4 + secret {
		sql += fmt.Sprintf(`INSERT INTO geosql_one VALUES ('secret%d', %d, 'sql1'); INSERT INTO geosql_two VALUES ('secret%d', %d);`,
			secret*i, i+secret, secret+i, i)
	}
	if err := conn.Exec(fmt.Sprintf("%s CREATE TABLE geosql_secret%d(x)", sql, secret)); err != nil {
		t.Fatal(err)
	}
	return path
}

// Random statements say nothing about tables that nobody has granted, and those about others run.
func TestStatementsReadWhatIsGranted(t *testing.T) {
	first := serve(t, Config{Path: newSecrets(t, 1)}).connect()
	second := serve(t, Config{Path: newSecrets(t, 7)}).connect()
	q := randomReader{rand.New(rand.NewPCG(40, 3))}
	granted, hidden, full := 0, 0, 0
	for range 1500 {
		sql, hides := q.statement()
		rows, failure := first.try(sql)
		if others, failed := second.try(sql); failed != failure || strings.Join(rows, "\n") != strings.Join(others, "\n") {
			t.Errorf("%s\nanswers %q %s, or %q %s: what was not granted shows", sql, rows, failure, others, failed)
		}
		denied := strings.HasPrefix(failure, "42501 permission denied")
		switch {
		case denied && !hides:
			t.Errorf("%s: %s", sql, failure)
		case !denied && hides && failure == "" && !strings.Contains(sql, "LEFT JOIN"): // SQLite leaves out joins that change nothing
			t.Errorf("%s answers %q", sql, rows)
		case denied:
			if hidden++; strings.Contains(sql, "FULL") {
				full++
			}
		case failure == "":
			granted++
		}
	}
	t.Logf("%d granted, %d refused, %d of them with FULL JOIN", granted, hidden, full)
	if granted < 200 || hidden < 200 || full < 50 {
		t.Error("too few to be a test")
	}
}

// randomReader writes random statements.
type randomReader struct{ *rand.Rand }

func (q randomReader) of(list ...string) string { return list[q.IntN(len(list))] }

// statement returns a statement, and whether it reads a table without a grant.
func (q randomReader) statement() (sql string, hides bool) {
	from, hides := q.source(1 + q.IntN(3))
	sql = "SELECT " + q.of("name", "count(*)", "n", "max(name)", "1", "*") + " FROM " + from
	if q.IntN(3) == 0 {
		inside, also := q.source(1)
		sql += " WHERE " + q.of("EXISTS (SELECT 1 FROM "+inside+")", "name IN (SELECT name FROM "+inside+")")
		hides = hides || also
	}
	if q.IntN(4) == 0 {
		sql += " GROUP BY 1"
	}
	if q.IntN(4) == 0 {
		sql = "WITH w AS " + q.of("", "MATERIALIZED ") + "(" + sql + ") SELECT " + q.of("count(*)", "*") + " FROM w"
	}
	return sql, hides
}

func (q randomReader) source(tables int) (from string, hides bool) {
	if tables == 1 {
		switch q.IntN(12) {
		case 0:
			return q.of("geosql_one", "main.geosql_two", "geosql_one INDEXED BY geosql_one_n"), true
		case 1:
			return q.of("sqlite_schema", "temp.sqlite_schema", "sqlite_master", "pragma_table_info('r')", "pragma_function_list"), true
		case 2:
			return q.of("json_each('[1]')", "pg_catalog.pg_class", "(SELECT relname AS name FROM pg_class)"), false
		case 3, 4:
			return q.of("(SELECT 'zz' AS name)", "(SELECT 'sql1' AS sql, 1 AS n)", "(VALUES ('r', 1))"), false
		}
		return q.of("r", "s", "v", "(SELECT name, n FROM s)"), false
	}
	left, a := q.source(1)
	right, b := q.source(tables - 1)
	switch q.IntN(3) {
	case 0:
		from = left + " NATURAL" + q.of(" ", " LEFT ", " FULL ", " FULL ") + "JOIN " + right
	case 1:
		from = left + q.of(" ", " LEFT ", " RIGHT ", " FULL ", " FULL ") + "JOIN " + right + " USING (" + q.of("name", "name", "sql", "n", "cid") + ")"
	default:
		from = left + q.of(", ", " CROSS JOIN ") + right
	}
	return from, a || b
}
