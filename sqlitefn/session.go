package sqlitefn

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// session is what one connection remembers. SQLite serialises the calls on a
// connection, so nothing in it is locked.
type session struct {
	conn   *sqlite.Conn
	opts   options
	source *exact.Source
	book   *ledger.Ledger // nil until it is needed

	// Built declarations by what was declared: a declaration that is rolled back,
	// or that another connection completes, is simply another one.
	domains   map[declaredDomain]*planar.Domain
	universes map[declaredUniverse]*scalar.Universe
	laplaces  map[laplaceKey]*laplacePlan
	queries   map[queryKey]*queryPlan
	traces    map[tracePlanKey]*tracePlan
	models    map[string]*markov.Model
	optimals  map[string]*optimalMechanism
	groups    []*queryGroup // spare ones
	dry       *dryRun       // nil except within a dry run
	reading   scalar.Accumulator
}

func newSession(conn *sqlite.Conn, o options) *session {
	return &session{
		conn:      conn,
		opts:      o,
		source:    exact.NewSource(o.entropy),
		domains:   make(map[declaredDomain]*planar.Domain),
		universes: make(map[declaredUniverse]*scalar.Universe),
		laplaces:  make(map[laplaceKey]*laplacePlan),
		queries:   make(map[queryKey]*queryPlan),
		traces:    make(map[tracePlanKey]*tracePlan),
		models:    make(map[string]*markov.Model),
		optimals:  make(map[string]*optimalMechanism),
	}
}

// maxPlans bounds what a connection remembers when epsilon comes from a column.
const maxPlans = 1024

func remember[K comparable, V any](plans map[K]V, key K, plan V) {
	if len(plans) >= maxPlans {
		clear(plans)
	}
	plans[key] = plan
}

// close runs when the connection has closed.
func (s *session) close() {
	detach(s.conn)
	if s.book != nil {
		_ = s.book.Close() // what it could not return stays spent
	}
}

// errNoLedger says that no ledger exists yet: nobody has set a limit.
var errNoLedger = errors.New("there is no ledger: nobody has set a limit")

// ledger returns the ledger that belongs to the main database. It is opened at
// its first use and never created here: a ledger that has gone missing must not
// be replaced by an empty one, which would refund everything.
func (s *session) ledger() (*ledger.Ledger, error) {
	if s.book != nil {
		return s.book, nil
	}
	id, err := s.recordedLedger()
	if err != nil {
		return nil, err
	}
	path, onDisk := s.ledgerPath()
	var book *ledger.Ledger
	switch {
	case onDisk:
		book, err = ledger.Open(path, false)
	case id != "":
		book, err = ledger.OpenMemory(id)
	default:
		return nil, errNoLedger
	}
	if errors.Is(err, fs.ErrNotExist) {
		if id == "" {
			return nil, errNoLedger
		}
		return nil, fmt.Errorf("ledger %s is missing: this database was charged to ledger %s, put that file back", path, id)
	}
	if err != nil {
		return nil, err
	}
	if id != "" && book.ID() != id {
		got := book.ID()
		_ = book.Close()
		return nil, fmt.Errorf("ledger %s has id %s, but this database was charged to ledger %s", path, got, id)
	}
	s.book = book
	return book, nil
}

// createLedger returns the ledger and makes it where there is none. Its id is
// recorded in the main database, unless that cannot be written at all.
func (s *session) createLedger() (*ledger.Ledger, error) {
	book, err := s.ledger()
	if errors.Is(err, errNoLedger) {
		if path, onDisk := s.ledgerPath(); onDisk {
			book, err = ledger.Open(path, true)
		} else {
			book, err = ledger.OpenMemory("")
		}
	}
	if err != nil {
		return nil, err
	}
	s.book = book
	return book, s.recordLedger(book.ID())
}

// ledgerPath is where the ledger's file is or would be, and false for a main
// database without a file, whose ledger lives in memory too.
func (s *session) ledgerPath() (path string, onDisk bool) {
	if s.opts.ledger != "" {
		return s.opts.ledger, true
	}
	file, onDisk := s.conn.File()
	if !onDisk {
		return "", false
	}
	// Two names of one database must lead to one ledger.
	if realFile, err := filepath.EvalSymlinks(file); err == nil {
		file = realFile
	}
	return file + "-ledger", true
}

// spendError makes the error of a function that was to charge account in unit.
func (s *session) spendError(err error, account string, unit budget.Unit, asked budget.Amount) error {
	if errors.Is(err, errNoLedger) {
		return &ledger.Refusal{Account: account, Unit: unit, Asked: asked}
	}
	return err
}

// statement is the scope of one run of a statement: what it has reserved ahead
// in the ledger, and the plans of its last releases.
type statement struct {
	session  *session
	ledger   *ledger.Statement // nil until the first charge
	spenders []spender
	plan     *laplacePlan
	planFor  laplaceArgs
	value    *queryPlan

	optimal      *optimalMechanism
	optimalNamed string
	optimalUnit  budget.Unit
}

type spender struct {
	function *function
	unit     budget.Unit
	*ledger.Spender
}

func (s *session) newStatement() *statement { return &statement{session: s} }

// End returns what was reserved and not used.
func (t *statement) End() {
	if t.ledger != nil {
		_ = t.ledger.End() // what it could not return stays spent
		t.ledger, t.spenders = nil, nil
	}
}

// charge charges account for one release of f and returns what the release is
// drawn from: nil within a dry run, which charges and draws nothing.
func (t *statement) charge(f *function, account []byte, unit budget.Unit, cost budget.Amount) (*exact.Source, error) {
	if t.session.dry != nil {
		t.session.dry.count(f, account, unit, cost, 1)
		return nil, nil
	}
	if err := t.spend(f, account, unit, cost); err != nil {
		return nil, err
	}
	return t.session.source, nil
}

func (t *statement) spend(f *function, account []byte, unit budget.Unit, cost budget.Amount) error {
	for i := range t.spenders {
		if p := &t.spenders[i]; p.function == f && p.unit == unit {
			return p.Charge(account, cost)
		}
	}
	if t.ledger == nil {
		book, err := t.session.ledger()
		if err != nil {
			return t.session.spendError(err, string(account), unit, cost)
		}
		t.ledger = book.NewStatement()
	}
	p := t.ledger.Spender(f.name, unit)
	t.spenders = append(t.spenders, spender{f, unit, p})
	return p.Charge(account, cost)
}
