package pgcatalog

import (
	_ "embed"
	"fmt"
	"sort"
	"strings"
	"unicode"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
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
}

// Version is the version of PostgreSQL that clients are told, for server_version.
const Version = "15.0"

// OIDs that every database has.
const (
	databaseOID   = 5
	catalogOID    = 11
	publicOID     = 2200
	schemaOID     = 13000 // of information_schema
	ownerOID      = 10
	userOID       = 16384
	tableAM       = 2
	btreeAM       = 403
	tablespaceOID = 1663
	defaultColl   = 100
	firstOID      = 20000 // of tables and views, and their types and indexes
)

// ownerName is the role that owns everything.
const ownerName = "owner"

// A relation is a table or view that clients see.
type relation struct {
	oid     uint32
	schema  string
	name    string
	kind    string // r, v or i
	sql     string // of a view
	columns []column
	indexes []*index // that of the primary key first

	foreign  []*foreignKey
	referred bool // a foreign key refers to it
}

type column struct {
	name      string
	cid       int    // SQLite's number
	oid       uint32 // of its type
	notNull   bool
	array     bool
	sealed    string // the type of its values, if it is sealed
	declared  string // the type for SQLite
	generated bool
}

// A catalogue holds the data of a connection's functions.
type catalogue struct {
	db        Describer
	relations []*relation
	byOID     map[uint32]*relation
	functions []function
}

// Install gives a connection the schemas pg_catalog and information_schema, in memory, which
// describe the tables and views of its main database, and the functions that clients call. Names
// that begin with geosql_ or sqlite_ are left out. No statement may be running. A read-only
// connection was opened with [sqlite.AttachURI].
//
// After a change of the schema it is called again. Two connections to a database give a table the
// same OID.
func Install(conn *sqlite.Conn, db Describer) error {
	c := &catalogue{db: db, byOID: map[uint32]*relation{}}
	if err := c.read(conn); err != nil {
		return err
	}
	if err := c.register(conn); err != nil {
		return err
	}
	if err := c.private(conn); err != nil {
		return err
	}
	attached := map[string]bool{}
	err := rows(conn, "SELECT name FROM pragma_database_list", func(s *sqlite.Stmt) { attached[columnText(s, 0)] = true })
	if err != nil {
		return err
	}
	for _, schema := range []string{"pg_catalog", "information_schema"} {
		if !attached[schema] {
			// A read-only connection attaches read-only databases, unless a URI says otherwise.
			memory := ":memory:"
			if !conn.Writable() {
				memory = "file:" + schema + "?mode=memory"
			}
			if err := conn.Exec("ATTACH '" + memory + "' AS " + schema); err != nil {
				return err
			}
		}
	}
	if err := conn.Exec("SAVEPOINT pg_install"); err != nil {
		return err
	}
	if err := c.fill(conn); err != nil {
		conn.Exec("ROLLBACK TO pg_install; RELEASE pg_install")
		return err
	}
	return conn.Exec("RELEASE pg_install")
}

func rows(conn *sqlite.Conn, sql string, each func(*sqlite.Stmt), arguments ...string) error {
	s, _, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for i, a := range arguments {
		s.BindText(i+1, a)
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		each(s)
	}
}

func columnText(s *sqlite.Stmt, i int) string {
	v := s.Column(i)
	if v.Type() == sqlite.Text || v.Type() == sqlite.Blob {
		return v.Text()
	}
	return ""
}

