package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// IsURL reports whether a text is the URL of a ledger on a server, and not the path of a file.
func IsURL(where string) bool {
	scheme, _, ok := strings.Cut(where, "://")
	return ok && isScheme(scheme)
}

func isScheme(s string) bool {
	s = strings.ToLower(s)
	return s == "postgres" || s == "postgresql"
}

// Redact returns the URL of a ledger with nothing but host, port, database and user.
func Redact(where string) string {
	u, query, err := splitURL(where)
	if err != nil {
		return "postgres://.."
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		if isPlace(key) {
			for _, value := range query[key] {
				if shown.RawQuery != "" {
					shown.RawQuery += "&"
				}
				// A host is often a folder, which can be read like this.
				shown.RawQuery += key + "=" + strings.ReplaceAll(url.QueryEscape(value), "%2F", "/")
			}
		}
	}
	return printable.Text(shown.String())
}

// isPlace reports whether a parameter of a URL names the place or the owner of a ledger.
func isPlace(key string) bool {
	switch key {
	case "host", "port", "user", "dbname", "database":
		return true
	}
	return false
}

// isSecret reports whether a parameter holds a password.
func isSecret(key string) bool { return strings.Contains(strings.ToLower(key), "password") }

// splitURL parses the URL of a ledger. A part that is not parsed as it was meant may show a password in
// another part of the URL: all such URLs are errors with texts that have nothing of the URL.
func splitURL(where string) (*url.URL, url.Values, error) {
	if !IsURL(where) {
		return nil, nil, errors.New("it does not begin with postgres://")
	}
	u, err := url.Parse(where)
	if err != nil || u.Opaque != "" {
		return nil, nil, errors.New("it is not of the form postgres://USER@HOST:PORT/DATABASE?PARAMETER=VALUE; write other characters than letters and digits as %40, which is @")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, nil, errors.New("its parameters are not of the form NAME=VALUE&NAME=VALUE")
	}
	_, behind, _ := strings.Cut(where, "://")
	if i := strings.IndexAny(behind, "/?#"); i >= 0 && strings.Contains(behind[i:], "@") {
		return nil, nil, errors.New("write @ as %40 behind the host")
	}
	if strings.Contains(where, "#") {
		return nil, nil, errors.New("write # as %23")
	}
	return u, query, nil
}

// CheckURL returns an error if a URL cannot be that of a ledger, or has a password. The files that
// it names may be on another machine.
func CheckURL(where string) error {
	_, _, err := checkedURL(where)
	return err
}

// checkedURL splits a URL. It must not have a password: others see URLs, in lists of processes, in
// logs and in settings.
func checkedURL(where string) (*url.URL, url.Values, error) {
	u, query, err := splitURL(where)
	if err != nil {
		return nil, nil, fmt.Errorf("the URL of the ledger cannot be read: %w", err)
	}
	_, hasPassword := u.User.Password()
	for key := range query {
		hasPassword = hasPassword || isSecret(key)
	}
	if hasPassword {
		return nil, nil, errors.New("the URL of the ledger has a password, which others can see: " +
			"put it into a file that PGPASSFILE names, or ~/.pgpass, with a line HOST:PORT:DATABASE:USER:PASSWORD and mode 0600")
	}
	return u, query, nil
}

// parseURL returns the configuration of connections to the server that a URL names.
func parseURL(where string) (*pgxpool.Config, error) {
	u, query, err := checkedURL(where)
	if err != nil {
		return nil, err
	}
	u.Scheme = strings.ToLower(u.Scheme)
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, parseError(u, query)
	}
	return config, nil
}

// parseError returns the error of a URL that pgx refuses. It names the parameter at
// fault, but not its value.
func parseError(u *url.URL, query url.Values) error {
	shown := Redact(u.String())
	parses := func(query url.Values) bool {
		without := *u
		without.RawQuery = query.Encode()
		_, err := pgxpool.ParseConfig(without.String())
		return err == nil
	}
	for _, key := range slices.Sorted(maps.Keys(query)) {
		others := url.Values{}
		for k, v := range query {
			if k != key {
				others[k] = v
			}
		}
		if parses(others) && isName(key) {
			return fmt.Errorf("the URL of the ledger cannot be used: %s: the value of parameter %s is not one that it can have, or names a file that cannot be read", shown, key)
		}
	}
	if parses(nil) {
		return fmt.Errorf("the URL of the ledger cannot be used: %s: its parameters do not go together", shown)
	}
	return fmt.Errorf("the ledger %s cannot be connected to: look at the host and the port, and at the environment variables that begin with PG", shown)
}

// isName reports whether a text looks like the name of a parameter.
func isName(s string) bool {
	return len(s) <= 40 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// connectError is the error of a server that cannot be connected to, or does not answer, on one line
// and with the cure.
type connectError struct {
	text string
	err  error
}

func (e *connectError) Error() string { return e.text }
func (e *connectError) Unwrap() error { return e.err }

// Is makes it an [ledger.ErrUnreachable].
func (e *connectError) Is(target error) bool { return target == ledger.ErrUnreachable }

// explainConnect returns an error of a connection that cannot be made, or on which no answer comes in
// time, so that a user can read it, and every other error as it is.
func explainConnect(err error) error {
	late := errors.Is(err, context.DeadlineExceeded)
	if engine.Is[*connectError](err) {
		return err
	}
	if !engine.Is[*pgconn.ConnectError](err) {
		if !late {
			return err
		}
		return &connectError{fmt.Sprintf("the server has not answered within %v: it is overloaded, or somebody keeps a lock that this program waits for; "+
			"look at pg_stat_activity on the server, and try again", patience), err}
	}
	lines := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\t' })
	text := printable.Text(strings.Replace(strings.Join(lines, "; "), ":; ", ": ", 1))
	switch {
	case hasCode(err, "28P01", "28000") || strings.Contains(text, "empty password"):
		text += "; passwords are looked for in the file that PGPASSFILE names, or ~/.pgpass, which only its owner may be able to read"
	case late:
		text += "; look whether the server runs and can be reached from here, and try again"
	}
	return &connectError{text, err}
}

// explainAcquire returns the error of a connection that could not be had so that a user can read it.
func explainAcquire(err error) error {
	if err == context.DeadlineExceeded { // not that of an attempt to connect
		return &connectError{fmt.Sprintf("all connections of this program to the server of the ledger were in use for %v: "+
			"let it do less at a time, or find the load in pg_stat_activity on the server, and try again", patience), err}
	}
	return explainConnect(err)
}
