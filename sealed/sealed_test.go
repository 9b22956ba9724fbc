package sealed

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func anybody(ed25519.PublicKey) bool { return true }

// A place is a database with an owner's key, an enrolled collector and one session.
type place struct {
	database DatabaseID
	key      *PrivateKey
	signer   ed25519.PrivateKey
	sealer   *Sealer
	session  *Session
	opener   *Opener
}

func newPlace(tb testing.TB) *place {
	tb.Helper()
	p := &place{key: must(GenerateKey())}
	rand.Read(p.database[:])
	_, p.signer, _ = ed25519.GenerateKey(nil)
	p.opener = NewOpener(p.database, NewKeyring(p.key))
	p.sealer, p.session = p.begin(tb, 1)
	return p
}

// begin begins a session and makes it known.
func (p *place) begin(tb testing.TB, number uint32) (*Sealer, *Session) {
	tb.Helper()
	sealer, session, err := NewSession(p.key.Public(), p.database, number, p.signer)
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.opener.AddSession(session, anybody); err != nil {
		tb.Fatal(err)
	}
	return sealer, session
}

func (p *place) seal(tb testing.TB, column uint32, c Contents) Value {
	tb.Helper()
	var v Value
	if err := p.sealer.Seal(&v, column, c); err != nil {
		tb.Fatal(err)
	}
	return v
}

// wants demands that bytes do not open, with that error and nothing else.
func wants(tb testing.TB, r *Reader, value []byte, want error) {
	tb.Helper()
	if h, c, err := r.Open(value); err != want || h != (Header{}) || c != (Contents{}) {
		tb.Errorf("%x: %+v, %+v, %v; want %v", value, h, c, err, want)
	}
}

func TestWhatIsSealedOpens(t *testing.T) {
	p := newPlace(t)
	r := p.opener.NewReader()
	counter := uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		column, c := rapid.Uint32Min(1).Draw(t, "column"), Contents{rapid.Uint64().Draw(t, "account"), Data(rapid.Uint64().Draw(t, "data"))}
		var v Value
		if err := p.sealer.Seal(&v, column, c); err != nil {
			t.Fatal(err)
		}
		h, got, err := r.Open(v[:])
		if err != nil || got != c || h != (Header{column, 1, counter}) {
			t.Fatalf("%+v, %+v, %v; want %+v in column %d, counter %d", h, got, err, c, column, counter)
		}
		counter++
		x, lat, lon := rapid.Int64().Draw(t, "x"), rapid.Int32().Draw(t, "lat"), rapid.Int32().Draw(t, "lon")
		if gotLat, gotLon := OfLocation(lat, lon).Location(); OfReading(x).Reading() != x || gotLat != lat || gotLon != lon {
			t.Fatal("data are not what they were made of")
		}
	})
}

// Every change of a value, however small, keeps it from opening, always with the same error.
func TestChangedValues(t *testing.T) {
	p := newPlace(t)
	r := p.opener.NewReader()
	v := p.seal(t, 7, Contents{42, OfReading(-5)})
	for i := range v {
		for bit := range 8 {
			bad := v
			bad[i] ^= 1 << bit
			wants(t, r, bad[:], ErrValue)
		}
	}
	for n := range ValueSize {
		wants(t, r, v[:n], ErrValue)
	}
	wants(t, r, append(v[:len(v):len(v)], 0), ErrValue)
	wants(t, r, nil, ErrValue)
	other := p.seal(t, 7, Contents{42, OfReading(-5)})
	for n := headerSize; n < ValueSize; n++ { // the beginning of one and the end of the other, unless both end alike
		if mixed := append(v[:n:n], other[n:]...); !bytes.Equal(mixed, v[:]) {
			wants(t, r, mixed, ErrValue)
		}
	}
	blob := make([]byte, ValueSize)
	for range 100_000 {
		rand.Read(blob)
		wants(t, r, blob, ErrValue)
		copy(blob, v[:headerSize]) // an identity that exists
		wants(t, r, blob, ErrValue)
	}
}

