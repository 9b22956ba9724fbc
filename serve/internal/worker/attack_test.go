package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/jackc/pgx/v5/pgconn"
)

// attacks are statements that a session refuses, each with the error that it gets.
var attacks = []struct{ sql, want string }{
	{"ATTACH 'other.db' AS other", "42501 permission denied for ATTACH"},
	{"DETACH pg_catalog", "42501"},
	{"PRAGMA query_only = OFF", "42501 permission denied for PRAGMA"},
	{"PRAGMA writable_schema = ON", "42501"},
	{"SELECT * FROM pragma_database_list", "42501 permission denied for table pragma_database_list"},
	{"SELECT * FROM pragma_function_list()", "42501"},
	{"SELECT count(*) FROM pragma_module_list", "42501"},
	{"SELECT * FROM pragma_table_info('reading')", "42501"},
	{"SELECT * FROM sqlite_schema", "42501 permission denied for table sqlite_master"},
	{"SELECT count(*) FROM main.sqlite_master", "42501"},
	{"SELECT * FROM pg_catalog.sqlite_schema WHERE 0", ""},
	{"SELECT * FROM temp.sqlite_schema", "42501"},
	{"SELECT * FROM sqlite_temp_master", "42501"},
	{"SELECT * FROM geosql_sealed", "42501 permission denied for table geosql_sealed"},
	{"SELECT * FROM main.geosql_sealed_key", "42501"},
	{"SELECT count(*) FROM geosql_sealed_account", "42501"},
	{"SELECT 1 WHERE EXISTS (SELECT 1 FROM geosql_sealed_session)", "42501"},
	{"SELECT rowid FROM GeoSQL_Sealed_Account", "42501"},
	{"SELECT * FROM \"geosql_sealed_column\"", "42501"},
	{"SELECT * FROM geosql_ledger", "42501"},
	{"SELECT sql FROM (SELECT 'zz' AS sql) FULL JOIN sqlite_schema USING (sql)", "42501 permission denied for table sqlite_schema"},
	{"SELECT * FROM (SELECT 'zz' AS number, 1 AS pseudonym, 2 AS name) NATURAL FULL JOIN geosql_sealed_account", "42501"},
	{"SELECT pseudonym FROM (SELECT 'zz' AS pseudonym) FULL JOIN geosql_sealed_account USING (pseudonym)", "42501 permission denied for table geosql_sealed_account"},
	{"WITH h AS (SELECT name FROM (SELECT 'zz' AS name) FULL JOIN temp.sqlite_schema USING (name)) SELECT count(*) FROM h", "42501"},
	{"SELECT name FROM (SELECT 'zz' AS name) FULL JOIN pragma_function_list USING (name)", "42501 permission denied for a virtual table"},
	{"SELECT name FROM (SELECT 'zz' AS name) FULL JOIN pragma_table_info('reading') USING (name)", "42501"},
	{"SELECT avg(kwh), sum(kwh) FROM (SELECT 1 AS kwh) FULL JOIN reading USING (kwh)", "42804"},
	{"SELECT kwh FROM (SELECT 1 AS kwh) NATURAL FULL JOIN reading ORDER BY kwh", "42804"},
	{"SELECT * FROM geosql.sqlite_schema WHERE 0", ""},
	{"DROP VIEW geosql.last_cost", "25006"},
	{"INSERT INTO geosql.last_cost(unit) VALUES ('x')", "25006"},
	{"SELECT * FROM sqlite_dbpage", "42"},
	{"SELECT * FROM dbstat", "42"},
	{"SELECT * FROM sqlite_stmt", "42"},
	{"SELECT load_extension('/tmp/x.so')", "42501 permission denied for function load_extension"},
	{"SELECT readfile('/etc/passwd')", "42883"},
	{"SELECT writefile('/tmp/x', 'y')", "42883"},
	{"SELECT fts3_tokenizer('simple')", "42501"},
	{"SELECT sqlite_compileoption_get(1)", "42501"},
	{"SELECT sqlite_source_id()", "42501"},
	{"SELECT last_insert_rowid()", "42501"},
	{"SELECT budget_spent('ana', 'kWh')", "42883"},
	{"SELECT budget_limit('ana', 'kWh', 5)", "42883"},
	{"SELECT geosql_last_refusal()", "42883"},
	{"SELECT budget_cost('SELECT 1')", "42883"},
	{"SELECT geosql_debug()", "42501"},
	{"SELECT pim_estimate('ana')", "42501"},
	{"SELECT * FROM pim_estimate('ana')", "42501"},
	{"SELECT dx_sum('ana', 1, 1, 'u')", "42883"},
	{"SELECT dx_universe('v', 0, 1, 1, 'kWh')", "42883"},
	{"SELECT * FROM ledger_charges", "42P01"},
	{"CREATE TABLE x(a)", "25006 cannot execute CREATE in a read-only transaction"},
	{"CREATE TEMP TABLE x(a)", "25006"},
	{"CREATE VIRTUAL TABLE x USING fts3(a)", "25006"},
	{"CREATE TRIGGER x AFTER INSERT ON plain BEGIN SELECT 1; END", "25006"},
	{"DROP TABLE plain", "25006"},
	{"ALTER TABLE plain ADD COLUMN y", "25006"},
	{"VACUUM INTO '/tmp/x.db'", "25006"},
	{"VACUUM", "25006"},
	{"REINDEX", "25006"},
	{"ANALYZE", "25006"},
	{"INSERT INTO plain VALUES (1, 2, 3, 4)", "25006 cannot execute INSERT in a read-only transaction"},
	{"WITH w AS (SELECT 1) INSERT INTO plain(n) SELECT * FROM w", "25006 cannot execute INSERT"},
	{"WITH w AS (SELECT 1) DELETE FROM plain", "25006 cannot execute DELETE"},
	{"WITH w AS (SELECT 1) UPDATE plain SET n = 1", "25006 cannot execute UPDATE"},
	{"EXPLAIN QUERY PLAN DELETE FROM plain", "25006"},
	{"EXPLAIN DELETE FROM plain", "25006"},
	{"EXPLAIN QUERY PLAN PRAGMA query_only = OFF", "42501"},
	{"EXPLAIN QUERY PLAN ATTACH 'x' AS y", "42501"},
	{"UPDATE sqlite_schema SET sql = ''", "25006"},
	{"UPDATE pg_catalog.pg_class SET relname = 'x'", "25006"},
	{"REPLACE INTO plain(n) VALUES (1)", "25006"},
	{"TRUNCATE plain", "25006"},
	{"SELECT 1; DROP TABLE plain", "42601"},
	{"COMMIT; DELETE FROM plain", "42601"},
	{"SELECT zeroblob(1000000000)", "54000"},
	{"SELECT length(randomblob(1000000000))", "54000"},
	{"SELECT printf('%.*c', 1000000000, 'x')", "54000"},
	{"SELECT replace(hex(zeroblob(20000000)), '0', 'xxxxxxxx')", "54000"},
	{"SELECT 'a' LIKE '" + strings.Repeat("%a", 600) + "'", "54000"},
	{"SELECT 'a' GLOB '" + strings.Repeat("*a", 600) + "'", "54000"},
	{"SELECT " + strings.Repeat("(", 600) + "1" + strings.Repeat(")", 600), "54000"},
	{"SELECT " + strings.Repeat("-", 1), "42601"},
	{"SELECT 1" + strings.Repeat("+1", 10_000), "54001"},
	{"SELECT " + strings.Repeat("NOT ", 10_000) + "1", "54001"},
	{"SELECT " + strings.Repeat("abs(", 1000) + "1" + strings.Repeat(")", 1000), "54"},
	{"SELECT 1" + strings.Repeat(" UNION SELECT 1", 1000), "54000"},
	{"SELECT 1" + strings.Repeat(", 1", 1000), "54000"},
	{"SELECT max(1" + strings.Repeat(", 1", 1000) + ")", "54"},
	{"SELECT 1 FROM " + strings.Repeat("plain, ", 70) + "plain", "54000"},
	{"SELECT $70000::text", "54000"},
	{strings.Repeat("SELECT 1 /*", 100_001), "54000"},
	{"SELECT '" + strings.Repeat("x", 1_000_001) + "'", "54000"},
}

