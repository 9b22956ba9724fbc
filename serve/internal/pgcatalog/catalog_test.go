package pgcatalog_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqlmath"
	"github.com/geosql/geosql/serve/internal/dialect"
	"github.com/geosql/geosql/serve/internal/pgcatalog"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// describer is a session of tests.
type describer map[string]string

func (describer) Database() string                     { return "homes" }
func (describer) User() string                         { return "ann" }
func (describer) BackendPID() int32                    { return 7 }
func (d describer) Setting(name string) (string, bool) { v, ok := d[name]; return v, ok }
func (d describer) Set(name, value string) error       { d[name] = value; return nil }
func (describer) LastCost() string                     { return `[{"unit":"kWh","epsilon":0.5,"accounts":3}]` }
func (d describer) Settings() (names []string) {
	for n := range d {
		names = append(names, n)
	}
	return names
}

// small is a database like a sealed one.
const small = `
CREATE TABLE geosql_sealed_column(number INTEGER PRIMARY KEY, tbl TEXT, col TEXT, account TEXT, kind TEXT, name TEXT);
INSERT INTO geosql_sealed_column VALUES (1, 'reading', 'kwh', 'home', 'universe', 'energy'), (2, 'place', 'location', 'name', 'domain', 'city');
CREATE TABLE reading(id INTEGER PRIMARY KEY, home TEXT, hour TEXT, kwh BLOB, temperature REAL);
INSERT INTO reading VALUES (1, 'ann''s', '2024-03-01 10:00:00', x'00', 3.5), (2, 'b', '2024-03-01 11:30:00', x'01', 4.5), (3, 'c_d', '2024-04-02', NULL, NULL);
CREATE TABLE place(name TEXT, location BLOB, note NUMERIC, PRIMARY KEY (name, note)) WITHOUT ROWID;
CREATE VIEW recent AS SELECT home, hour FROM reading;
`

// A database is a connection with its catalogue.
type database struct {
	*sqlite.Conn
	*pgcatalog.Catalogue
}

func open(t testing.TB) *database {
	t.Helper()
	conn, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.AttachURI)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.Exec(small); err != nil {
		t.Fatal(err)
	}
	if err := sqlmath.Register(conn); err != nil { // as every session has it
		t.Fatal(err)
	}
	d := &database{Conn: conn}
	install(t, d)
	return d
}

func install(t testing.TB, conn *database) {
	t.Helper()
	d := describer{"search_path": `"$user", public`, "timezone": "UTC", "max_index_keys": "32", "server_version_num": "150000"}
	c, err := pgcatalog.Install(conn.Conn, d)
	if err != nil {
		t.Fatal(err)
	}
	conn.Catalogue = c
	if filled, err := c.Fill(); err != nil || !filled {
		t.Fatal(filled, err)
	}
}

// ask rewrites a query, runs it and returns its rows, with | between their values.
func ask(conn *database, sql string, arguments ...string) (list []string, err error) {
	read := dialect.Read(sql)
	out, err := dialect.Describe(read, conn.ColumnsIn(read), nil).Rewrite(false)
	if err != nil {
		return nil, err
	}
	s, _, err := conn.Prepare(out)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, out)
	}
	if s == nil {
		return nil, errors.New("no statement in " + out)
	}
	defer s.Close()
	for i, a := range arguments {
		s.BindText(i+1, a)
	}
	for {
		more, err := s.Step()
		if err != nil {
			return nil, fmt.Errorf("%w in %s", err, out)
		}
		if !more {
			return list, nil
		}
		var row []string
		for i := range s.Columns() {
			v := s.Column(i)
			switch x := v.Copy().(type) {
			case nil:
				row = append(row, "NULL")
			case []byte:
				row = append(row, fmt.Sprintf("x'%x'", x))
			default:
				row = append(row, pgfunc.Text(x))
			}
		}
		list = append(list, strings.Join(row, "|"))
	}
}

// A question is a query of the corpus.
type question struct {
	name, sql  string
	parameters []string
}

func corpus(t testing.TB, file string) (list []question) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(b), "\n--- ")[1:] {
		name, sql, _ := strings.Cut(part, "\n")
		q := question{name: name}
		for _, line := range strings.Split(sql, "\n") {
			if p, ok := strings.CutPrefix(line, "-- $ "); ok {
				q.parameters = strings.Split(p, ", ")
			} else {
				q.sql += line + "\n"
			}
		}
		list = append(list, q)
	}
	return list
}

