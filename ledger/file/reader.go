package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// reader implements [engine.Reader].
type reader struct {
	ledger *Ledger
	db     *store
	now    int64

	placeKnown bool // whether checkPlace was called
	marked     bool // whether the ledger is marked as a copy, which checkPlace finds out
	hasAnswers bool // whether it is known that the tables of answers and role budgets are there
}

func (l *Ledger) newReader(db *store) *reader { return &reader{ledger: l, db: db, now: l.clock()} }

// checkPlace checks that the file still is the ledger that was opened.
func (r *reader) checkPlace() (err error) {
	if err := r.ledger.place.check(); err != nil {
		return err
	}
	r.marked, err = r.db.sameLedger()
	r.placeKnown = err == nil
	return err
}

// Now implements [engine.Reader].
func (r *reader) Now() int64 { return r.now }

// Standing implements [engine.Reader].
func (r *reader) Standing(k engine.Key) (ledger.Standing, error) {
	return r.db.standing(k.Account, k.Unit, r.now)
}

// LimitedUnits implements [engine.Reader].
func (r *reader) LimitedUnits(account string) (units []budget.Unit, err error) {
	err = r.db.query(`SELECT DISTINCT unit FROM budget WHERE account IN (?1, '*') ORDER BY unit`, func(s *sqlite.Stmt) error {
		unit := s.Column(0)
		units = append(units, budget.Unit(unit.Text()))
		return nil
	}, account)
	return units, err
}

// Ascending implements [engine.Reader]. It walks through the tables for many accounts.
func (r *reader) Ascending(unit budget.Unit, n int) (engine.Standings, error) {
	if n >= batchSize {
		return r.db.orderedBalances(unit, r.now)
	}
	return searched{r, unit}, nil
}

// searched implements [engine.Standings] by a search for each account.
type searched struct {
	*reader
	unit budget.Unit
}

func (s searched) Standing(account string) (ledger.Standing, error) {
	return s.reader.Standing(engine.Key{Account: account, Unit: s.unit})
}

func (s searched) Close() {}
