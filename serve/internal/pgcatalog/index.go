package pgcatalog

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// An index is one of a table. That of a primary key may be the table itself.
type index struct {
	oid        uint32
	constraint uint32 // OID of the constraint that it serves, or 0
	name       string
	columns    []indexColumn
	unique     bool
	primary    bool
	where      string // the condition on its rows, or empty
}

type indexColumn struct {
	number     int    // in the table, from 1, or 0 for an expression
	text       string // as it is written
	descending bool
}

// A foreignKey is a constraint of a table.
type foreignKey struct {
	oid                uint32
	name               string
	columns            []int
	table              *relation // that it refers to
	to                 []int     // columns of that
	index              uint32    // OID of the index of those, or 0
	onUpdate, onDelete string    // as SQLite tells them
}

// actions are the actions of foreign keys, as pg_constraint has them.
var actions = map[string]string{"NO ACTION": "a", "RESTRICT": "r", "CASCADE": "c", "SET NULL": "n", "SET DEFAULT": "d"}

// numbered returns the first of four numbers for a name. No other name gets any of them.
func numbered(used map[uint32]bool, name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(strings.ToLower(name)))
	oid := firstOID + h.Sum32()%(1<<28)*4
	for ; used[oid]; oid += 4 {
	}
	used[oid] = true
	return oid
}

// readIndexes finds the indexes of a table, that of its primary key first.
func (c *catalogue) readIndexes(conn *sqlite.Conn, r *relation, key []int, used map[uint32]bool) error {
	if key != nil {
		x := &index{oid: r.oid + 2, constraint: r.oid + 3, name: r.name + "_pkey", unique: true, primary: true}
		for _, k := range key {
			x.columns = append(x.columns, indexColumn{number: k, text: ident(r.columns[k-1].name)})
		}
		r.indexes = append(r.indexes, x)
	}
	type listed struct {
		name, sql string
		unique    bool
		own       bool // it has a name, and a definition
	}
	var list []listed
	err := rows(conn, `SELECT i.name, coalesce(s.sql, ''), i."unique", i.origin = 'c' FROM pragma_index_list(?1, 'main') i
		LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = i.name WHERE i.origin <> 'pk' ORDER BY i.name`, func(s *sqlite.Stmt) {
		get := func(i int) bool { v := s.Column(i); return v.Int() != 0 }
		list = append(list, listed{columnText(s, 0), columnText(s, 1), get(2), get(3)})
	}, r.name)
	if err != nil {
		return err
	}
	for _, l := range list {
		x := &index{name: l.name, unique: l.unique}
		texts, where := indexParts(l.sql)
		x.where = where
		err := rows(conn, `SELECT cid, "desc" FROM pragma_index_xinfo(?1, 'main') WHERE key ORDER BY seqno`, func(s *sqlite.Stmt) {
			get := func(i int) int { v := s.Column(i); return int(v.Int()) }
			column := indexColumn{number: r.numberOf(get(0)), descending: get(1) != 0}
			if at := len(x.columns); column.number > 0 {
				column.text = ident(r.columns[column.number-1].name)
			} else if at < len(texts) {
				column.text = texts[at]
			}
			x.columns = append(x.columns, column)
		}, l.name)
		if err != nil {
			return err
		}
		if !l.own {
			x.name = r.name
			for _, column := range x.columns {
				x.name += "_" + r.columns[column.number-1].name
			}
			x.name += "_key"
		}
		x.oid = numbered(used, "index "+l.name)
		if !l.own {
			x.constraint = x.oid + 3
		}
		r.indexes = append(r.indexes, x)
	}
	return nil
}

// numberOf returns the number of the column that SQLite counts as cid, or 0 if clients do not see it.
func (r *relation) numberOf(cid int) int {
	return 1 + slices.IndexFunc(r.columns, func(c column) bool { return c.cid == cid })
}

// indexParts returns the columns in a CREATE INDEX as they are written, without their order, and its condition.
func indexParts(sql string) (columns []string, where string) {
	r := newRewriter(sql, slices.Collect(sqltext.PostgreSQL.Tokens(sql)))
	hi := len(r.tokens)
	open := 0
	for open < hi && !r.tokens[open].IsSymbol("(") {
		open = r.after(open)
	}
	if open >= hi || r.match[open] < 0 {
		return nil, ""
	}
	shut := r.match[open]
	start := open + 1
	for i := start; ; i = r.after(i) {
		if i >= shut || r.tokens[i].IsSymbol(",") {
			text := strings.TrimSpace(r.span(start, min(i, shut)))
			for _, order := range []string{" asc", " desc"} {
				if n := len(text) - len(order); n > 0 && strings.EqualFold(text[n:], order) {
					text = text[:n]
				}
			}
			columns, start = append(columns, "("+text+")"), i+1
		}
		if i >= shut {
			break
		}
	}
	if i := r.skip(shut+1, hi); r.at(i, hi).Is("where") {
		where = strings.TrimSpace(r.span(i+1, hi))
	}
	return columns, where
}

