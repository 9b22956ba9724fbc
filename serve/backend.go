package serve

import (
	"errors"
	"log/slog"
	"net/http"
	"os/exec"
	"time"

	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/serve/internal/console"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/throttle"
	"github.com/geosql/geosql/serve/internal/wire"
)

// A backend answers the questions of roles.
type backend interface {
	wire.Handler

	// Console returns the web console.
	Console() http.Handler

	// States counts the sessions in each state.
	States() map[monitor.State]int

	// Close ends the remaining sessions.
	Close() error
}

// backendOptions are the needs of a backend.
type backendOptions struct {
	path     string // of the sealed database
	database string // as clients call it
	ledger   string // where it is
	keyring  *sealed.Keyring
	worker   func() *exec.Cmd

	logger        *slog.Logger
	observer      monitor.Observer
	maxSessions   int
	idle          time.Duration      // of a session that asks nothing; 0 for the default
	memory        int64              // bytes that the server may hold for all sessions; 0 for the default
	throttle      *throttle.Throttle // of logins to the console
	ownerPassword string             // "" if the owner cannot log in to the console
}

// openBackend opens the backend of a server.
func openBackend(o backendOptions) (backend, error) {
	history := &console.History{}
	k, err := keeper.Open(keeper.Options{
		Path: o.path, Name: o.database, Ledger: o.ledger, Keyring: o.keyring, Worker: o.worker,
		MaxSessions: o.maxSessions, IdleSession: o.idle, TotalMemory: o.memory, Logger: o.logger, Observer: monitor.Observers{o.observer, history},
	})
	if err != nil {
		return nil, err
	}
	served, err := console.Serve(k, history, o.path+"-questions", o.ownerPassword)
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	page := console.New(served, console.Options{
		Log: o.logger, Throttle: o.throttle, LoginFailed: o.observer.LoginFailed, Answering: answering,
	})
	return &keptBackend{k, page}, nil
}

// A keptBackend is a keeper with its console.
type keptBackend struct {
	*keeper.Keeper
	console *console.Server
}

func (b *keptBackend) Console() http.Handler { return b.console }

func (b *keptBackend) Close() error {
	b.console.Close()
	return b.Keeper.Close()
}
