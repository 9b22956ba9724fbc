package dialect

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

func TestRewrite(t *testing.T) {
	for _, c := range [][2]string{
		{"SELECT $1 + $2", "SELECT ?1 + ?2"},
		{"SELECT a::text, (a + b)::int8, f(x)::varchar(3)", "SELECT CAST(a AS TEXT), pg_int8((a + b)), substr(CAST(f(x) AS TEXT), 1, 3)"},
		{"SELECT a.b::pg_catalog.text::bool", "SELECT pg_bool(CAST(a.b AS TEXT))"},
		{"SELECT -1::int", "SELECT -pg_int4(1)"},
		{"SELECT CASE WHEN a THEN b END::text", "SELECT CAST(CASE WHEN a THEN b END AS TEXT)"},
		{"SELECT count(*) FILTER (WHERE a)::int", "SELECT pg_int4(count(*) FILTER (WHERE a))"},
		{`SELECT E'a\n\'b' || $$it's$$`, "SELECT 'a\n''b' || 'it''s'"},
		{"SELECT a !~ '^x' AND b ~* 'y'", "SELECT a NOT REGEXP '^x' AND b REGEXP '(?i)' || 'y'"},
		{"WHERE a OPERATOR(pg_catalog.~) '^(b)$' COLLATE pg_catalog.default AND c", "WHERE a REGEXP '^(b)$'  AND c"},
		{"SELECT pg_catalog.version()", "SELECT version()"},
		{`SELECT * FROM "public"."t" JOIN public.u ON "public"."t".a = u.a`, `SELECT * FROM main."t" JOIN main.u ON main."t".a = u.a`},
		{"SELECT * FROM homes.public.t", "SELECT * FROM main.t"},
		{"SELECT a = ANY(b) OR c <> ALL ('{1,2}')", "SELECT a IN (SELECT value FROM unnest(b)) OR c NOT IN (SELECT value FROM unnest('{1,2}'))"},
		{"SELECT (f(true))[1]", "SELECT pg_subscript((f(true)), 1)"},
		{"SELECT ARRAY[1, 2]", "SELECT pg_array(json_array(1, 2))"},
		{"SELECT a FROM t, unnest(t.b) AS u(x) WHERE x > u.x", `SELECT a FROM t, unnest(t.b) AS "u" WHERE "u".value > "u".value`},
		{"SELECT s FROM generate_series(1, 3) s", `SELECT s FROM (SELECT value AS "s" FROM generate_series(1, 3)) AS "s"`},
		{"SELECT unnest(a) x FROM t WHERE b", "SELECT pg_s1.value x FROM t, unnest(a) AS pg_s1 WHERE b"},
		{"SELECT * FROM (VALUES (1, 2)) AS v(a, b)", `SELECT * FROM (WITH "v"("a", "b") AS (VALUES (1, 2)) SELECT * FROM "v") AS "v"`},
		{"SELECT a FROM t OFFSET 5", "SELECT a FROM t LIMIT -1 OFFSET 5"},
		{"SELECT a FROM t LIMIT ALL", "SELECT a FROM t "},
		{"SELECT a FROM t OFFSET 5 ROWS FETCH NEXT 3 ROWS ONLY", "SELECT a FROM t LIMIT 3 OFFSET 5"},
		{`SELECT a LIKE 'x\_y'`, `SELECT a LIKE 'x\_y' ESCAPE '\'`},
		{"SELECT a ILIKE 'x%'", "SELECT a LIKE 'x%'"},
		{"SELECT current_user, t.current_user", "SELECT current_user(), t.current_user"},
		{"SELECT user FROM t", "SELECT user FROM t"},
		{"SELECT user FROM pg_catalog.pg_class", "SELECT user() FROM pg_catalog.pg_class"},
		{"SELECT extract(year FROM a), trim(both '\"' from b)", "SELECT date_part('year', a), trim( b, '\"')"},
		{"SELECT DATE '2024-01-01' < CAST(a AS timestamp)", "SELECT pg_date('2024-01-01') < pg_timestamp(a)"},
		{"SELECT 'reading'::regclass::oid", "SELECT CAST(pg_regclass('reading') AS INTEGER)"},
		{"SELECT 1 /* a /* b */ c */ + 2", "SELECT 1   + 2"},
		{"SELECT a AS default FROM t", `SELECT a AS "default" FROM t`},
		{"SELECT t - interval '7 days' * 2, now() > a, 1 + 2 FROM t", "SELECT pg_subtract(t, pg_multiply(pg_interval('7 days'), 2)), strftime('%Y-%m-%d %H:%M:%f+00', 'now') > a, 1 + 2 FROM t"},
		{"SELECT a AT TIME ZONE 'UTC' AT TIME ZONE z FROM t", "SELECT timezone(z, timezone('UTC', a)) FROM t"},
		{"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a DESC) AS m FROM t", "SELECT percentile_cont(a, 0.5, 1) AS m FROM t"},
		{"SELECT b - now() AS d FROM t ORDER BY d DESC, age(a, b)", "SELECT pg_subtract(b, strftime('%Y-%m-%d %H:%M:%f+00', 'now')) AS d FROM t ORDER BY pg_span(d) DESC, pg_span(age(a, b))"},
		{"SELECT a FROM t WHERE now() - b > interval '1 day' * 2 + '3 hours'::interval", "SELECT a FROM t WHERE pg_span(pg_subtract(strftime('%Y-%m-%d %H:%M:%f+00', 'now'), b)) > pg_span(pg_add(pg_multiply(pg_interval('1 day'), 2), pg_interval('3 hours')))"},
		{"SELECT CASE WHEN age(a, b) > interval '1 day' THEN 1 END + 2", "SELECT CASE WHEN pg_span(age(a, b)) > pg_span(pg_interval('1 day')) THEN 1 END + 2"},
		{"SELECT DISTINCT ON (a) a, b AS c FROM t WHERE d ORDER BY a, c DESC LIMIT 3", "SELECT pg_c1 AS \"a\", pg_c2 AS \"c\" FROM (SELECT a AS pg_c1, b AS pg_c2, " +
			"row_number() OVER (PARTITION BY a ORDER BY a, b DESC) AS pg_n, row_number() OVER (ORDER BY a, b DESC) AS pg_o FROM t  WHERE d ) WHERE pg_n = 1 ORDER BY pg_o LIMIT 3"},
		{"SELECT a IS DISTINCT FROM b FROM public.t", "SELECT a IS DISTINCT FROM b FROM main.t"},
	} {
		got, err := Rewrite(Read(c[0]))
		if err != nil || got != c[1] {
			t.Errorf("%s\n gives %s, %v\n  want %s", c[0], got, err, c[1])
		}
	}
}

