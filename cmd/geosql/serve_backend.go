package main

import (
	"errors"
	"log/slog"
	"net/http"

	"github.com/geosql/geosql/sealed"
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
	Ledger   string // its path
	Keys     []*sealed.PrivateKey

	Logger        *slog.Logger
	Observer      monitor.Observer
	MaxSessions   int
	Throttle      *throttle.Throttle // of logins to the console
	OwnerPassword string             // "" if the owner cannot log in to the console
}

// openBackend opens the backend of a server.
var openBackend = func(backendOptions) (backend, error) {
	return nil, errors.New("nothing answers roles in this build")
}
