package pgcatalog_test

import (
	"testing"

	"github.com/geosql/geosql/serve/internal/pgfunc"
)

func TestRun(t *testing.T) {
	conn := open(t)
	for _, c := range [][2]string{
		{"SELECT array_to_string(ARRAY[1, 'a b', NULL], '-', '?')", "1-a b-?"},
		{"SELECT array_to_string(ARRAY(SELECT home FROM reading ORDER BY id), ';')", "ann's;b;c_d"},
		{"SELECT array_agg(id) FROM reading", "{1,2,3}"}, {"SELECT ('{a,\"b,c\"}')[2]", "b,c"}, {"SELECT ('3 4'::int2vector)[0]", "3"},
		{"SELECT 2 = ANY('{1,2}'), 'c' = ANY('{a,b}'), 3 <> ALL('{1,2}')", "1|0|1"},
		{"SELECT sum(s) FROM generate_series(1, 4) AS s", "10"}, {"SELECT sum(g.n) FROM reading, generate_series(1, id) AS g(n)", "10"},
		{"SELECT home FROM reading WHERE home LIKE 'c\\_d'", "c_d"}, {"SELECT home ~ '^A', home ~* '^A' FROM reading WHERE id = 1", "0|1"},
		{"SELECT format_type(25, NULL), format_type(1009, NULL), format_type(16000, NULL)", "text|text[]|sealed"},
		{"SELECT date_trunc('week', '2024-03-01T10:00:00Z'), extract(dow FROM '2024-03-01')", "2024-02-26 00:00:00|5"},
		{"SELECT to_regclass('nothing'), to_regclass('public.reading') = 'reading'::regclass", "NULL|1"},
		{"SELECT current_database(), current_user, current_schema, pg_backend_pid()", "homes|ann|public|7"},
		{"SELECT has_table_privilege('reading', 'SELECT'), has_table_privilege('reading', 'INSERT')", "1|0"},
		{"SELECT set_config('a.b', 'c', false), current_setting('a.b'), current_setting('no', true)", "c|c|NULL"},
		{"SELECT '\\x4142'::bytea, 'yes'::bool, regexp_replace('a1b2', '([0-9])', '<\\1>', 'g')", "x'4142'|1|a<1>b<2>"},
		{"SELECT pg_catalog.format('%I %L %s', 'A b', 'c''d', 1)", "\"A b\" 'c''d' 1"}, {"SELECT left('abc', 2), right('abc', 2), split_part('a.b', '.', 2)", "ab|bc|b"},
		{"SELECT col_description('reading'::regclass, 4)", "sealed; universe energy, account in column home"},
		{"SELECT bool_and(id > 0), bool_or(id > 9) FROM reading", "1|0"}, {"SELECT v.b FROM (VALUES (1, 'x')) AS v(a, b)", "x"},
		{"SELECT version FROM version() AS v(version) WHERE version LIKE 'PostgreSQL 15%'", ""},
	} {
		rows, err := ask(conn, c[0])
		if err != nil || len(rows) != 1 || c[1] != "" && rows[0] != c[1] {
			t.Errorf("%s: %q, %v, want %q", c[0], rows, err, c[1])
		}
	}
	for sql, state := range map[string]string{
		"SELECT 'nothing'::regclass": "42P01", "SELECT 'no'::regtype": "42704", "SELECT 'maybe'::bool": "22P02", "SELECT 'a' ~ '('": "2201B",
		"SELECT current_setting('no')": "42704", "SELECT '{a'::text[] = '' OR cardinality('{a') = 1": "22P02", "SELECT generate_series(1, 2, 0)": "22023",
		"SELECT pg_date('2026-02-30')": "22008", "SELECT pg_date('20261301')": "22008", "SELECT pg_timestamp('2026-01-31 24:30')": "22008",
		"SELECT pg_date('soon')": "22007", "SELECT pg_time('noon')": "22007", "SELECT pg_time('25:30')": "22008",
	} {
		if _, err := ask(conn, sql); pgfunc.State(err) != state {
			t.Errorf("%s: %q, %v", sql, pgfunc.State(err), err)
		}
	}
}

func BenchmarkInstall(b *testing.B) {
	conn := open(b)
	for b.Loop() {
		install(b, conn)
	}
}