// read finds the tables and views of the main database, and the catalogue's own.
func (c *catalogue) read(conn *sqlite.Conn) error {
	used := map[uint32]bool{}
	for _, r := range shapeRelations() {
		c.relations = append(c.relations, r)
		c.byOID[r.oid], used[r.oid] = r, true
	}
	sealed := map[[2]string]string{}
	is, err := declaration.Has(conn, "geosql_sealed_column")
	if err == nil && is {
		err = declaration.Each(conn, "SELECT tbl, col, account, kind, name FROM main.geosql_sealed_column", func(v []sqlite.Value) error {
			sealed[[2]string{strings.ToLower(v[0].Text()), strings.ToLower(v[1].Text())}] = fmt.Sprintf(
				"sealed; %s %s, account in column %s", v[3].Text(), v[4].Text(), v[2].Text())
			return nil
		})
	}
	if err != nil {
		return err
	}
	var found []*relation
	err = rows(conn, `SELECT name, type, sql FROM main.sqlite_schema WHERE type IN ('table', 'view')
		AND lower(substr(name, 1, 7)) <> 'geosql_' AND lower(substr(name, 1, 7)) <> 'sqlite_' ORDER BY name`, func(s *sqlite.Stmt) {
		r := &relation{schema: "public", name: columnText(s, 0), kind: "r", sql: columnText(s, 2)}
		if columnText(s, 1) == "view" {
			r.kind = "v"
		}
		found = append(found, r)
	})
	if err != nil {
		return err
	}
	for _, r := range found {
		// Of four numbers each relation has one for itself, its type, its key and the key's constraint.
		r.oid = numbered(used, r.name)
		type keyed struct{ column, place int }
		var key []keyed
		err := rows(conn, "SELECT name, type, \"notnull\", pk, hidden, cid FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1", func(s *sqlite.Stmt) {
			get := func(i int) int64 { v := s.Column(i); return v.Int() }
			declared := columnText(s, 1)
			col := column{name: columnText(s, 0), cid: int(get(5)), oid: ColumnType(declared).OID, notNull: get(2) != 0 || get(3) != 0, generated: get(4) > 1}
			if col.sealed = sealed[[2]string{strings.ToLower(r.name), strings.ToLower(col.name)}]; col.sealed != "" {
				col.oid = SealedOID
			}
			r.columns = append(r.columns, col)
			if place := get(3); place > 0 {
				key = append(key, keyed{len(r.columns), int(place)})
			}
		}, r.name)
		if err != nil {
			if r.kind == "v" { // its tables are missing
				r.columns = nil
			} else {
				return err
			}
		}
		c.relations = append(c.relations, r)
		c.byOID[r.oid] = r
		if r.kind != "r" {
			continue
		}
		sort.Slice(key, func(i, j int) bool { return key[i].place < key[j].place })
		var columns []int
		for _, k := range key {
			columns = append(columns, k.column)
		}
		if err := c.readIndexes(conn, r, columns, used); err != nil {
			return err
		}
		for _, x := range r.indexes {
			i := x.relation(r)
			c.relations = append(c.relations, i)
			c.byOID[i.oid] = i
		}
	}
	for _, r := range found {
		if r.kind == "r" {
			if err := c.readForeignKeys(conn, r, used); err != nil {
				return err
			}
		}
	}
	return nil
}

// shapes are the relations of PostgreSQL 15 that clients ask for. A line has the relation, the OID by which clients may know it, or
// 0, its kind, and its columns, each with the letter of its type (see types), in brackets if it is an array.
//
//go:embed relations.txt
var shapes string

// shapeRelations returns the relations of shapes.
func shapeRelations() (list []*relation) {
	for i, line := range strings.Split(strings.TrimSpace(shapes), "\n") {
		fields := strings.Fields(line)
		r := &relation{schema: "pg_catalog", name: fields[0], kind: fields[2], oid: uint32(14000 + i)}
		if schema, name, ok := strings.Cut(r.name, "."); ok {
			r.schema, r.name = schema, name
		}
		if fields[1] != "0" {
			fmt.Sscan(fields[1], &r.oid)
		}
		for _, f := range fields[3:] {
			name, letter, _ := strings.Cut(f, ":")
			col := column{name: name, declared: "text"}
			if letter[0] == '[' {
				col.array, letter = true, letter[1:]
			}
			t := typeByLetter[letter[0]]
			col.oid = t.OID
			switch {
			case col.array:
				col.oid = t.Array
				if t.Array != 0 {
					col.declared = "_" + t.Name
				}
			case catalogTypes[t.Name] != nil:
				col.declared = t.Name
			case t.Name == "regproc" || t.Name == "xid":
				col.declared = "oid"
			}
			r.columns = append(r.columns, col)
		}
		list = append(list, r)
	}
	return list
}

