package unseal

import (
	"context"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// MaxRepeat is the largest number that WithMaxRepeat takes.
const MaxRepeat = 1<<repeatBits - 1

// mayRepeat returns how many times a group may have the same sealed value.
func mayRepeat(s *frame.Session) uint32 {
	if e := evaluationOf(s); e != nil {
		return uint32(min(max(e.analyst.MaxRepeat, 1), MaxRepeat))
	}
	return max(s.Options.MaxRepeat, 1)
}

var errNoKey = errors.New("sealed values open with their owner's key only: geosql --key KEY DB")

// A statement is the state of a statement over sealed values.
type statement struct {
	opener   *catalog.Keeper               // nil before the first
	values   map[budget.Unit]*valueCharges // under d1
	repeated map[int]*repeats              // by place
	memory   allowance                     // of its evaluation
}

var statements frame.Variable[statement]

func (t *statement) End() {
	for _, v := range t.values {
		v.sums.Close()
	}
	for _, r := range t.repeated {
		r.table.Close()
	}
	t.memory.End()
}

// keeper returns the keeper that opens sealed values for the rest of the statement. It knows the owner's
// records until the statement's first use of it: an account that is erased then does not count any more.
func (t *statement) keeper(s *frame.Session) (*catalog.Keeper, error) {
	if t.opener == nil {
		k, err := FreshKeeper(s)
		if err != nil {
			return nil, err
		}
		t.opener = k
	}
	return t.opener, nil
}

// FreshKeeper returns the keeper of the main database.
func FreshKeeper(s *frame.Session) (k *catalog.Keeper, err error) {
	if s.Options.Keyring == nil {
		return nil, errNoKey
	}
	l, err := s.Ledger()
	if errors.Is(err, frame.ErrNoLedger) {
		return nil, catalog.ErrNotSealed
	}
	if err != nil {
		return nil, err
	}
	err = s.Alone(func() error {
		k, err = readKeeper(s, l)
		return err
	})
	return k, err
}

// waits returns how long the running statement waits for the ledger.
func waits(s *frame.Session) context.Context {
	if e := evaluationOf(s); e != nil {
		return e.analyst.Context
	}
	return context.Background()
}

// keepers remembers the keeper of the ledger that a connection uses.
var keepers = frame.Memo[ledger.Facts, *catalog.Keeper]{Limit: 1}

// readKeeper opens the keeper, or brings it up to date with the database and the ledger.
func readKeeper(s *frame.Session, l ledger.Facts) (*catalog.Keeper, error) {
	if k, ok := keepers.Entries(s)[l]; ok {
		return k, k.Refresh(waits(s))
	}
	k, err := catalog.Open(waits(s), s.Conn, l, s.Options.Keyring)
	if err == nil {
		keepers.Put(s, l, k)
	}
	return k, err
}
