package sealed

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
)

// A Keyring holds the private keys of an owner: the one that is in use, and earlier ones that
// older sessions were sealed for. It is immutable and safe for concurrent use.
type Keyring struct{ keys map[KeyID]*PrivateKey }

// NewKeyring returns the keyring of keys.
func NewKeyring(keys ...*PrivateKey) *Keyring {
	r := &Keyring{map[KeyID]*PrivateKey{}}
	for _, k := range keys {
		r.keys[k.public.id] = k
	}
	return r
}

// Has reports whether the keyring has a key.
func (r *Keyring) Has(id KeyID) bool { return r.keys[id] != nil }

// Derive returns a key for some purpose of the owner of a database, which only the keyring's keys tell. It does not depend
// on their order. A keyring of other keys, also of one more, has another.
func (r *Keyring) Derive(database DatabaseID, purpose string) (key [32]byte, err error) {
	var all []byte
	for _, id := range slices.SortedFunc(maps.Keys(r.keys), func(a, b KeyID) int { return bytes.Compare(a[:], b[:]) }) {
		b, err := r.keys[id].key.Bytes()
		if err != nil {
			return key, err
		}
		all = append(all, b...)
	}
	if len(all) == 0 {
		return key, errors.New("a keyring without keys derives none")
	}
	b, err := hkdf.Key(sha256.New, all, database[:], "geosql derived key: "+purpose, len(key))
	if err != nil {
		return key, err
	}
	return [32]byte(b), nil
}