// A filler fills the relations.
type filler struct {
	conn *sqlite.Conn
	err  error
	open map[string]*sqlite.Stmt
}

// insert adds a row with the values of the named columns; the others are NULL.
func (f *filler) insert(table, columns string, values ...any) {
	if f.err != nil {
		return
	}
	key := table + " " + columns
	s := f.open[key]
	if s == nil {
		if !strings.Contains(table, ".") {
			table = "pg_catalog." + table
		}
		names := strings.Fields(columns)
		sql := "INSERT INTO " + table + "(" + strings.Join(names, ",") + ") VALUES (?" + strings.Repeat(",?", len(names)-1) + ")"
		if s, _, f.err = f.conn.Prepare(sql); f.err != nil {
			return
		}
		f.open[key] = s
	}
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			s.BindNull(i + 1)
		case string:
			s.BindText(i+1, v)
		case bool:
			s.BindInts(i+1, number01(v))
		case int:
			s.BindInts(i+1, int64(v))
		case uint32:
			s.BindInts(i+1, int64(v))
		default:
			panic(fmt.Sprintf("pgcatalog: no value of type %T", v))
		}
	}
	f.err = s.Run()
	s.Reset()
}

func (c *catalogue) fill(conn *sqlite.Conn) error {
	for _, r := range c.relations {
		if r.schema == "public" {
			continue
		}
		var columns []string
		for _, col := range r.columns {
			columns = append(columns, sqlite.QuoteName(col.name)+" "+col.declared)
		}
		name := r.schema + "." + r.name
		if err := conn.Exec("DROP TABLE IF EXISTS " + name + "; CREATE TABLE " + name + "(" + strings.Join(columns, ", ") + ")"); err != nil {
			return err
		}
	}
	f := &filler{conn: conn, open: map[string]*sqlite.Stmt{}}
	c.fillSystem(f)
	for _, r := range c.relations {
		c.fillRelation(f, r)
	}
	for _, s := range f.open {
		s.Close()
	}
	return f.err
}

