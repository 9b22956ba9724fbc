package catalog

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// declarations are the tables of a sealed database besides the package's own.
const declarations = `
CREATE TABLE geosql_universe(name TEXT PRIMARY KEY, lo REAL, hi REAL, step REAL, unit TEXT);
CREATE TABLE geosql_domain(name TEXT PRIMARY KEY, south REAL, west REAL, north REAL, east REAL, step_m REAL, region TEXT);
INSERT INTO geosql_universe VALUES ('load', 0, 10, 0.5, 'kWh');
INSERT INTO geosql_domain VALUES ('city', 48, 2, 49, 3, 1, NULL);
CREATE TABLE meter(who TEXT, room TEXT, kwh BLOB, location BLOB)`

var columns = []Column{
	{Number: 1, Table: "meter", Name: "kwh", Account: "who", Universe: &Universe{Name: "load", Lo: 0, Hi: 10, Step: 0.5, Unit: "kWh"}},
	{Number: 2, Table: "meter", Name: "location", Account: "who", Domain: &Domain{Name: "city", South: 48, West: 2, North: 49, East: 3, StepM: 1}},
}

// A place is a sealed database with its ledger, its owner and a collector, who is enrolled.
type place struct {
	testing.TB
	path   string
	conn   *sqlite.Conn
	ledger *file.Ledger
	id     sealed.DatabaseID
	key    *sealed.PrivateKey
	signer *sealed.PrivateKey
}

func newPlace(t testing.TB) *place {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.db")
	p := &place{TB: t, path: path, key: must(sealed.GenerateKey()), signer: must(sealed.GenerateKey())}
	p.conn = must(sqlite.Open(path, sqlite.ReadWrite|sqlite.Create))
	p.ledger = must(file.Open(path+"-ledger", true))
	t.Cleanup(func() {
		p.conn.Close()
		p.ledger.Close()
	})
	check(t, p.conn.Exec(declarations))
	check(t, Create(p.conn))
	facts := []ledger.Fact{p.collector("one", p.signer).Fact()}
	for _, c := range columns {
		check(t, AddColumn(p.conn, c))
		facts = append(facts, c.Fact())
	}
	p.id = must(Identify(p.conn))
	check(t, AddKey(p.conn, p.key.Public()))
	check(t, p.ledger.Record(append(facts, Database(p.id))...))
	return p
}

func (p *place) collector(name string, key *sealed.PrivateKey) Collector {
	return Collector{name, key.Public().Verifier()}
}

// A session seals for a place.
type session struct {
	*place
	*sealed.Sealer
}

func (p *place) begin(signer *sealed.PrivateKey) session {
	p.Helper()
	return session{p, must(NewSession(p.conn, p.id, p.key.Public(), signer))}
}

// names tells the owner the name of a number.
func (s session) names(number uint64, name string) {
	s.Helper()
	check(s, AddAccount(s.conn, sealed.NewAccount().Pseudonym, must(s.SealAccount(number, name))))
}

func (s session) seal(column uint32, account uint64) []byte {
	s.Helper()
	var v sealed.Value
	check(s, s.Seal(&v, column, sealed.Contents{Account: account, Data: 7}))
	return v[:]
}

func (p *place) keeper(keys ...*sealed.PrivateKey) *Keeper {
	p.Helper()
	if keys == nil {
		keys = []*sealed.PrivateKey{p.key}
	}
	return must(Open(p.Context(), p.conn, p.ledger, sealed.NewKeyring(keys...)))
}

// opens demands that a value is of an account.
func opens(t *testing.T, k *Keeper, value []byte, account string) Row {
	t.Helper()
	row, present, err := k.Open(value)
	if err != nil || !present || k.Name(row.Account) != account || row.Data != 7 {
		t.Errorf("%+v, %v, %v; want a value of %s", row, present, err, account)
	}
	return row
}

// gone demands that a value counts as NULL.
func gone(t *testing.T, k *Keeper, value []byte) {
	t.Helper()
	if row, present, err := k.Open(value); present || err != nil || row != (Row{}) {
		t.Errorf("%+v, %v, %v; want none", row, present, err)
	}
}

