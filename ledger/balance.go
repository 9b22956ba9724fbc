package ledger

import (
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
)

// Balance is what an account has of one unit. Spent and reserved amounts both
// count against the limit; a limit with a window compares with those of the
// window alone.
type Balance struct {
	Account     string
	Unit        budget.Unit
	Limit       budget.Amount // the account's own, else that of '*'
	Limited     bool          // whether there is a limit; without one every charge is refused
	Window      int64         // seconds after which the limit opens again; 0: never
	WindowSpent budget.Amount // spent or reserved in the current window
	Reopens     time.Time     // when the current window ends, to the second after; zero where none has started
	Spent       budget.Amount // since the beginning
	Reserved    budget.Amount // since the beginning
	LastCharge  time.Time     // zero if there was none

	limitChanged int64
	stored       usage
	term         term // of what is reserved now
}

// Remaining is what may still be charged: 0 without a limit.
func (b Balance) Remaining() budget.Amount {
	used := b.Spent + b.Reserved
	switch {
	case !b.Limited:
		return 0
	case b.Window > 0:
		used = b.WindowSpent
	}
	return max(0, b.Limit-used)
}

// Balance returns the balance of an account, whether the ledger knows it or not.
// For '*' it holds the limit of the accounts that are not named.
func (l *Ledger) Balance(account string, unit budget.Unit) (b Balance, err error) {
	err = l.read(func(db *store) error {
		b, err = db.balance(account, unit, l.clock())
		return err
	})
	return b, err
}

// Balances returns the balance of every account that has a limit or an entry,
// and the limits of '*', ordered by unit and account.
func (l *Ledger) Balances() (balances []Balance, err error) {
	err = l.read(func(db *store) error {
		now := l.clock()
		return db.query(balancesSQL, func(s *sqlite.Stmt) error {
			account, unit := s.Column(0), s.Column(1)
			b, err := scanBalance(s, 2, account.Text(), budget.Unit(unit.Text()), now)
			balances = append(balances, b)
			return err
		})
	})
	return balances, err
}

const balancesSQL = `
WITH known AS (SELECT account, unit FROM budget UNION SELECT account, unit FROM balance)
SELECT k.account, k.unit, l.epsilon, l.window_seconds, l.changed,
       b.spent, b.reserved, b.last_charge, b.window_start, b.window_spent
FROM known AS k
  LEFT JOIN budget AS l ON l.unit = k.unit AND l.account =
    coalesce((SELECT account FROM budget WHERE account = k.account AND unit = k.unit), '*')
  LEFT JOIN balance AS b ON b.account = k.account AND b.unit = k.unit
ORDER BY k.unit, k.account`

// balance reads a balance and the limit that holds for it.
func (db *store) balance(account string, unit budget.Unit, now int64) (Balance, error) {
	s := db.standing
	s.BindText(1, account)
	s.BindText(2, string(unit))
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return Balance{}, err
	}
	return scanBalance(s, 0, account, unit, now)
}

var errDamaged = errors.New("the ledger is damaged: a balance is out of range")

// scanBalance reads the eight columns from at on of a row of standingSQL or
// balancesSQL.
func scanBalance(s *sqlite.Stmt, at int, account string, unit budget.Unit, now int64) (Balance, error) {
	b := Balance{Account: account, Unit: unit}
	var row [8]sqlite.Value
	s.Row(at, row[:])
	b.scanLimit(row[:3])
	b.scanUse(row[3:])
	return b, b.at(now)
}

// scanLimit reads a limit: epsilon, window_seconds and changed, NULL where there is none.
func (b *Balance) scanLimit(row []sqlite.Value) {
	if limit := &row[0]; limit.Type() == sqlite.Integer {
		b.Limit, b.Limited = budget.Amount(limit.Int()), true
		b.Window, b.limitChanged = intOr0(&row[1]), row[2].Int()
	}
}

// scanUse reads what is used: spent, reserved, last_charge, window_start and window_spent,
// NULL where there is nothing.
func (b *Balance) scanUse(row []sqlite.Value) {
	if spent := &row[0]; spent.Type() == sqlite.Integer {
		b.Spent, b.Reserved = budget.Amount(spent.Int()), budget.Amount(row[1].Int())
		if t := row[2].Int(); t != 0 {
			b.LastCharge = time.UnixMicro(t).UTC()
		}
		b.stored = usage{intOr0(&row[3]), budget.Amount(row[4].Int())}
	}
}

// at completes a balance that was read, for the time now.
func (b *Balance) at(now int64) error {
	if !b.inRange() {
		return errDamaged
	}
	b.opened(now)
	return nil
}

// inRange makes sure that no sum of the balance's amounts can overflow.
func (b *Balance) inRange() bool {
	return b.Spent >= 0 && b.Reserved >= 0 && b.Spent <= budget.Max-b.Reserved &&
		b.Limit >= 0 && b.Limit <= budget.Max &&
		b.stored.spent >= 0 && b.stored.spent <= b.Spent+b.Reserved &&
		b.Window >= 0 && b.Window <= MaxWindow
}

// intOr0 is an integer, or 0 for NULL.
func intOr0(v *sqlite.Value) int64 {
	if v.Type() != sqlite.Integer {
		return 0
	}
	return v.Int()
}