// fillSystem fills the rows that do not depend on tables.
func (c *catalogue) fillSystem(f *filler) {
	database, user := c.db.Database(), c.db.User()
	for _, n := range []struct {
		oid  int
		name string
	}{{catalogOID, "pg_catalog"}, {publicOID, "public"}, {schemaOID, "information_schema"}} {
		f.insert("pg_namespace", "oid nspname nspowner", n.oid, n.name, ownerOID)
		f.insert("information_schema.schemata", "catalog_name schema_name schema_owner", database, n.name, ownerName)
	}
	f.insert("pg_description", "objoid classoid objsubid description", publicOID, 2615, 0, "tables of the database")
	f.insert("pg_database", "oid datname datdba encoding datlocprovider datistemplate datallowconn datconnlimit datfrozenxid datminmxid dattablespace datcollate datctype",
		databaseOID, database, ownerOID, 6, "c", false, true, -1, 0, 0, tablespaceOID, "C", "C")
	f.insert("pg_tablespace", "oid spcname spcowner", tablespaceOID, "pg_default", ownerOID)
	roles := []struct {
		oid  int
		name string
	}{{ownerOID, ownerName}, {userOID, user}}
	if user == ownerName {
		roles = roles[:1]
	}
	for _, r := range roles {
		login := r.name == user
		f.insert("pg_authid", "oid rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolbypassrls rolconnlimit",
			r.oid, r.name, false, true, false, false, login, false, false, -1)
		f.insert("pg_roles", "oid rolname rolsuper rolinherit rolcreaterole rolcreatedb rolcanlogin rolreplication rolbypassrls rolconnlimit rolpassword",
			r.oid, r.name, false, true, false, false, login, false, false, -1, "********")
		if login {
			f.insert("pg_user", "usename usesysid usecreatedb usesuper userepl usebypassrls passwd", r.name, r.oid, false, false, false, false, "********")
		}
		f.insert("information_schema.enabled_roles", "role_name", r.name)
	}
	f.insert("information_schema.information_schema_catalog_name", "catalog_name", database)
	f.insert("information_schema.character_sets", "character_set_name character_repertoire form_of_use default_collate_catalog default_collate_schema default_collate_name",
		"UTF8", "UCS", "UTF8", database, "pg_catalog", "C")
	f.insert("pg_am", "oid amname amhandler amtype", tableAM, "heap", 0, "t")
	f.insert("pg_am", "oid amname amhandler amtype", btreeAM, "btree", 0, "i")
	for oid, name := range map[int]string{defaultColl: "default", 950: "C", 951: "POSIX"} {
		f.insert("pg_collation", "oid collname collnamespace collowner collprovider collisdeterministic collencoding collcollate collctype",
			oid, name, catalogOID, ownerOID, "c", true, -1, "C", "C")
	}
	f.insert("pg_language", "oid lanname lanowner lanispl lanpltrusted lanplcallfoid laninline lanvalidator", 12, "internal", ownerOID, false, false, 0, 0, 0)
	f.insert("pg_language", "oid lanname lanowner lanispl lanpltrusted lanplcallfoid laninline lanvalidator", 14, "sql", ownerOID, false, true, 0, 0, 0)

	const typeColumns = "oid typname typnamespace typowner typlen typbyval typtype typcategory typispreferred typisdefined typdelim typrelid typelem typarray typinput typoutput typreceive typsend typmodin typmodout typanalyze typsubscript typalign typstorage typnotnull typbasetype typtypmod typndims typcollation"
	arrayIn := c.functionOID("array_in")
	addType := func(oid uint32, name string, schema int, size int, kind, category string, relation, element, array uint32, input uint32, base uint32) {
		collation := 0
		if category == "S" {
			collation = defaultColl
		}
		f.insert("pg_type", typeColumns, oid, name, schema, ownerOID, size, size > 0 && size <= 8, kind, category, oid == 16 || oid == 25 || oid == 701 || oid == 26, true, ",", relation,
			element, array, input, 0, 0, 0, 0, 0, 0, 0, "i", "x", false, base, -1, 0, collation)
	}
	for _, t := range types {
		kind, element := "b", uint32(0)
		if t.group == 'P' || t.group == 'X' {
			kind = "p"
		}
		switch t.Name {
		case "int2vector":
			element = 21
		case "oidvector":
			element = 26
		}
		addType(t.OID, t.Name, catalogOID, t.Size, kind, string(t.group), 0, element, t.Array, 0, 0)
		if t.Array != 0 {
			addType(t.Array, "_"+t.Name, catalogOID, -1, "b", "A", 0, t.OID, 0, arrayIn, 0)
		}
	}
	addType(SealedOID, "sealed", publicOID, -1, "d", "U", 0, 0, 0, 0, 17)
	f.insert("pg_description", "objoid classoid objsubid description", SealedOID, 1247, 0, "a value that only private functions open")
	f.insert("information_schema.domains", "domain_catalog domain_schema domain_name data_type udt_catalog udt_schema udt_name", database, "public", "sealed", "bytea", database, "pg_catalog", "bytea")

	for _, name := range c.db.Settings() {
		value, _ := c.db.Setting(name)
		f.insert("pg_settings", "name setting category short_desc context vartype source boot_val reset_val pending_restart",
			name, value, "Client Connection Defaults", "", "user", "string", "default", value, value, false)
	}
	for i := range c.functions {
		fn := &c.functions[i]
		f.insert("pg_proc", "oid proname pronamespace proowner prolang procost prorows provariadic prosupport prokind prosecdef proleakproof proisstrict proretset provolatile proparallel pronargs pronargdefaults prorettype proargtypes prosrc",
			firstFunctionOID+i, fn.name, fn.schema(), ownerOID, 12, 1, 0, 0, 0, fn.prokind(), false, false, false, false, "v", "u", fn.args[0], 0, fn.returns(), strings.TrimSpace(strings.Repeat("2276 ", fn.args[0])), fn.name)
	}
	for word := range notOperands {
		f.insert("pg_keywords", "word catcode barelabel catdesc baredesc", word, "R", true, "reserved", "can be bare label")
	}
	f.insert("pg_timezone_names", "name abbrev utc_offset is_dst", "UTC", "UTC", "00:00:00", false)
	f.insert("pg_stat_activity", "datid datname pid usesysid usename state backend_type", databaseOID, database, int(c.db.BackendPID()), userOID, user, "active", "client backend")
	f.insert("pg_stat_database", "datid datname numbackends", databaseOID, database, 1)
}

