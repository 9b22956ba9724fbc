package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

var importCommand = &cli.Command{
	Name: "import", Operands: "DB TABLE FILE", Min: 3, Max: 3,
	Summary: "create TABLE from FILE; create DB if it is missing",
	Details: `FILE is a .csv, .tsv or .txt file (separated by commas, semicolons or tabs; may be .gz; the
first line names the columns), a .parquet file, or DB#TABLE of another database. A column of
CSV becomes INTEGER, REAL or TEXT, whatever fits all of its cells. An empty cell becomes
NULL, and in a column of numbers a blank one too. In files with semicolons or tabs, numbers may
have decimal commas (0,099). Codes with leading zeros and dates stay TEXT; functions read times
like 2026-03-01 12:00 as UTC. Columns of other files have the types that their file gives.

Standard error says what was imported: rows, columns, their types, and which cell keeps
a column with numbers from being one. A first line that has only values, or a decimal fraction
or a date among them, is an error unless --header or --no-header says what it is.`,
	Setup: func(fs *flag.FlagSet) cli.Run {
		var t importTask
		t.register(fs)
		return func(ctx context.Context, operands []string) error {
			t.database, t.table, t.file = operands[0], operands[1], operands[2]
			return t.run(ctx)
		}
	},
}

// An importTask holds what the command line of the command import says.
type importTask struct {
	database, table, file string
	header, noHeader      bool
	types                 []givenType
}

func (t *importTask) register(fs *flag.FlagSet) {
	cli.Switch(fs, "header", "the first line names the columns, although it looks like a row", func() { t.header = true })
	cli.Switch(fs, "no-header", "the first line is a row; the columns get the names c1, c2, ..", func() { t.noHeader = true })
	cli.ListVar(fs, &t.types, parseType, "type", "give `COLUMN=TYPE` instead of inferring it: INTEGER, REAL or TEXT; a cell that does not fit is an error; may be given again")
}

// imported says what was imported. The form is that of a CSV file.
type imported struct {
	infer.Description
	form dataset.CSVForm
	csv  bool
}

// run imports the data set and says on standard error what it has done.
func (t *importTask) run(ctx context.Context) error {
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
func (t *importTask) create(ctx context.Context) (*imported, error) {
	d, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	kinds, err := givenKinds(d, t.types)
	if err != nil {
		return nil, err
	}
	done := new(imported)
	done.form, done.csv = dataset.CSVFormOf(d.Reader)
	survey := infer.NewSurvey(d.Reader, kinds)
	watch := survey.Add
	if !survey.Settled() {
		if err := eachRow(d, "reading", survey.Add); err != nil {
			return nil, t.typeError(err)
		}
		watch = func(*dataset.Rows, int) error { return nil }
	}
	conn, err := openDatabase(t.database, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return nil, err
	}
	err = load(conn, t.table, survey.Description().Columns, d, watch)
	done.Description = survey.Description()
	return done, cmp.Or(err, conn.Close()) // closing rolls back
}

// eachRow calls row for every row of all columns.
func eachRow(d *cli.DataSet, what string, row func(batch *dataset.Rows, i int) error) error {
	columns := make([]int, len(d.Fields()))
	for i := range columns {
		columns[i] = i
	}
	_, err := d.Each(what, columns, row)
	return err
}

// check refuses wrong arguments.
func (t *importTask) check() error {
	if err := checkDatabase(t.database); err != nil {
		return err
	}
	if instead := rejectDatabase(t.database); instead != "" {
		return cli.UsageError("import: there is no database " + t.database + "; " + instead)
	}
	if t.header && t.noHeader {
		return cli.UsageError("import: -header and -no-header exclude each other")
	}
	if err := checkTableName(t.table); err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if sameFile(t.database, dataset.FileName(t.file)) {
		return fmt.Errorf("import: %s is in the database itself: use CREATE TABLE AS", t.file)
	}
	return nil
}

// open opens the data set.
func (t *importTask) open(ctx context.Context) (*cli.DataSet, error) {
	var options []dataset.Option
	if t.noHeader {
		options = append(options, dataset.NoHeader)
	}
	d, err := cli.OpenDataSet(ctx, t.file, options...)
	var header *dataset.HeaderError
	switch {
	case errors.As(err, &header):
		return nil, fmt.Errorf("%w (if the first line is a row, say --no-header)", err)
	case err != nil:
		return nil, err
	}
	if !t.header {
		if err := checkHeader(d, t.file); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// typeError adds the flag that gave the type to an error about a cell.
func (t *importTask) typeError(err error) error {
	if wrong := (*infer.TypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%w; correct it, or leave out --type %s=%s", err, wrong.Field.Name, strings.ToUpper(wrong.Field.Kind.String()))
	}
	return err
}

// checkTableName refuses the names that SQLite and the project keep for
// themselves.
func checkTableName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return errors.New("the table has an empty name")
	case strings.HasPrefix(lower, "sqlite_"), strings.HasPrefix(lower, "geosql_"):
		return fmt.Errorf("table names that start with %s are reserved", lower[:len("sqlite_")])
	}
	return nil
}

// sameFile reports whether both names belong to one existing file. A database that is read
// and written on two connections would wait for itself.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// load creates the table and fills it in one transaction. It shows each row to watch. After an
// error the caller closes the connection, which rolls it back.
func load(conn *sqlite.Conn, name string, fields []infer.Summary, d *cli.DataSet, watch func(batch *dataset.Rows, i int) error) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := fill(conn, name, fields, d, watch); err != nil {
		return err
	}
	return conn.Exec("COMMIT")
}

// fill creates the table and fills it, in the transaction that is open. It shows each row to
// watch.
func fill(conn *sqlite.Conn, name string, fields []infer.Summary, d *cli.DataSet, watch func(batch *dataset.Rows, i int) error) error {
	if err := conn.Exec(createSQL(name, fields)); err != nil {
		return err
	}
	insert, _, err := conn.Prepare(insertSQL(name, len(fields)))
	if err != nil {
		return err
	}
	defer insert.Close()
	return eachRow(d, "importing", func(batch *dataset.Rows, i int) error {
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
// SQLite, whose columns may hold such cells.
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
