package pgcatalog

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode"

	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// A relation is a table, view or index that clients see.
type relation struct {
	OID         uint32
	Schema      string
	Name        string
	Kind        string // r, v or i
	View        string // the query of a view
	Columns     []column
	Indexes     []*index // that of the primary key first
	Constraints []*constraint
	Referring   bool // it has a foreign key, or one refers to it
}

// isHidden reports whether clients have to name the schema, too.
func (r *relation) isHidden() bool { return r.Schema == "information_schema" || r.Schema == "geosql" }

type column struct {
	Name      string
	Type      uint32 // OID
	NotNull   bool
	Array     bool
	Generated bool
	Sealed    string // the type of its values, if it is sealed
	time      uint32 // the type of its values, if it is one of dates and times
	cid       int    // SQLite's number
	declared  string // the type for SQLite, and the default
}

// descending is the option of a column that descends, with NULL first as PostgreSQL has it then.
const descending = 3

// An index is one of a table. That of a primary key may be the table itself.
type index struct {
	OID             uint32
	Name            string
	Key             []int // numbers of columns, from 1, or 0 for an expression
	Options         []int // of columns: 0 or descending
	Unique, Primary bool
	Expressions     string
	Where           string   // the condition on its rows, or empty
	Definition      string   // in SQL
	columns         []string // as they are written
}

// A constraint is a key of a table.
type constraint struct {
	OID                uint32
	Name               string
	Kind               string // p for a primary key, u for unique columns, f for a foreign key
	Columns            []int
	Index              uint32 // OID of the index that it has, or of the columns that it refers to, or 0
	Other              uint32 // OID of the table that it refers to, or 0
	To                 []int  // the columns that it refers to
	OnUpdate, OnDelete string // as SQLite tells them, or empty
	definition         string // in SQL
}

// number returns the first of four OIDs for a name. No other name gets any of them.
func (c *Catalogue) number(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(name)))
	oid := firstOID + h.Sum32()%(1<<28)*4
	for ; c.used[oid]; oid += 4 {
	}
	c.used[oid] = true
	return oid
}

