package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/sqlite"
)

var importCommand = &cli.Command{
	Name: "import", Operands: "DB TABLE FILE", Min: 3, Max: 3,
	Summary: "create TABLE from FILE; create DB if it is missing",
	Details: `FILE is a .csv, .tsv or .txt file (separated by commas, semicolons or tabs; may be .gz; the
first line names the columns), a .parquet file, or DB#TABLE of another database. A column of
CSV becomes INTEGER, REAL or TEXT, whatever fits all of its cells, and an empty cell becomes
NULL. Columns of other files have the types that their file gives.`,
	Setup: func(*flag.FlagSet) cli.Run {
		return func(ctx context.Context, operands []string) error {
			return importTable(ctx, operands[0], operands[1], operands[2])
		}
	},
}

// importTable creates a table from all of a data set, or leaves the database as it was. A
// file that does not give its types is read twice, since only its last line settles them.
func importTable(ctx context.Context, database, name, file string) error {
	if err := checkDatabase(database); err != nil {
		return err
	}
	if instead := rejectDatabase(database); instead != "" {
		return cli.UsageError("import: there is no database " + database + "; " + instead)
	}
	if err := checkTableName(name); err != nil {
		return err
	}
	if sameFile(database, dataset.FileName(file)) {
		return fmt.Errorf("import: %s is in the database itself: use CREATE TABLE AS", file)
	}
	d, err := cli.OpenDataSet(ctx, file)
	if err != nil {
		return err
	}
	defer d.Close()
	fields, err := inferKinds(d)
	if err != nil {
		return err
	}
	conn, err := openDatabase(database, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return err
	}
	rows, err := load(conn, name, fields, d)
	if err := cmp.Or(err, conn.Close()); err != nil { // closing rolls back
		return err
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("imported %d rows into %s", rows, name)
	}
	return nil
}

// checkTableName refuses the names that SQLite and the project keep for
// themselves.
func checkTableName(name string) error {
	lower := strings.ToLower(name)
	switch {
	case name == "":
		return errors.New("import: the table has an empty name")
	case strings.HasPrefix(lower, "sqlite_"), strings.HasPrefix(lower, "geosql_"):
		return fmt.Errorf("import: table names that start with %s are reserved", lower[:len("sqlite_")])
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

// load creates the table and fills it in one transaction. After an error the caller
// closes the connection, which rolls it back.
func load(conn *sqlite.Conn, name string, fields []dataset.Field, d *cli.DataSet) (rows int64, err error) {
	if err := conn.Exec("BEGIN IMMEDIATE; " + createSQL(name, fields)); err != nil {
		return 0, err
	}
	insert, _, err := conn.Prepare(insertSQL(name, len(fields)))
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	columns := make([]int, len(fields))
	for c := range columns {
		columns[c] = c
	}
	rows, err = d.Each("importing", columns, func(batch *dataset.Rows, i int) error {
		for c, f := range fields {
			if !bind(insert, c+1, f.Kind, &batch.Columns[c], i) {
				text, _ := batch.Columns[c].At(i)
				return fmt.Errorf("column %s: %.40q is not of type %v", f.Name, text, f.Kind)
			}
		}
		return insert.Run()
	})
	if err != nil {
		return 0, err
	}
	return rows, conn.Exec("COMMIT")
}

func createSQL(name string, fields []dataset.Field) string {
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
func bind(insert *sqlite.Stmt, parameter int, kind dataset.Kind, column *dataset.Column, i int) (ok bool) {
	var null bool
	switch kind {
	case dataset.Integer:
		var v int64
		if v, null, ok = column.Integer(i); ok && !null {
			insert.BindInts(parameter, v)
		}
	case dataset.Real:
		var v float64
		if v, null, ok = column.Real(i); ok && !null {
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
