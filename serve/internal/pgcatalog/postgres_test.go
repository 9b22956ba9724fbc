package pgcatalog_test

import (
	"context"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/jackc/pgx/v5"
)

// TestPostgreSQL asks PostgreSQL and SQLite the same, a statement in each line of testdata/functions.sql. Only the last digits of
// numbers may differ.
func TestPostgreSQL(t *testing.T) {
	ctx := context.Background()
	pg, err := pgx.Connect(ctx, pgtest.Start(t).Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close(ctx)
	if _, err := pg.Exec(ctx, `SET timezone = 'UTC'; CREATE TABLE reading(id int, home text COLLATE "C", hour timestamp, temperature float);
		INSERT INTO reading VALUES (1, 'ann''s', '2024-03-01 10:00:00', 3.5), (2, 'b', '2024-03-01 11:30:00', 4.5), (3, 'c_d', '2024-04-02', NULL)`); err != nil {
		t.Fatal(err)
	}
	conn := open(t)
	b, err := os.ReadFile("testdata/functions.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		got, err := ask(conn, sql)
		results, wrong := pg.PgConn().Exec(ctx, sql).ReadAll()
		if (err != nil) != (wrong != nil) {
			t.Errorf("%s: %v, and PostgreSQL: %v", sql, err, wrong)
			continue
		}
		var want []string
		for _, r := range results {
			for _, row := range r.Rows {
				var values []string
				for _, v := range row {
					text := string(v)
					if v == nil {
						text = "NULL"
					}
					values = append(values, text)
				}
				want = append(want, strings.Join(values, "|"))
			}
		}
		if !alike(strings.Join(got, "\n"), strings.Join(want, "\n")) {
			t.Errorf("%s\n gives %q\n  want %q", sql, got, want)
		}
	}
}

// alike compares rows, numbers by their first twelve digits.
func alike(a, b string) bool {
	cut := func(r rune) bool { return r == '|' || r == '\n' }
	x, y := strings.FieldsFunc(a, cut), strings.FieldsFunc(b, cut)
	if len(x) != len(y) {
		return false
	}
	truths := map[string]string{"t": "1", "f": "0"}
	for i := range x {
		m, err := strconv.ParseFloat(x[i], 64)
		n, failed := strconv.ParseFloat(y[i], 64)
		numbers := err == nil && failed == nil && math.Abs(m-n) <= 1e-12*math.Abs(n)
		if x[i] != y[i] && !numbers && x[i] != truths[y[i]] {
			return false
		}
	}
	return true
}
