package frame

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/sqlitefn/internal/frame/firstrow"
)

// That the groups at a place are disjoint is proved by [vdbe.Program.Disjoint], about the program that EXPLAIN shows for the text
// of the running statement. The premises of the theorem, and the checks that establish them; where one fails, each group costs:
//
//	the text is that of the statement      it is one of [Statement.rememberBeginning]; each of them has to be proved
//	EXPLAIN shows the program that runs    when a statement begins, SQLite compiles it anew if a schema that it uses has changed.
//	                                       Nothing has changed a schema since: by then no row has been returned to the program
//	                                       (Silent, firstrow.Grouped) or it runs nothing in between (Meter), and the versions of all
//	                                       schemas are the same afterwards. A name may still have come to stand for another
//	                                       database's table: ambiguous
//	its functions give equal answers       function_list, all functions of a name: pureFunctions
//	unique columns have different values   SQLite keeps them so in every database that is not damaged: columns
//	rows do not change,                    TotalChanges counts each row that the connection inserts, changes or deletes.
//	  as the connection sees them          A ROLLBACK brings rows back without counting them: errUncommitted
//	  for other connections                SQLite's locks and snapshots, but with read_uncommitted over a shared cache (errShared)
//	                                       and without locks (Unlocked)
//
// The application's own code, while SQLite evaluates a statement, is not checked, since nothing tells of it: its functions
// must not change the schema of the connection that calls them, and its authorizer must answer as it did when the statement was
// compiled. Nobody may set schema_version, or SQLite's own counters of a running statement, by hand.

// A beginning describes the moment when a statement began.
type beginning struct {
	texts       []string // that may be the statement's
	used        string   // names of the databases that it may use, in lines
	schemas     string   // versions of the schemas
	changes     int      // of rows by the connection before
	uncommitted bool     // whether a transaction was open that had changed something
	dirty       bool     // whether the connection reads uncommitted data of others, over a shared cache
}

var (
	errReturned    = errors.New("the statement has returned rows before the first of its groups, and the program may have changed tables since; ask for the groups in a statement of their own")
	errChanged     = errors.New("another statement of the connection has changed rows or tables since the statement began")
	errUncommitted = errors.New("the open transaction has changed something, and a rollback would change it back")
	errShared      = errors.New("PRAGMA read_uncommitted lets the statement read uncommitted changes of other connections")
)

// rememberBeginning remembers, at the first group of the statement, the moment when it began. It was as now if the program
// has not been able to do anything since.
func (t *Statement) rememberBeginning(f *Function) (err error) {
	if t.began == nil {
		t.began, _, err = t.beginning(func(r *sqlite.Running) bool {
			return r.Silent() || !r.Returned() && firstrow.Grouped(r.SQL, f.Name, len(f.Args)) || t.Session.watcher != nil
		})
	}
	return err
}

// rememberSilence does so at the first release of any kind, while nothing has returned rows: released values may decide whether
// the statement returns one before its first group, but not whether it costs once.
func (t *Statement) rememberSilence() error {
	if t.began != nil || t.released || t.Session.watcher != nil {
		return nil
	}
	t.released = true
	b, all, err := t.beginning((*sqlite.Running).Silent)
	if all {
		t.began = b
	}
	return err
}

// beginning describes the moment, with the texts of the running statements that began at it, and reports whether all have.
func (t *Statement) beginning(began func(*sqlite.Running) bool) (b *beginning, all bool, err error) {
	s := t.Session
	b = &beginning{changes: s.Conn.TotalChanges(), uncommitted: s.Conn.Uncommitted()}
	if s.dry != nil {
		b.uncommitted = s.dry.uncommitted
	}
	databases, err := s.Databases()
	if err != nil {
		return nil, false, err
	}
	for _, d := range databases { // before s reads them
		if s.Conn.Reading(d.Name) {
			b.used += d.Name + "\n"
		}
	}
	all = true
	for _, r := range s.Conn.Running() {
		switch {
		case s.dry != nil && !r.Is(s.dry.stmt):
		case began(&r):
			b.texts = append(b.texts, r.SQL)
		default:
			all = false
		}
	}
	if err := s.Query("PRAGMA read_uncommitted", func(st *sqlite.Stmt) { b.dirty = ColumnInt(st, 0) != 0 }); err != nil {
		return nil, false, err
	}
	b.schemas, err = s.schemas()
	return b, all && err == nil, err
}