// fillRelation fills the rows of one relation.
func (c *catalogue) fillRelation(f *filler, r *relation) {
	database := c.db.Database()
	schema, am, rowType := publicOID, 0, uint32(0)
	switch r.schema {
	case "pg_catalog":
		schema = catalogOID
	case "information_schema":
		schema = schemaOID
	}
	switch r.kind {
	case "r":
		am = tableAM
	case "i":
		am = btreeAM
	}
	public := r.schema == "public"
	if public && r.kind != "i" {
		rowType = r.oid + 1
		f.insert("pg_type", "oid typname typnamespace typowner typlen typbyval typtype typcategory typispreferred typisdefined typdelim typrelid typelem typarray typinput typoutput typreceive typsend typmodin typmodout typnotnull typbasetype typtypmod typndims typcollation",
			rowType, r.name, schema, ownerOID, -1, false, "c", "C", false, true, ",", r.oid, 0, 0, 0, 0, 0, 0, 0, 0, false, 0, -1, 0, 0)
	}
	acl := any(nil)
	if public && r.kind != "i" {
		acl = formatArray([]any{aclName(c.db.User()) + "=r/" + ownerName})
	}
	f.insert("pg_class", "oid relname relnamespace reltype reloftype relowner relam relfilenode reltablespace relpages reltuples relallvisible reltoastrelid relhasindex relisshared relpersistence relkind relnatts relchecks relhasrules relhastriggers relhassubclass relrowsecurity relforcerowsecurity relispopulated relreplident relispartition relrewrite relfrozenxid relminmxid relacl",
		r.oid, r.name, schema, rowType, 0, ownerOID, am, 0, 0, 0, -1, 0, 0, len(r.indexes) > 0, false, "p", r.kind, len(r.columns), 0, r.kind == "v", r.referred || len(r.foreign) > 0, false, false, false, true, "n", false, 0, 0, 0, acl)
	kind := "BASE TABLE"
	if r.kind == "v" {
		kind = "VIEW"
	}
	if r.kind != "i" {
		f.insert("information_schema.tables", "table_catalog table_schema table_name table_type is_insertable_into is_typed", database, r.schema, r.name, kind, "NO", "NO")
		if public {
			for _, t := range []string{"table_privileges", "role_table_grants"} {
				f.insert("information_schema."+t, "grantor grantee table_catalog table_schema table_name privilege_type is_grantable with_hierarchy",
					ownerName, c.db.User(), database, r.schema, r.name, "SELECT", "NO", "YES")
			}
		}
	}
	switch {
	case r.kind == "v":
		f.insert("pg_views", "schemaname viewname viewowner definition", r.schema, r.name, ownerName, c.viewSQL(r))
		f.insert("information_schema.views", "table_catalog table_schema table_name view_definition check_option is_updatable is_insertable_into is_trigger_updatable is_trigger_deletable is_trigger_insertable_into",
			database, r.schema, r.name, c.viewSQL(r), "NONE", "NO", "NO", "NO", "NO", "NO")
	case r.kind == "r":
		f.insert("pg_tables", "schemaname tablename tableowner hasindexes hasrules hastriggers rowsecurity", r.schema, r.name, ownerName, len(r.indexes) > 0, false, false, false)
	}
	for i, col := range r.columns {
		c.fillColumn(f, r, i+1, &col)
	}
	for _, x := range r.indexes {
		c.fillIndex(f, r, x)
	}
	for _, k := range r.foreign {
		c.fillForeignKey(f, r, k)
	}
}

