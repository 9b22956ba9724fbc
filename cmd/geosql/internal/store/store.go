// Package store finds and opens a database with its ledger, and makes both anew. It imports the ledger and its engines,
// and nothing else of the command. Start at [Find] and [Begin].
package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sqlitefn"
)

// Store are a database and its ledger, or a ledger by itself.
type Store struct {
	Database string      // "" for a ledger by itself
	Ledger   string      // where it is, as package engines has it
	mode     fs.FileMode // of the ledger; 0 keeps the present one
}

// OnServer reports whether the ledger is on a server.
func (b Store) OnServer() bool { return engines.IsURL(b.Ledger) }

// Find returns the store of a path, or of the URL of a ledger. The flags say where a database's
// ledger is.
func Find(path string, f LedgerFlags) (Store, error) {
	if err := f.Check(); err != nil {
		return Store{}, err
	}
	if engines.IsURL(path) {
		return findServer(path, f)
	}
	if err := CheckName(path); err != nil {
		return Store{}, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Store{}, Missing(path)
	}
	conn, err := Open(path, sqlite.ReadWrite)
	if err != nil {
		return Store{}, err
	}
	isLedger, err := IsLedger(conn)
	err = cmp.Or(err, conn.Close())
	switch {
	case err != nil:
		return Store{}, err
	case !isLedger:
		return Store{path, cmp.Or(f.File, sqlitefn.LedgerPath(path)), f.Mode}, nil
	case f.File != "":
		return Store{}, ErrLedgerItself(path)
	}
	return Store{"", path, f.Mode}, nil
}

// findServer returns the store of a ledger on a server by itself.
func findServer(url string, f LedgerFlags) (Store, error) {
	if f.File != "" {
		return Store{}, ErrLedgerItself(url)
	}
	f.File = url
	return Store{"", url, 0}, f.Check()
}

// BeginCopy begins the files of a copy.
func (b Store) BeginCopy(to string) (*Draft, error) {
	if err := CheckName(to); err != nil {
		return nil, err
	}
	switch {
	case b.Database == "":
		return Begin("", to)
	case b.OnServer():
		database, err := BeginFile(to)
		return &Draft{Database: database}, err
	}
	return Begin(to, to+"-ledger")
}

// Open opens the ledger. It returns nil if nobody has made one yet.
func (b Store) Open() (ledger.Ledger, error) {
	id, err := b.recorded()
	if err != nil {
		return nil, err
	}
	return b.OpenAs(id)
}

// OpenFile is open for a ledger in a file, which alone can be copied.
func (b Store) OpenFile() (*file.Ledger, error) {
	id, err := b.recorded()
	if err != nil {
		return nil, err
	}
	return b.OpenFileAs(id)
}

// OpenFileAs is OpenAs for a ledger in a file.
func (b Store) OpenFileAs(id string) (*file.Ledger, error) {
	l, err := b.OpenAs(id)
	if l == nil || err != nil {
		return nil, err
	}
	return l.(*file.Ledger), nil
}

// recorded returns the id of the ledger that the database is charged to, "" for none.
func (b Store) recorded() (id string, err error) {
	if b.Database == "" {
		return "", nil
	}
	conn, err := Open(b.Database, sqlite.ReadWrite)
	if err != nil {
		return "", err
	}
	id, err = declaration.Ledger(conn)
	return id, cmp.Or(err, conn.Close())
}

// OpenAs opens the ledger of a database that holds the ledger's id.
func (b Store) OpenAs(id string) (ledger.Ledger, error) {
	l, err := engines.OpenOf(b.Database, id, b.Ledger, b.mode)
	switch {
	case !errors.Is(err, fs.ErrNotExist) || id != "":
		return l, err
	case b.Database != "":
		return nil, nil
	}
	return nil, engines.MissingError(fmt.Sprintf("there is no ledger at %s yet: the first limit or release makes it", engines.Label(b.Ledger)))
}

// IsLedger reports whether a database is a ledger itself, or a copy of one.
func IsLedger(conn *sqlite.Conn) (is bool, err error) {
	err = First(conn, "PRAGMA application_id", func(id sqlite.Value) {
		is = id.Int() == file.ApplicationID || id.Int() == file.CopyID || id.Int() == file.RetiredID
	})
	return is, err
}

// ErrLedgerItself returns the error of a flag that names the ledger of a ledger.
func ErrLedgerItself(path string) error {
	return cli.UsageError(fmt.Sprintf("%s is a ledger itself; leave out -ledger", engines.Label(path)))
}