// read finds the tables and views of the main database, and the catalogue's own.
func (c *Catalogue) read(conn *sqlite.Conn) error {
	c.Relations = shapeRelations()
	for _, r := range c.Relations {
		c.used[r.OID] = true
	}
	sealed, err := readSealed(conn)
	if err != nil {
		return err
	}
	var found []*relation
	err = conn.Each(`SELECT name, type, sql FROM main.sqlite_schema WHERE type IN ('table', 'view')
		AND lower(substr(name, 1, 7)) NOT IN ('geosql_', 'sqlite_') ORDER BY name`, func(v []sqlite.Value) error {
		r := &relation{Schema: "public", Name: v[0].Text(), Kind: "r"}
		if v[1].Text() == "view" {
			r.Kind, r.View = "v", viewQuery(v[2].Text())
		}
		found = append(found, r)
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range found {
		// Of four numbers each relation has one for itself, its type, its key and the key's constraint.
		r.OID = c.number(r.Name)
		key, err := r.readColumns(conn, sealed)
		if err != nil && r.Kind == "v" { // its tables are missing
			r.Columns, err = nil, nil
		}
		c.Relations = append(c.Relations, r)
		if err == nil && r.Kind == "r" {
			err = c.readIndexes(conn, r, key)
		}
		if err != nil {
			return err
		}
	}
	for _, r := range found {
		if r.Kind == "r" {
			if err := c.readForeignKeys(conn, r); err != nil {
				return err
			}
		}
	}
	for _, r := range c.Relations {
		c.byOID[r.OID] = r
	}
	return nil
}

// readSealed returns the types of the values of sealed columns by table and column in lower case.
func readSealed(conn *sqlite.Conn) (sealed map[[2]string]string, err error) {
	sealed = map[[2]string]string{}
	is, err := declaration.Has(conn, "geosql_sealed_column")
	if err == nil && is {
		err = declaration.Each(conn, "SELECT tbl, col, account, kind, name FROM main.geosql_sealed_column", func(v []sqlite.Value) error {
			sealed[[2]string{strings.ToLower(v[0].Text()), strings.ToLower(v[1].Text())}] = fmt.Sprintf(
				"sealed; %s %s, account in column %s", v[3].Text(), v[4].Text(), v[2].Text())
			return nil
		})
	}
	return sealed, err
}

// readColumns finds the columns, and returns the numbers of those of the primary key.
func (r *relation) readColumns(conn *sqlite.Conn, sealed map[[2]string]string) (key []int, err error) {
	err = conn.Each(`SELECT name, type, "notnull", pk, hidden, cid
		FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1`, func(v []sqlite.Value) error {
		place := int(v[3].Int())
		col := column{Name: v[0].Text(), Type: ColumnType(v[1].Text()).OID, NotNull: v[2].Int() != 0 || place > 0,
			Generated: v[4].Int() > 1, time: timeType(v[1].Text()), cid: int(v[5].Int())}
		if col.Sealed = sealed[[2]string{strings.ToLower(r.Name), strings.ToLower(col.Name)}]; col.Sealed != "" {
			col.Type = SealedOID
		}
		r.Columns = append(r.Columns, col)
		if place > 0 {
			key = append(key, make([]int, max(0, place-len(key)))...)
			key[place-1] = len(r.Columns)
		}
		return nil
	}, r.Name)
	return key, err
}

// readIndexes finds the indexes of a table, that of its primary key first, and the constraints that they serve.
func (c *Catalogue) readIndexes(conn *sqlite.Conn, r *relation, key []int) error {
	if key != nil {
		x := &index{OID: r.OID + 2, Name: r.Name + "_pkey", Unique: true, Primary: true}
		for _, k := range key {
			x.add(k, ident(r.Columns[k-1].Name), false)
		}
		c.addIndex(r, x, "", true)
	}
	return conn.Each(`SELECT i.name, coalesce(s.sql, ''), i."unique", i.origin = 'c'
		FROM pragma_index_list(?1, 'main') i LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = i.name
		WHERE i.origin <> 'pk' ORDER BY i.name`, func(v []sqlite.Value) error {
		name, isOwn := v[0].Text(), v[3].Int() != 0 // it has a name, and a definition
		x := &index{Name: name, Unique: v[2].Int() != 0, OID: c.number("index " + name)}
		texts, where := indexParts(v[1].Text())
		columns := r.Name
		err := conn.Each(`SELECT cid, "desc" FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno`, func(v []sqlite.Value) error {
			number, text := r.numberOf(int(v[0].Int())), ""
			if number > 0 {
				text = ident(r.Columns[number-1].Name)
				columns += "_" + r.Columns[number-1].Name
			} else if at := len(x.Key); at < len(texts) {
				text = texts[at]
			}
			x.add(number, text, v[1].Int() != 0)
			return nil
		}, name)
		if !isOwn {
			x.Name = columns + "_key"
		}
		c.addIndex(r, x, where, !isOwn)
		return err
	}, r.Name)
}

// add adds a column, or an expression.
func (x *index) add(number int, text string, isDescending bool) {
	option := 0
	if number == 0 {
		x.Expressions += ", " + text
	}
	if isDescending {
		option = descending
	}
	x.Key, x.Options, x.columns = append(x.Key, number), append(x.Options, option), append(x.columns, text)
}

// addIndex adds an index to its table and to the relations, and the constraint that it serves if it does.
func (c *Catalogue) addIndex(r *relation, x *index, where string, serves bool) {
	list, unique := "", ""
	for i, text := range x.columns {
		if list += ", " + text; x.Options[i] == descending {
			list += " DESC"
		}
	}
	list = strings.TrimPrefix(list, ", ")
	if x.Unique {
		unique = "UNIQUE "
	}
	x.Expressions, x.Where = strings.TrimPrefix(x.Expressions, ", "), where
	x.Definition = "CREATE " + unique + "INDEX " + ident(x.Name) + " ON public." + ident(r.Name) + " USING btree (" + list + ")"
	if where != "" {
		x.Definition += " WHERE " + where
	}
	r.Indexes = append(r.Indexes, x)
	i := &relation{OID: x.OID, Schema: "public", Name: x.Name, Kind: "i"}
	for _, n := range x.Key {
		if n > 0 {
			i.Columns = append(i.Columns, r.Columns[n-1])
		} else {
			i.Columns = append(i.Columns, column{Name: "expr", Type: typeByName["text"].OID})
		}
	}
	c.Relations = append(c.Relations, i)
	k := &constraint{Name: x.Name, Kind: "u", Index: x.OID, Columns: x.Key, definition: "UNIQUE (" + list + ")"}
	switch {
	case x.Primary:
		k.OID, k.Kind, k.definition = r.OID+3, "p", "PRIMARY KEY ("+list+")"
	case serves:
		k.OID = x.OID + 3
	default:
		return
	}
	r.Constraints = append(r.Constraints, k)
}

// numberOf returns the number of the column that SQLite counts as cid, or 0 if clients do not see it.
func (r *relation) numberOf(cid int) int {
	return 1 + slices.IndexFunc(r.Columns, func(c column) bool { return c.cid == cid })
}

// indexParts returns the columns in a CREATE INDEX as they are written, without their order, and its condition.
func indexParts(sql string) (columns []string, where string) {
	tokens := slices.Collect(sqltext.PostgreSQL.Tokens(sql))
	match := sqltext.Match(tokens)
	open := slices.IndexFunc(tokens, func(t sqltext.Token) bool { return t.IsSymbol("(") })
	if open < 0 || match[open] < 0 {
		return nil, ""
	}
	from := tokens[open].At + 1
	for i := open + 1; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case match[i] >= 0:
			i = match[i]
		case t.Is("where"):
			return columns, strings.TrimSpace(sql[t.At+len(t.Text):])
		case i <= match[open] && (i == match[open] || t.IsSymbol(",")):
			text := strings.TrimSpace(sql[from:t.At])
			for _, order := range []string{" asc", " desc"} {
				if n := len(text) - len(order); n > 0 && strings.EqualFold(text[n:], order) {
					text = text[:n]
				}
			}
			columns, from = append(columns, "("+text+")"), t.At+1
		}
	}
	return columns, ""
}

