package session

import (
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// Attach gives a connection the project's functions. Their ledger is the given
// one, or the one beside the database if none is given.
func Attach(conn *sqlite.Conn, ledger store.LedgerFlags, opts ...sqlitefn.Option) error {
	return sqlitefn.Attach(conn.Handle(), append(opts, sqlitefn.WithLedger(ledger.File), sqlitefn.WithLedgerMode(ledger.Mode))...)
}