func (c *catalogue) fillColumn(f *filler, r *relation, number int, col *column) {
	database := c.db.Database()
	size, collation, generated := -1, 0, ""
	t := typeByOID[col.oid]
	if t != nil {
		size = t.Size
		if t.group == 'S' {
			collation = defaultColl
		}
	}
	if col.generated {
		generated = "s"
	}
	f.insert("pg_attribute", "attrelid attname atttypid attstattarget attlen attnum attndims attcacheoff atttypmod attbyval attalign attstorage attcompression attnotnull atthasdef atthasmissing attidentity attgenerated attisdropped attislocal attinhcount attcollation",
		r.oid, col.name, col.oid, -1, size, number, number0(col.array), -1, -1, size > 0 && size <= 8, "i", "x", "", col.notNull, false, false, "", generated, false, true, 0, collation)
	if col.sealed != "" {
		f.insert("pg_description", "objoid classoid objsubid description", r.oid, 1259, number, col.sealed)
	}
	if r.kind == "i" {
		return
	}
	base := t
	domain, domainSchema, domainCatalog := any(nil), any(nil), any(nil)
	if col.oid == SealedOID {
		base = typeByOID[17]
		domain, domainSchema, domainCatalog = "sealed", "public", database
	}
	dataType, udt := "ARRAY", "_text"
	if base != nil {
		dataType, udt = base.SQL, base.Name
	} else if e := arrayOf[col.oid]; e != nil {
		udt = "_" + e.Name
	}
	precision, radix, scale := any(nil), any(nil), any(nil)
	switch udt {
	case "int2":
		precision, radix, scale = 16, 2, 0
	case "int4":
		precision, radix, scale = 32, 2, 0
	case "int8":
		precision, radix, scale = 64, 2, 0
	case "float4":
		precision, radix = 24, 2
	case "float8":
		precision, radix = 53, 2
	case "numeric":
		radix = 10
	}
	nullable, generation := "YES", "NEVER"
	if col.notNull {
		nullable = "NO"
	}
	if col.generated {
		generation = "ALWAYS"
	}
	f.insert("information_schema.columns", "table_catalog table_schema table_name column_name ordinal_position is_nullable data_type numeric_precision numeric_precision_radix numeric_scale domain_catalog domain_schema domain_name udt_catalog udt_schema udt_name dtd_identifier is_self_referencing is_identity identity_cycle is_generated is_updatable",
		database, r.schema, r.name, col.name, number, nullable, dataType, precision, radix, scale, domainCatalog, domainSchema, domain, database, "pg_catalog", udt, fmt.Sprint(number), "NO", "NO", "NO", generation, "NO")
	if r.schema == "public" {
		f.insert("information_schema.column_privileges", "grantor grantee table_catalog table_schema table_name column_name privilege_type is_grantable",
			ownerName, c.db.User(), database, r.schema, r.name, col.name, "SELECT", "NO")
	}
}

// aclName returns the name of a role as an aclitem has it.
func aclName(name string) string {
	for _, c := range name {
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return sqlite.QuoteName(name)
		}
	}
	return name
}

func number0(b bool) int { return int(number01(b)) }

// viewSQL returns the query of a view.
func (c *catalogue) viewSQL(r *relation) string {
	for t := range sqltext.PostgreSQL.Tokens(r.sql) {
		if t.Is("as") {
			return strings.TrimSpace(r.sql[t.At+len(t.Text):])
		}
	}
	return ""
}

// ident returns a name as quote_ident does.
func ident(name string) string {
	plain := name != "" && !notOperands[name]
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9')
	}
	if plain {
		return name
	}
	return sqlite.QuoteName(name)
}