// refuses demands the one error.
func refuses(t *testing.T, k *Keeper, value []byte) {
	t.Helper()
	if row, present, err := k.Open(value); present || err != sealed.ErrValue || row != (Row{}) {
		t.Errorf("%+v, %v, %v; want %v", row, present, err, sealed.ErrValue)
	}
}

func TestKeeperOpens(t *testing.T) {
	p := newPlace(t)
	first, second := p.begin(p.signer), p.begin(p.signer)
	first.names(1, "ana")
	second.names(2, "ana") // another collector's number of the same name
	second.names(3, "bo")
	k := p.keeper()
	a, b := opens(t, k, first.seal(1, 1), "ana"), opens(t, k, second.seal(2, 2), "ana")
	if a.Account != b.Account || a.Session == b.Session {
		t.Errorf("%+v and %+v", a, b)
	}
	if a.Column.Universe == nil || *a.Column.Universe != *columns[0].Universe || b.Column.Name != "location" {
		t.Errorf("columns %+v and %+v", a.Column, b.Column)
	}
	opens(t, k, second.seal(1, 3), "bo")
	refuses(t, k, second.seal(3, 3)) // no such column
	refuses(t, k, second.seal(1, 9)) // nobody's number
	refuses(t, k, nil)
	v := second.seal(1, 3)
	v[20] ^= 1
	refuses(t, k, v)
	if n := testing.AllocsPerRun(100, func() { k.Open(v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	// A session that is added later is known after the next Refresh.
	third := p.begin(p.signer)
	v = third.seal(1, 1)
	refuses(t, k, v)
	check(t, k.Refresh(t.Context()))
	opens(t, k, v, "ana")
}

// Facts recorded by another process count from the next statement on.
func TestErasedAndRevoked(t *testing.T) {
	p := newPlace(t)
	other := must(sealed.GenerateKey())
	check(t, p.ledger.Record(p.collector("other", other).Fact()))
	one, two := p.begin(p.signer), p.begin(other)
	one.names(1, "ana")
	one.names(2, "bo")
	two.names(3, "ana")
	k := p.keeper()
	values := [][]byte{one.seal(1, 1), one.seal(1, 2), two.seal(1, 3)}
	opens(t, k, values[0], "ana")
	opens(t, k, values[2], "ana")

	check(t, p.ledger.Record(Erased("ana"), Erased("nobody")))
	check(t, k.Refresh(t.Context()))
	gone(t, k, values[0])
	gone(t, k, values[2])
	opens(t, k, values[1], "bo")
	later := p.begin(other) // a number that is given to the name afterwards
	later.names(4, "ana")
	check(t, k.Refresh(t.Context()))
	gone(t, k, later.seal(1, 4))
	gone(t, p.keeper(), values[0]) // a new keeper knows it too

	check(t, p.ledger.Record(p.collector("one", p.signer).Revoked()))
	check(t, k.Refresh(t.Context()))
	gone(t, k, values[1])
	again := p.begin(p.signer) // of the revoked collector
	check(t, k.Refresh(t.Context()))
	gone(t, k, again.seal(1, 2))
	gone(t, p.keeper(), values[1])
}

func TestStrangersDoNotOpen(t *testing.T) {
	p := newPlace(t)
	stranger := p.begin(must(sealed.GenerateKey()))
	stranger.names(1, "ana")
	k := p.keeper()
	v := stranger.seal(1, 1)
	refuses(t, k, v)
	if len(k.names) > 0 {
		t.Errorf("the stranger's names are taken: %q", k.names)
	}
	// Enrolled later, it opens.
	var verify []byte
	check(t, p.conn.Each("SELECT signer FROM geosql_sealed_session", func(row []sqlite.Value) error {
		verify, _ = blob(row[0])
		return nil
	}))
	check(t, p.ledger.Record(Collector{"late", verify}.Fact()))
	check(t, k.Refresh(t.Context()))
	opens(t, k, v, "ana")

	good := p.begin(p.signer)
	v = good.seal(1, 1)
	check(t, p.conn.Exec("UPDATE geosql_sealed_session SET signature = zeroblob(64)"))
	refuses(t, p.keeper(), v)
	check(t, p.conn.Exec("UPDATE geosql_sealed_session SET number = number + 5000000000"))
	refuses(t, p.keeper(), v)
	refuses(t, p.keeper(must(sealed.GenerateKey())), v)
}

// A number that is said to be two people's is nobody's, in either order.
func TestUnclearNumber(t *testing.T) {
	p := newPlace(t)
	s := p.begin(p.signer)
	s.names(1, "ana")
	s.names(1, "bo")
	s.names(2, "bo")
	s.names(2, "bo")
	k := p.keeper()
	refuses(t, k, s.seal(1, 1))
	opens(t, k, s.seal(1, 2), "bo")
	check(t, p.ledger.Record(Erased("ana")))
	check(t, k.Refresh(t.Context()))
	gone(t, k, s.seal(1, 1))

	// The word of a collector that is revoked does not count.
	liar := must(sealed.GenerateKey())
	check(t, p.ledger.Record(p.collector("liar", liar).Fact()))
	p.begin(liar).names(2, "cy")
	check(t, k.Refresh(t.Context()))
	refuses(t, k, s.seal(1, 2))
	check(t, p.ledger.Record(p.collector("liar", liar).Revoked()))
	check(t, k.Refresh(t.Context()))
	opens(t, k, s.seal(1, 2), "bo")
}

// A collector enters an account once, whatever others have entered.
func TestEntered(t *testing.T) {
	p := newPlace(t)
	a := sealed.NewAccount()
	other := must(sealed.GenerateKey())
	for i, signer := range []*sealed.PrivateKey{p.signer, other} {
		for j, by := range []*sealed.PrivateKey{p.signer, other} {
			entered, err := Entered(p.conn, by.Public().Verifier())
			check(t, err)
			if got := must(entered(a.Pseudonym)); got != (j < i) {
				t.Errorf("after %d entries, collector %d: %v", i, j, got)
			}
		}
		s := p.begin(signer)
		check(t, AddAccount(p.conn, a.Pseudonym, must(s.SealAccount(a.Number, "ana"))))
		p.begin(signer)
	}
}

func TestValuesOfAnotherDatabase(t *testing.T) {
	p, q := newPlace(t), newPlace(t)
	s := p.begin(p.signer)
	s.names(1, "ana")
	v := s.seal(1, 1)
	check(t, q.ledger.Record(q.collector("p's", p.signer).Fact()))
	// Even with all rows of the other database.
	check(t, q.conn.Exec("ATTACH '"+p.path+"' AS p; INSERT INTO geosql_sealed_session SELECT * FROM p.geosql_sealed_session; INSERT INTO geosql_sealed_account SELECT * FROM p.geosql_sealed_account"))
	refuses(t, q.keeper(p.key, q.key), v)
	opens(t, p.keeper(p.key, q.key), v, "ana")
	if _, err := Open(t.Context(), p.conn, q.ledger, sealed.NewKeyring(p.key)); err == nil {
		t.Error("another ledger is taken")
	}
	plain := must(sqlite.Open(":memory:", sqlite.ReadWrite))
	defer plain.Close()
	if _, err := Open(t.Context(), plain, p.ledger, sealed.NewKeyring(p.key)); !errors.Is(err, ErrNotSealed) {
		t.Errorf("%v", err)
	}
}

// The first facts about a database and its columns count.
func TestFirstFactsCount(t *testing.T) {
	p := newPlace(t)
	s := p.begin(p.signer)
	s.names(1, "ana")
	wider := columns[0]
	wider.Universe = &Universe{Name: "load", Lo: 0, Hi: 1000, Step: 0.5, Unit: "kWh"}
	check(t, p.ledger.Record(wider.Fact(), Database(sealed.DatabaseID{1})))
	if row := opens(t, p.keeper(), s.seal(1, 1), "ana"); row.Column.Universe.Hi != 10 {
		t.Errorf("%+v", row.Column.Universe)
	}
	check(t, p.ledger.Record(ledger.Fact{Kind: erasedFact, Text: "{"}))
	if _, err := ReadRecord(t.Context(), p.ledger); err == nil {
		t.Error("a fact that cannot be read is skipped")
	}
}

// A collector notices every change of a database's declarations.
func TestChangedDeclarations(t *testing.T) {
	for _, sql := range []string{
		"UPDATE geosql_universe SET step = 0.25", "UPDATE geosql_universe SET lo = -1", "UPDATE geosql_universe SET unit = 'Wh'",
		"DELETE FROM geosql_universe", "UPDATE geosql_domain SET north = 50", "UPDATE geosql_domain SET region = 'POLYGON EMPTY'",
		"UPDATE geosql_universe SET hi = 'x'",
		"UPDATE geosql_sealed_column SET number = 3 WHERE number = 1", "UPDATE geosql_sealed_column SET account = 'room'",
		"UPDATE geosql_sealed_column SET tbl = 'geosql_universe'", "UPDATE geosql_sealed_column SET col = x'00'",
		"DELETE FROM geosql_sealed_column WHERE number = 2", "DELETE FROM geosql_sealed_column",
		"INSERT INTO geosql_sealed_column VALUES (3, 'meter', 'room', 'who', 'universe', 'load')",
		"UPDATE geosql_sealed SET id = zeroblob(16)", "UPDATE geosql_sealed SET salt = zeroblob(16)", "UPDATE geosql_sealed SET salt = ''",
		"ALTER TABLE meter ADD COLUMN phone TEXT", "ALTER TABLE meter RENAME COLUMN room TO phone", "DROP TABLE meter",
		"ALTER TABLE meter RENAME TO m; CREATE VIEW meter AS SELECT * FROM m",
	} {
		p := newPlace(t)
		id, got, err := ReadDeclaration(p.conn)
		if err != nil || id != p.id || len(got.Columns) != 2 || *got.Columns[0].Universe != *columns[0].Universe || *got.Columns[1].Domain != *columns[1].Domain {
			t.Fatalf("%v, %+v, %v", id, got, err)
		}
		check(t, p.conn.Exec("CREATE INDEX harmless ON meter(room); INSERT INTO meter(who) VALUES ('x')"))
		_, _, err = ReadDeclaration(p.conn)
		check(t, err)
		check(t, p.conn.Exec(sql))
		if _, _, err := ReadDeclaration(p.conn); err == nil {
			t.Errorf("%s is not noticed", sql)
		}
	}
}

func TestKeys(t *testing.T) {
	p := newPlace(t)
	next := must(sealed.GenerateKey())
	for _, key := range []*sealed.PrivateKey{p.key, next} {
		if known := must(HasKey(p.conn, key.Public().ID())); known != (key == p.key) {
			t.Errorf("known: %v", known)
		}
	}
	check(t, AddKey(p.conn, next.Public()))
	check(t, AddKey(p.conn, next.Public()))
	if !must(HasKey(p.conn, next.Public().ID())) {
		t.Error("an added key is not known")
	}
}

// A collector that is copied begins other sessions.
func TestSessionsDiffer(t *testing.T) {
	p := newPlace(t)
	seen := map[uint32]bool{}
	for range 100 {
		v := p.begin(p.signer).seal(1, 1)
		h := must(sealed.ParseHeader(v))
		if seen[h.Session] || h.Session == 0 {
			t.Fatalf("session %d again", h.Session)
		}
		seen[h.Session] = true
	}
	var signers [][]byte
	check(t, sessions(p.conn, func(s *sealed.Session) { signers = append(signers, s.Signer) }))
	if len(signers) != 100 || !bytes.Equal(signers[7], p.signer.Signer().Public().(ed25519.PublicKey)) {
		t.Errorf("%d sessions", len(signers))
	}
}
