package session

import (
	"context"
	"fmt"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
)

// OpenBudgets opens a database, or a ledger itself: the budgets in that are asked for over an
// empty database, which the ledger is not bound to.
func OpenBudgets(path string, f Flags) (*Session, error) {
	if engines.IsURL(path) {
		return openServerBudgets(path, f)
	}
	s, err := OpenExisting(path, f)
	if err != nil {
		return nil, err
	}
	isLedger, err := store.IsLedger(s.Conn)
	if err == nil && !isLedger {
		return s, nil
	}
	if err := s.Close(err); err != nil {
		return nil, err
	}
	if f.Ledger.File != "" {
		return nil, store.ErrLedgerItself(path)
	}
	f.Ledger.File = path
	return f.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
}

// openServerBudgets is OpenBudgets for a ledger on a server, which it does not make.
func openServerBudgets(url string, f Flags) (*Session, error) {
	b, err := store.Find(url, f.Ledger)
	if err != nil {
		return nil, err
	}
	l, err := b.Open()
	if err != nil {
		return nil, err
	}
	if err := l.Close(); err != nil {
		return nil, err
	}
	f.Ledger.File = url
	return f.Open(":memory:", sqlite.ReadWrite|sqlite.Create)
}

// ShowBalances shows the balances of an account, or of all accounts.
func (s *Session) ShowBalances(ctx context.Context, account *string) error {
	if account == nil {
		return s.RunWith(ctx, "SELECT * FROM ledger_balance") // in the order of accounts and units
	}
	return s.RunWith(ctx, "SELECT * FROM ledger_balance(?1)", account)
}

// nearSQL reads the balances that count against a limit with at least a share of it. A limit of 0 is used up.
const nearSQL = `
SELECT account, unit, epsilon_limit, epsilon_limit - remaining AS used, remaining, window_seconds, reopens FROM ledger_balance
WHERE account <> '*' AND epsilon_limit - remaining >= %v * epsilon_limit
ORDER BY remaining / nullif(epsilon_limit, 0), account, unit LIMIT %d OFFSET %d`

// nearPage is the number of balances on a page of ShowNear.
const nearPage = 100

// ShowNear shows a page of the balances of accounts that have used at least a share of a limit, the fullest first. The first page is 1.
func (s *Session) ShowNear(ctx context.Context, share float64, page int) error {
	return s.RunWith(ctx, fmt.Sprintf(nearSQL, share, nearPage, nearPage*(page-1)))
}
