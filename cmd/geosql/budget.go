package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/geosql/geosql/internal/sqlite"
)

const balanceSQL = "SELECT * FROM ledger_balance ORDER BY account, unit"

// budgetCommand prints the balance of every account. It never creates a
// database: a mistyped name must not read as one where nothing was spent.
func budgetCommand(ctx context.Context, inv *invocation) error {
	path := inv.args[0]
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such database", path)
	}
	s, err := openSession(path, sqlite.ReadWrite, inv.ledger, inv.mode)
	if err != nil {
		return err
	}
	return s.close(s.run(ctx, balanceSQL))
}
