package postgres

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/internal/silence"
)

// patience is how long a transaction waits for others. Tests wait less.
var patience = time.Minute

// away is how long a server that is away is looked for. It takes less to recover from a crash. Tests
// wait less.
var away = 10 * time.Second

// answersWithin is how long a server may take to answer a statement that waits for nobody.
const answersWithin = 2 * time.Second

// connectWithin is how long a connection may take, unless the URL says so.
const connectWithin = 5 * time.Second

// lostAfter is how long a connection lasts without a word of the server's machine, which acknowledges even while it waits for
// others.
const lostAfter = 10 * time.Second

// connect opens connections to the server that a URL names. It calls warned, unless it is nil, for every
// warning of the server.
func connect(ctx context.Context, url string, warned func(*pgconn.PgConn, string)) (*pgxpool.Pool, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	// PgBouncer hands out another session for each transaction, so that nothing can be prepared.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.StatementCacheCapacity = 0
	config.ConnConfig.DescriptionCacheCapacity = 0
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // acquire does that
	config.MaxConns = 4                                                                       // a writer, a watcher of limits, and some readers; nobody has one and asks for another
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectWithin
	}
	dialer := net.Dialer{Timeout: config.ConnConfig.ConnectTimeout, Control: silence.Limit(lostAfter), KeepAliveConfig: silence.KeepAlive(lostAfter)}
	config.ConnConfig.DialFunc = dialer.DialContext
	config.ConnConfig.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
		if warned != nil && n.SeverityUnlocalized == "WARNING" {
			warned(conn, n.Message)
		}
	}
	return pgxpool.NewWithConfig(ctx, config)
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
