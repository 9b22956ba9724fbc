package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// pinSQL makes the names of functions, operators and types in the rest of a transaction stand for the server's own. Others
// may create some in schemas that the path of the database or the role names, which would be called in place of these:
// they need not come first, if their arguments fit better. Tables are named with their schema. It holds for the
// transaction only: with PgBouncer, the next one is in another session, which other programs use too.
const pinSQL = "SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)"

// A beginner is a connection or a pool.
type beginner interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}

// transact runs work in a transaction with pinned names.
func transact(ctx context.Context, db beginner, options pgx.TxOptions, work func(pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, db, options, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, pinSQL); err != nil {
			return err
		}
		return work(tx)
	})
}

// A sender is a connection, a pool or a transaction.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// queryRow reads the one row of a query with pinned names. It takes one round trip, and is a transaction of its own unless it
// is in one.
func queryRow(ctx context.Context, db sender, sql string, args []any, to ...any) error {
	batch := &pgx.Batch{}
	batch.Queue(pinSQL)
	batch.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(to...) })
	return db.SendBatch(ctx, batch).Close()
}
