package file

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// Balance implements [ledger.Ledger].
func (l *Ledger) Balance(account string, unit budget.Unit) (b ledger.Balance, err error) {
	err = l.read(func(db *store) error {
		s, err := db.standing(account, unit, l.clock())
		b = s.Balance
		return err
	})
	return b, err
}

// BalancesAfter implements [ledger.Ledger].
func (l *Ledger) BalancesAfter(account string, unit budget.Unit) ([]ledger.Balance, error) {
	return l.balances(pageSQL, account, string(unit))
}

// AccountBalances implements [ledger.Ledger].
func (l *Ledger) AccountBalances(account string) ([]ledger.Balance, error) {
	return l.balances(accountSQL, account)
}

func (l *Ledger) balances(sql string, params ...string) (balances []ledger.Balance, err error) {
	err = l.read(func(db *store) error {
		now := l.clock()
		return db.query(sql, func(s *sqlite.Stmt) error {
			account, unit := s.Column(0), s.Column(1)
			found, err := scanStanding(s, 2, account.Text(), budget.Unit(unit.Text()), now)
			balances = append(balances, found.Balance)
			return err
		}, params...)
	})
	return balances, err
}

var (
	accountSQL = fmt.Sprintf(balancesSQL, "WHERE account = ?1", "")
	pageSQL    = fmt.Sprintf(balancesSQL, "WHERE (account, unit) > (?1, ?2)", fmt.Sprint("ORDER BY account, unit LIMIT ", engine.Page))
)

// balancesSQL has places for the condition on accounts and for the end of a page.
const balancesSQL = `
WITH known AS (SELECT account, unit FROM budget %[1]s UNION SELECT account, unit FROM balance %[1]s %[2]s)
SELECT k.account, k.unit, l.epsilon, l.window_seconds, l.changed,
       b.spent, b.reserved, b.last_charge, b.window_start, b.window_spent
FROM known AS k
  LEFT JOIN budget AS l ON l.unit = k.unit AND l.account =
    coalesce((SELECT account FROM budget WHERE account = k.account AND unit = k.unit), '*')
  LEFT JOIN balance AS b ON b.account = k.account AND b.unit = k.unit
ORDER BY k.account, k.unit`

// Stored implements [ledger.Ledger].
func (l *Ledger) Stored(most int) (n int, err error) {
	err = l.read(func(db *store) error {
		return db.query(fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM balance UNION ALL SELECT 1 FROM budget LIMIT %d)`, most), func(s *sqlite.Stmt) error {
			v := s.Column(0)
			n = int(v.Int())
			return nil
		})
	})
	return n, err
}

// Size implements [ledger.Ledger]. Answers stay, and are numbered one by one.
func (l *Ledger) Size(_ context.Context) (s ledger.Size, err error) {
	s.Room = files.Room(l.path)
	err = l.readStored(func(db *store) (err error) {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(l.path + suffix); err == nil {
				s.Bytes += info.Size()
			}
		}
		tables, err := db.readInt("SELECT count(*) FROM sqlite_schema WHERE name = 'answer'")
		if err == nil && tables > 0 {
			s.Answers, err = db.readInt("SELECT coalesce(max(id), 0) FROM answer")
		}
		return err
	})
	return s, err
}

// standing reads a balance and the limit that holds for it.
func (db *store) standing(account string, unit budget.Unit, now int64) (ledger.Standing, error) {
	s := db.getStanding
	s.BindText(1, account)
	s.BindText(2, string(unit))
	defer s.Reset()
	if _, err := s.Step(); err != nil {
		return ledger.Standing{}, err
	}
	return scanStanding(s, 0, account, unit, now)
}

// scanStanding reads a standing from the eight columns that begin at column at, of a row of
// getStandingSQL or balancesSQL.
func scanStanding(stmt *sqlite.Stmt, at int, account string, unit budget.Unit, now int64) (ledger.Standing, error) {
	s := ledger.Standing{Balance: ledger.Balance{Account: account, Unit: unit}}
	var row [8]sqlite.Value
	stmt.Row(at, row[:])
	scanLimit(&s, row[:3])
	scanUse(&s, row[3:])
	return s, s.At(now)
}

// scanLimit reads a Limit: epsilon, window_seconds and changed, NULL where there is none.
func scanLimit(s *ledger.Standing, row []sqlite.Value) {
	if limit := &row[0]; limit.Type() == sqlite.Integer {
		s.Limit, s.Limited = budget.Amount(limit.Int()), true
		s.Window, s.LimitSet = intOr0(&row[1]), row[2].Int()
	}
}

// scanUse reads the use: spent, reserved, last_charge, window_start and window_spent,
// NULL where there is nothing.
func scanUse(s *ledger.Standing, row []sqlite.Value) {
	if spent := &row[0]; spent.Type() == sqlite.Integer {
		s.Spent, s.Reserved = budget.Amount(spent.Int()), budget.Amount(row[1].Int())
		if t := row[2].Int(); t != 0 {
			s.LastCharge = time.UnixMicro(t).UTC()
		}
		s.Stored = ledger.WindowUse{Start: intOr0(&row[3]), Spent: budget.Amount(row[4].Int())}
	}
}

// intOr0 returns an integer, or 0 for NULL.
func intOr0(v *sqlite.Value) int64 {
	if v.Type() != sqlite.Integer {
		return 0
	}
	return v.Int()
}
