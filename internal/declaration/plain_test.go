package declaration

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

func open(t testing.TB, path, sql string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Exec(sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return conn
}

func TestCheck(t *testing.T) {
	const more = "table geosql_domain is virtual, or has more than plain columns: geosql makes it otherwise, restore the database from a backup"
	for sql, want := range map[string]string{
		"":     "",
		Schema: "",
		"CREATE TABLE geosql_domain (\tname,south  REAL\n NOT NULL PRIMARY  KEY ) without rowid; CREATE INDEX i ON geosql_domain ( name , south )":        "",
		"CREATE TABLE a(name TEXT); ALTER TABLE a RENAME TO geosql_domain; CREATE UNIQUE INDEX i ON geosql_domain(name)":                                  "",
		"CREATE TABLE Geosql_Domain(name); ALTER TABLE geosql_domain ADD COLUMN south REAL; CREATE VIEW geosql_domains AS SELECT 1 FROM geosql_domain":    "",
		"CREATE TABLE a(x CHECK (x > 0)); CREATE TRIGGER geosql_domain AFTER INSERT ON a BEGIN SELECT 1; END; CREATE INDEX geosql_region ON a(x) WHERE x": "",
		"CREATE VIEW geosql_domain AS SELECT 1":                                                                      "geosql_domain is a view, where geosql has a table: drop it, or restore the database from a backup",
		"CREATE VIEW GEOSQL_DOMAIN AS SELECT 1":                                                                      "geosql_domain is a view",
		"CREATE VIRTUAL TABLE geosql_domain USING rtree(a, b, c)":                                                    more,
		"CREATE TABLE geosql_domain(a, b AS (a))":                                                                    more,
		"CREATE TABLE geosql_domain(a, b GENERATED ALWAYS AS (a) STORED)":                                            more,
		"CREATE TABLE geosql_domain(a DEFAULT 1)":                                                                    more,
		"CREATE TABLE geosql_domain(a CHECK (a))":                                                                    more,
		"CREATE TABLE geosql_domain(a, CHECK (a))":                                                                   more,
		"CREATE TABLE geosql_domain(a REFERENCES b ON DELETE CASCADE)":                                               more,
		"CREATE TABLE geosql_domain(a UNIQUE ON CONFLICT REPLACE)":                                                   more,
		"CREATE TABLE geosql_domain(a TEXT COLLATE NOCASE)":                                                          more,
		"CREATE TABLE geosql_domain(a -- )\n, b AS (a))":                                                             more,
		"CREATE TABLE geosql_domain(a); CREATE INDEX i ON geosql_domain(abs(a))":                                     "table geosql_domain, which is geosql's, has the index i, which is not: drop that",
		"CREATE TABLE geosql_domain(a); CREATE INDEX i ON GEOSQL_DOMAIN(a) WHERE a":                                  "has the index i",
		"CREATE TABLE geosql_region(a); CREATE TRIGGER \"\x1bi\" BEFORE DELETE ON geosql_region BEGIN SELECT 1; END": `has the trigger \x1bi,`,
	} {
		err := Check(open(t, ":memory:", sql), "geosql_region", "geosql_domain")
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Errorf("%s\n%v, want %q", sql, err, want)
		}
	}
}

// A query reads the table that was looked at, also if another connection changes the schema in between.
func TestEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	conn := open(t, path, "PRAGMA journal_mode = WAL; CREATE TABLE geosql_domain(a); INSERT INTO geosql_domain VALUES (1)")
	other := open(t, path, "")
	errTaken := errors.New("taken")
	find := func() error {
		return Each(conn, "SELECT a FROM main.geosql_domain", func(v []sqlite.Value) error {
			if v[0].Int() != 1 {
				t.Error("it is another table")
			}
			return errTaken
		})
	}
	err := Use(conn, "main", []string{"geosql_domain"}, func() error {
		if err := other.Exec("DROP TABLE geosql_domain; CREATE VIEW geosql_domain AS SELECT 2 AS a"); err != nil {
			t.Fatal(err)
		}
		return find()
	})
	if err != errTaken {
		t.Error(err)
	}
	if err := find(); err == nil || !strings.Contains(err.Error(), "is a view") {
		t.Error(err)
	}
}

func TestNamed(t *testing.T) {
	got := Named("SELECT a.x, geosql_no FROM main.geosql_a a, main.geosql_b_c(1), geosql_d JOIN main.geosql_e")
	if want := []string{"geosql_a", "geosql_b_c", "geosql_e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// BenchmarkUse compares reading a table with looking at it first.
func BenchmarkUse(b *testing.B) {
	conn := open(b, ":memory:", Schema)
	read := func() error {
		return conn.Each("SELECT name, south, west FROM main.geosql_domain WHERE name = ?1", func([]sqlite.Value) error { return nil }, "x")
	}
	for name, tables := range map[string][]string{"alone": nil, "looked at": {"geosql_domain"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := Use(conn, "main", tables, read); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
