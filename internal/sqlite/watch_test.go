//go:build !geosql_loadable

package sqlite

import "testing"

// A watch finds calls of a function in all its forms, wherever they are, and no others.
func TestWatch(t *testing.T) {
	c := memory(t)
	function(t, c, "spend", 1, func(c *Call) error { c.ResultInt(0, 1); return nil })
	function(t, c, "idle", 1, func(c *Call) error { c.ResultInt(0, 1); return nil })
	if err := c.Exec(`CREATE TABLE t(a, spend); CREATE VIEW v AS SELECT spend(a) AS z FROM t; CREATE VIEW w AS SELECT idle(a) AS z FROM t;
		CREATE TABLE f(a); CREATE TRIGGER fires AFTER INSERT ON f BEGIN INSERT INTO t SELECT Spend(new.a), 0; END`); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch([]string{"other", "spend", "json_each"})
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]bool{
		"SELECT spend(1)": true, "SELECT SPEND(1)": true, "SELECT * FROM v": true, "SELECT 1 FROM t WHERE a > (SELECT max(spend(a)) FROM t)": true,
		"INSERT INTO f VALUES (1)": true, "SELECT value FROM json_each('[1]')": true, "SELECT count(*) FROM json_each('[1]')": true, "SELECT 1 FROM json_each('[1]')": true,
		"SELECT idle(1)": false, "SELECT * FROM w": false, "SELECT spend FROM t": false, "SELECT 'spend(1)'": false, "INSERT INTO t VALUES (1, 2)": false,
		"SELECT * FROM json_tree('[1]')": false, "SELECT spend.a FROM t AS spend": false,
	} {
		w.Reset()
		s, _, err := c.Prepare(sql)
		if err != nil {
			t.Fatal(sql, err)
		}
		s.Close()
		if w.Seen() != want {
			t.Errorf("%s: seen %v", sql, w.Seen())
		}
	}
	w.Close()
	if _, err := query(c, "SELECT spend(1)"); err != nil {
		t.Errorf("after the watch: %v", err)
	}
}