// readForeignKeys finds the foreign keys of a table. All tables are known by then.
func (c *catalogue) readForeignKeys(conn *sqlite.Conn, r *relation, used map[uint32]bool) error {
	return rows(conn, `SELECT "table", group_concat("from", char(10)), coalesce(group_concat("to", char(10)), ''), on_update, on_delete
		FROM (SELECT * FROM pragma_foreign_key_list(?1, 'main') ORDER BY id, seq) GROUP BY id ORDER BY id DESC`, func(s *sqlite.Stmt) {
		k := &foreignKey{table: c.find("public." + sqlite.QuoteName(columnText(s, 0))), onUpdate: columnText(s, 3), onDelete: columnText(s, 4)}
		if k.table == nil || k.table.kind != "r" {
			return
		}
		from := strings.Split(columnText(s, 1), "\n")
		k.columns = r.numbers(from)
		if to := columnText(s, 2); to != "" {
			k.to = k.table.numbers(strings.Split(to, "\n"))
		} else if p := k.table.primary(); p != nil {
			k.to = p.numbers()
		}
		if len(k.to) != len(k.columns) || slices.Contains(k.to, 0) || slices.Contains(k.columns, 0) {
			return
		}
		for _, x := range k.table.indexes {
			if k.index == 0 && x.unique && slices.Equal(slices.Sorted(slices.Values(x.numbers())), slices.Sorted(slices.Values(k.to))) {
				k.index = x.oid
			}
		}
		name := r.name + "_" + strings.Join(from, "_") + "_fkey"
		k.name = name
		for n := 1; slices.ContainsFunc(r.foreign, func(o *foreignKey) bool { return o.name == k.name }); n++ {
			k.name = fmt.Sprint(name, n)
		}
		k.oid = numbered(used, "constraint "+r.name+" "+k.name)
		r.foreign = append(r.foreign, k)
		k.table.referred = true
	}, r.name)
}

// numbers returns the numbers of columns by their names, 0 if there is no such column.
func (r *relation) numbers(names []string) (list []int) {
	for _, name := range names {
		list = append(list, 1+slices.IndexFunc(r.columns, func(c column) bool { return strings.EqualFold(c.name, name) }))
	}
	return list
}

// primary returns the index of the primary key, or nil.
func (r *relation) primary() *index {
	if len(r.indexes) > 0 && r.indexes[0].primary {
		return r.indexes[0]
	}
	return nil
}

func (x *index) numbers() (list []int) {
	for _, c := range x.columns {
		list = append(list, c.number)
	}
	return list
}

// relation returns the index as clients see it among the relations.
func (x *index) relation(r *relation) *relation {
	i := &relation{oid: x.oid, schema: "public", name: x.name, kind: "i"}
	for _, c := range x.columns {
		if c.number > 0 {
			i.columns = append(i.columns, r.columns[c.number-1])
		} else {
			i.columns = append(i.columns, column{name: "expr", oid: typeByName["text"].OID})
		}
	}
	return i
}

// list returns the columns as they stand in a definition.
func (x *index) list() string {
	var list []string
	for _, c := range x.columns {
		text := c.text
		if c.descending {
			text += " DESC"
		}
		list = append(list, text)
	}
	return strings.Join(list, ", ")
}

// sql returns the definition of an index of a table.
func (x *index) sql(r *relation) string {
	sql := "CREATE "
	if x.unique {
		sql += "UNIQUE "
	}
	sql += "INDEX " + ident(x.name) + " ON public." + ident(r.name) + " USING btree (" + x.list() + ")"
	if x.where != "" {
		sql += " WHERE " + x.where
	}
	return sql
}

// definition returns the definition of the constraint that the index serves.
func (x *index) definition() string {
	if x.primary {
		return "PRIMARY KEY (" + x.list() + ")"
	}
	return "UNIQUE (" + x.list() + ")"
}

// definition returns the definition of a foreign key of a table.
func (k *foreignKey) definition(r *relation) string {
	list := func(r *relation, numbers []int) string {
		var names []string
		for _, n := range numbers {
			names = append(names, ident(r.columns[n-1].name))
		}
		return strings.Join(names, ", ")
	}
	sql := "FOREIGN KEY (" + list(r, k.columns) + ") REFERENCES " + ident(k.table.name) + "(" + list(k.table, k.to) + ")"
	if k.onUpdate != "NO ACTION" {
		sql += " ON UPDATE " + k.onUpdate
	}
	if k.onDelete != "NO ACTION" {
		sql += " ON DELETE " + k.onDelete
	}
	return sql
}

