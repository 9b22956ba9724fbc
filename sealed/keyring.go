package sealed

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
