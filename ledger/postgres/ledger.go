package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Ledger implements [ledger.Ledger] and [ledger.Shared]. Every [Open] needs one [Ledger.Close].
type Ledger struct {
	id   string
	pool *pgxpool.Pool
}

// Open opens the ledger in the database that a URL names. With create, it makes a ledger if the
// database has none. Without, such a database is an error that wraps [fs.ErrNotExist].
func Open(url string, create bool) (*Ledger, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := &Ledger{pool: pool}
	err = withConn(ctx, pool, func(conn *pgx.Conn) error {
		if err := prepareSchema(ctx, conn, create); err != nil {
			return err
		}
		return conn.QueryRow(ctx, "SELECT value FROM geosql.meta WHERE key = 'id'").Scan(&l.id)
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return l, nil
}

// ID implements [ledger.Ledger].
func (l *Ledger) ID() string { return l.id }

// Path implements [ledger.Ledger]. It returns "".
func (l *Ledger) Path() string { return "" }

// Close implements [ledger.Ledger].
func (l *Ledger) Close() error {
	l.pool.Close()
	return nil
}
