package worker

import (
	"context"
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/sqlitefn"
)

// An inspection describes a compiled statement.
type inspection struct {
	sealed    bool           // it reads a table with sealed columns
	asks      bool           // it calls functions that the keeper answers
	single    bool           // it has one row at most, and another step does nothing
	questions pipe.Questions // if it asks
}

// An inspector describes statements, and refuses statements that read tables without a grant, by the tables their programs
// open. SQLite does not tell its authorizer of everything that is read: see [sqlite.Guard.MayRead].
type inspector struct {
	conn    *sqlite.Conn
	guard   *sqlite.Guard
	asking  []string          // functions that the keeper answers
	modules map[string]string // the virtual tables that may be read, by their names in EXPLAIN
	sealed  map[string]bool   // tables with sealed columns
	pure    map[string]bool   // functions that give the same answer to the same arguments, by their names in lower case

	version int64 // of the schema for which the following holds
	tables  map[[2]int]tableName
	known   map[string]*inspection // by statement
}

// A tableName is that of a table, or of the table of an index.
type tableName struct{ database, name string }

// mostInspected is the largest number of remembered statements. A full memory forgets all.
const mostInspected = 1000

// newInspector returns an inspector of a connection that is not guarded yet. Virtual tables of the denied modules may not be read.
func newInspector(conn *sqlite.Conn, denied []string, sealed map[uint32]sealedColumn) (*inspector, error) {
	i := &inspector{conn: conn, modules: map[string]string{}, sealed: map[string]bool{}, pure: map[string]bool{}}
	for _, c := range sealed {
		i.sealed[c.table] = true
	}
	for _, f := range sqlitefn.RemoteFunctions() {
		if f.Charges {
			i.asking = append(i.asking, f.Name)
		} else {
			i.pure[f.Name] = true // it goes by its arguments and by declarations
		}
	}
	pure, err := names(conn, fmt.Sprintf(`SELECT lower(name) FROM pragma_function_list
		GROUP BY 1 HAVING min(flags & %d <> 0 OR builtin AND type <> 's')`, sqlite.Deterministic))
	if err != nil {
		return nil, err
	}
	for _, f := range pure {
		i.pure[f] = true
	}
	modules, err := names(conn, "SELECT name FROM pragma_module_list")
	if err != nil {
		return nil, err
	}
	for _, module := range append(modules, safeModules...) {
		if slices.Contains(denied, module) {
			continue
		}
		// Modules without a table of their own name have none yet.
		if p, err := vdbe.Explain(conn, "SELECT 1 FROM "+sqlite.QuoteName(module)); err == nil {
			_, virtual := p.Opened()
			for _, table := range virtual {
				i.modules[table] = module
			}
		}
	}
	return i, nil
}

// inspect inspects a statement that has been compiled.
func (db *database) inspect(ctx context.Context, sql string) (*inspection, error) {
	defer db.watch(ctx)()
	i := db.inspector
	if err := db.conn.Lift(i.refresh); err != nil {
		return nil, db.compileError(ctx, err, sql)
	}
	if seen := i.known[sql]; seen != nil {
		return seen, nil
	}
	p, err := vdbe.Explain(db.conn, sql)
	if err != nil {
		return nil, db.compileError(ctx, err, sql)
	}
	seen, err := i.inspect(p)
	if err != nil {
		return nil, err
	}
	if len(i.known) >= mostInspected {
		clear(i.known)
	}
	i.known[sql] = seen
	return seen, nil
}

// inspect inspects a program.
func (i *inspector) inspect(p vdbe.Program) (*inspection, error) {
	seen := &inspection{asks: p.Calls(i.asking...), single: p.StopsBehindRows()}
	roots, virtual := p.Opened()
	for _, table := range virtual {
		module, may := i.modules[table]
		if !may {
			return nil, newError("42501", "permission denied for a virtual table")
		}
		seen.asks = seen.asks || slices.Contains(i.asking, module)
	}
	for _, root := range roots {
		t := i.tables[root] // the zero value if it is not known
		if !i.guard.MayRead(t.name, t.database) {
			return nil, newError("42501", "permission denied for table %s", t.name)
		}
		seen.sealed = seen.sealed || t.database == "main" && i.sealed[t.name]
	}
	if seen.asks {
		seen.questions = i.questions(p)
	}
	return seen, nil
}

// questions tells about the questions of a program that asks.
func (i *inspector) questions(p vdbe.Program) (q pipe.Questions) {
	asks := func(name string) bool { return slices.Contains(i.asking, name) }
	idle := func(name string) bool { return !asks(name) }
	computes := func(table string) bool { return slices.Contains(safeModules, i.modules[table]) }
	q.Several = !p.CallsOnce(asks, asks)
	q.Uncertain = q.Several && !p.Repeats(func(name string) bool { return i.pure[name] }, idle, computes)
	return q
}

// refresh reads the list of tables if the schema has changed, and forgets all inspections.
func (i *inspector) refresh() error {
	var version int64
	err := i.conn.Each("PRAGMA main.schema_version", func(v []sqlite.Value) error {
		version = v[0].Int()
		return nil
	})
	if err != nil || i.tables != nil && version == i.version {
		return err
	}
	tables := map[[2]int]tableName{}
	err = i.conn.Each("SELECT seq, name FROM pragma_database_list", func(v []sqlite.Value) error {
		number, database := int(v[0].Int()), v[1].Text()
		tables[[2]int{number, 1}] = tableName{database, "sqlite_schema"}
		return i.conn.Each("SELECT rootpage, tbl_name FROM "+sqlite.QuoteName(database)+".sqlite_schema WHERE rootpage > 0", func(v []sqlite.Value) error {
			tables[[2]int{number, int(v[0].Int())}] = tableName{database, v[1].Text()}
			return nil
		})
	})
	if err == nil {
		i.version, i.tables, i.known = version, tables, map[string]*inspection{}
	}
	return err
}
