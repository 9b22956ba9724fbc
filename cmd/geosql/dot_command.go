package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

const dotHelp = `.help                  show this list
.mode table|csv|json   set the format of the rows
.quit                  leave the shell (or Ctrl-D)
.schema [NAME]         show the statements that created the tables and views
.tables                list the tables and views
SQL: SELECT geosql_help('NAME') explains a function.
`

// dotCommand runs a command of the shell, such as .help.
func (s *session) dotCommand(ctx context.Context, line string) error {
	words := strings.Fields(line)
	switch {
	case words[0] == ".help" && len(words) == 1:
		fmt.Fprint(os.Stderr, dotHelp)
		return nil
	case words[0] == ".quit" && len(words) == 1:
		return errQuit
	case words[0] == ".mode" && len(words) == 2:
		return s.setMode(words[1])
	case words[0] == ".tables" && len(words) == 1:
		return s.runTyped(ctx, tablesSQL)
	case words[0] == ".schema" && len(words) == 1:
		return s.runTyped(ctx, schemaSQL)
	case words[0] == ".schema" && len(words) == 2:
		return s.runTyped(ctx, schemaSQL+" AND tbl_name = "+quoteText(words[1])+" COLLATE NOCASE")
	}
	return fmt.Errorf("%s: no such command; .help lists them", line)
}

const (
	tablesSQL = `SELECT type, name FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`
	schemaSQL = `SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL`
)

func (s *session) setMode(name string) error {
	m, ok := modes[name]
	if !ok {
		return fmt.Errorf("%s: no such mode; the modes are table, csv and json", name)
	}
	s.mode = m
	return nil
}

// quoteText returns text as an SQL literal.
func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
