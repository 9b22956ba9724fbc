package sealing

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
)

// Contents are the rows to seal, in memory: their secrets are moved into universes and
// domains, in random order.
type Contents struct {
	tables       []*contents
	declarations []declarations
	names        []string // of accounts
}

// contents are those of a table.
type contents struct {
	*table
	rows rows
}

// declarations are the rows of a table of declarations.
type declarations struct {
	table         string
	cells         []byte
	columns, rows int
}

// Read reads tables of the main database of a connection, all in one transaction. Progress, which
// may be nil, is called with the number of rows that were read.
func Read(ctx context.Context, conn *sqlite.Conn, tables []Table, progress func(rows int64)) (c *Contents, err error) {
	switch _, err := catalog.ReadID(conn); {
	case err == nil:
		return nil, errors.New("is sealed already: use append to add rows, and rekey to change its key")
	case !errors.Is(err, catalog.ErrNotSealed):
		return nil, err
	}
	if err := conn.Exec("PRAGMA temp_store = MEMORY; BEGIN"); err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, conn.Exec("COMMIT")) }()
	planned, err := plan(conn, tables)
	if err != nil {
		return nil, err
	}
	r := &reader{conn: conn, index: map[string]uint32{}, contents: &Contents{}, progress: progress}
	for _, t := range planned {
		if err := r.readTable(ctx, t); err != nil {
			return nil, err
		}
	}
	for _, t := range r.contents.tables {
		t.rows.shuffle()
	}
	return r.contents, r.readDeclarations()
}

// Rows returns the number of rows.
func (c *Contents) Rows() (n int64) {
	for _, t := range c.tables {
		n += int64(len(t.rows.refs))
	}
	return n
}

// A reader reads tables.
type reader struct {
	conn     *sqlite.Conn
	contents *Contents
	index    map[string]uint32 // of accounts in contents.names
	read     int64
	progress func(rows int64)
}