func oid(t testing.TB, conn *database, sql string) string {
	t.Helper()
	r, err := ask(conn, sql)
	if err != nil || len(r) != 1 {
		t.Fatal(r, err)
	}
	return r[0]
}

// TestCorpus runs every query of the corpus and compares the numbers of rows with the golden file.
func TestCorpus(t *testing.T) {
	conn := open(t)
	replace := strings.NewReplacer("{reading}", oid(t, conn, "SELECT oid FROM pg_class WHERE relname = 'reading'"),
		"{recent}", oid(t, conn, "SELECT oid FROM pg_class WHERE relname = 'recent'"), "{sealed}", fmt.Sprint(pgcatalog.SealedOID),
		"{version}", oid(t, conn, "SELECT oid FROM pg_proc WHERE proname = 'version'"))
	var got strings.Builder
	for _, file := range []string{"drivers.sql", "tools.sql"} {
		for _, q := range corpus(t, file) {
			var parameters []string
			for _, p := range q.parameters {
				parameters = append(parameters, replace.Replace(p))
			}
			rows, err := ask(conn, replace.Replace(q.sql), parameters...)
			if err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
			fmt.Fprintf(&got, "%s: %d\n", q.name, len(rows))
		}
	}
	golden(t, "rows.txt", got.String())
}

// TestAnswers compares the answers to the important queries with the golden file.
func TestAnswers(t *testing.T) {
	conn := open(t)
	reading := oid(t, conn, "SELECT 'reading'::regclass::oid")
	var got strings.Builder
	for _, file := range []string{"drivers.sql", "tools.sql"} {
		for _, q := range corpus(t, file) {
			switch {
			case strings.HasPrefix(q.name, "metabase"),
				strings.HasPrefix(q.name, "grafana"), strings.HasPrefix(q.name, "sqlalchemy"), strings.HasPrefix(q.name, "pgjdbc get") && q.name != "pgjdbc getSQLKeywords":
			default:
				continue
			}
			sql := strings.NewReplacer("{reading}", reading, "{recent}", oid(t, conn, "SELECT 'recent'::regclass::oid")).Replace(q.sql)
			rows, err := ask(conn, sql, q.parameters...)
			if err != nil {
				t.Errorf("%s: %v", q.name, err)
			}
			fmt.Fprintf(&got, "--- %s\n%s\n", q.name, strings.Join(rows, "\n"))
		}
	}
	golden(t, "answers.txt", strings.ReplaceAll(got.String(), reading, "{reading}"))
}