// A value opens in its own column, session and database only.
func TestMovedValues(t *testing.T) {
	p, q := newPlace(t), newPlace(t)
	sealer, second := p.begin(t, 2)
	v := p.seal(t, 7, Contents{42, 1})
	moved := v
	moved[3] = 8 // another column
	wants(t, p.opener.NewReader(), moved[:], ErrValue)
	moved = v
	moved[7] = 2 // another session
	wants(t, p.opener.NewReader(), moved[:], ErrValue)
	moved[7] = 3 // none
	wants(t, p.opener.NewReader(), moved[:], ErrValue)
	wants(t, q.opener.NewReader(), v[:], ErrValue) // another database, which has a session 1
	// The records of sessions are bound to the database too.
	if err := q.opener.AddSession(second, anybody); err == nil {
		t.Error("a session of another database is taken")
	}
	// The same key in another database derives another key for the session.
	elsewhere := NewOpener(q.database, NewKeyring(p.key))
	copied := *p.session
	copied.Signature = ed25519.Sign(p.signer, copied.signed(q.database))
	if err := elsewhere.AddSession(&copied, anybody); err != nil {
		t.Fatal(err)
	}
	wants(t, elsewhere.NewReader(), v[:], ErrValue)
	var w Value
	if err := sealer.Seal(&w, 7, Contents{42, 1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.opener.NewReader().Open(w[:]); err != nil {
		t.Error(err)
	}
}

// Only sessions that an enrolled collector has signed open, whatever was changed in a record.
func TestForgedSessions(t *testing.T) {
	p := newPlace(t)
	_, session, err := NewSession(p.key.Public(), p.database, 5, p.signer)
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(s *Session){
		"number": func(s *Session) { s.Number = 6 }, "key": func(s *Session) { s.Key[0]++ },
		"enc": func(s *Session) { s.Enc = bytes.Clone(s.Enc); s.Enc[9]++ }, "signature": func(s *Session) { s.Signature = bytes.Clone(s.Signature); s.Signature[0]++ },
		"no signature": func(s *Session) { s.Signature = nil }, "no signer": func(s *Session) { s.Signer = nil },
		"another signer": func(s *Session) { s.Signer, _, _ = ed25519.GenerateKey(nil) },
	} {
		forged := *session
		forge(&forged)
		if err := p.opener.AddSession(&forged, anybody); err == nil || !strings.Contains(err.Error(), "is not signed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.opener.AddSession(session, func(k ed25519.PublicKey) bool { return !k.Equal(session.Signer) }); err == nil || !strings.Contains(err.Error(), "not enrolled") {
		t.Errorf("%v", err)
	}
	if err := p.opener.AddSession(session, anybody); err != nil {
		t.Error(err)
	}
	if err := p.opener.AddSession(session, anybody); err != nil {
		t.Errorf("again: %v", err)
	}
	_, another, err := NewSession(p.key.Public(), p.database, 5, p.signer)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.opener.AddSession(another, anybody); err == nil || !strings.Contains(err.Error(), "another one already") {
		t.Errorf("%v", err)
	}
}

func TestRevokedAndErased(t *testing.T) {
	p := newPlace(t)
	second, _ := p.begin(t, 2)
	r := p.opener.NewReader()
	v, of43 := p.seal(t, 7, Contents{42, 1}), p.seal(t, 7, Contents{43, 1})
	if _, _, err := r.Open(v[:]); err != nil {
		t.Fatal(err)
	}
	p.opener.Erase(42)
	wants(t, r, v[:], ErrErased)
	if _, _, err := r.Open(of43[:]); err != nil {
		t.Error(err)
	}
	p.opener.Revoke(1)
	wants(t, r, of43[:], ErrRevoked)
	if err := p.opener.AddSession(p.session, anybody); err != nil {
		t.Error(err)
	}
	wants(t, r, of43[:], ErrRevoked)
	var w Value
	if err := second.Seal(&w, 7, Contents{43, 9}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Open(w[:]); err != nil {
		t.Errorf("of another session: %v", err)
	}
}

// After a rotation, the old key opens the values sealed for it, and the new one the rest.
func TestRotation(t *testing.T) {
	p := newPlace(t)
	v := p.seal(t, 1, Contents{1, 1})
	next := must(GenerateKey())
	sealer, session, err := NewSession(next.Public(), p.database, 2, p.signer)
	if err != nil {
		t.Fatal(err)
	}
	var w Value
	if err := sealer.Seal(&w, 1, Contents{1, 2}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		keys      []*PrivateKey
		old, new_ error
	}{{[]*PrivateKey{p.key, next}, nil, nil}, {[]*PrivateKey{next}, ErrValue, nil}, {[]*PrivateKey{p.key}, nil, ErrValue}, {nil, ErrValue, ErrValue}} {
		o := NewOpener(p.database, NewKeyring(c.keys...))
		for _, s := range []*Session{p.session, session} {
			if err := o.AddSession(s, anybody); err != nil {
				t.Fatal(err)
			}
		}
		r := o.NewReader()
		if _, _, err := r.Open(v[:]); err != c.old {
			t.Errorf("old value with %d keys: %v", len(c.keys), err)
		}
		if _, _, err := r.Open(w[:]); err != c.new_ {
			t.Errorf("new value with %d keys: %v", len(c.keys), err)
		}
	}
}

// A session never uses a counter twice: it ends with its process, and with its counters.
func TestSealerEnds(t *testing.T) {
	p := newPlace(t)
	var v Value
	p.sealer.counter = math.MaxUint64 - 1
	if err := p.sealer.Seal(&v, 1, Contents{}); err != nil {
		t.Error(err)
	}
	last := v
	if err := p.sealer.Seal(&v, 1, Contents{}); !errors.Is(err, errFull) || v != last {
		t.Errorf("beyond the last counter: %v", err)
	}
	second, _ := p.begin(t, 2)
	second.process++ // as in a child
	if err := second.Seal(&v, 1, Contents{}); !errors.Is(err, errForked) || v != last {
		t.Errorf("in another process: %v", err)
	}
}

func TestKeys(t *testing.T) {
	key := must(GenerateKey())
	private, public := must(key.MarshalText()), must(key.Public().MarshalText())
	if again := must(ParsePrivateKey(private, nil)); again.Public().ID() != key.Public().ID() {
		t.Error("the private key is another")
	}
	if again := must(ParsePublicKey(public)); again.ID() != key.Public().ID() {
		t.Error("the public key is another")
	}
	if bytes.Contains(public, private[40:80]) {
		t.Error("the public key holds the private one")
	}
	for name, text := range map[string]string{
		"": "", "nothing": "hello", "the public key": string(public), "a piece": string(private[:60]),
		"more": string(private) + "x", "another label": strings.ReplaceAll(string(private), "GEOSQL", "OTHER"),
		"a short one": "-----BEGIN GEOSQL PRIVATE KEY-----\nAAAA\n-----END GEOSQL PRIVATE KEY-----\n",
	} {
		if _, err := ParsePrivateKey([]byte(text), nil); !errors.Is(err, errPrivateKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{"the private key": {string(private), errSecret}, "nothing": {"", errPublicKey}, "a short one": {"-----BEGIN GEOSQL PUBLIC KEY-----\nAAAA\n-----END GEOSQL PUBLIC KEY-----\n", errPublicKey}} {
		if _, err := ParsePublicKey([]byte(c.text)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An encrypted key needs its passphrase, and any change of the file is noticed.
func TestPassphrase(t *testing.T) {
	key := must(GenerateKey())
	text := must(key.Encrypt([]byte("correct horse")))
	says := func(words string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(words), nil } }
	if again, err := ParsePrivateKey(text, says("correct horse")); err != nil || again.Public().ID() != key.Public().ID() {
		t.Errorf("%v", err)
	}
	block, _ := pem.Decode(text)
	changed := func(at int) []byte {
		b := bytes.Clone(block.Bytes)
		b[at] ^= 1
		return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: b})
	}
	cancelled := errors.New("cancelled")
	for name, c := range map[string]struct {
		text []byte
		ask  func() ([]byte, error)
		want error
	}{
		"none": {text, nil, ErrPassphrase}, "another": {text, says("wrong horse"), ErrPassphrase}, "an empty one": {text, says(""), ErrPassphrase},
		"nobody answers":     {text, func() ([]byte, error) { return nil, cancelled }, cancelled},
		"another salt":       {changed(4), says("correct horse"), ErrPassphrase},
		"other iterations":   {changed(3), says("correct horse"), ErrPassphrase},
		"too many":           {pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: append([]byte{255}, block.Bytes[1:]...)}), says("correct horse"), errPrivateKey},
		"another ciphertext": {changed(30), says("correct horse"), ErrPassphrase},
		"a piece":            {pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes[:10]}), says("correct horse"), errPrivateKey},
	} {
		if _, err := ParsePrivateKey(c.text, c.ask); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := ParsePublicKey(text); !errors.Is(err, errSecret) {
		t.Errorf("taken for a public key: %v", err)
	}
	if plain := must(key.key.Bytes()); bytes.Contains(block.Bytes, plain) || bytes.Equal(text, must(key.Encrypt([]byte("correct horse")))) {
		t.Error("the key is not hidden")
	}
}

// Readers work beside each other, and beside revocations.
func TestConcurrentReaders(t *testing.T) {
	p := newPlace(t)
	v := p.seal(t, 1, Contents{1, 1})
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			r := p.opener.NewReader()
			for n := range 1000 {
				if _, _, err := r.Open(v[:]); err != nil && err != ErrErased {
					t.Error(err)
				}
				if n == 500 {
					p.opener.Erase(uint64(i))
				}
			}
		})
	}
	wait.Wait()
}

