package file

import (
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Charges implements [ledger.Ledger].
func (l *Ledger) Charges() iter.Seq2[ledger.Charge, error] {
	return engine.Sequence(l.readCharges)
}

// chargesSQL leaves out runs that only reserved, which have spent and evaluated nothing, and the spending of
// roles have spent.
const chargesSQL = `
SELECT min(id), min(time), function, account, unit, sum(spent), sum(evaluations)
FROM entry WHERE NOT (` + engine.OfRoleBudget + `) GROUP BY statement, function, account, unit
HAVING sum(spent) <> 0 OR sum(evaluations) <> 0
ORDER BY min(id)`

// readCharges reads all charges before it returns the first. The loop over them may use the
// ledger, and no transaction can begin on a connection that still reads an older state.
func (l *Ledger) readCharges() (charges []ledger.Charge, err error) {
	err = l.read(func(db *store) error {
		return db.query(chargesSQL, func(s *sqlite.Stmt) error {
			id, at, function, account := s.Column(0), s.Column(1), s.Column(2), s.Column(3)
			unit, spent, evaluations := s.Column(4), s.Column(5), s.Column(6)
			charges = append(charges, ledger.Charge{
				ID:          id.Int(),
				Time:        time.UnixMicro(at.Int()).UTC(),
				Function:    function.Text(),
				Account:     account.Text(),
				Unit:        budget.Unit(unit.Text()),
				Epsilon:     budget.Amount(spent.Int()),
				Evaluations: evaluations.Int(),
			})
			return nil
		})
	})
	return charges, err
}

// LimitChanges implements [ledger.Ledger].
func (l *Ledger) LimitChanges() (changes []ledger.LimitChange, err error) {
	err = l.read(func(db *store) error {
		return db.query(entrySQL+" WHERE epsilon_limit IS NOT NULL ORDER BY id", func(s *sqlite.Stmt) error {
			r := scanEntry(s)
			changes = append(changes, ledger.LimitChange{
				ID:      r.ID,
				Time:    time.UnixMicro(r.Time).UTC(),
				Account: r.Account,
				Unit:    budget.Unit(r.Unit),
				Limit:   budget.Amount(r.Limit),
				Window:  r.LimitWindow,
			})
			return nil
		})
	})
	return changes, err
}
