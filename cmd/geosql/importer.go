package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/sqlite"
)

// A column is a column of the table that an import creates.
type column struct {
	name string
	kind sqlite.Type // Integer, Float or Text
}

// importCommand makes a table from a file: all of it, or nothing. The file is
// read twice, since only its last line settles the types.
func importCommand(ctx context.Context, inv *invocation) error {
	database, table, file := inv.args[0], inv.args[1], inv.args[2]
	if err := checkTableName(table); err != nil {
		return err
	}
	columns, err := inferColumns(ctx, file)
	if err != nil {
		return err
	}
	conn, err := openDatabase(database, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		return err
	}
	rows, err := load(ctx, conn, table, columns, file)
	if err := cmp.Or(err, conn.Close()); err != nil { // closing rolls back
		return err
	}
	if term.IsTerminal(int(os.Stderr.Fd())) {
		fmt.Fprintf(os.Stderr, "imported %d rows into %s\n", rows, table)
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

// load creates the table and fills it in one transaction, which the caller ends
// by closing the connection if there was an error.
func load(ctx context.Context, conn *sqlite.Conn, table string, columns []column, file string) (rows int64, err error) {
	if err := conn.Exec("BEGIN IMMEDIATE; " + createSQL(table, columns)); err != nil {
		return 0, err
	}
	insert, _, err := conn.Prepare(insertSQL(table, len(columns)))
	if err != nil {
		return 0, err
	}
	defer insert.Close()
	f, err := openCSV(file)
	if err != nil {
		return 0, err
	}
	defer f.close()
	rows, err = f.each(ctx, "importing", func(cells []string) error {
		for i, cell := range cells {
			if err := bind(insert, i+1, columns[i].kind, cell); err != nil {
				return fmt.Errorf("column %s: %w", columns[i].name, err)
			}
		}
		return insert.Run()
	})
	if err != nil {
		return 0, err
	}
	return rows, conn.Exec("COMMIT")
}

func createSQL(table string, columns []column) string {
	defs := make([]string, len(columns))
	for i, c := range columns {
		defs[i] = quoteName(c.name) + " " + c.kind.String()
	}
	return "CREATE TABLE main." + quoteName(table) + " (" + strings.Join(defs, ", ") + ")"
}

func insertSQL(table string, columns int) string {
	return "INSERT INTO main." + quoteName(table) + " VALUES (?" + strings.Repeat(", ?", columns-1) + ")"
}

// bind binds a cell to parameter i. That it does not parse means that the file
// changed since its types were inferred.
func bind(insert *sqlite.Stmt, i int, kind sqlite.Type, cell string) error {
	if kind == sqlite.Text {
		if cell == "" {
			insert.BindNull(i)
		} else {
			insert.BindText(i, cell)
		}
		return nil
	}
	cell = trimBlanks(cell)
	if cell == "" {
		insert.BindNull(i)
		return nil
	}
	if kind == sqlite.Integer {
		v, err := strconv.ParseInt(cell, 10, 64)
		if err == nil {
			insert.BindInts(i, v)
		}
		return err
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err == nil {
		insert.BindFloat(i, v)
	}
	return err
}
