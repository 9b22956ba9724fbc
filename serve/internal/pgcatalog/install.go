package pgcatalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
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

// A catalogue holds the data of a connection's functions. catalogue.sql reads the exported fields.
type catalogue struct {
	db    Describer
	used  map[uint32]bool // OIDs of relations, indexes and constraints
	byOID map[uint32]*relation

	ACL          string // of tables and views
	Types        []Type
	Relations    []*relation
	Functions    []function
	Descriptions map[uint32]string // of schemas and types
	Settings     map[string]string
	Keywords     map[string]bool
}

// Install gives a connection the schemas pg_catalog and information_schema, in memory, which
// describe the tables and views of its main database, the schema geosql with the view last_cost, and the functions that
// clients call. Names
// that begin with geosql_ or sqlite_ are left out. No statement may be running. A read-only
// connection was opened with [sqlite.AttachURI].
//
// After a change of the schema it is called again. Two connections to a database give a table the
// same OID.
func Install(conn *sqlite.Conn, db Describer) error {
	c := &catalogue{db: db, used: map[uint32]bool{}, byOID: map[uint32]*relation{},
		ACL: pgfunc.FormatArray([]any{aclName(db.User()) + "=r/" + ownerName}), Types: types,
		Descriptions: map[uint32]string{publicOID: "tables of the database", SealedOID: "a value that only private functions open"},
		Settings:     map[string]string{}, Keywords: notOperands}
	for _, name := range db.Settings() {
		c.Settings[name], _ = db.Setting(name)
	}
	for _, step := range []func(*sqlite.Conn) error{c.read, c.register, c.private, attach} {
		if err := step(conn); err != nil {
			return err
		}
	}
	if err := conn.Exec("SAVEPOINT pg_install"); err != nil {
		return err
	}
	if err := c.fill(conn); err != nil {
		conn.Exec("ROLLBACK TO pg_install; RELEASE pg_install; DETACH facts")
		return err
	}
	return conn.Exec("RELEASE pg_install; DETACH facts") // which only catalogue.sql needs
}

// attach attaches the schemas of the catalogue and of its facts, unless they are there.
func attach(conn *sqlite.Conn) error {
	attached := map[string]bool{}
	err := conn.Each("SELECT name FROM pragma_database_list", func(v []sqlite.Value) error {
		attached[v[0].Text()] = true
		return nil
	})
	for _, schema := range []string{"pg_catalog", "information_schema", "geosql", "facts"} {
		if err != nil || attached[schema] {
			continue
		}
		// A read-only connection attaches read-only databases, unless a URI says otherwise.
		memory := ":memory:"
		if !conn.Writable() {
			memory = "file:" + schema + "?mode=memory"
		}
		err = conn.Exec("ATTACH '" + memory + "' AS " + schema)
	}
	return err
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

func (c *catalogue) fill(conn *sqlite.Conn) error {
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
		create := "DROP TABLE IF EXISTS " + name + "; CREATE TABLE " + name + "(" + strings.Join(columns, ", ") + ")"
		if r.Schema == "geosql" {
			create = "CREATE VIEW IF NOT EXISTS " + name + " AS SELECT " + strings.Join(members, ", ") + " FROM json_each(" + lastCost + "())"
		}
		if err := conn.Exec(create); err != nil {
			return err
		}
	}
	facts, err := json.Marshal(c)
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
	return nil
}
