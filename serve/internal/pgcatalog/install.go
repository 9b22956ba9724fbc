package pgcatalog

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// A Describer describes the session, which its database does not know.
type Describer interface {
	// Database returns the name of the database, under which clients connect.
	Database() string
	// User returns the role of the session.
	User() string
	// BackendPID returns the number under which clients cancel the session.
	BackendPID() int32
	// Setting returns the value of a setting by its name in lower case.
	Setting(name string) (value string, known bool)
	// Set changes a setting for the session, for set_config.
	Set(name, value string) error
	// Settings returns the names of all settings.
	Settings() []string
	// LastCost returns the rows of geosql.last_cost as JSON: an array of objects with a value for each column that is not NULL.
	LastCost() string
}

// Version is the version of PostgreSQL that clients are told, for server_version.
const Version = "15.0"

// OIDs that every database has.
const (
	catalogOID = 11
	publicOID  = 2200
	schemaOID  = 13000 // of information_schema
	geosqlOID  = 13001
	ownerOID   = 10
	userOID    = 16384
	firstOID   = 20000 // of tables and views, and their types and indexes
)

// lastCost is the function behind geosql.last_cost.
const lastCost = "geosql_last_cost"

// ownerName is the role that owns everything.
const ownerName = "owner"

// A Catalogue describes a database to the clients of one connection.
type Catalogue struct {
	conn    *sqlite.Conn
	db      Describer
	used    map[uint32]bool // OIDs of relations, indexes and constraints
	byOID   map[uint32]*relation
	memory  string // where SQLite's memory has its schemas
	filled  bool
	columns map[string]map[string]uint32 // see columnTypes
	facts
}

// facts are the source of the rows of catalogue.sql.
type facts struct {
	ACL          string // of tables and views
	Types        []Type
	Relations    []*relation
	Functions    []function
	Descriptions map[uint32]string // of schemas and types
	Settings     map[string]string
	Keywords     []string
}

// installed counts catalogues, so that each has memory of its own.
var installed atomic.Int64

// Install gives a connection the functions that clients call, and with [Catalogue.Fill] the schemas, in memory: pg_catalog and
// information_schema, which describe the tables and views of its main database, and geosql with the view last_cost. Names
// that begin with geosql_ or sqlite_ are left out. No statement may be running. The connection
// was opened with [sqlite.AttachURI].
//
// After a change of the schema it is called again. Two connections to a database give a table the
// same OID.
func Install(conn *sqlite.Conn, db Describer) (*Catalogue, error) {
	c := &Catalogue{conn: conn, db: db, used: map[uint32]bool{}, byOID: map[uint32]*relation{}, memory: fmt.Sprint("/geosql-", installed.Add(1), "-")}
	c.facts = facts{ACL: pgfunc.FormatArray([]any{aclName(db.User()) + "=r/" + ownerName}), Types: types, Functions: c.list(),
		Descriptions: map[uint32]string{publicOID: "tables of the database", SealedOID: "a value that only private functions open"},
		Settings:     map[string]string{}, Keywords: strings.Fields(Keywords)}
	for _, name := range db.Settings() {
		c.Settings[name], _ = db.Setting(name)
	}
	for _, step := range []func(*sqlite.Conn) error{c.read, c.register, c.private} {
		if err := step(conn); err != nil {
			return nil, err
		}
	}
	c.columns = columnTypes(c.Relations)
	return c, nil
}

// shapes are the relations of PostgreSQL 15 that clients ask for. A line has the relation, the OID by which clients may know it, or
// 0, its kind, and its columns, each with the letter of its type (see types), in brackets if it is an array, and behind = its
// default, if it has one.
//
//go:embed relations.txt
var shapes string

// shapeRelations returns the relations of shapes.
func shapeRelations() (list []*relation) {
	for i, line := range strings.Split(strings.TrimSpace(shapes), "\n") {
		fields := strings.Fields(line)
		r := &relation{Schema: "pg_catalog", Name: fields[0], Kind: fields[2], OID: uint32(14000 + i)}
		if schema, name, ok := strings.Cut(r.Name, "."); ok {
			r.Schema, r.Name = schema, name
		}
		if fields[1] != "0" {
			fmt.Sscan(fields[1], &r.OID)
		}
		for _, f := range fields[3:] {
			name, letter, _ := strings.Cut(f, ":")
			letter, value, _ := strings.Cut(letter, "=")
			letter, isArray := strings.CutPrefix(letter, "[")
			t := typeByLetter[letter[0]]
			col := column{Name: name, Type: t.OID, Array: isArray, declared: "text"}
			switch {
			case isArray:
				col.Type, col.declared = t.Array, "_"+t.Name
			case catalogTypes[t.Name] != nil:
				col.declared = t.Name
			case t.Name == "regproc" || t.Name == "xid":
				col.declared = "oid"
			}
			if value != "" {
				col.declared += " DEFAULT " + value
			}
			r.Columns = append(r.Columns, col)
		}
		list = append(list, r)
	}
	return list
}

