package sqlitefn

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/optimal"
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

	recorded  string // the id of a ledger that the main database held when it was last read
	unsettled bool   // it was recorded in a transaction that was still open then

	// Built declarations by what was declared: a declaration that is rolled back,
	// or that another connection completes, is simply another one.
	domains   map[declaredDomain]*planar.Domain
	universes map[declaredUniverse]*scalar.Universe
	laplaces  map[laplaceKey]*planar.Laplace
	queries   map[queryKey]*queryPlan
	traces    map[tracePlanKey]*tracePlan
	models    map[string]*markov.Model
	optimals  map[string]*optimal.PlaceMechanism
	groups    []*queryGroup // spare ones
	payer     payer
	dry       *dryRun // the payer within a dry run, else nil
	reading   scalar.Accumulator
}

func newSession(conn *sqlite.Conn, o options) *session {
	s := &session{
		conn:      conn,
		opts:      o,
		source:    exact.NewSource(o.entropy),
		domains:   make(map[declaredDomain]*planar.Domain),
		universes: make(map[declaredUniverse]*scalar.Universe),
		laplaces:  make(map[laplaceKey]*planar.Laplace),
		queries:   make(map[queryKey]*queryPlan),
		traces:    make(map[tracePlanKey]*tracePlan),
		models:    make(map[string]*markov.Model),
		optimals:  make(map[string]*optimal.PlaceMechanism),
	}
	s.payer = charger{s}
	return s
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

// statement is the scope of one run of a statement: what it has reserved ahead
// in the ledger, and the plans of its last releases.
type statement struct {
	session   *session
	ledger    *ledger.Statement // nil until the first charge
	spenders  []spender
	locations []lastLocation
	value     *queryPlan
	account   [20]byte // room for the text of an account that is a number
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

// spender returns what charges the evaluations of a function in a unit.
func (t *statement) spender(f *function, unit budget.Unit) (*ledger.Spender, error) {
	for i := range t.spenders {
		if p := &t.spenders[i]; p.function == f && p.unit == unit {
			return p.Spender, nil
		}
	}
	if t.ledger == nil {
		book, err := t.session.chargeable()
		if err != nil {
			return nil, err
		}
		t.ledger = book.NewStatement()
	}
	p := t.ledger.Spender(f.name, unit)
	t.spenders = append(t.spenders, spender{f, unit, p})
	return p, nil
}
