package main

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// attach gives a connection the project's functions. Their ledger is the given
// one, or the one beside the database if none is given.
func attach(conn *sqlite.Conn, ledger ledgerFlags, opts ...sqlitefn.Option) error {
	return sqlitefn.Attach(conn.Handle(), append(opts, sqlitefn.WithLedger(ledger.file), sqlitefn.WithLedgerMode(ledger.mode))...)
}
