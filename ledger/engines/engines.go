// Package engines opens ledgers wherever they are: in files, or on PostgreSQL servers. It imports
// the engines. Start at Open and Move.
//
// Where a ledger is, is told by one text: the path of a file, or a URL that begins with postgres://
// or postgresql://. Put ./ before the name of a file that looks like a URL.
package engines

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/postgres"
)

// IsURL reports whether a text names a ledger on a server, and not one in a file.
func IsURL(where string) bool { return postgres.IsURL(where) }

// Check returns an error if a text names no ledger, or one that has to be named in another way. It
// opens nothing. Its errors show nothing of the text, which may hold a password.
func Check(where string) error {
	if IsURL(where) {
		return postgres.CheckURL(where)
	}
	if where == "" {
		return errors.New("the name of the ledger is empty")
	}
	if scheme, rest, found := strings.Cut(where, ":"); found && isScheme(scheme) {
		switch lower := strings.ToLower(scheme); {
		case lower == "postgres" || lower == "postgresql":
			return fmt.Errorf("the URL of a ledger begins with %s://, as in %[1]s://host/database; "+
				"in front of the name of a file that begins with %s: stands ./", lower, scheme)
		case strings.HasPrefix(rest, "//"):
			return fmt.Errorf("a ledger is a file or has a URL that begins with postgres://, and not with %s://", scheme)
		}
	}
	if word, _, found := strings.Cut(where, "="); found && connectionWords[word] {
		return fmt.Errorf("a ledger on a server has a URL, such as postgres://host/database; "+
			"in front of the name of a file that begins with %s= stands ./", word)
	}
	return nil
}

// isScheme reports whether a text can be the scheme of a URL. A single letter is a drive.
func isScheme(s string) bool {
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return false
		}
	}
	return len(s) > 1
}

// connectionWords begin other ways to name a server of PostgreSQL.
var connectionWords = map[string]bool{
	"host": true, "hostaddr": true, "port": true, "dbname": true, "user": true, "password": true, "service": true, "sslmode": true,
}

// Label returns the place of a ledger as it is shown: the path, or of a URL the host, port,
// database and user.
func Label(where string) string {
	if IsURL(where) {
		return postgres.Redact(where)
	}
	return where
}

// Open opens the ledger that is there. With create it makes one if there is none. Without, that is
// an error that wraps [fs.ErrNotExist]. Mode is that of a ledger in a file, as [file.WithMode] has
// it; one on a server has none.
func Open(where string, create bool, mode fs.FileMode) (ledger.Ledger, error) {
	if err := Check(where); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if IsURL(where) {
		if mode != 0 {
			return nil, errMode
		}
		return openURL(where, create)
	}
	l, err := file.Open(where, create, file.WithMode(mode))
	if err != nil {
		return nil, err
	}
	return l, nil
}

// OpenOf opens the ledger of a database. The id is that of the ledger that the database was charged to, "" for none: no other
// ledger is opened then. A ledger that is not there is a [MissingError].
func OpenOf(database, id, where string, mode fs.FileMode) (ledger.Ledger, error) {
	l, err := Open(where, false, mode)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Missing(database, id, where)
	case err != nil:
		return nil, err
	case id != "" && l.ID() != id:
		err = fmt.Errorf("ledger %s has id %s, but %s was charged to ledger %s", Label(where), l.ID(), database, id)
		return nil, cmp.Or(err, l.Close())
	}
	return l, nil
}

// A MissingError is the error of a ledger that is not there. It wraps [fs.ErrNotExist].
type MissingError string

func (e MissingError) Error() string      { return string(e) }
func (MissingError) Is(target error) bool { return target == fs.ErrNotExist }

// Missing returns the error of a missing ledger, with the arguments of [OpenOf].
func Missing(database, id, where string) error {
	label := Label(where)
	switch {
	case id == "":
		return MissingError(fmt.Sprintf("ledger %s of %s is missing: put it there, or name it with --ledger", label, database))
	case IsURL(where):
		return MissingError(fmt.Sprintf("there is no ledger at %s: %s was charged to ledger %s, name the server that has it with --ledger", label, database, id))
	}
	return MissingError(fmt.Sprintf("ledger %s is missing: %s was charged to ledger %s, put that file back or name it with --ledger", label, database, id))
}

var errMode = errors.New("ledger: a ledger on a server has no mode: grant the right to read it and charge to it there, with GRANT")
