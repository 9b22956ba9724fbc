//go:build !geosql_loadable

package sqlite

import (
	"strings"
	"testing"
	"time"
)

// guarded opens a database with a table of each kind, and guards it.
func guarded(t *testing.T) (*Conn, *Guard) {
	t.Helper()
	conn := openAt(t, ":memory:", ReadWrite)
	if err := conn.Exec(`CREATE TABLE a(x); CREATE TABLE closed(x); CREATE TABLE geosql_open(x); CREATE TABLE geosql_shut(x);
		CREATE VIEW v AS SELECT x FROM closed; INSERT INTO a VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	g, err := conn.Guard(Permit{Functions: []string{"count", "Abs", "max"}, Tables: []string{"geosql_open"}, Modules: []string{"json_each"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return conn, g
}

func TestGuard(t *testing.T) {
	conn, g := guarded(t)
	for _, c := range []struct {
		sql    string
		action Action // that is denied; 0 if none is
		name   string
	}{
		{sql: "SELECT count(*), ABS(x), max(x) FROM a"},
		{sql: "SELECT x FROM geosql_open"},
		{sql: "WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w LIMIT 3) SELECT n FROM w"},
		{sql: "SELECT count(*) FROM v"},
		{"SELECT min(x) FROM a", ActionFunction, "min"},
		{"SELECT x FROM geosql_shut", ActionRead, "geosql_shut"},
		{"SELECT 1 FROM geosql_shut", ActionRead, "geosql_shut"},
		{"SELECT * FROM sqlite_schema", ActionRead, "sqlite_master"},
		{"SELECT * FROM json_each('[]')", ActionRead, "json_each"},
		{"SELECT * FROM json_tree('[]')", 0, ""},
		{"SELECT * FROM pragma_table_info('a')", ActionRead, "pragma_table_info"},
		{"INSERT INTO a VALUES (1)", ActionInsert, "a"},
		{"UPDATE a SET x = 1", ActionUpdate, "a"},
		{"DELETE FROM a", ActionDelete, "a"},
		{"CREATE TABLE b(x)", ActionInsert, "sqlite_master"},
		{"PRAGMA user_version", ActionPragma, "user_version"},
		{"BEGIN", ActionTransaction, "BEGIN"},
		{"SAVEPOINT s", ActionSavepoint, "BEGIN"},
		{"ATTACH ':memory:' AS b", ActionAttach, ":memory:"},
		{"DETACH b", ActionDetach, "b"},
	} {
		g.Begin()
		s, _, err := conn.Prepare(c.sql)
		if s != nil {
			s.Close()
		}
		action, name := g.Denied()
		if (err != nil) != (c.action != 0) || action != c.action || name != c.name {
			t.Errorf("%s: %v, denied %d of %q", c.sql, err, action, name)
		}
		if err := conn.Lift(func() error {
			s, _, err := conn.Prepare(c.sql)
			if s != nil {
				s.Close()
			}
			return err
		}); err != nil {
			t.Errorf("%s while everything is allowed: %v", c.sql, err)
		}
	}
}

func TestMayRead(t *testing.T) {
	_, g := guarded(t)
	for name, may := range map[[2]string]bool{
		{"a", "main"}: true, {"GeoSQL_open", "main"}: true, {"pg_class", "pg_catalog"}: true,
		{"geosql_shut", "main"}: false, {"Sqlite_schema", "main"}: false, {"json_each", "main"}: false, {"a", "temp"}: false,
	} {
		if g.MayRead(name[0], name[1]) != may {
			t.Errorf("%s of %s may be read: %v", name[0], name[1], !may)
		}
	}
}

func TestPatience(t *testing.T) {
	conn, g := guarded(t)
	const endless = "WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT count(*) FROM w"
	for _, patience := range []time.Duration{30 * time.Millisecond, time.Nanosecond} {
		g.Begin()
		g.SetPatience(patience)
		began := time.Now()
		err := conn.Exec(endless)
		if d := time.Since(began); err == nil || !g.TimedOut() || d < patience || d > patience+5*time.Second {
			t.Errorf("%v after %v, timed out: %v", err, d, g.TimedOut())
		}
	}
	g.Begin()
	g.SetPatience(0)
	if err := conn.Exec("SELECT count(*) FROM a"); err != nil || g.TimedOut() {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	conn := openAt(t, ":memory:", ReadWrite)
	conn.SetLimit(LimitSQLLength, 100)
	if err := conn.Exec("SELECT '" + strings.Repeat("x", 200) + "'"); err == nil {
		t.Error("a long statement is taken")
	}
	if err := conn.Configure(QuotedTextInQueries, false); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(`SELECT "x"`); err == nil {
		t.Error("a name in quotes is a text")
	}
	if err := conn.Configure(Setting(9999), true); err == nil {
		t.Error("an unknown option is taken")
	}
	if err := LimitHeap(8 << 20); err != nil {
		t.Fatal(err)
	}
	defer LimitHeap(0)
	if err := conn.Exec("SELECT zeroblob(100000000) || ''"); err == nil {
		t.Error("a large value is taken")
	}
}

func TestLiftWithoutGuard(t *testing.T) {
	conn := memory(t)
	if err := conn.Lift(func() error { return conn.Exec("SELECT count(*) FROM sqlite_schema") }); err != nil {
		t.Error(err)
	}
}

func TestDistrust(t *testing.T) {
	conn := memory(t)
	function(t, conn, "harm", 0, func(c *Call) error { c.ResultInt(0, 1); return nil })
	if err := conn.Exec("CREATE VIEW v AS SELECT harm(); SELECT * FROM v"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Distrust(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec("SELECT * FROM v"); err == nil || !strings.Contains(err.Error(), "unsafe use of harm()") {
		t.Error(err)
	}
	if err := conn.Exec("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"); err == nil {
		t.Error("a statement damages the file")
	}
}

func TestInterruptAfter(t *testing.T) {
	conn := memory(t)
	stop := conn.InterruptAfter(20 * time.Millisecond)
	err := conn.Exec("WITH RECURSIVE w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w) SELECT count(*) FROM w")
	if stop() || err == nil || err.Error() != "interrupted" {
		t.Error(err)
	}
	stop = conn.InterruptAfter(time.Hour)
	if err := conn.Exec("SELECT 1"); err != nil || !stop() {
		t.Error(err)
	}
}
