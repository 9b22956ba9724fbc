package file

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// RoleVariable makes the test binary play a process.
const RoleVariable = "GEOSQL_LEDGER_ROLE"

// Play plays one of this package's roles.
var Play = play

// Refund takes a charge back, as no ledger does, in entries that verify.
func (l *Ledger) Refund(account string, unit budget.Unit, eps budget.Amount) error {
	return l.transact(func(t *transaction) error {
		b, err := t.Standing(engine.Key{Account: account, Unit: unit})
		if err != nil {
			return err
		}
		return engine.Post(t, &engine.Change{Origin: new(engine.Run).Origin(t.now, "refund", unit), Account: account, Spent: -eps, Term: b.Term}, &b)
	})
}

// SetClock stops the ledger's clock at a time, in microseconds since 1970.
func (l *Ledger) SetClock(at int64) { l.clock = func() int64 { return at } }

// Exec runs SQL through the ledger's own connection, such as a PRAGMA that no ledger
// would use.
func (l *Ledger) Exec(sql string) error {
	l.writer.Lock()
	defer l.writer.Unlock()
	return l.db.conn.Exec(sql)
}
