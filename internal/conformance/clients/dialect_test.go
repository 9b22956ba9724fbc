package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/internal/pgtest"
)

// sample is a table for PostgreSQL and for the served database.
const sample = `
	CREATE TABLE sample(id INTEGER PRIMARY KEY, n INTEGER, x DOUBLE PRECISION, price NUMERIC, s TEXT, day DATE, at TIMESTAMP, stamp TEXT, ok BOOLEAN);
	INSERT INTO sample VALUES
		(1, 5, 2.5, 10, 'Apple', '2026-01-31', '2026-01-31 10:30:00', '2026-01-31 10:30:00', true),
		(2, NULL, 3.5, 12.34, 'banana', '2026-02-28', '2026-02-28 23:59:59', '2026-02-28 23:59:59', false),
		(3, -7, -0.5, NULL, NULL, NULL, NULL, NULL, NULL),
		(4, 5, NULL, 3, 'Éclair', '2025-12-31', '2025-12-31 00:00:00', '2025-12-31', true),
		(5, 12, 0, 10, 'apple', '2024-02-29', '2024-02-29 12:00:00.5', '2024-02-29T12:00:00', false),
		(6, 0, 1e10, -2.5, 'Cherry_1', '2026-01-31', '2026-01-01 00:00:00', '2026-01-01 00:00', true);`

// likeServed makes the public parts of the served database in PostgreSQL.
const likeServed = sample + `
	CREATE TABLE place(id integer PRIMARY KEY, name text NOT NULL);
	INSERT INTO place VALUES (1, 'Paris'), (2, 'Montréal'), (3, 'a "quoted" one');
	CREATE TABLE series AS SELECT i AS n, i / 8.0::float8 AS x, CASE WHEN i % 10 <> 0 THEN 'text ' || i END AS s, i % 3 + 1 AS place_id
		FROM generate_series(1, 100000) AS i;
	CREATE TABLE reading AS SELECT to_char(timestamp '2024-03-01' + i / 20 * interval '1 hour', 'YYYY-MM-DD HH24:MI:SS') AS hour,
		i % 30 / 2.0::float8 AS temperature, i / 20 / 24 AS day FROM generate_series(0, 999) AS i`

// TestDialect asks PostgreSQL and geosql serve the same about the same tables. A statement of testdata/dialect.sql stands below a
// line that says how geosql answers: equal to PostgreSQL, also with an error of the same SQLSTATE; with an error of another; refused, where
// PostgreSQL answers; or in another way, for a reason that docs/serve.md has in its table of differences.
func TestDialect(t *testing.T) {
	ctx := context.Background()
	pg, err := pgx.Connect(ctx, pgtest.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(ctx)
	s := serve(t)
	here, err := pgx.Connect(ctx, fmt.Sprintf("host=127.0.0.1 port=%s user=ann password='%s' dbname=%s sslmode=disable", s.port, password, database))
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close(ctx)
	if _, err := pg.PgConn().Exec(ctx, "SET TimeZone = 'UTC';"+likeServed).ReadAll(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	corpus, err := os.ReadFile("testdata/dialect.sql")
	if err != nil {
		t.Fatal(err)
	}
	class, count := "", map[string]int{}
	for line := range strings.Lines(string(corpus)) {
		line = strings.TrimSpace(line)
		if heading, is := strings.CutPrefix(line, "-- "); is {
			class, _, _ = strings.Cut(heading, ": ")
			if _, reason, _ := strings.Cut(heading, ": "); class == "differs" && !strings.Contains(string(page), "| "+reason+" |") {
				t.Errorf("docs/serve.md has no row of differences %q", reason)
			}
			continue
		}
		if line == "" {
			continue
		}
		count[class]++
		ordered := strings.Contains(line, "ORDER BY")
		want, wrong := answer(pg, line, ordered)
		got, refused := answer(here, line, ordered)
		is := "differs"
		switch {
		case refused != nil && wrong == nil:
			is = "refused"
		case refused != nil && wrong != nil && sqlState(refused) != sqlState(wrong):
			is = "error"
		case refused != nil && wrong != nil, wrong == nil && slices.Equal(got, want):
			is = "equal"
		}
		if is != class {
			t.Errorf("%s\n\tis %s, not %s\n\tPostgreSQL: %q %v\n\tgeosql:     %q %v", line, is, class, want, wrong, got, refused)
		}
	}
	t.Logf("%v", count)
}

func sqlState(err error) string {
	if e, is := errors.AsType[*pgconn.PgError](err); is {
		return e.Code
	}
	return ""
}

// answer returns the rows that a server answers, each as text that is the same for the same values, and sorted if their order is not asked for.
func answer(conn *pgx.Conn, sql string, ordered bool) (rows []string, err error) {
	results, err := conn.PgConn().Exec(context.Background(), sql).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, values := range results[0].Rows {
		var row []string
		for i, v := range values {
			row = append(row, comparable(v, results[0].FieldDescriptions[i]))
		}
		rows = append(rows, strings.Join(row, "|"))
	}
	if !ordered {
		slices.Sort(rows)
	}
	return rows, nil
}

// comparable returns a value as text that does not depend on the type in which a server sends it: numbers with 14 digits, times
// of UTC without their zone.
func comparable(v []byte, column pgconn.FieldDescription) string {
	s := string(v)
	if v == nil {
		return "NULL"
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', 14, 64)
	}
	return cmp.Or(strings.TrimSuffix(s, "+00"), "''")
}
