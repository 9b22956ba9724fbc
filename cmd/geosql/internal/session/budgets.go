package session

import (
	"context"

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

const balanceSQL = `SELECT * FROM ledger_balance WHERE account = ?1 OR ?1 IS NULL ORDER BY account, unit`

// ShowBalances shows the balances of an account, or of all accounts.
func (s *Session) ShowBalances(ctx context.Context, account *string) error {
	return s.RunWith(ctx, balanceSQL, account)
}