// catalogueSQL fills the relations of shapes.
//
//go:embed catalogue.sql
var catalogueSQL string

// Fill gives the connection the schemas, unless it has them, and reports whether it did. Nothing else can be attached then. It
// takes longer than all else at a session's start, so it waits for a statement in which SQLite does not find a table. That may be in
// a transaction, which the rows must outlive: another connection writes them.
func (c *Catalogue) Fill() (bool, error) {
	if c.filled {
		return false, nil
	}
	writer, err := sqlite.Open(":memory:", sqlite.ReadWrite|sqlite.AttachURI)
	if err != nil {
		return false, err
	}
	defer writer.Close()
	if err := cmp.Or(c.register(writer), c.attach(writer), c.fill(writer)); err != nil {
		return false, err
	}
	c.conn.SetLimit(sqlite.LimitAttached, len(schemas))
	defer c.conn.SetLimit(sqlite.LimitAttached, 0)
	err = c.conn.Lift(func() error { return c.attach(c.conn) })
	c.filled = err == nil
	return c.filled, err
}

// attach attaches the schemas, in the place of those of an earlier catalogue.
func (c *Catalogue) attach(conn *sqlite.Conn) error {
	for _, schema := range schemas {
		if schema.oid == publicOID { // main
			continue
		}
		err := conn.Each("SELECT 1 FROM pragma_database_list WHERE name = ?1", func([]sqlite.Value) error {
			return conn.Exec("DETACH " + schema.name)
		}, schema.name)
		if err == nil {
			err = conn.Exec("ATTACH 'file:" + c.memory + schema.name + "?vfs=memdb' AS " + schema.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Catalogue) fill(conn *sqlite.Conn) error {
	var schema strings.Builder
	schema.WriteString("PRAGMA temp_store = MEMORY; ATTACH ':memory:' AS facts; BEGIN;")
	for _, r := range c.Relations {
		if r.Schema == "public" {
			continue
		}
		name := r.Schema + "." + r.Name
		var columns, members []string
		for _, col := range r.Columns {
			columns = append(columns, sqlite.QuoteName(col.Name)+" "+col.declared)
			members = append(members, "value->>'"+col.Name+"' AS "+col.Name)
		}
		if r.Schema == "geosql" {
			fmt.Fprintf(&schema, "CREATE VIEW %s AS SELECT %s FROM json_each(%s());", name, strings.Join(members, ", "), lastCost)
		} else {
			fmt.Fprintf(&schema, "CREATE TABLE %s(%s);", name, strings.Join(columns, ", "))
		}
	}
	if err := conn.Exec(schema.String()); err != nil {
		return err
	}
	facts, err := json.Marshal(c.facts)
	if err != nil {
		return err
	}
	for sql := catalogueSQL; strings.TrimSpace(sql) != ""; {
		var s *sqlite.Stmt
		if s, sql, err = conn.Prepare(sql); err != nil {
			return err
		}
		if s.Parameters() > 0 {
			s.BindText(1, string(facts))
		}
		err = s.Run()
		s.Close()
		if err != nil {
			return err
		}
	}
	return conn.Exec("COMMIT")
}

// ColumnsIn returns a function for the type of the columns with a name in the tables that a statement names, or 0 if they differ. Of
// dates and times it is that of the values: clients see texts.
func (c *Catalogue) ColumnsIn(s sqltext.Statement) func(column string) uint32 {
	named := map[string]bool{}
	for _, t := range s.Tokens {
		named[strings.ToLower(t.Name())] = true
	}
	return func(column string) uint32 {
		found, differ := uint32(0), false
		for table, oid := range c.columns[strings.ToLower(column)] {
			if named[table] {
				found, differ = oid, differ || found != 0 && found != oid
			}
		}
		switch {
		case differ:
			return 0
		case found == SealedOID:
			return OID("bytea")
		}
		return found
	}
}

// columnTypes returns the types of columns by their names and those of their tables in lower case.
func columnTypes(relations []*relation) map[string]map[string]uint32 {
	m := map[string]map[string]uint32{}
	for _, r := range relations {
		if r.Kind == "i" {
			continue
		}
		for _, col := range r.Columns {
			name := strings.ToLower(col.Name)
			if m[name] == nil {
				m[name] = map[string]uint32{}
			}
			m[name][strings.ToLower(r.Name)] = cmp.Or(col.time, col.Type)
		}
	}
	return m
}
