package sealed

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"math"
	"strings"
	"testing"
)

func TestAccountOf(t *testing.T) {
	p, q := newPlace(t), newPlace(t)
	of := func(signer ed25519.PrivateKey, id DatabaseID, name string) Account {
		t.Helper()
		return must(AccountOf(signer, id, name))
	}
	ana := of(p.signer, p.database, "ana")
	if again := of(p.signer, p.database, "ana"); again != ana || len(ana.Pseudonym) != 16 {
		t.Errorf("%+v, then %+v", ana, again)
	}
	for what, other := range map[string]Account{
		"another name": of(p.signer, p.database, "ana "), "another collector": of(q.signer, p.database, "ana"),
		"another database": of(p.signer, q.database, "ana"), "a random one": NewAccount(),
	} {
		if other.Number == ana.Number || other.Pseudonym == ana.Pseudonym {
			t.Errorf("%s has %+v too", what, other)
		}
	}
}

func TestSealAccount(t *testing.T) {
	p := newPlace(t)
	r := p.opener.NewReader()
	// A name's length shows in steps of 64 bytes only.
	for length, want := range map[int]int{0: 96, 1: 96, 54: 96, 55: 160, 118: 160, 119: 224, math.MaxUint16: 65_600 + 32} {
		name := strings.Repeat("n", length)
		entry := must(p.sealer.SealAccount(7, name))
		if len(entry) != want {
			t.Errorf("a name of %d bytes has an entry of %d, want %d", length, len(entry), want)
		}
		if number, got, err := r.OpenAccount(entry); number != 7 || got != name || err != nil {
			t.Errorf("%d, %q, %v", number, got, err)
		}
	}
	if _, err := p.sealer.SealAccount(7, strings.Repeat("n", math.MaxUint16+1)); err != errLongName {
		t.Errorf("%v", err)
	}

	refused := func(entry []byte, want error) {
		t.Helper()
		if number, name, err := r.OpenAccount(entry); err != want || number != 0 || name != "" {
			t.Errorf("%x: %d, %q, %v; want %v", entry, number, name, err, want)
		}
	}
	entry := must(p.sealer.SealAccount(7, "ana"))
	for i := range entry {
		bad := bytes.Clone(entry)
		bad[i] ^= 1
		refused(bad, ErrValue)
		refused(entry[:i], ErrValue)
	}
	refused(append(entry, 0), ErrValue)
	noise := make([]byte, len(entry))
	for range 1000 {
		rand.Read(noise)
		refused(noise, ErrValue)
	}
	v := p.seal(t, 1, Contents{7, 1})
	refused(v[:], ErrValue)
	refused(append(bytes.Clone(v[:]), make([]byte, 64)...), ErrValue)
	wants(t, r, entry[:ValueSize], ErrValue)
	// An enrolled collector that lies about the length of a name.
	for _, length := range []byte{55, 255} {
		plain := make([]byte, accountBlock)
		plain[9] = length
		refused(must(p.sealer.seal(make([]byte, headerSize, 200), accountColumn, plain)), ErrValue)
	}
	refused(must(p.sealer.seal(make([]byte, headerSize, 200), 1, make([]byte, accountBlock))), ErrValue)

	other := newPlace(t)
	if _, _, err := other.opener.NewReader().OpenAccount(entry); err != ErrValue {
		t.Errorf("in another database: %v", err)
	}
	p.opener.Erase(7)
	if _, name, err := r.OpenAccount(entry); name != "ana" || err != nil {
		t.Errorf("of an erased account: %q, %v", name, err)
	}
	p.opener.Revoke(1)
	refused(entry, ErrRevoked)
	var w Value
	if err := p.sealer.Seal(&w, accountColumn, Contents{}); err != errColumn {
		t.Errorf("a value in column 0: %v", err)
	}
}

// A public key has two halves, and its id stands for both.
func TestPublicKeyHalves(t *testing.T) {
	key, other := must(GenerateKey()), must(GenerateKey())
	block, _ := pem.Decode(must(key.Public().MarshalText()))
	text := func(label string, b []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: label, Bytes: b}) }
	again := must(ParsePublicKey(text(publicLabel, block.Bytes)))
	if !again.Verifier().Equal(key.Public().Verifier()) || again.ID() != key.Public().ID() {
		t.Error("the key is another one")
	}
	if message := []byte("x"); !ed25519.Verify(again.Verifier(), message, ed25519.Sign(key.Signer(), message)) {
		t.Error("the halves do not belong together")
	}
	end := len(block.Bytes) - ed25519.PublicKeySize
	mixed := append(bytes.Clone(block.Bytes[:end]), other.Public().Verifier()...)
	if id := must(ParsePublicKey(text(publicLabel, mixed))).ID(); id == key.Public().ID() {
		t.Error("another signer has the same id")
	}
	for name, bad := range map[string][]byte{
		"only the KEM's": text(publicLabel, block.Bytes[:end]), "only the signer's": text(publicLabel, block.Bytes[end:]), "truncated": text(publicLabel, block.Bytes[:len(block.Bytes)-1]),
		"longer": text(publicLabel, append(bytes.Clone(block.Bytes), 0)), "empty": text(publicLabel, nil), "another label": text("PUBLIC KEY", block.Bytes),
	} {
		if _, err := ParsePublicKey(bad); err != errPublicKey {
			t.Errorf("%s: %v", name, err)
		}
	}
	private := must(key.MarshalText())
	if k := must(ParsePrivateKey(private, nil)); !k.Signer().Equal(key.Signer()) {
		t.Error("the private key signs differently when it is read again")
	}
}
