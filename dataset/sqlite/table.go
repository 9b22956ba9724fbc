package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// A tableReader reads a table in one transaction, in the order of its row numbers or, if
// it has none, of its primary key.
type tableReader struct {
	ctx    context.Context
	path   string
	conn   *sqlite.Conn
	table  string // quoted
	order  string
	count  int64 // number of rows of the table
	fields []dataset.Field
	typed  []bool // for each field: its declared type tells its kind
	chosen []int
	run    *sqlite.Stmt // at row number row, or nil
	row    int64
	more   bool
	values []sqlite.Value
}

func openTable(ctx context.Context, file, name string) (dataset.Reader, error) {
	conn, err := sqlite.Open(file, sqlite.ReadOnly)
	if err != nil {
		return nil, wrap(file, err)
	}
	conn.BusyTimeout(5000)
	r := &tableReader{ctx: ctx, path: file + "#" + name, conn: conn, table: sqlite.QuoteName(name)}
	if err := r.open(name); err != nil {
		conn.Close()
		return nil, wrap(file, err)
	}
	return r, nil
}

// open begins the transaction, which closing the connection ends.
func (r *tableReader) open(name string) error {
	if err := r.conn.Exec("BEGIN"); err != nil {
		return err
	}
	numbered, err := r.hasRowNumbers(name)
	if err != nil {
		return err
	}
	if err := r.findColumns(name, numbered); err != nil {
		return err
	}
	return r.conn.Each("SELECT count(*) FROM main."+r.table, func(row []sqlite.Value) error {
		r.count = row[0].Int()
		return nil
	})
}

// hasRowNumbers reports whether the table has row numbers. It returns an error if the table
// does not exist.
func (r *tableReader) hasRowNumbers(name string) (bool, error) {
	var kind string
	var without int64
	err := r.conn.Each("SELECT type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE", func(row []sqlite.Value) error {
		kind, without = row[0].Text(), row[1].Int()
		return nil
	}, name)
	switch {
	case err != nil:
		return false, err
	case kind == "":
		return false, fmt.Errorf("there is no table %s", printable.Text(name))
	case kind != "table":
		return false, fmt.Errorf("%s is not a plain table (%s), so its rows have no fixed order; copy it to a table", printable.Text(name), kind)
	}
	return without == 0, nil
}

// findColumns finds the fields of the table and the order of its rows.
func (r *tableReader) findColumns(name string, numbered bool) error {
	err := r.conn.Each(`SELECT name, type FROM pragma_table_xinfo(?1)`, func(row []sqlite.Value) error {
		kind, typed := affinity(row[1].Text())
		r.fields = append(r.fields, dataset.Field{Name: row[0].Text(), Kind: kind})
		r.typed = append(r.typed, typed)
		return nil
	}, name)
	if err != nil {
		return err
	}
	if numbered {
		r.order, err = r.rowNumber()
		return err
	}
	var key []string
	err = r.conn.Each(`SELECT name FROM pragma_table_xinfo(?1) WHERE pk > 0 ORDER BY pk`, func(row []sqlite.Value) error {
		key = append(key, sqlite.QuoteName(row[0].Text()))
		return nil
	}, name)
	r.order = strings.Join(key, ", ")
	return err
}

// rowNumber returns a name for the row number that no column has.
func (r *tableReader) rowNumber() (string, error) {
	for _, name := range []string{"rowid", "_rowid_", "oid"} {
		if !slices.ContainsFunc(r.fields, func(f dataset.Field) bool { return strings.EqualFold(f.Name, name) }) {
			return name, nil
		}
	}
	return "", errors.New("the columns have all names of the row number (rowid, _rowid_ and oid)")
}

// affinity returns the kind that most cells of a column have, by its declared type
// (https://sqlite.org/datatype3.html, section 3.1). It reports false if that tells no
// kind.
func affinity(declared string) (kind dataset.Kind, typed bool) {
	contains := func(part string) bool { return strings.Contains(strings.ToUpper(declared), part) }
	switch {
	case contains("INT"):
		return dataset.Integer, true
	case contains("CHAR"), contains("CLOB"), contains("TEXT"):
		return dataset.Text, true
	case contains("REAL"), contains("FLOA"), contains("DOUB"):
		return dataset.Real, true
	default:
		return dataset.Text, false
	}
}

func (r *tableReader) Fields() []dataset.Field { return r.fields }

func (r *tableReader) Typed(column int) bool { return r.typed[column] }

func (r *tableReader) Progress() float64 { return float64(r.row) / float64(max(r.count, 1)) }

func (r *tableReader) Start(columns []int) (err error) {
	if err := dataset.CheckColumns(columns, len(r.fields)); err != nil {
		return wrap(r.path, err)
	}
	r.stop()
	names := make([]string, len(columns))
	for n, i := range columns {
		names[n] = sqlite.QuoteName(r.fields[i].Name)
	}
	r.run, _, err = r.conn.Prepare("SELECT " + strings.Join(names, ", ") + " FROM main." + r.table + " ORDER BY " + r.order)
	if err != nil {
		return wrap(r.path, err)
	}
	r.chosen, r.values, r.row = columns, make([]sqlite.Value, len(columns)), 0
	r.more, err = r.run.Step()
	return wrap(r.path, err)
}

func (r *tableReader) stop() {
	if r.run != nil {
		r.run.Close()
		r.run = nil
	}
}

func (r *tableReader) Close() error {
	r.stop()
	return r.conn.Close()
}

func (r *tableReader) Read(rows *dataset.Rows, max int) (err error) {
	rows.Reset(r.row, len(r.chosen))
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if !r.more {
		return io.EOF
	}
	for n := 0; r.more && n < max && !rows.Full(); n++ {
		r.run.Row(0, r.values)
		for i := range r.values {
			if !appendValue(&rows.Columns[i], &r.values[i]) {
				return fmt.Errorf("%s: %s, column %s: a blob (a geometry?) cannot be read", r.path, rows.Where(n), printable.Text(r.fields[r.chosen[i]].Name))
			}
		}
		r.row++
		if r.more, err = r.run.Step(); err != nil {
			return wrap(r.path, err)
		}
	}
	return nil
}

// appendValue adds a cell. It reports false for a blob.
func appendValue(to *dataset.Column, v *sqlite.Value) bool {
	switch v.Type() {
	case sqlite.Null:
		to.AppendNull()
	case sqlite.Integer:
		to.AppendInteger(v.Int())
	case sqlite.Float:
		to.AppendReal(v.Float())
	case sqlite.Text:
		to.Append(v.Bytes())
	default:
		return false
	}
	return true
}

// wrap puts the data set's name in front of an error.
func wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