// readDeclarations reads the declarations of locations and readings.
func (r *reader) readDeclarations() error {
	for _, name := range declaration.Tables {
		if there, err := declaration.Has(r.conn, name); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		err := declaration.Use(r.conn, "main", []string{name}, func() error { return r.readDeclaration(name) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readDeclaration(table string) error {
	s, _, err := r.conn.Prepare("SELECT * FROM main." + table)
	if err != nil {
		return err
	}
	defer s.Close()
	d := declarations{table: table, columns: s.Columns()}
	err = fetch(context.Background(), s, func(cells []byte, n int) error {
		d.cells, d.rows = append(d.cells, cells...), d.rows+n
		return nil
	})
	r.contents.declarations = append(r.contents.declarations, d)
	return err
}

// readTable reads a table.
func (r *reader) readTable(ctx context.Context, t *table) error {
	var quoted []string
	for _, name := range t.source {
		quoted = append(quoted, sqlite.QuoteName(name))
	}
	s, _, err := r.conn.Prepare("SELECT " + strings.Join(quoted, ", ") + " FROM main." + sqlite.QuoteName(t.name))
	if err != nil {
		return err
	}
	defer s.Close()
	c := &contents{table: t}
	r.contents.tables = append(r.contents.tables, c)
	row := make([]sourceCell, len(t.source))
	var encoded []byte
	return fetch(ctx, s, func(cells []byte, n int) error {
		for range n {
			for i := range row {
				row[i].Cell, row[i].all = sqlite.Cell{}, cells
				row[i].Cell, cells = sqlite.NextCell(cells)
				row[i].all = row[i].all[:len(row[i].all)-len(cells)]
			}
			if encoded, err = r.encode(encoded[:0], t, row); err != nil {
				return fmt.Errorf("table %s: %w", show(t.name), err)
			}
			c.rows.add(encoded)
		}
		if r.read += int64(n); r.progress != nil {
			r.progress(r.read)
		}
		return nil
	})
}

// fetchSize is the size of the buffers that rows are fetched in.
const fetchSize = 1 << 17

// fetch calls use for the rows of a statement, many at a time, while it fetches the next ones.
func fetch(ctx context.Context, s *sqlite.Stmt, use func(cells []byte, rows int) error) error {
	type batch struct {
		cells []byte
		rows  int
		err   error
	}
	full, free := make(chan batch, 2), make(chan []byte, 4)
	quit := make(chan struct{})
	go func() {
		defer close(full)
		f := s.Fetch()
		for {
			var buf []byte
			select {
			case <-quit:
				return
			case buf = <-free:
			}
			cells, n, err := f.Next(buf)
			if n == 0 && err == nil {
				return
			}
			full <- batch{cells, n, err}
			if err != nil {
				return
			}
		}
	}()
	for range 3 {
		free <- make([]byte, 0, fetchSize)
	}
	var err error
	for b := range full {
		if err == nil {
			if err = b.err; err == nil {
				err = use(b.cells, b.rows)
			}
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				close(quit)
			}
		}
		if err == nil {
			free <- b.cells[:0]
		}
	}
	return err
}

// A sourceCell is a cell of a row that is read.
type sourceCell struct {
	sqlite.Cell
	all []byte // as NextCell has read it
}

// encode appends a row of a table in the form that is kept.
func (r *reader) encode(to []byte, t *table, row []sourceCell) ([]byte, error) {
	payer, err := r.account(t, row)
	if err != nil {
		return to, err
	}
	to = binary.NativeEndian.AppendUint32(to, payer)
	for i := range t.columns {
		c := &t.columns[i]
		switch c.role {
		case public:
			to = append(to, row[c.from[0]].all...)
		case secret:
			d, present, err := t.secret(c, row)
			if err != nil {
				return to, err
			}
			if present && payer == noAccount {
				return to, t.noPayer(c)
			}
			to = appendSecret(to, d, present)
		}
	}
	return to, nil
}

// account returns the index of a row's account.
func (r *reader) account(t *table, row []sourceCell) (uint32, error) {
	if t.account < 0 {
		return noAccount, nil
	}
	c := &row[t.account]
	var digits [20]byte
	name := c.Bytes
	switch c.Type {
	case sqlite.Null:
		return noAccount, nil
	case sqlite.Integer:
		name = strconv.AppendInt(digits[:0], c.Int(), 10)
	case sqlite.Text:
		switch {
		case len(name) == 1 && name[0] == '*':
			return 0, t.wrong(t.account, "'*' stands for every account and cannot be one", "%s = '*'")
		case len(name) > sealed.MaxAccountName:
			return 0, t.wrong(t.account, "the name of an account has at most "+strconv.Itoa(sealed.MaxAccountName)+" bytes", "length(CAST(%s AS BLOB)) > "+strconv.Itoa(sealed.MaxAccountName))
		}
	default:
		return 0, t.wrongType(t.account, c.Type, "TEXT or INTEGER")
	}
	i, known := r.index[string(name)]
	if !known {
		i = uint32(len(r.contents.names))
		r.contents.names = append(r.contents.names, string(name))
		r.index[string(name)] = i
	}
	return i, nil
}

// secret returns the sealed data of a row in a column. It reports false for NULL.
func (t *table) secret(c *column, row []sourceCell) (d sealed.Data, present bool, err error) {
	var number [2]float64
	present = true
	for k, i := range c.from {
		switch cell := &row[i]; cell.Type {
		case sqlite.Null:
			present = false
		case sqlite.Integer:
			number[k] = float64(cell.Int())
		case sqlite.Float:
			number[k] = cell.Float()
		default:
			return 0, false, t.wrongType(i, cell.Type, "a number")
		}
	}
	if !present {
		return 0, false, nil
	}
	if c.sealed.IsLocation() {
		d, err = c.sealed.Location(number[0], number[1])
	} else {
		d, err = c.sealed.Reading(number[0])
	}
	switch err {
	case nil:
		return d, true, nil
	case ErrInfinite:
		return 0, false, t.wrong(c.from[0], err.Error(), "abs(%s) = 9e999")
	case ErrLatitude:
		return 0, false, t.wrong(c.from[0], err.Error(), "abs(%s) > 90")
	}
	return 0, false, t.wrong(c.from[1], err.Error(), "abs(%s) > 180")
}

// wrongType returns the error about a cell of a type that its column must not have.
func (t *table) wrongType(source int, got sqlite.Type, want string) error {
	also := ""
	if got == sqlite.Text {
		also = " (all, if it was imported as TEXT)"
	}
	return fmt.Errorf("%w%s", t.wrong(source, "must be "+want+", got "+got.String(), "typeof(%s) = '"+strings.ToLower(got.String())+"'"), also)
}

// wrong returns the error about a cell of a column, and the condition that finds such rows. It
// does not show the cell, which is secret.
func (t *table) wrong(source int, rule, condition string) error {
	name := show(t.source[source])
	return fmt.Errorf("column %s %s; WHERE "+condition+" finds such rows", name, rule, sqlite.QuoteName(name))
}

// noPayer returns the error about a row that has a secret and no account.
func (t *table) noPayer(c *column) error {
	payer, value := show(t.source[t.account]), show(t.source[c.from[0]])
	return fmt.Errorf("column %s is NULL in a row with a secret, for which somebody has to pay; WHERE %s IS NULL AND %s IS NOT NULL finds such rows",
		payer, sqlite.QuoteName(payer), sqlite.QuoteName(value))
}
