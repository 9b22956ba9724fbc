package ledger

import (
	"iter"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
)

// Charge is what one function charged to one account during one run of an SQL
// statement.
type Charge struct {
	ID          int64     // grows from charge to charge
	Time        time.Time // of the first evaluation
	Function    string
	Account     string
	Unit        budget.Unit
	Epsilon     budget.Amount
	Evaluations int64
}

// Charges returns the charges in the order of their ids. It reads them all when
// the loop starts; what is charged later is not among them. An error ends the
// sequence.
func (l *Ledger) Charges() iter.Seq2[Charge, error] {
	return func(yield func(Charge, error) bool) {
		charges, err := l.readCharges()
		for _, c := range charges {
			if !yield(c, nil) {
				return
			}
		}
		if err != nil {
			yield(Charge{}, err)
		}
	}
}

// What was only reserved has neither spent nor evaluated anything.
const chargesSQL = `
SELECT min(id), min(time), function, account, unit, sum(spent), sum(evaluations)
FROM entry GROUP BY statement, function, account, unit
HAVING sum(spent) <> 0 OR sum(evaluations) <> 0
ORDER BY min(id)`

// readCharges does not hand rows out while it runs: the loop may use the ledger,
// and a transaction cannot begin on a connection that still reads an older state.
func (l *Ledger) readCharges() (charges []Charge, err error) {
	err = l.read(func(db *store) error {
		return db.query(chargesSQL, func(s *sqlite.Stmt) error {
			id, at, function, account := s.Column(0), s.Column(1), s.Column(2), s.Column(3)
			unit, spent, evaluations := s.Column(4), s.Column(5), s.Column(6)
			charges = append(charges, Charge{
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

// LimitChange is a limit that was set.
type LimitChange struct {
	ID      int64 // in one order with those of charges
	Time    time.Time
	Account string
	Unit    budget.Unit
	Limit   budget.Amount
	Window  int64 // seconds; 0: none
}

// LimitChanges returns the limits that were set, in the order of their ids. Those
// of an archive are not among them, but for the ones that still hold.
func (l *Ledger) LimitChanges() (changes []LimitChange, err error) {
	err = l.read(func(db *store) error {
		return db.query(entrySQL+" WHERE epsilon_limit IS NOT NULL ORDER BY id", func(s *sqlite.Stmt) error {
			r := scanRecord(s)
			changes = append(changes, LimitChange{
				ID:      r.id,
				Time:    time.UnixMicro(r.time).UTC(),
				Account: r.account,
				Unit:    budget.Unit(r.unit),
				Limit:   budget.Amount(r.limit),
				Window:  r.seconds,
			})
			return nil
		})
	})
	return changes, err
}