// TestPrivateFunctions lists the functions that others have registered.
func TestPrivateFunctions(t *testing.T) {
	conn := open(t)
	err := conn.Register(sqlite.Library{Scalars: []sqlite.Scalar{{Name: "dx_value", Args: []int{2, 3}, Call: func(c *sqlite.Call) error { c.ResultNull(0); return nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	install(t, conn)
	rows, err := ask(conn, `SELECT n.nspname, p.proname, pg_catalog.format_type(p.prorettype, NULL), pg_catalog.pg_get_function_arguments(p.oid)
		FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.proname = 'dx_value' ORDER BY 4`)
	if want := []string{`public|dx_value|"any"|"any", "any"`, `public|dx_value|"any"|"any", "any", "any"`}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("%q, %v", rows, err)
	}
}

// TestKeys asks about indexes, unique constraints and foreign keys.
func TestKeys(t *testing.T) {
	conn := open(t)
	err := conn.Exec(`CREATE TABLE parent(a INTEGER, b TEXT, "two words" TEXT UNIQUE, PRIMARY KEY (a, b));
		CREATE TABLE child(id INTEGER PRIMARY KEY, a INTEGER, b TEXT, w TEXT REFERENCES parent("two words") ON DELETE SET NULL ON UPDATE CASCADE,
			gone INTEGER REFERENCES nowhere(id), self INTEGER REFERENCES child, UNIQUE (b, a), FOREIGN KEY (a, b) REFERENCES parent(a, b));
		CREATE UNIQUE INDEX few ON child(a DESC, lower(b), w) WHERE a > 3 AND w <> ','`)
	if err != nil {
		t.Fatal(err)
	}
	install(t, conn)
	for _, c := range []struct {
		sql  string
		want []string
	}{
		{"SELECT conname, contype, conrelid::regclass, confrelid::regclass, conkey, confkey, confupdtype, confdeltype, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid IN ('parent'::regclass, 'child'::regclass) ORDER BY conname", []string{
			"child_a_b_fkey|f|child|parent|{2,3}|{1,2}|a|a|FOREIGN KEY (a, b) REFERENCES parent(a, b)",
			"child_b_a_key|u|child|-|{3,2}|NULL| | |UNIQUE (b, a)",
			"child_pkey|p|child|-|{1}|NULL| | |PRIMARY KEY (id)",
			"child_self_fkey|f|child|child|{6}|{1}|a|a|FOREIGN KEY (self) REFERENCES child(id)",
			`child_w_fkey|f|child|parent|{4}|{3}|c|n|FOREIGN KEY (w) REFERENCES parent("two words") ON UPDATE CASCADE ON DELETE SET NULL`,
			"parent_pkey|p|parent|-|{1,2}|NULL| | |PRIMARY KEY (a, b)",
			`parent_two words_key|u|parent|-|{3}|NULL| | |UNIQUE ("two words")`,
		}},
		{"SELECT indexrelid::regclass, indisunique, indisprimary, indkey, indoption, indexprs, indpred FROM pg_index WHERE indrelid = 'child'::regclass ORDER BY 1", []string{
			"child_b_a_key|1|0|3 2|0 0|NULL|NULL", "child_pkey|1|1|1|0|NULL|NULL", "few|1|0|2 0 4|3 0 0|(lower(b))|a > 3 AND w <> ','",
		}},
		{"SELECT pg_get_indexdef('few'::regclass), pg_get_indexdef('few'::regclass, 2, true), pg_get_indexdef('child'::regclass)", []string{
			"CREATE UNIQUE INDEX few ON public.child USING btree (a DESC, (lower(b)), w) WHERE a > 3 AND w <> ','|(lower(b))|NULL",
		}},
		{"SELECT constraint_name, unique_constraint_name, update_rule, delete_rule FROM information_schema.referential_constraints ORDER BY 1", []string{
			"child_a_b_fkey|parent_pkey|NO ACTION|NO ACTION", "child_self_fkey|child_pkey|NO ACTION|NO ACTION", "child_w_fkey|parent_two words_key|CASCADE|SET NULL",
		}},
		{"SELECT column_name, ordinal_position, position_in_unique_constraint FROM information_schema.key_column_usage WHERE constraint_name = 'child_a_b_fkey' ORDER BY 2", []string{"a|1|1", "b|2|2"}},
		{"SELECT relname, relhasindex, relhastriggers, relacl FROM pg_class WHERE relname IN ('child', 'parent', 'few') ORDER BY 1", []string{
			"child|1|1|{ann=r/owner}", "few|0|0|NULL", "parent|1|1|{ann=r/owner}",
		}},
	} {
		rows, err := ask(conn, c.sql)
		if err != nil || !slices.Equal(rows, c.want) {
			t.Errorf("%s\n%s, %v, want\n%s", c.sql, strings.Join(rows, "\n"), err, strings.Join(c.want, "\n"))
		}
	}
}

// TestRefresh adds a table after the catalogue was installed, and compares the OIDs of two connections.
func TestRefresh(t *testing.T) {
	conn := open(t)
	const all = "SELECT relname, oid FROM pg_class ORDER BY oid"
	before, err := ask(conn, all)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ask(open(t), all)
	if err != nil || !slices.Equal(before, other) {
		t.Errorf("two connections give %v and %v, %v", before, other, err)
	}
	if err := conn.Exec("CREATE TABLE a(x INTEGER)"); err != nil {
		t.Fatal(err)
	}
	install(t, conn)
	after, err := ask(conn, all)
	if err != nil || len(after) != len(before)+1 {
		t.Fatalf("%d relations, then %d, %v", len(before), len(after), err)
	}
	for _, r := range before {
		if !slices.Contains(after, r) {
			t.Errorf("%s has another OID", r)
		}
	}
	hidden, err := ask(conn, "SELECT count(*) FROM pg_class WHERE relname LIKE 'geosql%' OR relname LIKE 'sqlite%'")
	if err != nil || hidden[0] != "0" {
		t.Error(hidden, err)
	}
	sealed, err := ask(conn, "SELECT table_name, column_name, data_type, domain_name FROM information_schema.columns WHERE domain_name IS NOT NULL ORDER BY 1")
	if want := []string{"place|location|bytea|sealed", "reading|kwh|bytea|sealed"}; err != nil || !slices.Equal(sealed, want) {
		t.Error(sealed, err)
	}
	estimates, err := ask(conn, "SELECT DISTINCT reltuples FROM pg_class")
	if err != nil || !slices.Equal(estimates, []string{"-1"}) {
		t.Error(estimates, err)
	}
}

// update says to write the golden files anew.
var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, file, got string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (%v); it is now\n%s", path, err, got)
	}
}
