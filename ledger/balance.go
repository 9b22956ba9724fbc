package ledger

import (
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
)

// Balance is what an account has of one unit. Spent and reserved amounts both
// count against the limit.
type Balance struct {
	Account    string
	Unit       budget.Unit
	Limit      budget.Amount // the account's own, else that of '*'
	Limited    bool          // whether there is a limit; without one every charge is refused
	Spent      budget.Amount
	Reserved   budget.Amount
	LastCharge time.Time // zero if there was none
}

// Remaining is what may still be charged: 0 without a limit.
func (b Balance) Remaining() budget.Amount {
	if !b.Limited {
		return 0
	}
	return max(0, b.Limit-b.Spent-b.Reserved)
}

// Balance returns the balance of an account, whether the ledger knows it or not.
// For '*' it holds the limit of the accounts that are not named.
func (l *Ledger) Balance(account string, unit budget.Unit) (Balance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.flush(); err != nil {
		return Balance{}, err
	}
	if l.db == nil {
		return Balance{}, errClosed
	}
	b, err := l.db.balance(account, unit)
	return b, wrap(err)
}

// Balances returns the balance of every account that has a limit or an entry,
// and the limits of '*', ordered by unit and account.
func (l *Ledger) Balances() (balances []Balance, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.query(balancesSQL, func(s *sqlite.Stmt) error {
		account, unit := s.Column(0), s.Column(1)
		b, err := scanBalance(s, 2, account.Text(), budget.Unit(unit.Text()))
		balances = append(balances, b)
		return err
	})
	return balances, err
}

const balancesSQL = `
WITH known AS (SELECT account, unit FROM budget UNION SELECT account, unit FROM balance)
SELECT k.account, k.unit,
       coalesce((SELECT epsilon FROM budget WHERE account = k.account AND unit = k.unit),
                (SELECT epsilon FROM budget WHERE account = '*' AND unit = k.unit)),
       b.spent, b.reserved, b.last_charge
FROM known AS k LEFT JOIN balance AS b ON b.account = k.account AND b.unit = k.unit
ORDER BY k.unit, k.account`

// balance reads a balance and the limit that holds for it.
func (db *store) balance(account string, unit budget.Unit) (Balance, error) {
	s := db.standing
	s.BindText(1, account)
	s.BindText(2, string(unit))
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return Balance{}, err
	}
	return scanBalance(s, 0, account, unit)
}

var errDamaged = errors.New("the ledger is damaged: a balance is out of range")

// scanBalance reads the four columns from at on of a row of standingSQL or
// balancesSQL.
func scanBalance(s *sqlite.Stmt, at int, account string, unit budget.Unit) (Balance, error) {
	b := Balance{Account: account, Unit: unit}
	var row [4]sqlite.Value
	s.Row(at, row[:])
	limit, spent, reserved, last := &row[0], &row[1], &row[2], &row[3]
	if limit.Type() == sqlite.Integer {
		b.Limit, b.Limited = budget.Amount(limit.Int()), true
	}
	if spent.Type() == sqlite.Null {
		return b, nil
	}
	b.Spent, b.Reserved = budget.Amount(spent.Int()), budget.Amount(reserved.Int())
	if t := last.Int(); t != 0 {
		b.LastCharge = time.UnixMicro(t).UTC()
	}
	if b.Spent < 0 || b.Reserved < 0 || b.Spent > budget.Max-b.Reserved || b.Limit < 0 || b.Limit > budget.Max {
		return b, errDamaged // sums of amounts in range cannot overflow
	}
	return b, nil
}

// query runs sql over everything that has been charged so far, calls each for
// every row, and wraps the error.
func (l *Ledger) query(sql string, each func(*sqlite.Stmt) error) error {
	if err := l.flush(); err != nil {
		return err
	}
	if l.db == nil {
		return errClosed
	}
	s, _, err := l.db.conn.Prepare(sql)
	if err != nil {
		return wrap(err)
	}
	defer s.Close()
	for {
		row, err := s.Step()
		if err == nil && row {
			err = each(s)
		}
		if err != nil || !row {
			return wrap(err)
		}
	}
}