// findIndex returns the index with an OID, and its table.
func (c *catalogue) findIndex(oid uint32) (*relation, *index) {
	for _, r := range c.relations {
		for _, x := range r.indexes {
			if x.oid == oid {
				return r, x
			}
		}
	}
	return nil, nil
}

// constraint returns the definition of the constraint with an OID, or an empty text.
func (c *catalogue) constraint(oid uint32) string {
	for _, r := range c.relations {
		for _, x := range r.indexes {
			if x.constraint != 0 && x.constraint == oid {
				return x.definition()
			}
		}
		for _, k := range r.foreign {
			if k.oid == oid {
				return k.definition(r)
			}
		}
	}
	return ""
}

// spaced and braced write numbers as the catalogue has them.
func spaced(numbers []int) string { return strings.Trim(fmt.Sprint(numbers), "[]") }
func braced(numbers []int) string { return "{" + strings.ReplaceAll(spaced(numbers), " ", ",") + "}" }

// fillIndex fills the rows of an index of a table.
func (c *catalogue) fillIndex(f *filler, r *relation, x *index) {
	n := len(x.columns)
	zeros, options := spaced(make([]int, n)), make([]int, n)
	expressions := ""
	for i, column := range x.columns {
		if column.descending {
			options[i] = 3 // and NULL first, as PostgreSQL has it then
		}
		if column.number == 0 {
			expressions += ", " + column.text
		}
	}
	f.insert("pg_index", "indexrelid indrelid indnatts indnkeyatts indisunique indnullsnotdistinct indisprimary indisexclusion indimmediate indisclustered indisvalid indcheckxmin indisready indislive indisreplident indkey indcollation indclass indoption indexprs indpred",
		x.oid, r.oid, n, n, x.unique, false, x.primary, false, true, false, true, false, true, true, false, spaced(x.numbers()), zeros, zeros, spaced(options),
		orNull(strings.TrimPrefix(expressions, ", ")), orNull(x.where))
	f.insert("pg_indexes", "schemaname tablename indexname indexdef", r.schema, r.name, x.name, x.sql(r))
	if x.constraint == 0 {
		return
	}
	letter, kind := "u", "UNIQUE"
	if x.primary {
		letter, kind = "p", "PRIMARY KEY"
	}
	f.insert("pg_constraint", constraintColumns, x.constraint, x.name, publicOID, letter, false, false, true, r.oid, 0, x.oid, 0, 0, " ", " ", " ", true, 0, true, braced(x.numbers()), nil)
	c.fillConstraint(f, r, x.name, kind, x.numbers(), r, x.numbers())
}

const constraintColumns = "oid conname connamespace contype condeferrable condeferred convalidated conrelid contypid conindid conparentid confrelid confupdtype confdeltype confmatchtype conislocal coninhcount connoinherit conkey confkey"

// fillForeignKey fills the rows of a foreign key of a table.
func (c *catalogue) fillForeignKey(f *filler, r *relation, k *foreignKey) {
	f.insert("pg_constraint", constraintColumns, k.oid, k.name, publicOID, "f", false, false, true, r.oid, 0, k.index, 0, k.table.oid,
		actions[k.onUpdate], actions[k.onDelete], "s", true, 0, true, braced(k.columns), braced(k.to))
	c.fillConstraint(f, r, k.name, "FOREIGN KEY", k.columns, k.table, k.to)
	database := c.db.Database()
	unique := any(nil)
	if _, x := c.findIndex(k.index); x != nil {
		unique = x.name
	}
	f.insert("information_schema.referential_constraints", "constraint_catalog constraint_schema constraint_name unique_constraint_catalog unique_constraint_schema unique_constraint_name match_option update_rule delete_rule",
		database, "public", k.name, database, "public", unique, "NONE", k.onUpdate, k.onDelete)
}

// fillConstraint fills information_schema's rows of a constraint on columns of a table that uses those of another.
func (c *catalogue) fillConstraint(f *filler, r *relation, name, kind string, columns []int, used *relation, to []int) {
	database := c.db.Database()
	f.insert("information_schema.table_constraints", "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name constraint_type is_deferrable initially_deferred enforced",
		database, r.schema, name, database, r.schema, r.name, kind, "NO", "NO", "YES")
	for place, k := range columns {
		position := any(nil)
		if used != r || kind == "FOREIGN KEY" {
			position = place + 1
		}
		f.insert("information_schema.key_column_usage", "constraint_catalog constraint_schema constraint_name table_catalog table_schema table_name column_name ordinal_position position_in_unique_constraint",
			database, r.schema, name, database, r.schema, r.name, r.columns[k-1].name, place+1, position)
	}
	for _, k := range to {
		f.insert("information_schema.constraint_column_usage", "table_catalog table_schema table_name column_name constraint_catalog constraint_schema constraint_name",
			database, used.schema, used.name, used.columns[k-1].name, database, r.schema, name)
	}
}

// orNull returns a text, or NULL for an empty one.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
