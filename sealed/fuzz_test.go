package sealed

import (
	"bytes"
	"testing"
)

// FuzzOpenAccount opens only sealed entries, whatever the bytes are. FuzzOpen does the
// same for values.
func FuzzOpenAccount(f *testing.F) {
	p := newPlace(f)
	r := p.opener.NewReader()
	good, err := p.sealer.SealAccount(42, "ana")
	if err != nil {
		f.Fatal(err)
	}
	value := p.seal(f, 7, Contents{42, 1})
	f.Add(good)
	f.Add(good[:headerSize+tagSize])
	f.Add(append(good[:len(good):len(good)], good...))
	f.Add(value[:])
	f.Add(append(make([]byte, 4), value[4:]...)) // which claims to be an account
	f.Fuzz(func(t *testing.T, b []byte) {
		number, name, err := r.OpenAccount(b)
		if bytes.Equal(b, good) {
			if number != 42 || name != "ana" || err != nil {
				t.Errorf("%d, %q, %v", number, name, err)
			}
			return
		}
		if number != 0 || name != "" || err != ErrValue {
			t.Errorf("%x: %d, %q, %v", b, number, name, err)
		}
	})
}

// An entry by a collector, other than the output of this package, may hold
// anything: it opens as an account or not, and nothing panics.
func FuzzContentsOfAccount(f *testing.F) {
	p := newPlace(f)
	r := p.opener.NewReader()
	f.Add([]byte{})
	f.Add(make([]byte, accountBlock))
	f.Add(bytes.Repeat([]byte{255}, accountBlock))
	for _, length := range []byte{0, accountBlock - accountHead, accountBlock - accountHead + 1, accountBlock} {
		claims := make([]byte, accountBlock)
		claims[9] = length
		f.Add(claims)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		sealed, err := p.sealer.seal(make([]byte, headerSize), accountColumn, plain)
		if err != nil {
			t.Fatal(err)
		}
		_, name, err := r.OpenAccount(sealed)
		if err != nil && err != ErrValue || len(name) > len(plain) || err == nil && len(plain) < accountBlock {
			t.Errorf("%x: %q, %v", plain, name, err)
		}
	})
}

// Texts that are no keys are errors, and keys make the same text again.
func FuzzKeys(f *testing.F) {
	key := must(GenerateKey())
	private, public, locked := must(key.MarshalText()), must(key.Public().MarshalText()), must(key.Encrypt([]byte("words")))
	for _, text := range [][]byte{private, public, locked} {
		f.Add(text)
		f.Add(text[:len(text)/2])
		f.Add(bytes.Replace(text, []byte("KEY"), []byte("KEYS"), 2))
		f.Add(append([]byte("x"), text...))
		f.Add(bytes.Replace(text, []byte("\n"), []byte("\r\n"), -1))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := ParsePrivateKey(text, nil); err == nil {
			again, err := k.MarshalText()
			if b, parsed := ParsePrivateKey(again, nil); err != nil || parsed != nil || b.Public().ID() != k.Public().ID() {
				t.Errorf("%q becomes %q: %v, %v", text, again, err, parsed)
			}
		}
		if k, err := ParsePublicKey(text); err == nil {
			again, err := k.MarshalText()
			if b, parsed := ParsePublicKey(again); err != nil || parsed != nil || b.ID() != k.ID() {
				t.Errorf("%q becomes %q: %v, %v", text, again, err, parsed)
			}
		}
	})
}