func TestAttacks(t *testing.T) {
	path := newFile(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, Config{Path: path, Timeout: 10 * time.Second, Memory: 256 << 20})
	defer sqlite.LimitHeap(0)
	c := s.connect()
	for _, a := range attacks {
		rows, failure := c.try(a.sql) // within the session's timeout, or the failure is another one
		if a.want == "" && failure == "" && len(rows) == 0 {
			continue
		}
		if a.want == "" || !strings.HasPrefix(failure, a.want) {
			t.Errorf("%s: %q %q, want %q", clip(a.sql), rows, failure, a.want)
		}
		if c.IsClosed() {
			t.Fatalf("%s ended the session", clip(a.sql))
		}
	}
	c.answers("SELECT count(*) FROM plain", "5")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the database has changed", err)
	}
	if files, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(files) > 3 {
		t.Errorf("there are files %q", files)
	}
	c.answers("SELECT count(*) FROM geosql_universe", "1") // declarations are public
	c.answers("SELECT value FROM json_each('[1, 2]')", "1\n2")
	c.answers("SELECT geoind_radius(0.1, 0.95, 'beijing') > 0, dx_radius('sum', 0.95, 0.1, 'u') > 0", "true|true")
}

// endless are statements that would run for very long.
var endless = []string{
	"WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT max(n) FROM w",
	"WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w LIMIT 3000) SELECT count(*) FROM w a, w b, w c",
	"SELECT sum(a.attnum * b.attnum) FROM pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d",
	"WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT n FROM w WHERE n < 0",
}

