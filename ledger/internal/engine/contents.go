package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"iter"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// Contents is all that a ledger holds at one moment, in a form that every engine reads and writes, so that
// a ledger can move from one to another. Parts are read in their order, each from its beginning to
// its end, and may be read again. Their rows are in ascending order of their keys.
type Contents struct {
	ID         string
	Created    int64 // microseconds since 1970, as all times here
	Generation int64 // of writers on servers; 0 if there were none
	Moves      int64 // how often the ledger has moved

	Archived ledger.Head // the last entry that the ledger does not hold any more
	Last     int64       // the number of the last entry, or about that
	Entries  iter.Seq2[*ledger.Entry, error]

	Balances    iter.Seq2[*KeyedBalance, error]
	Limits      iter.Seq2[*KeyedLimit, error]
	Traces      iter.Seq2[*NamedTrace, error]
	Runs        iter.Seq2[*RunRow, error]
	Leases      iter.Seq2[*KeyedLease, error]
	Releases    iter.Seq2[*NamedRelease, error]
	Answers     iter.Seq2[*AnswerRow, error]
	Seen        iter.Seq2[*SeenRow, error]
	RoleBudgets iter.Seq2[*ledger.RoleBudget, error]
	Facts       iter.Seq2[*FactRow, error]
	Programs    iter.Seq2[*ProgramRow, error] // for its owner: no part of the proof, since nothing depends on them
}

// KeyedBalance is a stored balance.
type KeyedBalance struct {
	Key
	BalanceRow
}

// KeyedLimit is a stored limit.
type KeyedLimit struct {
	Key
	LimitRow
}

// NamedTrace is a stored trace without its points.
type NamedTrace struct {
	Name string
	TraceRow
	Changed int64
}

// RunRow has points of a trace, as [AppendPoints] writes them, from the one with the number First.
type RunRow struct {
	Trace  string
	First  int64
	Points []byte
}

// KeyedLease is a stored lease.
type KeyedLease struct {
	Key
	LeaseRow
	Most budget.Amount
}

// NamedRelease is a stored release.
type NamedRelease struct {
	ID string
	ReleaseRow
	Changed int64
}

// AnswerRow is a remembered answer.
type AnswerRow struct {
	ID                        int64
	Question, LeftOut, Answer []byte
	Given                     int64
}

// SeenRow says that a role has seen an answer.
type SeenRow struct {
	Answer int64
	Role   string
}

// FactRow is a fact, and when it was recorded.
type FactRow struct {
	ledger.Fact
	Recorded int64
}

// ProgramRow is the row of a program, as [ParseProgram] reads it.
type ProgramRow struct{ Key, Value string }

// A Proof stands for all contents of a ledger. Two ledgers with the same proof hold the same, to the last
// digit.
type Proof struct {
	Head     ledger.Head
	Balances int64
	Limits   int64
	Rest     [sha256.Size]byte // a hash of everything but the entries
}

