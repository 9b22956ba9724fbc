package sqlitefn

import (
	"errors"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// WithKeyring lets the functions open what was sealed for the keys: see docs/sealed.md. Without
// it they refuse sealed values. Nil has no effect.
func WithKeyring(k *sealed.Keyring) Option { return func(o *options) { o.keyring = k } }

// MaxRepeat is the largest number that WithMaxRepeat takes.
const MaxRepeat = 1<<repeatBits - 1

// WithMaxRepeat lets a group of an aggregate over sealed values have the same value up to n
// times, from 1 to [MaxRepeat], instead of once: a query that repeats a row, as a join may, costs
// its account as many times epsilon. A number outside of the range stands for the nearest in it.
func WithMaxRepeat(n int) Option {
	return func(o *options) { o.maxRepeat = uint32(min(max(n, 1), MaxRepeat)) }
}

// mayRepeat returns how many times a group may have the same sealed value.
func (s *session) mayRepeat() uint32 {
	if e := s.evaluation; e != nil {
		return uint32(min(max(e.analyst.MaxRepeat, 1), MaxRepeat))
	}
	return max(s.opts.maxRepeat, 1)
}

var errNoKey = errors.New("sealed values open with their owner's key only: geosql --key KEY DB")

// keeper returns what opens sealed values for the rest of the statement. It knows what the owner
// has recorded until the statement's first use of it: who is erased does not count any more.
func (t *statement) keeper() (*catalog.Keeper, error) {
	if t.opener == nil {
		k, err := t.session.freshKeeper()
		if err != nil {
			return nil, err
		}
		t.opener = k
	}
	return t.opener, nil
}

// freshKeeper returns the keeper of the main database.
func (s *session) freshKeeper() (*catalog.Keeper, error) {
	if s.opts.keyring == nil {
		return nil, errNoKey
	}
	book, err := s.ledger()
	if errors.Is(err, errNoLedger) {
		return nil, catalog.ErrNotSealed
	}
	if err != nil {
		return nil, err
	}
	err = s.alone(func() error { return s.readKeeper(book) })
	if err != nil {
		return nil, err
	}
	return s.keeper, nil
}

// readKeeper opens the keeper, or brings it up to date with the database and the ledger.
func (s *session) readKeeper(book ledger.Facts) error {
	if s.keeper != nil && s.kept == book {
		return s.keeper.Refresh()
	}
	k, err := catalog.Open(s.conn, book, s.opts.keyring)
	if err == nil {
		s.keeper, s.kept = k, book
	}
	return err
}