// separate returns why the groups of f have to be charged one by one, or nil if they are
// proved to be disjoint.
func (t *Statement) separate(f *Function) (separate, err error) {
	s, b := t.Session, t.began
	schemas, err := s.schemas()
	switch {
	case err != nil:
		return nil, err
	case len(b.texts) == 0:
		return errReturned, nil
	case b.changes != s.Conn.TotalChanges() || b.schemas != schemas:
		return errChanged, nil
	}
	separate = errors.New("the statement has changed since it began")
	for _, sql := range b.texts {
		key := programKey{sql, schemas, b.used, f.Name, b.uncommitted, b.dirty}
		p, err := proofs.Get(s, key, func() (proof, error) { return s.proveDisjoint(key, f) })
		switch {
		case err != nil || p.missing != nil:
			return p.missing, err
		case p.steps:
			separate = nil
		}
	}
	return separate, nil
}

// programKey holds all that a compiled program depends on, and the aggregate of the proof.
type programKey struct {
	sql, schemas, used, aggregate string
	uncommitted, dirty            bool // see beginning
}

// A proof says whether a statement steps an aggregate, and why nothing is proved about it, if there is a reason.
type proof struct {
	steps   bool
	missing error
}

// proofs remembers the proofs about the groups of an aggregate in a statement.
var proofs = NewMemo[programKey, proof]()

// proveDisjoint proves that the groups of an aggregate are disjoint at each place where it stands in a statement. If the statement
// begins in a transaction with uncommitted changes, it must not return rows: between two rows a rollback
// may change the rows that it reads, which changes no row count.
func (s *Session) proveDisjoint(key programKey, f *Function) (p proof, err error) {
	if key.sql == "" {
		return proof{missing: errors.New("the text of a running statement is not known")}, nil
	}
	program, err := vdbe.Explain(s.Conn, key.sql)
	if err != nil {
		return proof{missing: fmt.Errorf("the statement cannot be explained: %w", err)}, nil
	}
	if p.steps = program.Steps(f.Name); !p.steps {
		return p, nil
	}
	pure, err := s.pureFunctions()
	if err != nil {
		return p, err
	}
	btrees, err := s.btrees()
	if err != nil {
		return p, err
	}
	p.missing = program.Disjoint(f.Name, secretReading, pure.has, btrees.of)
	switch {
	case p.missing != nil:
	case key.uncommitted && program.ReturnsRows():
		p.missing = errUncommitted
	case key.dirty && program.Shares():
		p.missing = errShared
	default:
		p.missing, err = s.ambiguous(key.sql, key.used)
	}
	return p, err
}

// ambiguous returns an error if a database is open without locks, or if a name in a statement stands for tables of two databases
// and the statement may use the second: it does so if it was compiled before the first had that table, and SQLite does not
// compile it anew then. For temporary tables, which come before all others, SQLite does.
func (s *Session) ambiguous(sql, used string) (ambiguous, err error) {
	databases, err := s.Databases()
	if err != nil {
		return nil, err
	}
	first := map[string]string{} // the first database of each table
	twice := map[string]error{}
	texts := []string{sql}
	for _, d := range databases {
		if s.Conn.Unlocked(d.Name) {
			return fmt.Errorf("nothing locks database %s, so that its rows may change meanwhile", d.Name), nil
		}
		err := s.Query("SELECT name, sql FROM "+d.Table("sqlite_schema")+" WHERE type IN ('table', 'view')", func(st *sqlite.Stmt) {
			const temporary = 1
			if d.Number == temporary {
				texts = append(texts, ColumnText(st, 1))
				return
			}
			name := ColumnText(st, 0)
			other, is := first[strings.ToLower(name)]
			switch {
			case !is:
				first[strings.ToLower(name)] = d.Name
			case slices.Contains(strings.Split(used, "\n"), d.Name):
				twice[strings.ToLower(name)] = fmt.Errorf("databases %s and %s both have a table %s: write the database before its name", other, d.Name, name)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if len(twice) == 0 {
		return nil, nil
	}
	for _, text := range texts {
		var before sqltext.Token
		for t := range sqltext.SQLite.Words(text) {
			if err := twice[firstrow.Named(t)]; err != nil && !before.IsSymbol(".") {
				return err, nil
			}
			before = t
		}
	}
	return nil, nil
}

// schemas returns the versions of the schemas of all databases of the connection.
func (s *Session) schemas() (string, error) {
	databases, err := s.Databases()
	if err != nil {
		return "", err
	}
	var versions strings.Builder
	for _, d := range databases {
		err := s.Query("PRAGMA "+d.Table("schema_version"), func(st *sqlite.Stmt) {
			fmt.Fprintf(&versions, "%q %d\n", d.Name, ColumnInt(st, 0))
		})
		if err != nil {
			return "", err
		}
	}
	return versions.String(), nil
}
