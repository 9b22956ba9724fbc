package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// patience is how long a transaction may take, and how long the server is looked for again after a
// connection was lost. It is longer than the server takes to recover from a crash.
const patience = 30 * time.Second

// connect opens connections to the server that a URL names.
func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	// PgBouncer hands out another session for each transaction, so that nothing can be prepared.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.StatementCacheCapacity = 0
	config.ConnConfig.DescriptionCacheCapacity = 0
	config.MaxConns = 4 // a writer, whoever looks for limits, and some readers
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = patience
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// withConn lets work use a connection.
func withConn(ctx context.Context, pool *pgxpool.Pool, work func(*pgx.Conn) error) error {
	return pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return work(c.Conn()) })
}

// hasCode reports whether an error is the server's and has one of some SQLSTATEs.
func hasCode(err error, codes ...string) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return false
	}
	for _, c := range codes {
		if failed.Code == c {
			return true
		}
	}
	return false
}

// errNotDurable is the error of a server that may forget what it has committed.
func errNotDurable(setting, value, cure string) error {
	return fmt.Errorf("the server may forget charges: %s is %s; %s", setting, value, cure)
}
