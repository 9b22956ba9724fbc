package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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
	plain := filepath.Join(folder, "plain.db")
	d := openEach(plain)
	if err := d.fill(ctx, setup.SQL); err != nil || len(setup.Sealed) == 0 {
		return d, err
	}
	s, err := seal(ctx, l.Command, folder, plain, setup.Sealed)
	if err != nil {
		return nil, err
	}
	key, err := readKey(s.key)
	if err != nil {
		return nil, err
	}
	return openEach(s.database, sqlitefn.WithKeyring(sealed.NewKeyring(key)), sqlitefn.WithMaxRepeat(max(1, setup.Repeat))), nil
}

// readKey reads a private key without a passphrase.
func readKey(path string) (*sealed.PrivateKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return sealed.ParsePrivateKey(text, nil)
}

// openEach returns a database that each session opens in this process.
func openEach(path string, options ...sqlitefn.Option) *fileDatabase {
	return &fileDatabase{connect: func(context.Context) (Session, error) {
		conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
		if err != nil {
			return nil, err
		}
		conn.BusyTimeout(int(time.Minute / time.Millisecond))
		if err := sqlitefn.Attach(conn.Handle(), options...); err != nil {
			conn.Close()
			return nil, err
		}
		return &librarySession{conn: conn}, nil
	}}
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