// readForeignKeys finds the foreign keys of a table. All tables are known by then.
func (c *Catalogue) readForeignKeys(conn *sqlite.Conn, r *relation) error {
	return conn.Each(`SELECT "table", group_concat("from", char(10)), coalesce(group_concat("to", char(10)), ''), on_update, on_delete
		FROM (SELECT * FROM pragma_foreign_key_list(?1, 'main') ORDER BY id, seq)
		GROUP BY id ORDER BY id DESC`, func(v []sqlite.Value) error {
		other := c.find("public." + sqlite.QuoteName(v[0].Text()))
		if other == nil || other.Kind != "r" {
			return nil
		}
		from := strings.Split(v[1].Text(), "\n")
		k := &constraint{Kind: "f", Columns: r.numbers(from), Other: other.OID, OnUpdate: v[3].Text(), OnDelete: v[4].Text()}
		if to := v[2].Text(); to != "" {
			k.To = other.numbers(strings.Split(to, "\n"))
		} else if len(other.Indexes) > 0 && other.Indexes[0].Primary {
			k.To = other.Indexes[0].Key
		}
		if len(k.To) != len(k.Columns) || slices.Contains(k.To, 0) || slices.Contains(k.Columns, 0) {
			return nil
		}
		for _, x := range other.Indexes {
			if k.Index == 0 && x.Unique && slices.Equal(slices.Sorted(slices.Values(x.Key)), slices.Sorted(slices.Values(k.To))) {
				k.Index = x.OID
			}
		}
		name := r.Name + "_" + strings.Join(from, "_") + "_fkey"
		k.Name = name
		for n := 1; slices.ContainsFunc(r.Constraints, func(o *constraint) bool { return o.Kind == "f" && o.Name == k.Name }); n++ {
			k.Name = fmt.Sprint(name, n)
		}
		k.OID = c.number("constraint " + r.Name + " " + k.Name)
		k.definition = "FOREIGN KEY (" + r.list(k.Columns) + ") REFERENCES " + ident(other.Name) + "(" + other.list(k.To) + ")"
		if k.OnUpdate != "NO ACTION" {
			k.definition += " ON UPDATE " + k.OnUpdate
		}
		if k.OnDelete != "NO ACTION" {
			k.definition += " ON DELETE " + k.OnDelete
		}
		r.Constraints = append(r.Constraints, k)
		r.Referring, other.Referring = true, true
		return nil
	}, r.Name)
}

// numbers returns the numbers of columns by their names, 0 if there is no such column.
func (r *relation) numbers(names []string) (list []int) {
	for _, name := range names {
		list = append(list, 1+slices.IndexFunc(r.Columns, func(c column) bool { return strings.EqualFold(c.Name, name) }))
	}
	return list
}

// list returns the names of columns, as SQL has them.
func (r *relation) list(numbers []int) string {
	var names []string
	for _, n := range numbers {
		names = append(names, ident(r.Columns[n-1].Name))
	}
	return strings.Join(names, ", ")
}

// viewQuery returns the query of a view.
func viewQuery(sql string) string {
	for t := range sqltext.PostgreSQL.Tokens(sql) {
		if t.Is("as") {
			return strings.TrimSpace(sql[t.At+len(t.Text):])
		}
	}
	return ""
}

// aclName returns the name of a role as an aclitem has it.
func aclName(name string) string {
	isSpecial := func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }
	if strings.ContainsFunc(name, isSpecial) {
		return sqlite.QuoteName(name)
	}
	return name
}

// ident returns a name as quote_ident does.
func ident(name string) string {
	plain := name != "" && !slices.Contains(strings.Fields(Keywords), name)
	for i := range len(name) {
		c := name[i]
		plain = plain && (c == '_' || 'a' <= c && c <= 'z' || i > 0 && '0' <= c && c <= '9')
	}
	if plain {
		return name
	}
	return sqlite.QuoteName(name)
}
