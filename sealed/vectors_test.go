package sealed

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the test vectors anew")

const vectorsFile = "../testdata/sealed.json"

// hexBytes are bytes that JSON has in hexadecimal.
type hexBytes []byte

func (b hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// vectors are the test vectors of docs/sealed.md, for implementations in other languages.
type vectors struct {
	PrivateKey string        `json:"private_key"`
	PublicKey  string        `json:"public_key"`
	Database   hexBytes      `json:"database"`
	Session    sessionVector `json:"session"`
	Values     []valueVector `json:"values"`
	Refused    []hexBytes    `json:"refused"`

	// Derived by a collector with the private key above, and the entry that tells the owner.
	Accounts []accountVector `json:"accounts"`
}

type accountVector struct {
	Name      string   `json:"name"`
	Number    uint64   `json:"number"`
	Pseudonym string   `json:"pseudonym"`
	Counter   uint64   `json:"counter"`
	Sealed    hexBytes `json:"sealed"`
}

type sessionVector struct {
	Number    uint32   `json:"number"`
	KeyID     hexBytes `json:"key_id"`
	Enc       hexBytes `json:"enc"`
	Signer    hexBytes `json:"signer"`
	Signature hexBytes `json:"signature"`
}

type valueVector struct {
	Column  uint32   `json:"column"`
	Counter uint64   `json:"counter"`
	Account uint64   `json:"account"`
	Reading *int64   `json:"reading,omitempty"`
	Lat     *int32   `json:"lat_1e7,omitempty"`
	Lon     *int32   `json:"lon_1e7,omitempty"`
	Sealed  hexBytes `json:"sealed"`
}

// newVectors makes vectors of a new key and a new session.
func newVectors(t *testing.T) *vectors {
	p := newPlace(t)
	v := &vectors{
		PrivateKey: string(must(p.key.MarshalText())), PublicKey: string(must(p.key.Public().MarshalText())), Database: p.database[:],
		Session: sessionVector{
			Number: p.session.Number, KeyID: p.session.Key[:], Enc: p.session.Enc, Signer: hexBytes(p.session.Signer), Signature: p.session.Signature,
		},
	}
	lat, lon := int32(488_584_000), int32(-1_799_999_999)
	for _, x := range []int64{0, 1, -1, 1500, -9_223_372_036_854_775_808} {
		v.Values = append(v.Values, valueVector{Column: 3, Account: 42, Reading: &x})
	}
	v.Values = append(v.Values, valueVector{Column: 4, Account: 18_446_744_073_709_551_615, Lat: &lat, Lon: &lon})
	for i := range v.Values {
		x := &v.Values[i]
		sealed := p.seal(t, x.Column, Contents{x.Account, x.data()})
		x.Counter, x.Sealed = uint64(i), sealed[:]
	}
	for at, bit := range map[int]byte{0: 1, 5: 1, 15: 2, 20: 4, 55: 128} {
		bad := append(hexBytes{}, v.Values[0].Sealed...)
		bad[at] ^= bit
		v.Refused = append(v.Refused, bad)
	}
	spare := p.seal(t, 3, Contents{})
	header := append([]byte{}, spare[:headerSize]...)
	var nonce [12]byte
	copy(nonce[4:], header[8:])
	bad := p.sealer.gcm.Seal(header, nonce[:], append(make([]byte, contentsSize-1), 1), header)
	v.Refused = append(v.Refused, bad) // the spare bytes are not 0
	for _, name := range []string{"ana", "", "José " + strings.Repeat("x", 60)} {
		a := must(AccountOf(p.key.Signer(), p.database, name))
		counter := p.sealer.counter
		v.Accounts = append(v.Accounts, accountVector{name, a.Number, a.Pseudonym, counter, must(p.sealer.SealAccount(a.Number, name))})
	}
	return v
}

func (x *valueVector) data() Data {
	if x.Reading != nil {
		return OfReading(*x.Reading)
	}
	return OfLocation(*x.Lat, *x.Lon)
}

// A sealed value opens for ever.
func TestVectors(t *testing.T) {
	if *update {
		text := must(json.MarshalIndent(newVectors(t), "", "\t"))
		if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var v vectors
	if err := json.Unmarshal(must(os.ReadFile(vectorsFile)), &v); err != nil {
		t.Fatal(err)
	}
	key, public := must(ParsePrivateKey([]byte(v.PrivateKey), nil)), must(ParsePublicKey([]byte(v.PublicKey)))
	if id := public.ID(); key.Public().ID() != id || string(id[:]) != string(v.Session.KeyID) {
		t.Error("the keys do not belong together")
	}
	o := NewOpener(DatabaseID(v.Database), NewKeyring(key))
	session := &Session{v.Session.Number, KeyID(v.Session.KeyID), v.Session.Enc, ed25519.PublicKey(v.Session.Signer), v.Session.Signature}
	if err := o.AddSession(session, anybody); err != nil {
		t.Fatal(err)
	}
	r := o.NewReader()
	for _, x := range v.Values {
		h, c, err := r.Open(x.Sealed)
		if want := (Contents{x.Account, x.data()}); err != nil || c != want || h != (Header{x.Column, session.Number, x.Counter}) {
			t.Errorf("%x: %+v, %+v, %v; want %+v", []byte(x.Sealed), h, c, err, want)
		}
	}
	for _, bad := range v.Refused {
		wants(t, r, bad, ErrValue)
	}
	for _, x := range v.Accounts {
		if a, err := AccountOf(key.Signer(), DatabaseID(v.Database), x.Name); err != nil || a != (Account{x.Number, x.Pseudonym}) {
			t.Errorf("%q: %+v, %v; want %+v", x.Name, a, err, x)
		}
		if number, name, err := r.OpenAccount(x.Sealed); err != nil || number != x.Number || name != x.Name || parseHeader(x.Sealed).Counter != x.Counter {
			t.Errorf("%q: %d, %q, %v", x.Name, number, name, err)
		}
		wants(t, r, x.Sealed, ErrValue)
	}
}
