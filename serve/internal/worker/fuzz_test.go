package worker

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// FuzzSession sends any statements to a session. They do not end it, change nothing in the database, and an error is a
// line that is not about the server's insides.
func FuzzSession(f *testing.F) {
	for _, sql := range append(fuzztest.Statements(f, "../pgcatalog/testdata/*.sql"),
		"SELECT dx_sum(kwh, 1) FROM reading GROUP BY home", "SELECT home, kwh FROM recent", "SELECT * FROM answers", "SELECT dx_value(kwh, 'x') FROM reading",
		"BEGIN; DECLARE c CURSOR FOR SELECT * FROM plain; FETCH 2 FROM c; COMMIT", "SAVEPOINT a; SELECT nosuch; ROLLBACK TO a", "SET geosql.epsilon = 0.1; SELECT sum(kwh) FROM reading",
		"DELETE FROM plain", "UPDATE plain SET n = 1", "ATTACH 'x' AS x", "PRAGMA writable_schema = 1", "VACUUM INTO 'x'", "CREATE TEMP TABLE x(a)", "EXPLAIN SELECT dx_sum(kwh, 1) FROM reading",
		"SELECT load_extension('x')", "SELECT x'00'::bytea, '{1,2}'::int[], $1", ";;", "SELECT 'a", "/*", "DISCARD ALL") {
		f.Add(sql)
	}
	config := Config{Path: newFile(f), Timeout: time.Second, Rows: 1000, Memory: 64 << 20}
	content, err := os.ReadFile(config.Path)
	if err != nil {
		f.Fatal(err)
	}
	s := serve(f, config)
	f.Fuzz(func(t *testing.T, sql string) {
		if upper := strings.ToUpper(sql); strings.Contains(upper, "COPY") || strings.Contains(sql, "\x00") {
			return // pgx does not take a copy as an answer, and cannot send the other
		}
		fuzztest.Limit(t, 30*time.Second)
		s := &site{t, s.remote, s.port}
		c := s.connect()
		_, err := c.PgConn().Exec(context.Background(), sql).ReadAll()
		if c.IsClosed() {
			t.Fatalf("%q ended the session: %v", sql, err)
		}
		if failure := text(err); strings.HasPrefix(failure, "XX") || strings.ContainsAny(failure, "\n\r") || strings.Contains(failure, "runtime error") {
			t.Errorf("%q: %q", sql, failure)
		}
		c.PgConn().Exec(context.Background(), "ROLLBACK").ReadAll()
		c.answers("SELECT count(*) FROM plain", "5")
		if now, err := os.ReadFile(config.Path); err != nil || !bytes.Equal(now, content) {
			t.Errorf("%q changed the database, %v", sql, err)
		}
	})
}