func TestNothingIsAllocated(t *testing.T) {
	p := newPlace(t)
	r := p.opener.NewReader()
	var v Value
	if n := testing.AllocsPerRun(1000, func() {
		if err := p.sealer.Seal(&v, 1, Contents{1, 1}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Open(v[:]); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzOpen(f *testing.F) {
	p := newPlace(f)
	r := p.opener.NewReader()
	good := p.seal(f, 7, Contents{42, 1})
	f.Add(good[:])
	f.Add(good[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := r.Open(b); err != ErrValue && !bytes.Equal(b, good[:]) {
			t.Errorf("%x: %v", b, err)
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	p := newPlace(b)
	var v Value
	for b.Loop() {
		if err := p.sealer.Seal(&v, 1, Contents{1, 1}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, sessions := range []uint32{1, 1000} {
		b.Run(fmt.Sprint("sessions=", sessions), func(b *testing.B) {
			p := newPlace(b)
			r := p.opener.NewReader()
			values := make([]Value, sessions)
			for i := range values {
				sealer, _ := p.begin(b, uint32(i)+2)
				if err := sealer.Seal(&values[i], 1, Contents{1, 1}); err != nil {
					b.Fatal(err)
				}
				if _, _, err := r.Open(values[i][:]); err != nil {
					b.Fatal(err)
				}
			}
			i := 0
			for b.Loop() {
				if _, _, err := r.Open(values[i][:]); err != nil {
					b.Fatal(err)
				}
				if i++; i == len(values) {
					i = 0
				}
			}
		})
	}
}
