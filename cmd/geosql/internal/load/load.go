// Package load creates a table from a data set and describes its columns. It imports dataset, dataset/infer and store.
// Start at [Task.Run]; the guided start uses its parts.
package load

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/store"
	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

// A Task holds the command line of the command import.
type Task struct {
	Database, Table, File string
	Header, NoHeader      bool
	Types                 []givenType
}

func (t *Task) Register(fs *flag.FlagSet) {
	cli.Switch(fs, "header", "the first line names the columns, although it looks like a row", func() { t.Header = true })
	cli.Switch(fs, "no-header", "the first line is a row; the columns get the names c1, c2, ..", func() { t.NoHeader = true })
	cli.ListVar(fs, &t.Types, parseType, "type", "give `COLUMN=TYPE` instead of inferring it: INTEGER, REAL or TEXT; a cell that does not fit is an error; may be given again")
}

// Result describes the imported data. The form is that of a CSV file.
type Result struct {
	infer.Description
	Form dataset.CSVForm
	CSV  bool
}

// Run imports the data set and reports on standard error.
func (t *Task) Run(ctx context.Context) error {
	if err := t.check(); err != nil {
		return err
	}
	done, err := t.create(ctx)
	if err != nil {
		return err
	}
	t.report(done)
	return nil
}

// create creates the table from all of a data set, or leaves the database as it was. A file
// that does not give all types is read twice, since only its last line settles them.
func (t *Task) create(ctx context.Context) (*Result, error) {
	d, err := t.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	kinds, err := GivenKinds(d, t.Types)
	if err != nil {
		return nil, err
	}
	done := new(Result)
	done.Form, done.CSV = dataset.CSVFormOf(d.Reader)
	survey := infer.NewSurvey(d.Reader, kinds)
	watch := survey.Add
	if !survey.Settled() {
		if err := EachRow(d, "reading", survey.Add); err != nil {
			return nil, t.TypeError(err)
		}
		watch = func(*dataset.Rows, int) error { return nil }
	}
	conn, err := store.Open(t.Database, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return nil, err
	}
	err = load(conn, t.Table, survey.Description().Columns, d, watch)
	done.Description = survey.Description()
	return done, cmp.Or(err, conn.Close()) // closing rolls back
}

// EachRow calls row for every row of all columns.
func EachRow(d *cli.DataSet, what string, row func(batch *dataset.Rows, i int) error) error {
	columns := make([]int, len(d.Fields()))
	for i := range columns {
		columns[i] = i
	}
	_, err := d.Each(what, columns, row)
	return err
}

// check refuses wrong arguments.
func (t *Task) check() error {
	if err := store.CheckName(t.Database); err != nil {
		return err
	}
	if instead := store.Reject(t.Database); instead != "" {
		return cli.UsageError("import: there is no database " + t.Database + "; " + instead)
	}
	if t.Header && t.NoHeader {
		return cli.UsageError("import: -header and -no-header exclude each other")
	}
	if err := CheckTableName(t.Table); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if store.SameFile(t.Database, dataset.FileName(t.File)) {
		return fmt.Errorf("import: %s is in the database itself: use CREATE TABLE AS", t.File)
	}
	return nil
}

// Open opens the data set.
func (t *Task) Open(ctx context.Context) (*cli.DataSet, error) {
	var options []dataset.Option
	if t.NoHeader {
		options = append(options, dataset.NoHeader)
	}
	d, err := cli.OpenDataSet(ctx, t.File, options...)
	var header *dataset.HeaderError
	switch {
	case errors.As(err, &header):
		return nil, fmt.Errorf("%w (if the first line is a row, say --no-header)", err)
	case err != nil:
		return nil, err
	}
	if !t.Header {
		if err := checkHeader(d, t.File); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// TypeError adds the flag that gave the type to an error about a cell.
func (t *Task) TypeError(err error) error {
	if wrong := (*infer.TypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%w; correct it, or leave out --type %s=%s", err, wrong.Field.Name, strings.ToUpper(wrong.Field.Kind.String()))
	}
	return err
}

// CheckTableName refuses the names that SQLite and the project keep for
// themselves.
func CheckTableName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return errors.New("the table has an empty name")
	case strings.HasPrefix(lower, "sqlite_"), strings.HasPrefix(lower, "geosql_"):
		return fmt.Errorf("table names that start with %s are reserved", lower[:len("sqlite_")])
	}
	return nil
}

// load creates the table and fills it in one transaction. It shows each row to watch. After an
// error the caller closes the connection, which rolls it back.
func load(conn *sqlite.Conn, name string, fields []infer.Summary, d *cli.DataSet, watch func(batch *dataset.Rows, i int) error) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := Fill(conn, name, fields, d, watch); err != nil {
		return err
	}
	return conn.Exec("COMMIT")
}

// Fill creates the table and fills it, in the transaction that is open. It shows each row to
// watch.
func Fill(conn *sqlite.Conn, name string, fields []infer.Summary, d *cli.DataSet, watch func(batch *dataset.Rows, i int) error) error {
	if err := conn.Exec(createSQL(name, fields)); err != nil {
		return err
	}
	insert, _, err := conn.Prepare(insertSQL(name, len(fields)))
	if err != nil {
		return err
	}
	defer insert.Close()
	return EachRow(d, "importing", func(batch *dataset.Rows, i int) error {
		for c := range fields {
			f := &fields[c]
			if !bind(insert, c+1, f, &batch.Columns[c], i) {
				text, _ := batch.Columns[c].At(i)
				return fmt.Errorf("column %s: %.40q is not of type %v", f.Name, text, f.Kind)
			}
		}
		return cmp.Or(insert.Run(), watch(batch, i))
	})
}

func createSQL(name string, fields []infer.Summary) string {
	defs := make([]string, len(fields))
	for i, f := range fields {
		defs[i] = sqlite.QuoteName(f.Name) + " " + strings.ToUpper(f.Kind.String())
	}
	return "CREATE TABLE main." + sqlite.QuoteName(name) + " (" + strings.Join(defs, ", ") + ")"
}

func insertSQL(name string, columns int) string {
	return "INSERT INTO main." + sqlite.QuoteName(name) + " VALUES (?" + strings.Repeat(", ?", columns-1) + ")"
}

// bind binds cell i of a column to a parameter. It reports false if the cell is not of
// the column's kind: the file has changed since the kind was inferred, or it is a table of
// SQLite, where any column may hold such cells.
func bind(insert *sqlite.Stmt, parameter int, field *infer.Summary, column *dataset.Column, i int) (ok bool) {
	var null bool
	switch field.Kind {
	case dataset.Integer:
		var v int64
		if v, null, ok = column.Integer(i); ok && !null {
			insert.BindInts(parameter, v)
		}
	case dataset.Real:
		var v float64
		if v, null, ok = field.Real(column, i); ok && !null {
			insert.BindFloat(parameter, v)
		}
	default:
		var text []byte
		if text, null = column.At(i); !null {
			insert.BindText(parameter, string(text))
		}
		ok = true
	}
	if null {
		insert.BindNull(parameter)
	}
	return ok
}
