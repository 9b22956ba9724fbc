package sqlitefn

import (
	"errors"

	"github.com/geosql/geosql/budget"
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
	if e := evaluationOf(s); e != nil {
		return uint32(min(max(e.analyst.MaxRepeat, 1), MaxRepeat))
	}
	return max(s.opts.maxRepeat, 1)
}

var errNoKey = errors.New("sealed values open with their owner's key only: geosql --key KEY DB")

// A sealedStatement is what a statement does with sealed values.
type sealedStatement struct {
	opener   *catalog.Keeper               // nil before the first
	values   map[budget.Unit]*valueCharges // under d1
	repeated map[int]*repeats              // by place
	memory   allowance                     // of its evaluation
}

var sealedOf variable[sealedStatement]

func (t *sealedStatement) end() {
	for _, v := range t.values {
		v.sums.Close()
	}
	for _, r := range t.repeated {
		r.table.Close()
	}
	t.memory.end()
}

// keeper returns what opens sealed values for the rest of the statement. It knows what the owner
// has recorded until the statement's first use of it: who is erased does not count any more.
func (t *sealedStatement) keeper(s *session) (*catalog.Keeper, error) {
	if t.opener == nil {
		k, err := s.freshKeeper()
		if err != nil {
			return nil, err
		}
		t.opener = k
	}
	return t.opener, nil
}

// freshKeeper returns the keeper of the main database.
func (s *session) freshKeeper() (k *catalog.Keeper, err error) {
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
	err = s.alone(func() error {
		k, err = s.readKeeper(book)
		return err
	})
	return k, err
}

// keepers remembers the keeper of the ledger that a connection uses.
var keepers = memo[ledger.Facts, *catalog.Keeper]{limit: 1}

// readKeeper opens the keeper, or brings it up to date with the database and the ledger.
func (s *session) readKeeper(book ledger.Facts) (*catalog.Keeper, error) {
	if k, ok := keepers.entries(s)[book]; ok {
		return k, k.Refresh()
	}
	k, err := catalog.Open(s.conn, book, s.opts.keyring)
	if err == nil {
		keepers.put(s, book, k)
	}
	return k, err
}