// unchanged are statements of SQLite.
var unchanged = []string{
	"SELECT 1", "", ";", "-- a", "SELECT 'it''s', \"a\"\"b\", [x y], `z` FROM t -- $1",
	"SELECT x'00', 1.5e-3, .5, 0x1F, ?, ?2, :name, @name, $name", "SELECT a->'$.x', a->>'b' FROM t AS [a b]",
	"SELECT ~5, - ~a, a<@x, a=~b", "SELECT CAST(a AS TEXT), CAST(b AS BLOB) FROM t",
	"WITH RECURSIVE c(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < 3) SELECT * FROM c",
	"INSERT INTO t(a, b) SELECT a, b FROM u ON CONFLICT DO NOTHING", "SELECT * FROM json_each('[1]') AS j, t WHERE j.value = t.a",
	"SELECT sum(x) OVER (PARTITION BY a ORDER BY b ROWS UNBOUNDED PRECEDING) FROM t LIMIT 3 OFFSET 2",
	"SELECT a FROM t WHERE b LIKE 'x%' ESCAPE '!' AND c NOT GLOB '*' AND d IN (1, 2) ORDER BY 1 LIMIT 2, 3",
	"SELECT /* a \n b */ dx_sum(kwh, 0.5) FROM main.reading GROUP BY home", "SELECT date, time, timestamp, left FROM t", "SELECT 'a::b $1 ~'",
	"CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT DEFAULT 'x', CHECK (a > 0))", "SELECT CASE a WHEN 1 THEN 2 ELSE (3) END AS x FROM t", "SELECT EXISTS (SELECT 1), NOT a",
}

