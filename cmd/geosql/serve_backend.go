package main

import (
	"errors"
	"log/slog"
	"net/http"
	"os"
	"os/exec"

	"github.com/geosql/geosql/sealed"
	webconsole "github.com/geosql/geosql/serve/console"
	"github.com/geosql/geosql/serve/keeper"
	"github.com/geosql/geosql/serve/monitor"
	"github.com/geosql/geosql/serve/throttle"
	"github.com/geosql/geosql/serve/wire"
)

// A backend answers what roles ask.
type backend interface {
	wire.Handler

	// Console returns the web console.
	Console() http.Handler

	// Close ends what is left of sessions.
	Close() error
}

// backendOptions are what a backend needs.
type backendOptions struct {
	Path     string // of the sealed database
	Database string // as clients call it
	Ledger   string // where it is
	Keyring  *sealed.Keyring

	Logger        *slog.Logger
	Observer      monitor.Observer
	MaxSessions   int
	Memory        int64              // bytes that the server may hold for all sessions; 0 for the default
	Throttle      *throttle.Throttle // of logins to the console
	OwnerPassword string             // "" if the owner cannot log in to the console
}

// openBackend opens the backend of a server.
var openBackend = func(o backendOptions) (backend, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	history := &webconsole.History{}
	k, err := keeper.Open(keeper.Options{
		Path: o.Path, Name: o.Database, Ledger: o.Ledger, Keyring: o.Keyring,
		Worker:      func() *exec.Cmd { return exec.Command(program, "worker") },
		MaxSessions: o.MaxSessions, TotalMemory: o.Memory, Logger: o.Logger, Observer: monitor.Observers{o.Observer, history},
	})
	if err != nil {
		return nil, err
	}
	served, err := webconsole.Serve(k, history, o.OwnerPassword)
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	console := webconsole.New(served, webconsole.Options{
		Log: o.Logger, Throttle: o.Throttle, LoginFailed: o.Observer.LoginFailed, Answering: answering,
	})
	return &keptBackend{k, console}, nil
}

// A keptBackend is a keeper with its console.
type keptBackend struct {
	*keeper.Keeper
	console *webconsole.Server
}

func (b *keptBackend) Console() http.Handler { return b.console }

func (b *keptBackend) Close() error {
	b.console.Close()
	return b.Keeper.Close()
}