func TestTimeout(t *testing.T) {
	s := serve(t, Config{Timeout: 2 * time.Second})
	c := s.connect()
	for _, sql := range endless {
		c.answers("SET statement_timeout = '50ms'", "")
		c.fails(sql, "57014 canceling statement due to statement timeout")
		c.answers("RESET statement_timeout", "")
		c.answers("SELECT 1", "1")
	}
	c.fails(endless[0], "57014")
	// A cursor has the time for each FETCH.
	c.answers("BEGIN", "")
	c.answers("DECLARE c CURSOR FOR SELECT id FROM reading", "")
	for i := range 4 {
		time.Sleep(600 * time.Millisecond)
		c.answers("FETCH c", fmt.Sprint(i+1))
	}
	c.fails(endless[0], "57014")
	c.fails("FETCH c", "25P02")
	c.answers("ROLLBACK", "")
	c.answers("SELECT 1", "1")
}

// A client that cancels gets its session back.
func TestCancel(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	c.answers("DECLARE h CURSOR WITH HOLD FOR SELECT id FROM reading", "")
	c.answers("FETCH h", "1")
	for _, sql := range endless {
		failed, quiet := make(chan bool), make(chan bool)
		go func() {
			defer close(quiet)
			for { // a request before the statement has begun does nothing
				select {
				case <-failed:
					return
				case <-time.After(100 * time.Millisecond):
					c.PgConn().CancelRequest(context.Background())
				}
			}
		}()
		c.fails(sql, "57014 canceling statement due to user request")
		close(failed)
		<-quiet
		c.answers("SELECT 1", "1")
		c.answers("BEGIN", "")
		c.answers("COMMIT", "")
	}
	c.fails("FETCH h", "34000") // an interrupt ends the cursors
}

// A client that is gone, and cancels that come at any time, leave nothing behind.
func TestCancelStorm(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 60 {
			c.PgConn().CancelRequest(context.Background())
		}
	}()
	for i := 0; ; i++ {
		select {
		case <-done:
			time.Sleep(50 * time.Millisecond) // for the last of them
			c.answers("SELECT count(*) FROM reading", "5")
			return
		default:
		}
		rows, failure := c.try("SELECT count(*) FROM reading, plain")
		if failure == "" && rows[0] != "25" || failure != "" && !strings.HasPrefix(failure, "57014") {
			t.Fatal(rows, failure)
		}
	}
}

// A statement that needs too much memory fails.
func TestMemory(t *testing.T) {
	s := serve(t, Config{Memory: 32 << 20})
	defer sqlite.LimitHeap(0)
	c := s.connect()
	c.fails("WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w LIMIT 1000000) SELECT length(group_concat(hex(randomblob(100)))) FROM w", "53200")
	c.fails("WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w LIMIT 1000000) SELECT DISTINCT hex(randomblob(100)) x FROM w ORDER BY x", "53200")
	c.answers("SELECT count(*) FROM reading", "5")
}

// A Guard needs no statement that a session does not have: whatever is not known to read is denied.
func TestUnknownStatements(t *testing.T) {
	s := serve(t, Config{})
	c := s.connect()
	for _, sql := range []string{"NONSENSE", "(SELECT 1)", "BEGIN IMMEDIATE; COMMIT", "SET ROLE owner", "LISTEN x", "LOCK TABLE plain", "DO $$x$$", "CALL f()", "PREPARE x AS SELECT 1"} {
		_, err := c.PgConn().Exec(context.Background(), sql).ReadAll()
		if e, _ := err.(*pgconn.PgError); e == nil && !strings.HasPrefix(sql, "BEGIN") {
			t.Errorf("%s: %v", sql, err)
		}
	}
	c.answers("SELECT 1", "1")
}