func TestUnchanged(t *testing.T) {
	for _, sql := range unchanged {
		if got, err := Rewrite(Read(sql)); got != sql || err != nil {
			t.Errorf("%q becomes %q, %v", sql, got, err)
		}
	}
}

func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		sql  string
		at   int
		what string
	}{
		{"SELECT DISTINCT ON (a) * FROM t", 1, "DISTINCT ON with *"}, {"SELECT DISTINCT ON (a) a, dx_value(b, 1) FROM t", 27, "DISTINCT ON with private answers"}, {"SELECT a FROM t FOR UPDATE", 17, "FOR UPDATE"},
		{"SELECT é, a @> b", 13, "operator @>"}, {"SELECT a::money2", 9, "type money2"},
		{"SELECT 1, avg(b - a::timestamp) FROM t", 11, "avg of intervals"},
		{"SELECT age(a, b) BETWEEN '1 day' AND '2 days'", 18, "BETWEEN of intervals"}, {"SELECT * FROM t, LATERAL (SELECT 1) x", 18, "LATERAL"},
		{"SELECT a SIMILAR TO 'b'", 10, "SIMILAR TO"}, {"SELECT a[1:2]", 11, "slices"}, {"SELECT 1 FROM t GROUP BY GROUPING SETS (a)", 26, "GROUPING SETS"},
		{"SELECT a ^ b", 10, "operator ^"}, {"SELECT a < ANY (b)", 0, ""},
	} {
		_, err := Rewrite(Read(c.sql))
		var e *pgfunc.Error
		if c.what == "" {
			continue // SQLite's own message says where
		}
		if !errors.As(err, &e) || e.Code != "0A000" || e.Position != c.at || !strings.HasPrefix(e.Message, "the dialect is SQLite's: ") ||
			!strings.Contains(e.Message, c.what) || strings.Contains(e.Message, "\n") {
			t.Errorf("%s: %+v", c.sql, err)
		}
	}
}

