package declaration

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// An edited database may have something else in the place of geosql's tables: a view, or a table with computed columns,
// constraints, indexes or triggers. SQLite would evaluate their expressions, with all functions of the connection and without
// an end. So statements of geosql use a table only if it has no expression.

// objects finds a table with its indexes and triggers, by its name. A last row, all NULL, comes while the statement still runs.
const objects = `.sqlite_schema WHERE tbl_name = ?1 COLLATE NOCASE UNION ALL SELECT NULL, NULL, NULL`

// Definitions of tables and indexes without expressions, as SQLite keeps them. A list of names has no place for one.
var (
	plainTable = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^CREATE TABLE "?\w+"?\s*\(` + listOf(`\w+(\s+(TEXT|REAL|BLOB|INTEGER))?(\s+(PRIMARY\s+KEY|NOT\s+NULL))*`) + `\)(\s*WITHOUT\s+ROWID)?$`)
	})
	plainIndex = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^CREATE (UNIQUE )?INDEX "?\w+"? ON "?\w+"?\s*\(` + listOf(`\w+`) + `\)$`)
	})
)

func listOf(item string) string { return `\s*` + item + `(\s*,\s*` + item + `)*\s*` }

// Use calls use if each of the tables, of a database of the connection, is plain or missing. They stay as they are until use returns.
func Use(conn *sqlite.Conn, database string, tables []string, use func() error) error {
	if len(tables) == 0 {
		return use()
	}
	find := "SELECT type, name, sql FROM " + sqlite.QuoteName(database) + objects
	return conn.Lift(func() error {
		return conn.Each(find, func(v []sqlite.Value) error {
			if v[0].Type() == sqlite.Null {
				return Use(conn, database, tables[1:], use)
			}
			return check(tables[0], v[0].Text(), v[1].Text(), v[2])
		}, tables[0])
	})
}

// Has reports whether the main database has something under the name of a table, in capitals or not, plain or not.
func Has(conn *sqlite.Conn, table string) (has bool, err error) {
	err = conn.Each("SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE", func([]sqlite.Value) error {
		has = true
		return nil
	}, table)
	return has, err
}

// Check returns an error unless each table of the main database of the connection is plain or missing. Statements that write
// them come next. It keeps nothing as it is: a statement that reads could not wait for its turn to write.
func Check(conn *sqlite.Conn, tables ...string) error {
	return Use(conn, "main", tables, func() error { return nil })
}

// Each is [sqlite.Conn.Each] for a query on tables of geosql's in the main database.
func Each(conn *sqlite.Conn, sql string, row func([]sqlite.Value) error, params ...any) error {
	return Use(conn, "main", Named(sql), func() error { return conn.Each(sql, row, params...) })
}

// Ledger returns the id of the ledger that a database is charged to, "" for none.
func Ledger(conn *sqlite.Conn) (id string, err error) {
	recorded, err := Has(conn, "geosql_ledger")
	if err == nil && recorded {
		err = Each(conn, "SELECT max(id) FROM main.geosql_ledger", func(v []sqlite.Value) error {
			if v[0].Type() == sqlite.Text {
				id = v[0].Text()
			}
			return nil
		})
	}
	return id, err
}

// Named returns the tables of geosql's in the main database that a statement of geosql's names.
func Named(sql string) (tables []string) {
	const before = "main."
	for {
		at := strings.Index(sql, before+"geosql_")
		if at < 0 {
			return tables
		}
		sql = sql[at+len(before):]
		end := strings.IndexFunc(sql, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
		if end < 0 {
			end = len(sql)
		}
		tables = append(tables, sql[:end])
	}
}

// A TableError says that something else is in the place of a table of geosql's, or belongs to it.
type TableError string

func (e TableError) Error() string { return string(e) }

// check returns an error unless an object that belongs to a table is plain.
func check(table, kind, name string, sql sqlite.Value) error {
	switch name = printable.Text(name); {
	case kind == "table" && plainTable().Match(sql.Bytes()), kind == "index" && (sql.Type() == sqlite.Null || plainIndex().Match(sql.Bytes())):
		return nil
	case kind == "table":
		return TableError(fmt.Sprintf("table %s is virtual, or has more than plain columns: geosql makes it otherwise, restore the database from a backup", table))
	case kind == "view":
		return TableError(fmt.Sprintf("%s is a view, where geosql has a table: drop it, or restore the database from a backup", table))
	default: // an index or a trigger
		return TableError(fmt.Sprintf("table %s, which is geosql's, has the %s %s, which is not: drop that", table, printable.Text(kind), name))
	}
}
