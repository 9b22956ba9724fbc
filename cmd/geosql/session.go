package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/sqlitefn"
)

// busyTimeout is how long to wait for a locked database, in milliseconds.
const busyTimeout = 5000

// A session is a connection that has the project's functions, and the output for
// the rows of its statements.
type session struct {
	conn *sqlite.Conn
	mode mode
	look look
	out  *bufio.Writer
	rows rowWriter

	meter       *sqlitefn.Meter
	epsilon     string    // of aggregates over sealed values; "" if they are an error
	noPreflight bool      // run statements without asking first what they cost
	progress    *progress // of the statements that run; nil if there is no terminal to show it
}

// openSession opens a database. Its rows go to standard output.
func openSession(path string, flags sqlite.OpenFlags, ledger ledgerFlags, m mode, opts ...sqlitefn.Option) (*session, error) {
	if err := ledger.check(); err != nil {
		return nil, err
	}
	conn, err := openDatabase(path, flags)
	if err != nil {
		return nil, err
	}
	if err := attach(conn, ledger, opts...); err != nil {
		conn.Close()
		return nil, err
	}
	meter, err := sqlitefn.NewMeter(conn.Handle())
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := &session{conn: conn, meter: meter, mode: m, look: terminalLook(os.Stdout)}
	s.out = bufio.NewWriterSize(s.rowFile(os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))), 1<<16)
	s.startOutput()
	return s, nil
}

// openExisting opens a database and never creates one: a mistyped name must not
// read as a database where nothing was spent.
func openExisting(path string, f outputFlags) (*session, error) {
	if err := checkDatabase(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, noDatabase(path)
	}
	return f.openSession(path, sqlite.ReadWrite)
}

// noDatabase returns the error of a database that is not there. It may be meant to be the URL of a ledger,
// of which it shows nothing.
func noDatabase(path string) error {
	if err := engines.Check(path); err != nil {
		return cli.UsageError(err.Error())
	}
	return fmt.Errorf("%s: no such database", path)
}

// openSession opens a database as the flags say.
func (f *outputFlags) openSession(path string, flags sqlite.OpenFlags) (*session, error) {
	opts, err := f.sealed.options()
	if err != nil {
		return nil, err
	}
	return openSession(path, flags, f.ledger, f.mode, opts...)
}

// startOutput begins a new output, in the current mode.
func (s *session) startOutput() { s.rows = countedRows{newRowWriter(s.mode, s.out, s.look), s} }

// close writes out what is buffered and closes the connection, and with it the
// ledger. It returns err, or else its own error.
func (s *session) close(err error) error {
	flushed := s.out.Flush()
	s.meter.Close()
	return cmp.Or(err, flushed, s.conn.Close())
}

// openDatabase opens a database file and makes sure that it is one.
func openDatabase(path string, flags sqlite.OpenFlags) (*sqlite.Conn, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a directory, not a database", path)
	}
	conn, err := sqlite.Open(path, flags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	conn.BusyTimeout(busyTimeout)
	if err := conn.Exec("PRAGMA schema_version"); err != nil { // the first to read the file
		conn.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conn, nil
}

// eachOf calls row for every row of a query with text parameters. The values are those of the row
// until row returns.
func eachOf(conn *sqlite.Conn, row func(values []sqlite.Value), sql string, params ...any) error {
	return conn.Each(sql, func(v []sqlite.Value) error {
		row(v)
		return nil
	}, params...)
}

// firstValue runs a query that returns one row, and calls read with its first value.
func firstValue(conn *sqlite.Conn, sql string, read func(sqlite.Value)) error {
	return eachOf(conn, func(v []sqlite.Value) { read(v[0]) }, sql)
}