// TestLimits passes statements that would take long.
func TestLimits(t *testing.T) {
	for _, sql := range []string{"SELECT a" + strings.Repeat("::text", 200), "SELECT a" + strings.Repeat("[1]", 200), strings.Repeat("(", 600) + strings.Repeat(")", 600),
		"SELECT '" + strings.Repeat("a", 1_000_000) + "'", "SELECT 1" + strings.Repeat("+1", 300_000)} {
		if _, err := Rewrite(Read(sql)); pgfunc.State(err) != "54000" {
			t.Errorf("%.20s..: %v", sql, err)
		}
	}
	for _, sql := range []string{strings.Repeat("[", 900_000), "SELECT 'a", "SELECT E'a\\'", `SELECT "a`, "SELECT $a$ b $A$"} {
		if _, err := Rewrite(Read(sql)); pgfunc.State(err) != "42601" {
			t.Errorf("%.20s..: %v", sql, err)
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	for b.Loop() {
		if _, err := Rewrite(Read("SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::regclass AND n.nspname !~ '^pg_'")); err != nil {
			b.Fatal(err)
		}
	}
}

func TestResults(t *testing.T) {
	const b, s, n = 16, 25, 20
	for sql, want := range map[string][]Result{
		"SELECT a, b AS c, t.d \"E\", f.g x FROM t":                                           {{"a", 0, "a"}, {"c", 0, "b"}, {"E", 0, "d"}, {"x", 0, "g"}},
		"SELECT true, a = 1, NOT b AS n, c IS NULL FROM t":                                    {{"bool", b, ""}, {"?column?", b, ""}, {"n", b, ""}, {"?column?", b, ""}},
		"SELECT count(*), current_database(), version() v":                                    {{"count", n, ""}, {"current_database", 19, ""}, {"v", s, ""}},
		"SELECT a::text, 1::int8 x, CAST(b AS bool), 'a'":                                     {{"a", s, ""}, {"x", n, ""}, {"b", b, ""}, {"?column?", s, ""}},
		"SELECT CASE WHEN a THEN 'x' END, a || b, a + 1":                                      {{"case", s, ""}, {"?column?", s, ""}, {"?column?", 701, ""}},
		"SELECT array_agg(DISTINCT 1::int8), array_agg(a), ARRAY[1]":                          {{"array_agg", 1016, ""}, {"array_agg", 1009, ""}, {"array", 1009, ""}},
		"WITH x AS (SELECT 1) SELECT a FROM x UNION SELECT b":                                 {{"a", 0, "a"}},
		"SELECT CASE WHEN a THEN NULL ELSE b = 1 END, (SELECT c::bool FROM t), (a OR b) AS x": {{"case", b, ""}, {"c", b, ""}, {"x", b, ""}},
		"SELECT * FROM t": nil, "SELECT t.* FROM t": nil, "INSERT INTO t VALUES (1)": nil, "": nil,
	} {
		if got := Describe(Read(sql), nil, nil).Results(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", sql, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for sql, want := range map[string]Command{
		" -- nothing":                      Empty{},
		"SELECT 1":                         Query{},
		"SET geosql.epsilon = 0.1":         Set{Name: "geosql.epsilon", Value: "0.1"},
		"set session a to 'b', c":          Set{Name: "a", Value: "b, c"},
		"SET LOCAL x TO DEFAULT":           Set{Name: "x", Default: true, Local: true},
		"SET TIME ZONE 'UTC'":              Set{Name: "timezone", Value: "UTC"},
		"SET x = -1":                       Set{Name: "x", Value: "-1"},
		"SET TRANSACTION READ ONLY":        Set{Name: "transaction_read_only", Value: "on", Local: true},
		"SHOW transaction isolation level": Show{"transaction_isolation"},
		"SHOW ALL":                         Show{"all"},
		"RESET ALL":                        Reset{"all"},
		"BEGIN":                            Begin{},
		"START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY": Begin{ReadOnly: true},
		"END":                     Commit{},
		"ABORT":                   Rollback{},
		"SAVEPOINT \"A\"":         Savepoint{Name: "A"},
		"ROLLBACK TO SAVEPOINT a": Savepoint{Name: "a", Rollback: true},
		"RELEASE a":               Savepoint{Name: "a", Release: true},
		"DISCARD ALL":             Discard{"all"},
		"DECLARE \"c\" CURSOR WITHOUT HOLD FOR select 1": Declare{Name: "c", SQL: "select 1"},
		"DECLARE c SCROLL CURSOR WITH HOLD FOR select 1": Declare{Name: "c", Hold: true, Scroll: true, SQL: "select 1"},
		"FETCH FORWARD 100 FROM \"c\"":                   Fetch{Name: "c", Count: 100},
		"FETCH FORWARD ALL FROM c":                       Fetch{Name: "c", Count: 1, All: true},
		"MOVE 2 IN c":                                    Fetch{Name: "c", Count: 2, Move: true},
		"FETCH c":                                        Fetch{Name: "c", Count: 1},
		"CLOSE ALL":                                      Close{},
		"UNLISTEN *":                                     Unlisten{}, "UNLISTEN a": Unlisten{},
		"DEALLOCATE PREPARE a":         Deallocate{"a"},
		"COPY (select f(1)) TO STDOUT": Copy{SQL: "select f(1)", Delimiter: "\t", Null: `\N`},
		"COPY t (a, b) TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';')": Copy{SQL: "SELECT a, b FROM t", CSV: true, Header: true, Delimiter: ";"},
		"COPY t TO STDOUT (FORMAT 'csv', HEADER 'true')":                   Copy{SQL: "SELECT * FROM t", CSV: true, Header: true, Delimiter: ","},
		"COPY public.t TO STDOUT CSV HEADER NULL 'x'":                      Copy{SQL: "SELECT * FROM public.t", CSV: true, Header: true, Delimiter: ",", Null: "x"},
		"EXPLAIN (ANALYZE, COSTS off) SELECT 1":                            Explain{SQL: "SELECT 1", Analyze: true},
		"EXPLAIN VERBOSE SELECT 1":                                         Explain{SQL: "SELECT 1"},
		"EXPLAIN QUERY PLAN SELECT 1":                                      Query{},
	} {
		got, err := Parse(Read(sql))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", sql, got, err)
		}
	}
	for sql, code := range map[string]string{
		"SET": "42601", "SET a": "42601", "SET a =": "42601", "SET ROLE x": "0A000", "COPY t FROM STDIN": "25006", "COPY t TO 'file'": "0A000", "COPY (select 1": "42601",
		"FETCH PRIOR FROM c": "0A000", "FETCH": "42601", "DECLARE c CURSOR FOR": "42601", "DISCARD": "42601", "LISTEN a": "0A000", "UNLISTEN": "42601", "EXPLAIN": "42601", "CLOSE a b": "42601",
		"COPY t TO STDOUT (FORMAT binary)": "0A000", "BEGIN x": "42601", "SHOW": "42601",
	} {
		var e *pgfunc.Error
		if _, err := Parse(Read(sql)); !errors.As(err, &e) || e.Code != code || e.Position < 1 {
			t.Errorf("%s: %+v", sql, err)
		}
	}
}

// FuzzRewrite checks that no text makes the package panic, and that a statement in SQLite's dialect stays.
func FuzzRewrite(f *testing.F) {
	for _, sql := range unchanged {
		f.Add(sql)
	}
	for _, file := range []string{"drivers.sql", "tools.sql"} {
		b, err := os.ReadFile(filepath.Join("..", "pgcatalog", "testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range strings.Split(string(b), "\n--- ")[1:] {
			_, sql, _ := strings.Cut(part, "\n")
			f.Add(sql)
		}
	}
	f.Add("SELECT CASE a WHEN b THEN ELSE c END") // nothing after THEN
	words := strings.Fields("SELECT FROM t a WHERE = ) , + 'x' \"y\" 1 CASE WHEN THEN END b AND NOT NULL IN GROUP BY f( JOIN ON UNION ALL ; * t.b main.t || -- /*c*/ ?")
	f.Fuzz(func(t *testing.T, sql string) {
		if out, err := Rewrite(Read(sql)); err == nil && len(out) > 100*len(sql)+1000 {
			t.Fatalf("%d bytes become %d", len(sql), len(out))
		}
		for rest := sql; rest != ""; {
			var first sqltext.Statement
			_, first, rest = sqltext.PostgreSQL.Split(rest, Budget)
			if c, err := Parse(first); (c == Empty{}) != (first.SQL == "") {
				t.Fatalf("%q is %v, %v", first.SQL, c, err)
			}
			d := Describe(first, func(string) uint32 { return 20 }, nil)
			d.Results()
			d.Parameters(3, []uint32{0, 20})
			d.Column("a")
		}
		var plain []string
		for i := range min(len(sql), 200) {
			plain = append(plain, words[int(sql[i])%len(words)])
		}
		text := strings.Join(plain, " ")
		if out, err := Rewrite(Read(text)); err != nil || out != text {
			t.Fatalf("%q becomes %q, %v", text, out, err)
		}
	})
}

// A column counts as bare unless its item of the select list is aggregated or in GROUP BY, also by its position or name.
func TestBareColumns(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a, count(*) FROM t": "a", "SELECT a, sum(b) OVER () FROM t": "", "SELECT coalesce(a, 1), b, count(*) FROM t GROUP BY 1, 2": "",
		"SELECT count(*), lower(a) AS x FROM t GROUP BY x": "", "SELECT a + b, count(*) FROM t GROUP BY a": "b", "SELECT count(*) AS a FROM t": "",
	} {
		d := Describe(Read(sql), func(name string) uint32 { return map[string]uint32{"a": 20, "b": 20}[name] }, nil)
		if _, err := d.Rewrite(true); err != nil || d.bare != want {
			t.Errorf("%s: %q, %v", sql, d.bare, err)
		}
	}
}
