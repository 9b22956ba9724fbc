package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// Library is the host that evaluates SQL in this process, as the command does.
type Library struct {
	// Command is the path of the command geosql, which seals databases.
	Command string
}

// Describe implements [Host].
func (Library) Describe() string {
	return "geosql " + sqlitefn.Version + " in this process, SQLite " + sqlite.Version()
}

// Makes implements [Host]. Functions over sealed values are audited where analysts have them: at a [Server].
func (Library) Makes(sealed bool) bool { return !sealed }

// Create implements [Host].
func (l Library) Create(ctx context.Context, folder string, setup Setup) (Database, error) {
	d := &libraryDatabase{path: filepath.Join(folder, "plain.db")}
	if err := fill(ctx, d, setup.SQL); err != nil || len(setup.Sealed) == 0 {
		return d, err
	}
	s, err := seal(ctx, l.Command, folder, d.path, setup.Sealed)
	if err != nil {
		return nil, err
	}
	key, err := readKey(s.key)
	if err != nil {
		return nil, err
	}
	return &libraryDatabase{path: s.database, options: []sqlitefn.Option{
		sqlitefn.WithKeyring(sealed.NewKeyring(key)), sqlitefn.WithMaxRepeat(max(1, setup.Repeat)),
	}}, nil
}

// readKey reads a private key without a passphrase.
func readKey(path string) (*sealed.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return sealed.ParsePrivateKey(text, nil)
}

// fill runs the statements that fill a database.
func fill(ctx context.Context, d Database, statements []string) error {
	s, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, statement := range statements {
		if err := s.Query(ctx, statement, func([]any) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

type libraryDatabase struct {
	path    string
	options []sqlitefn.Option

	mu    sync.Mutex
	owner *librarySession // reads the ledger
}

func (d *libraryDatabase) Connect(ctx context.Context) (Session, error) {
	conn, err := sqlite.Open(d.path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return nil, err
	}
	conn.BusyTimeout(int(time.Minute / time.Millisecond))
	if err := sqlitefn.Attach(conn.Handle(), d.options...); err != nil {
		conn.Close()
		return nil, err
	}
	return &librarySession{conn: conn}, nil
}

func (d *libraryDatabase) Spent(ctx context.Context, accounts, unit string) (spent float64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == nil {
		s, err := d.Connect(ctx)
		if err != nil {
			return 0, err
		}
		d.owner = s.(*librarySession)
	}
	err = d.owner.conn.Each(spentSQL, func(row []sqlite.Value) error {
		spent = row[0].Float()
		return nil
	}, accounts, unit)
	return spent, err
}

func (d *libraryDatabase) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.owner == nil {
		return nil
	}
	return d.owner.Close()
}

type librarySession struct {
	conn *sqlite.Conn
	out  []any
}

func (s *librarySession) Query(ctx context.Context, sql string, row func([]any) error) error {
	defer context.AfterFunc(ctx, s.conn.Interrupt)()
	statement, _, err := s.conn.Prepare(strings.TrimSpace(sql))
	if err != nil {
		return err
	}
	defer statement.Close()
	for {
		more, err := statement.Step()
		if err != nil || !more {
			return err
		}
		n := statement.CountColumns()
		s.out = s.out[:0]
		for i := range n {
			v := statement.Column(i)
			s.out = append(s.out, v.Copy())
		}
		if err := row(s.out); err != nil {
			return err
		}
	}
}

func (s *librarySession) Close() error { return s.conn.Close() }
