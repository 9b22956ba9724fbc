//go:build !geosql_loadable

package sealing_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealing"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plain returns a database with declarations, after some SQL.
func plain(t testing.TB, sql string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "in.db"), sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	check(t, conn.Exec(declaration.Schema+`;
		INSERT INTO geosql_universe VALUES ('halfhour', 0, 10, 0.001, 'kWh'), ('flag', 0, 1, 1, 'one'), ('cold', -20.5, 30, 0.25, 'C');
		INSERT INTO geosql_domain VALUES ('paris', 48.8, 2.22, 48.91, 2.48, 1, NULL), ('fiji', -19, 177, -16, -179, 1, NULL);`+sql))
	return conn
}

// A vault is a sealed database with its keys.
type vault struct {
	path   string
	conn   *sqlite.Conn
	done   *sealing.Sealed
	keeper *catalog.Keeper
}

// seal seals tables into a new database.
func seal(t testing.TB, in *sqlite.Conn, tables ...sealing.Table) *vault {
	t.Helper()
	contents, err := sealing.Read(context.Background(), in, tables, nil)
	check(t, err)
	return write(t, contents, nil)
}

func write(t testing.TB, contents *sealing.Contents, progress func(path string)) *vault {
	t.Helper()
	key, err := sealed.GenerateKey()
	check(t, err)
	v := &vault{path: filepath.Join(t.TempDir(), "out.db")}
	l, err := file.Open(v.path+"-ledger", true)
	check(t, err)
	t.Cleanup(func() { l.Close() })
	v.conn, err = sqlite.Open(v.path, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	t.Cleanup(func() { v.conn.Close() })
	v.done, err = contents.Seal(context.Background(), v.conn, key.Public(), l.ID(), func(int64) {
		if progress != nil {
			progress(v.path)
		}
	})
	check(t, err)
	check(t, l.Record(v.done.Facts...))
	v.keeper, err = catalog.Open(t.Context(), v.conn, l, sealed.NewKeyring(key))
	check(t, err)
	return v
}

// rows returns the rows of a query.
func rows(t testing.TB, conn *sqlite.Conn, sql string) (all [][]any) {
	t.Helper()
	s, _, err := conn.Prepare(sql)
	check(t, err)
	defer s.Close()
	for {
		more, err := s.Step()
		check(t, err)
		if !more {
			return all
		}
		var row []any
		for i := range s.Columns() {
			switch v := s.Column(i); v.Type() {
			case sqlite.Integer:
				row = append(row, v.Int())
			case sqlite.Float:
				row = append(row, v.Float())
			case sqlite.Text:
				row = append(row, v.Text())
			case sqlite.Blob:
				row = append(row, slices.Clone(v.Bytes()))
			default:
				row = append(row, nil)
			}
		}
		all = append(all, row)
	}
}

// Every value opens to its earlier content, clamped, under the name that it had. Row numbers are 1 to n.
func TestSealedValuesOpen(t *testing.T) {
	in := plain(t, `
		CREATE TABLE "a b"(k INTEGER PRIMARY KEY, "who?" TEXT, lat REAL, lon REAL, x, "location" INT, flag INT, dropped, twice AS (k * 2), y2 REAL, x2 REAL, c REAL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO "a b" SELECT i, CASE i % 3 WHEN 0 THEN i % 40 ELSE 'p' || (i % 40) END, iif(i % 7 = 0, NULL, 48.75 + i / 15000.0), iif(i % 11 = 0, NULL, 2.2 + i / 10000.0),
			CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN i % 13 ELSE i / 250.0 - 0.7 END, i % 9, i % 2, 'x', -20.0 + i / 700.0, iif(i % 2, 176.0 + i / 1500.0, -180.0 + i / 1500.0), i / 50.0 - 25 FROM n;
		CREATE TABLE w(name TEXT PRIMARY KEY, v REAL) WITHOUT ROWID;
		INSERT INTO w VALUES ('p1', 1), ('nobody', 2.0005);
		CREATE TABLE p(a INT, b);
		INSERT INTO p VALUES (1, 'x'), (2, x'00')`)
	v := seal(t, in,
		sealing.Table{Name: "A B", Account: "WHO?", Public: []string{"k,location", "twice"}, Secrets: []sealing.Secret{
			{Columns: "x", Of: "halfhour"}, {Columns: "lat,lon", Of: "paris"}, {Columns: "flag", Of: "flag"}, {Columns: "y2,x2", Of: "fiji"}, {Columns: "c", Of: "cold"}}},
		sealing.Table{Name: "w", Account: "name", Secrets: []sealing.Secret{{Columns: "v", Of: "halfhour"}}},
		sealing.Table{Name: "p", Public: []string{"b", "a"}})
	want := map[string]string{
		"a b": `CREATE TABLE "a b"("k" INTEGER, "who?" TEXT, "location_2" BLOB, "x" BLOB, "location" INTEGER, "flag" BLOB, "twice" BLOB, "location_3" BLOB, "c" BLOB)`,
		"w":   `CREATE TABLE "w"("name" TEXT, "v" BLOB)`,
		"p":   `CREATE TABLE "p"("a" INTEGER, "b" BLOB)`,
	}
	for _, r := range rows(t, v.conn, `SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'geosql_%' AND name NOT LIKE 'sqlite_%'`) {
		if want[r[0].(string)] != r[1] {
			t.Errorf("%v", r)
		}
		delete(want, r[0].(string))
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}

	universe := map[string]*scalar.Universe{}
	for _, u := range []struct {
		column, name, unit string
		lo, hi, step       float64
	}{{"x", "halfhour", "kWh", 0, 10, 0.001}, {"flag", "flag", "one", 0, 1, 1}, {"c", "cold", "C", -20.5, 30, 0.25}} {
		built, err := scalar.NewUniverse(u.name, u.lo, u.hi, u.step, "kWh")
		check(t, err)
		universe[u.column] = built
	}
	paris, err := planar.NewDomain("paris", 48.8, 2.22, 48.91, 2.48, 1)
	check(t, err)
	fiji, err := planar.NewDomain("fiji", -19, 177, -16, -179, 1)
	check(t, err)
	before := rows(t, in, `SELECT k, "who?", lat, lon, x, location, flag, y2, x2, c FROM "a b" ORDER BY k`)
	opened := 0
	pseudonyms := map[string]string{}
	open := func(value any, column, who string) (sealed.Data, bool) {
		t.Helper()
		if value == nil {
			return 0, false
		}
		row, present, err := v.keeper.Open(value.([]byte))
		if err != nil || !present || row.Column.Name != column || v.keeper.Name(row.Account) != who {
			t.Fatalf("%s of %s: %+v, %v, %v, %s", column, who, row, present, err, v.keeper.Name(row.Account))
		}
		opened++
		return row.Data, true
	}
	reading := func(value, was any, column, who string) {
		t.Helper()
		d, present := open(value, column, who)
		if present != (was != nil) {
			t.Fatalf("%v became %v", was, present)
		}
		var x float64
		switch was := was.(type) {
		case nil:
			return
		case int64:
			x = float64(was)
		case float64:
			x = was
		}
		if i := universe[column].Index(x); d.Reading() != i {
			t.Fatalf("%v became %d, want %d", was, d.Reading(), i)
		}
	}
	location := func(value, lat, lon any, d *planar.Domain, column, who string) {
		t.Helper()
		data, present := open(value, column, who)
		if present != (lat != nil && lon != nil) {
			t.Fatalf("%v,%v became %v", lat, lon, present)
		}
		if !present {
			return
		}
		a, b := data.Location()
		atLat, atLon := float64(a)/1e7, float64(b)/1e7
		from, to := d.Cell(lat.(float64), lon.(float64)), d.Cell(atLat, atLon)
		if d.Outside(atLat, atLon) || max(from.I-to.I, to.I-from.I, from.J-to.J, to.J-from.J) > 1 {
			t.Fatalf("%v,%v became %v,%v", lat, lon, atLat, atLon)
		}
	}
	after := rows(t, v.conn, `SELECT k, "who?", location_2, x, location, flag, location_3, c, twice, rowid FROM "a b" ORDER BY k`)
	if len(after) != len(before) {
		t.Fatalf("%d rows became %d", len(before), len(after))
	}
	numbers := map[int64]bool{}
	for i, b := range before {
		a := after[i]
		who, pseudonym := fmt.Sprint(b[1]), a[1].(string)
		if earlier, known := pseudonyms[pseudonym]; len(pseudonym) != 16 || known && earlier != who {
			t.Fatalf("pseudonym %s of %s and %s", pseudonym, who, earlier)
		}
		pseudonyms[pseudonym] = who
		if a[0] != b[0] || a[4] != b[5] || a[8] != b[0].(int64)*2 {
			t.Fatalf("public cells %v became %v", b, a)
		}
		location(a[2], b[2], b[3], paris, "location_2", who)
		reading(a[3], b[4], "x", who)
		reading(a[5], b[6], "flag", who)
		location(a[6], b[7], b[8], fiji, "location_3", who)
		reading(a[7], b[9], "c", who)
		numbers[a[9].(int64)] = true
	}
	for i := range int64(len(after)) {
		if !numbers[i+1] {
			t.Fatalf("row %d is missing", i+1)
		}
	}
	for _, r := range rows(t, v.conn, "SELECT name, v FROM w") {
		if _, present, err := v.keeper.Open(r[1].([]byte)); err != nil || !present {
			t.Errorf("%v, %v", present, err)
		}
		opened++
	}
	if int64(opened) != v.done.Values || v.done.Rows != 3004 || len(pseudonyms) != v.done.Accounts-1 {
		t.Errorf("%+v, but %d values and %d pseudonyms", v.done, opened, len(pseudonyms))
	}
	// One account has one pseudonym in all tables.
	shared := rows(t, v.conn, `SELECT count(*) FROM w WHERE name IN (SELECT "who?" FROM "a b")`)
	if shared[0][0] != int64(1) {
		t.Errorf("%v accounts are in both tables", shared)
	}
	names := map[string]string{}
	check(t, v.keeper.EachAccount(func(pseudonym string, _ uint64, name string) { names[pseudonym] = name }))
	for pseudonym, who := range pseudonyms {
		if names[pseudonym] != who {
			t.Errorf("pseudonym of %s is that of %s", who, names[pseudonym])
		}
	}
	if got := rows(t, v.conn, `SELECT (SELECT count(*) FROM geosql_universe), (SELECT count(*) FROM geosql_domain), (SELECT count(*) FROM geosql_ledger), (SELECT count(*) FROM geosql_sealed_column)`); fmt.Sprint(got) != "[[3 2 1 6]]" {
		t.Errorf("declarations: %v", got)
	}
}

// After a database is sealed, the bytes of secrets are nowhere, at no time.
func TestNoPlaintextIsLeft(t *testing.T) {
	const reading, lat, lon = 7.654321987, 48.8765432109, 2.3456789012
	in := plain(t, `
		CREATE TABLE r(person TEXT DEFAULT 'defaultsecret', kwh REAL CHECK (kwh <> 1.2345678), lat REAL, lon REAL, note TEXT, day INT);
		CREATE INDEX i ON r(note); CREATE INDEX j ON r(kwh);
		CREATE VIEW v AS SELECT * FROM r WHERE note = 'viewsecret';
		CREATE TABLE copies(x);
		CREATE TRIGGER g AFTER INSERT ON r WHEN new.note = 'triggersecret' BEGIN INSERT INTO copies VALUES (new.kwh); END;
		INSERT INTO r VALUES ('personsecret', 7.654321987, 48.8765432109, 2.3456789012, 'notesecret', 3);
		INSERT INTO r VALUES (4242424242424242, 7654321, 48.8765432109, 2.3456789012, 'deletedsecret', 3);
		INSERT INTO r VALUES ('othersecret', 0.5, NULL, NULL, 'triggersecret', 3);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
		INSERT INTO r SELECT 'person' || i % 100 || 'secret', i / 1000.0, 48.85 + i / 100000.0, 2.3, 'deletedsecret' || i, i % 7 FROM n;
		DELETE FROM r WHERE note LIKE 'deleted%' AND kwh < 2;
		ANALYZE`)
	contents, err := sealing.Read(context.Background(), in, []sealing.Table{{
		Name: "r", Account: "person", Public: []string{"day"},
		Secrets: []sealing.Secret{{Columns: "kwh", Of: "halfhour"}, {Columns: "lat,lon", Of: "paris"}},
	}}, nil)
	check(t, err)
	float := func(x float64) (forms [][]byte) {
		b := binary.BigEndian.AppendUint64(nil, math.Float64bits(x))
		l := binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
		return [][]byte{b, l, fmt.Append(nil, x)}
	}
	// A location in units is two numbers of 4 bytes, one after the other. Ciphertexts have 8 given
	// bytes somewhere with a probability below 1e-12.
	data := uint64(sealed.OfLocation(488765432, 23456789))
	needles := slices.Concat([][]byte{[]byte("secret"), []byte("1.2345678"), []byte("4242424242424242"), []byte("488765432")},
		float(reading), float(lat), float(lon), float(48.8765432),
		[][]byte{binary.BigEndian.AppendUint64(nil, data), binary.LittleEndian.AppendUint64(nil, data)},
		[][]byte{binary.BigEndian.AppendUint64(nil, 4242424242424242), binary.LittleEndian.AppendUint64(nil, 4242424242424242)})
	looked := 0
	search := func(path string) {
		t.Helper()
		looked++
		files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
		check(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			check(t, err)
			for _, n := range needles {
				if at := bytes.Index(text, n); at >= 0 {
					t.Fatalf("%s has %q at %d of %d", name, n, at, len(text))
				}
			}
		}
	}
	v := write(t, contents, func(path string) { search(path) })
	search(v.path)
	check(t, v.conn.Close())
	search(v.path)
	if looked < 4 {
		t.Errorf("looked %d times", looked)
	}
	// The search finds bytes that are there.
	source, err := os.ReadFile(func() string { p, _ := in.File(); return p }())
	check(t, err)
	for _, n := range [][]byte{[]byte("deletedsecret17"), []byte("viewsecret"), float(reading)[0]} {
		if !bytes.Contains(source, n) {
			t.Errorf("the plain database has no %q", n)
		}
	}
}

// The order of rows does not depend on the earlier one. For independent random orders of n rows
// Spearman's correlation is normal with deviation 1/sqrt(n-1), closely enough here: 6.1 of them
// are a false alarm with probability 1e-9, with 20,000 rows as with 300 accounts.
func TestOrderIsRandom(t *testing.T) {
	const n = 20_000
	in := plain(t, `CREATE TABLE r(id INTEGER PRIMARY KEY, a INT, x REAL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO r SELECT i, i % 300, i / 3000.0 FROM n`)
	order := func() (ids, accounts []float64) {
		v := seal(t, in, sealing.Table{Name: "r", Account: "a", Public: []string{"id"}, Secrets: []sealing.Secret{{Columns: "x", Of: "halfhour"}}})
		last := int64(-1)
		for _, r := range rows(t, v.conn, "SELECT id, x FROM r ORDER BY rowid") {
			ids = append(ids, float64(r[0].(int64)))
			h, err := sealed.ParseHeader(r[1].([]byte))
			check(t, err)
			if int64(h.Counter) <= last { // the order of counters is that of rows
				t.Fatalf("counter %d after %d", h.Counter, last)
			}
			last = int64(h.Counter)
		}
		check(t, v.keeper.EachAccount(func(_ string, _ uint64, name string) {
			a, err := strconv.ParseFloat(name, 64)
			check(t, err)
			accounts = append(accounts, a+1)
		}))
		return ids, accounts
	}
	correlation := func(a, b []float64) float64 {
		var sum float64
		n := float64(len(a))
		mean := (n + 1) / 2
		for i := range a {
			sum += (a[i] - mean) * (b[i] - mean)
		}
		return sum / (n * (n*n - 1) / 12)
	}
	natural := make([]float64, n)
	for i := range natural {
		natural[i] = float64(i + 1)
	}
	first, accounts := order()
	second, others := order()
	for _, pair := range [][2][]float64{{first, natural}, {second, natural}, {first, second}, {first[1:], first[:n-1]},
		{accounts, natural[:300]}, {others, natural[:300]}, {accounts, others}} {
		if r := correlation(pair[0], pair[1]); math.Abs(r) > 6.1/math.Sqrt(float64(len(pair[0])-1)) {
			t.Errorf("correlation %v", r)
		}
	}
	same := 0
	for i := range first {
		if first[i] == second[i] {
			same++
		}
	}
	if same > 20 { // Poisson with mean 1: 2e-20
		t.Errorf("%d rows have the same place twice", same)
	}
}

func TestReadErrors(t *testing.T) {
	in := plain(t, `
		CREATE TABLE r(person, kwh, lat, lon, day);
		INSERT INTO r VALUES ('ana', 1, 48.8, 2.3, 1);
		CREATE TABLE bad(person, kwh, lat, lon);
		CREATE VIEW v AS SELECT * FROM r;
		CREATE VIRTUAL TABLE f USING rtree(id, a, b)`)
	one := func(t sealing.Table) []sealing.Table { return []sealing.Table{t} }
	secret := func(text string) []sealing.Secret {
		s, err := sealing.ParseSecret(text)
		check(t, err)
		return []sealing.Secret{s}
	}
	for _, c := range []struct {
		tables []sealing.Table
		want   string
	}{
		{one(sealing.Table{Name: "nowhere"}), "there is no table nowhere (tables: bad, r)"},
		{one(sealing.Table{Name: "v", Account: "person", Secrets: secret("kwh:halfhour")}), "v is a view: make a table of it"},
		{one(sealing.Table{Name: "f", Public: []string{"id"}}), "f is a virtual table: make a table of it"},
		{one(sealing.Table{Name: "geosql_domain", Public: []string{"name"}}), "declarations are copied by themselves"},
		{one(sealing.Table{Name: "sqlite_schema", Public: []string{"name"}}), "is not for sealing"},
		{one(sealing.Table{Name: "r", Secrets: secret("kwh:halfhour")}), "give with --account COLUMN the account that pays"},
		{one(sealing.Table{Name: "r", Account: "who", Secrets: secret("kwh:halfhour")}), "table r has no column who (columns: person, kwh, lat, lon, day)"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("watt:halfhour")}), "table r has no column watt"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("kwh:hour")}), "--seal kwh:hour: no universe hour is declared (universes: cold, flag, halfhour)"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("lat,lon:rome")}), "no domain rome is declared (domains: fiji, paris)"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("lat,lon:halfhour")}), "no domain halfhour is declared, but a universe is: write --seal COLUMN:UNIVERSE"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("kwh:paris")}), "no universe paris is declared, but a domain is: write --seal LAT,LON:DOMAIN"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("lat,lon,kwh:paris")}), "it must be like COLUMN:UNIVERSE or LAT,LON:DOMAIN"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("kwh:halfhour"), Public: []string{"day,kwh"}}), "column kwh is given with --public and with --seal: it can be one thing only"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("kwh:halfhour"), Public: []string{"day", "PERSON"}}), "column person is the account's: its pseudonym is written anyway"},
		{one(sealing.Table{Name: "r", Account: "person", Secrets: secret("person:halfhour")}), "column person is given with --account and with --seal"},
		{one(sealing.Table{Name: "r", Account: "person", Public: []string{"day,day"}}), "column day is given twice with --public"},
		{one(sealing.Table{Name: "r", Account: "person", Public: []string{"day"}}), "nothing is sealed: say which columns are secret"},
		{one(sealing.Table{Name: "r"}), "no column is sealed or public"},
		{[]sealing.Table{{Name: "r", Account: "person", Secrets: secret("kwh:halfhour")}, {Name: "R", Public: []string{"day"}}}, "table r is given twice"},
	} {
		if _, err := sealing.Read(context.Background(), in, c.tables, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	for _, c := range []struct{ row, want string }{
		{"'ana', '0,5', 48.8, 2.3", `table bad: column kwh must be a number, got TEXT; WHERE typeof("kwh") = 'text' finds such rows (all, if it was imported as TEXT)`},
		{"'ana', x'00', 48.8, 2.3", `column kwh must be a number, got BLOB; WHERE typeof("kwh") = 'blob' finds such rows`},
		{"'ana', 9e999, 48.8, 2.3", `column kwh must be finite; WHERE abs("kwh") = 9e999 finds such rows`},
		{"'ana', 1, -90.5, 2.3", `column lat must lie between -90 and 90; WHERE abs("lat") > 90 finds such rows`},
		{"'ana', 1, 48, 180.5", `column lon must lie between -180 and 180; WHERE abs("lon") > 180 finds such rows`},
		{"'ana', 1, NULL, 'east'", `column lon must be a number, got TEXT; WHERE typeof("lon") = 'text'`},
		{"NULL, NULL, 48, 2", `column person is NULL in a row with a secret, for which somebody has to pay; WHERE "person" IS NULL AND "lat" IS NOT NULL finds such rows`},
		{"'*', 1, 48, 2", `column person '*' stands for every account and cannot be one; WHERE "person" = '*' finds such rows`},
		{"1.5, 1, 48, 2", `column person must be TEXT or INTEGER, got REAL; WHERE typeof("person") = 'real' finds such rows`},
	} {
		check(t, in.Exec("DELETE FROM bad; INSERT INTO bad VALUES ("+c.row+")"))
		table := sealing.Table{Name: "bad", Account: "person", Secrets: slices.Concat(secret("kwh:halfhour"), secret("lat,lon:paris"))}
		_, err := sealing.Read(context.Background(), in, one(table), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "0,5") {
			t.Errorf("got  %v\nwant %s", err, c.want)
			continue
		}
		// The condition finds the row.
		condition := strings.TrimSpace(strings.SplitN(strings.SplitN(err.Error(), "WHERE ", 2)[1], " finds", 2)[0])
		if n := rows(t, in, "SELECT count(*) FROM bad WHERE "+condition); n[0][0] != int64(1) {
			t.Errorf("WHERE %s finds %v rows", condition, n)
		}
	}
	check(t, in.Exec("DELETE FROM bad; INSERT INTO bad VALUES (NULL, NULL, 48, NULL), ('', 1, 48.8, 2.3)"))
	seal(t, in, sealing.Table{Name: "bad", Account: "person", Secrets: slices.Concat(secret("kwh:halfhour"), secret("lat,lon:paris"))})
	check(t, catalog.Create(in))
	if _, err := catalog.Identify(in); err != nil {
		t.Fatal(err)
	}
	if _, err := sealing.Read(context.Background(), in, one(sealing.Table{Name: "r"}), nil); err == nil || !strings.Contains(err.Error(), "is sealed already") {
		t.Error(err)
	}
	for _, text := range []string{"", "kwh", ":u", "kwh:", ":"} {
		if _, err := sealing.ParseSecret(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
	if s, err := sealing.ParseSecret("a:b:c"); err != nil || s.Columns != "a:b" || s.Of != "c" {
		t.Errorf("%+v, %v", s, err)
	}
}

// Rows of any size go through, and an end of the context ends reading and writing.
func TestLongRowsAndInterrupts(t *testing.T) {
	in := plain(t, `CREATE TABLE r(a, x, note);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
		INSERT INTO r SELECT i, 1, iif(i % 50 = 0, randomblob(3000000), randomblob(i * 20)) FROM n`)
	table := sealing.Table{Name: "r", Account: "a", Public: []string{"note"}, Secrets: []sealing.Secret{{Columns: "x", Of: "halfhour"}}}
	v := seal(t, in, table)
	sum := func(conn *sqlite.Conn) string {
		return fmt.Sprint(rows(t, conn, "SELECT count(*), sum(length(note)), min(hex(substr(note, -5))), max(hex(substr(note, 1, 9))) FROM r"))
	}
	if a, b := sum(in), sum(v.conn); a != b {
		t.Errorf("%s became %s", a, b)
	}
	stopped := errors.New("stopped")
	ctx, stop := context.WithCancelCause(context.Background())
	stop(stopped)
	if _, err := sealing.Read(ctx, in, []sealing.Table{table}, nil); !errors.Is(err, stopped) {
		t.Errorf("reading: %v", err)
	}
	contents, err := sealing.Read(context.Background(), in, []sealing.Table{table}, nil)
	check(t, err)
	conn, err := sqlite.Open(filepath.Join(t.TempDir(), "x.db"), sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	defer conn.Close()
	key, err := sealed.GenerateKey()
	check(t, err)
	if _, err := contents.Seal(ctx, conn, key.Public(), "x", nil); !errors.Is(err, stopped) {
		t.Errorf("writing: %v", err)
	}
}
