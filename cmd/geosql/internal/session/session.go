// Package session runs statements: a [Session] is a connection that has the project's functions, forecasts the cost of a
// statement before it runs, refuses misuses of sealed columns, and writes the rows. It imports output, store and vault.
// Start at [Open] and [Session.Run].
package session

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// PrintRows prints rows in a mode: the fields of structs, in the columns that their tags name in JSON.
func PrintRows[T any](ctx context.Context, m output.Mode, rows []T) error {
	s, err := Open(":memory:", sqlite.ReadWrite, store.LedgerFlags{}, m)
	if err != nil {
		return err
	}
	return s.Close(ShowRows(ctx, s, rows))
}

// ShowRows is [PrintRows] for the output of a session.
func ShowRows[T any](ctx context.Context, s *Session, rows []T) error {
	text, err := json.Marshal(rows)
	if err != nil {
		return err
	}
	var columns []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name := f.Tag.Get("json")
		columns = append(columns, fmt.Sprintf("value ->> '%s' AS %[1]s", name))
	}
	param := string(text)
	return s.RunWith(ctx, "SELECT "+strings.Join(columns, ", ")+" FROM json_each(?1) ORDER BY key", &param)
}

// Program is the name of the command.
const Program = "geosql"

// A Session is a connection that has the project's functions, and the output for
// the rows of its statements.
type Session struct {
	Conn *sqlite.Conn
	Mode output.Mode
	Look output.Look
	Out  *bufio.Writer
	rows output.Writer

	meter       *sqlitefn.Meter
	intervals   output.Intervals
	Epsilon     string // of aggregates over sealed values; "" if they are an error
	NoPreflight bool   // run statements without a forecast of their cost

	// Approve asks whether to run a statement that takes more than a tenth of a remaining budget. Its error stops the
	// statement. Priced is told the charges of each statement that has run, by unit. Both may be nil.
	Approve func(ctx context.Context, price string) error
	Priced  func(prices []string)

	toldOfGroups bool      // see warnOfGroups
	progress     *progress // of the statements that run; nil if there is no terminal to show it
}

// Open opens a database. Its rows go to standard output.
func Open(path string, flags sqlite.OpenFlags, ledger store.LedgerFlags, m output.Mode, opts ...sqlitefn.Option) (*Session, error) {
	if err := ledger.Check(); err != nil {
		return nil, err
	}
	conn, err := store.Open(path, flags)
	if err != nil {
		return nil, err
	}
	if err := Attach(conn, ledger, opts...); err != nil {
		conn.Close()
		return nil, err
	}
	meter, err := sqlitefn.NewMeter(conn.Handle())
	if err != nil {
		conn.Close()
		return nil, err
	}
	s := &Session{Conn: conn, meter: meter, Mode: m, Look: output.TerminalLook(os.Stdout)}
	s.intervals.Of = meter.Interval
	s.Out = bufio.NewWriterSize(s.RowFile(os.Stdout, term.IsTerminal(int(os.Stdout.Fd()))), 1<<16)
	s.StartOutput()
	return s, nil
}

// OpenExisting opens a database and never creates one: a mistyped name must not
// read as a database where nothing was spent.
func OpenExisting(path string, f Flags) (*Session, error) {
	if err := store.CheckName(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, store.Missing(path)
	}
	return f.Open(path, sqlite.ReadWrite)
}

// StartOutput begins a new output, in the current mode. Tables on a terminal show how far from the truth answers may be.
func (s *Session) StartOutput() {
	intervals := (s.Mode == output.Table || s.Mode == output.Box) && s.Look.Short
	s.meter.TellIntervals(intervals)
	s.Look.Intervals = nil
	if intervals {
		s.Look.Intervals = &s.intervals
	}
	s.rows = countedRows{output.New(s.Mode, s.Out, s.Look), s}
}

// ExplainIntervals explains the intervals that tables have shown since the last time, if any have.
func (s *Session) ExplainIntervals() {
	if s.intervals.Shown {
		cli.Say("± says how far from the truth an answer may be, with probability 0.95")
	}
	s.intervals.Shown = false
}

// Close flushes the output and closes the connection, and with it the
// ledger. It returns err, or else its own error.
func (s *Session) Close(err error) error {
	flushed := s.Out.Flush()
	s.ExplainIntervals()
	s.meter.Close()
	return cmp.Or(err, flushed, s.Conn.Close())
}
