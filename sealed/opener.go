package sealed

import (
	"crypto/cipher"
	"crypto/ed25519"
	"crypto/hpke"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
)

// An Opener opens the values of one database. Its methods are safe for concurrent use.
type Opener struct {
	database DatabaseID
	keyring  *Keyring
	sessions sync.Map // from number to *openSession

	mu   sync.Mutex           // for writers of gone
	gone atomic.Pointer[gone] // never changed, only replaced
}

// An openSession is a session with its cipher, which is derived when a value needs it.
type openSession struct {
	record *Session
	derive func() (cipher.AEAD, error)
}

// gone holds the keys and accounts that do not open any more.
type gone struct {
	sessions map[uint32]bool
	accounts map[uint64]bool
}

// NewOpener returns an opener for a database with the owner's keys.
func NewOpener(database DatabaseID, keyring *Keyring) *Opener {
	o := &Opener{database: database, keyring: keyring}
	o.gone.Store(&gone{map[uint32]bool{}, map[uint64]bool{}})
	return o
}

// AddSession adds a session, if enrolled reports that its signer may begin one. Adding a session
// again changes nothing. An error says that its number is another session's, that its
// signature is wrong, or that the signer is not enrolled.
func (o *Opener) AddSession(s *Session, enrolled func(ed25519.PublicKey) bool) error {
	if err := s.Verify(o.database); err != nil {
		return err
	}
	if !enrolled(s.Signer) {
		return fmt.Errorf("session %d was begun by a collector that is not enrolled", s.Number)
	}
	added := &openSession{s, sync.OnceValues(func() (cipher.AEAD, error) { return o.cipher(s) })}
	earlier, known := o.sessions.LoadOrStore(s.Number, added)
	if known && string(earlier.(*openSession).record.Signature) != string(s.Signature) {
		return fmt.Errorf("session %d is another one already", s.Number)
	}
	return nil
}

// cipher returns the cipher of a session.
func (o *Opener) cipher(s *Session) (cipher.AEAD, error) {
	key := o.keyring.keys[s.Key]
	if key == nil {
		return nil, ErrValue
	}
	recipient, err := hpke.NewRecipient(s.Enc, key.key, kdf, aead, info(o.database))
	if err != nil {
		return nil, ErrValue
	}
	exported, err := recipient.Export(exporter, 32)
	if err != nil {
		return nil, ErrValue
	}
	defer clear(exported)
	return newGCM(exported)
}

// Revoke makes all values of a session fail with ErrRevoked from now on, whether the session is
// known yet or not.
func (o *Opener) Revoke(session uint32) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.gone.Load()
	sessions := maps.Clone(now.sessions)
	sessions[session] = true
	o.gone.Store(&gone{sessions, now.accounts})
}

// Erase makes all values of accounts fail with ErrErased from now on.
func (o *Opener) Erase(accounts ...uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.gone.Load()
	erased := maps.Clone(now.accounts)
	for _, a := range accounts {
		erased[a] = true
	}
	o.gone.Store(&gone{now.sessions, erased})
}

// A Reader opens values for one goroutine. Opening does not allocate.
type Reader struct {
	opener *Opener
	nonce  [12]byte
	plain  [contentsSize]byte

	session uint32 // that gcm belongs to, unless that is nil
	gcm     cipher.AEAD
}

// NewReader returns a reader.
func (o *Opener) NewReader() *Reader { return &Reader{opener: o} }

// Open returns the header and the contents of a value. The error is ErrValue, ErrRevoked or ErrErased.
func (r *Reader) Open(value []byte) (Header, Contents, error) {
	h, err := ParseHeader(value)
	if err != nil {
		return Header{}, Contents{}, err
	}
	if h.Column == accountColumn {
		return Header{}, Contents{}, ErrValue
	}
	if _, err := r.open(r.plain[:0], h, value); err != nil {
		return Header{}, Contents{}, err
	}
	c, ok := parseContents(r.plain[:])
	clear(r.plain[:])
	switch {
	case !ok:
		return Header{}, Contents{}, ErrValue
	case r.opener.gone.Load().accounts[c.Account]:
		return Header{}, Contents{}, ErrErased
	}
	return h, c, nil
}

// open appends the plaintext behind a header to to. The error is ErrValue or ErrRevoked.
func (r *Reader) open(to []byte, h Header, sealed []byte) ([]byte, error) {
	if r.opener.gone.Load().sessions[h.Session] {
		return nil, ErrRevoked
	}
	if err := r.enter(h.Session); err != nil {
		return nil, err
	}
	copy(r.nonce[4:], sealed[8:headerSize])
	plain, err := r.gcm.Open(to, r.nonce[:], sealed[headerSize:], sealed[:headerSize])
	if err != nil {
		return nil, ErrValue
	}
	return plain, nil
}

// enter makes gcm the cipher of a session.
func (r *Reader) enter(session uint32) error {
	if r.gcm != nil && r.session == session {
		return nil
	}
	s, known := r.opener.sessions.Load(session)
	if !known {
		return ErrValue
	}
	gcm, err := s.(*openSession).derive()
	if err != nil {
		return err
	}
	r.session, r.gcm = session, gcm
	return nil
}