// Prove reads the contents.
func (c *Contents) Prove() (p Proof, err error) {
	p.Head = c.Archived
	var scratch []byte
	for e, err := range c.Entries {
		if err != nil {
			return p, err
		}
		copied := *e
		p.Head = p.Head.Next(&copied, &scratch)
	}
	s := &summer{hash: sha256.New()}
	s.texts(c.ID)
	s.ints(c.Created)
	err = sum(s, c.Balances, func(r *KeyedBalance) {
		p.Balances++
		s.texts(r.Account, string(r.Unit))
		s.ints(int64(r.Spent), int64(r.Reserved), r.LastCharge, r.Window.Start, int64(r.Window.Spent))
	})
	err = then(err, s, c.Limits, func(r *KeyedLimit) {
		p.Limits++
		s.texts(r.Account, string(r.Unit))
		s.ints(int64(r.Epsilon), r.Seconds, r.Changed, r.Entry)
	})
	err = then(err, s, c.Traces, func(r *NamedTrace) {
		s.texts(r.Name, r.Account, string(r.Unit), string(r.State), string(r.User))
		s.ints(r.Saved, int64(r.Held), int64(r.Lost), r.Changed)
	})
	err = then(err, s, c.Runs, func(r *RunRow) {
		s.texts(r.Trace, string(r.Points))
		s.ints(r.First)
	})
	err = then(err, s, c.Leases, func(r *KeyedLease) {
		s.texts(r.Account, string(r.Unit), string(r.User))
		s.ints(int64(r.Most), int64(r.Lost))
	})
	err = then(err, s, c.Releases, func(r *NamedRelease) {
		s.texts(r.ID, r.Plan.Digest, r.Plan.Settings, r.Plan.Output)
		s.ints(r.Charged, r.Changed)
		if p := r.Published; p != nil {
			s.texts(p.Output, p.SHA256)
			s.ints(p.Time.UnixMicro())
		}
	})
	err = then(err, s, c.Answers, func(r *AnswerRow) {
		s.texts(string(r.Question), string(r.LeftOut), string(r.Answer))
		s.ints(r.ID, r.Given)
	})
	err = then(err, s, c.Seen, func(r *SeenRow) {
		s.ints(r.Answer)
		s.texts(r.Role)
	})
	err = then(err, s, c.RoleBudgets, func(r *ledger.RoleBudget) {
		s.texts(r.Role, r.Account, string(r.Unit))
		s.ints(int64(r.Spent))
	})
	err = then(err, s, c.Facts, func(r *FactRow) {
		s.texts(r.Kind, r.Text)
		s.ints(r.ID, r.Recorded)
	})
	s.hash.Sum(p.Rest[:0])
	return p, err
}

// A summer hashes rows in a form that can be read back.
type summer struct {
	hash    hash.Hash
	scratch []byte
}

func (s *summer) ints(all ...int64) {
	b := s.scratch[:0]
	for _, v := range all {
		b = binary.BigEndian.AppendUint64(b, uint64(v))
	}
	s.hash.Write(b)
	s.scratch = b
}

func (s *summer) texts(all ...string) {
	for _, text := range all {
		s.ints(int64(len(text)))
		s.hash.Write([]byte(text))
	}
}

// sum adds all rows of a part, each behind a 1, and a 0.
func sum[R any](s *summer, rows iter.Seq2[*R, error], add func(*R)) error {
	for r, err := range rows {
		if err != nil {
			return err
		}
		s.ints(1)
		add(r)
	}
	s.ints(0)
	return nil
}

// then is sum unless there was an error before.
func then[R any](before error, s *summer, rows iter.Seq2[*R, error], add func(*R)) error {
	if before != nil {
		return before
	}
	return sum(s, rows, add)
}

// Tell calls each, unless it is nil, with the share that is done, now and then.
func Tell(each func(share float64) error, done, of int64) error {
	if each == nil || done%4096 != 0 {
		return nil
	}
	return each(float64(done) / float64(max(done, of)))
}

// A Place is one end of the move of a ledger.
//
// The ledger is retired at one end before it arrives at the other, and can be used there only once it
// is complete. So it can never be used at both.
type Place interface {
	// State returns the state of the place.
	State() (State, error)

	// Retire lets nobody change the ledger any more, since it moves to another place. It does nothing if that
	// was so before.
	Retire(to string) error

	// Reinstate undoes Retire, if the ledger has arrived nowhere.
	Reinstate() error

	// Arrive writes the contents of a ledger that comes from another place, over one of the same ID that is
	// retired or has arrived and is not complete. Nobody can use it yet.
	Arrive(c *Contents) error

	// Complete lets everybody use the ledger that has arrived.
	Complete() error

	// Read lets work read the ledger at the place, or the one that has arrived.
	Read(work func(*Contents) error) error

	// Verify verifies the ledger at the place, or the one that has arrived, as [ledger.Chain] does.
	Verify(each func(share float64) error) (ledger.Verified, error)

	Close() error
}

// State is the state of a place.
type State struct {
	ID       string // of the ledger; "" if there is none
	Retired  string // where it moved to; "" if it did not
	Arriving bool   // it has arrived, and is not complete
	Moves    int64  // how often it has moved: of two, the one with more is the newer
}
