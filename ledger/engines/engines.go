// Package engines opens ledgers wherever they are: in files, or on PostgreSQL servers. It imports
// the engines. Start at Open and Move.
//
// Where a ledger is, is told by one text: the path of a file, or a URL that begins with postgres://
// or postgresql://. Put ./ before the name of a file that looks like a URL.
package engines

import (
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

var errMode = errors.New("ledger: a ledger on a server has no mode: grant the right to read it and charge to it there, with GRANT")
