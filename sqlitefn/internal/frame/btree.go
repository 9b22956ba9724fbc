package frame

import (
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/vdbe"
)

// btrees describes the tables and indexes of a connection for proofs.
type btrees struct {
	session *Session
	named   map[[2]int]named // by database and root page
	known   map[[2]int]vdbe.Btree
}

// A named table or index.
type named struct {
	in          Database
	name, table string
}

// btrees lists the tables and indexes of all databases.
func (s *Session) btrees() (*btrees, error) {
	databases, err := s.Databases()
	if err != nil {
		return nil, err
	}
	b := &btrees{session: s, named: map[[2]int]named{}, known: map[[2]int]vdbe.Btree{}}
	for _, d := range databases {
		b.named[[2]int{d.Number, 1}] = named{d, "sqlite_schema", "sqlite_schema"}
		err := s.Query("SELECT rootpage, name, tbl_name FROM "+d.Table("sqlite_schema")+" WHERE rootpage > 0", func(st *sqlite.Stmt) {
			b.named[[2]int{d.Number, ColumnInt(st, 0)}] = named{d, ColumnText(st, 1), ColumnText(st, 2)}
		})
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

// of describes a table or index. If its columns cannot be read, it has none.
func (b *btrees) of(database, root int) vdbe.Btree {
	key := [2]int{database, root}
	t, known := b.known[key]
	if !known {
		n := b.named[key]
		t.Table = n.table
		if t.Table != "" {
			if fields, key, err := b.session.fields(n); err == nil {
				t.Fields, t.Key = fields, key
			}
		}
		b.known[key] = t
	}
	return t
}

// fields returns the fields of the rows of a table or index, and how many of the first tell the rows of a table WITHOUT ROWID apart.
func (s *Session) fields(n named) (fields []vdbe.Field, key int, err error) {
	columns, err := s.columns(n)
	if err != nil {
		return nil, 0, err
	}
	sorted := false
	err = s.Query(n.pragma("index_xinfo", n.name), func(st *sqlite.Stmt) { // of a table, its columns if it is WITHOUT ROWID
		sorted = true
		if column := ColumnInt(st, 1); 0 <= column && column < len(columns) {
			fields = append(fields, columns[column].Field)
		} else {
			fields = append(fields, vdbe.Field{Column: column, Affinity: 'D', Unique: column == rowid, NotNull: column == rowid})
		}
		if n.name == n.table && ColumnInt(st, 5) != 0 {
			key++
		}
	})
	if err != nil || sorted {
		return fields, key, err
	}
	for _, c := range columns {
		if c.stored {
			fields = append(fields, c.Field)
		}
	}
	return fields, 0, nil
}

// rowid is the column of an index that has the numbers of rows.
const rowid = -1

// A column is one of a table.
type column struct {
	vdbe.Field
	stored bool
}

// columns returns the columns of a table.
func (s *Session) columns(n named) (columns []column, err error) {
	err = s.Query(n.pragma("table_xinfo", n.table), func(st *sqlite.Stmt) {
		const virtual = 2
		c := column{stored: ColumnInt(st, 6) != virtual}
		c.Field = vdbe.Field{Column: ColumnInt(st, 0), Affinity: affinity(ColumnText(st, 2)), NotNull: ColumnInt(st, 3) != 0}
		columns = append(columns, c)
	})
	if err != nil {
		return nil, err
	}
	var unique []string
	err = s.Query(n.pragma("index_list", n.table), func(st *sqlite.Stmt) {
		if ColumnInt(st, 2) != 0 && ColumnInt(st, 4) == 0 { // and not of some rows only
			unique = append(unique, ColumnText(st, 1))
		}
	})
	for _, index := range unique {
		if err != nil {
			return nil, err
		}
		var keys []int
		binary := false
		err = s.Query(n.pragma("index_xinfo", index), func(st *sqlite.Stmt) {
			if ColumnInt(st, 5) != 0 {
				keys = append(keys, ColumnInt(st, 1))
				binary = ColumnText(st, 4) == "BINARY"
			}
		})
		if len(keys) == 1 && 0 <= keys[0] && keys[0] < len(columns) && binary {
			columns[keys[0]].Unique = true
		}
	}
	return columns, err
}

// pragma returns a PRAGMA about a table or index in the database of another.
func (n *named) pragma(name, about string) string {
	return "PRAGMA " + n.in.Table(name) + "(" + sqlite.QuoteName(about) + ")"
}

// affinity returns the affinity of a column's type, as SQLite's instructions name it; 0 if the type is not enough to tell.
func affinity(declared string) byte {
	declared = strings.ToUpper(declared)
	has := func(list ...string) bool {
		for _, part := range list {
			if strings.Contains(declared, part) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return 'D'
	case has("CHAR", "CLOB", "TEXT"):
		return 'B'
	case has("BLOB"), declared == "":
		return 'A'
	case has("REAL", "FLOA", "DOUB"):
		return 'E'
	case declared == "ANY": // of a STRICT table it is none
		return 0
	}
	return 'C'
}
