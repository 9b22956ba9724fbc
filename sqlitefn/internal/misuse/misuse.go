// Package misuse finds the places where a statement takes sealed values for numbers. It imports the frame and
// internal/vdbe, which follows sealed values through the compiled statement. Start with [Gate].
package misuse

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/internal/vdbe"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// A sealed column holds ciphertexts. To SQLite they are blobs, so that a sum of them is 0 and each is
// greater than any number. The uses that a statement makes of them are found in its compiled program, see
// [vdbe.Program.SealedUses].

// A Misuse is a place of a statement that uses sealed values as if they were the hidden values.
type Misuse struct {
	Result  string   // the wrong part: names of result columns, or "rows", "choice of rows", "order of rows"
	Sealed  []string // the columns, as table.column
	Through string   // the function, the operator or the clause
	Instead string   // the remedy: other SQL, or something to do

	noun         string
	replace      string // the private function that takes the place of an aggregate, "" for none
	instructions int    // how many there are
}

// Error tells the misuse and its remedy.
func (m Misuse) Error() string { return m.Wrong() + ": " + m.Instead }

// A Gate tells where the statements of a connection misuse sealed values, also if the connection does not have all of the
// functions. It is used by one goroutine at a time.
type Gate struct{ session *frame.Session }

// NewGate returns a gate of a session's connection.
func NewGate(s *frame.Session) *Gate { return &Gate{s} }

// Misuses returns where a statement depends on sealed columns other than through a private function.
// Nothing else that it computes does. Statements that only steer the connection or change the
// schema have none.
func (g *Gate) Misuses(sql string) ([]Misuse, error) {
	list, _, err := misuses(g.session, sql)
	return list, err
}

// HasSealed reports whether a database of the session's connection has sealed columns.
func HasSealed(s *frame.Session) (bool, error) {
	list, err := sealedColumns(s)
	return len(list) > 0, err
}

// Wrong tells the misuse, and Error adds the remedy.
func (m Misuse) Wrong() string {
	columns := "column "
	if len(m.Sealed) > 1 {
		columns = "columns "
	}
	return fmt.Sprintf("%s over the sealed %s%s would be a wrong %s", m.Through, columns, strings.Join(m.Sealed, " and "), m.noun)
}

// HasForm reports whether a private function can take the place of the misuse: see [Gate.Private].
func (m Misuse) HasForm() bool { return m.replace != "" }

// steering are the first words of statements that compute nothing from rows.
var steering = []string{"ALTER", "ANALYZE", "ATTACH", "BEGIN", "COMMIT", "DETACH", "DROP", "END", "EXPLAIN", "PRAGMA", "REINDEX", "RELEASE",
	"ROLLBACK", "SAVEPOINT", "VACUUM"}

// misuses returns the misuses in a statement, and its program.
func misuses(s *frame.Session, sql string) ([]Misuse, vdbe.Program, error) {
	if sqltext.SQLite.First(sql).Is(steering...) {
		return nil, nil, nil
	}
	columns, err := sealedColumns(s)
	if err != nil || len(columns) == 0 {
		return nil, nil, err
	}
	layouts, err := sealedLayouts(s, columns)
	if err != nil {
		return nil, nil, err
	}
	program, err := vdbe.Explain(s.Conn, sql)
	if err != nil {
		return nil, nil, err
	}
	texts, err := schemaTexts(s)
	if err != nil {
		return nil, nil, err
	}
	texts = append(texts, sql)
	foreign, err := foreignTables(s, texts)
	if err != nil {
		return nil, nil, err
	}
	uses, err := program.SealedUses(vdbe.Sealing{
		Layout:    func(database, root int) vdbe.Layout { return layouts[[2]int{database, root}] },
		Opens:     s.Table.Charges,
		Keeps:     func(name string) bool { return name == "dx_narrow" || name == "dx_person" },
		Arguments: mostArguments(texts),
		Foreign:   foreign,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the statement's use of sealed columns is not known: %w", err)
	}
	names, err := resultNames(s, sql)
	if err != nil {
		return nil, nil, err
	}
	byName := map[string]sealedColumn{}
	for _, c := range columns {
		byName[c.name()] = c
	}
	words := wordsIn(sql)
	var list []Misuse
	for _, u := range merged(uses) {
		m := newMisuse(u.Use, words, names, byName)
		m.instructions = u.instructions
		list = append(list, m)
	}
	return withoutParts(list), program, nil
}

// resultNames returns the names of the columns of a statement's result.
func resultNames(s *frame.Session, sql string) (names []string, err error) {
	stmt, _, err := s.Conn.Prepare(sql)
	if stmt == nil || err != nil {
		return nil, err
	}
	defer stmt.Close()
	for i := range stmt.Columns() {
		names = append(names, stmt.ColumnName(i))
	}
	return names, nil
}

// A mergedUse is a use that several instructions make.
type mergedUse struct {
	vdbe.Use
	instructions int
}

// merged joins the uses of the same columns in the same way: SQLite may compile an expression several
// times.
func merged(uses []vdbe.Use) (list []mergedUse) {
	for _, u := range uses {
		slices.Sort(u.Columns)
		i := slices.IndexFunc(list, func(v mergedUse) bool {
			return v.Kind == u.Kind && v.Name == u.Name && slices.Equal(v.Columns, u.Columns)
		})
		if i < 0 {
			list = append(list, mergedUse{u, 1})
			continue
		}
		list[i].instructions++
		for _, result := range u.Results {
			if !slices.Contains(list[i].Results, result) {
				list[i].Results = append(list[i].Results, result)
			}
		}
	}
	return list
}

// withoutParts leaves out a misuse that another one contains: one comparison may have several
// instructions, and each of them reads some of the columns.
func withoutParts(list []Misuse) (whole []Misuse) {
	for i, m := range list {
		contained := slices.ContainsFunc(list, func(other Misuse) bool {
			return m.within(other) && len(m.Sealed) < len(other.Sealed)
		})
		if !contained && !slices.ContainsFunc(list[:i], m.within) {
			whole = append(whole, m)
		}
	}
	return whole
}

// within reports whether another misuse says all that m says.
func (m Misuse) within(other Misuse) bool {
	return m.Through == other.Through && m.Result == other.Result &&
		!slices.ContainsFunc(m.Sealed, func(c string) bool { return !slices.Contains(other.Sealed, c) })
}

// Words of SQL that may stand for an instruction of a compiled statement.
var (
	equalWords = []string{"=", "==", "<>", "!=", "IN", "IS", "CASE", "USING", "NATURAL"}
	lessWords  = []string{"<", "<=", ">", ">=", "BETWEEN"}
	orderWords = []string{"ORDER BY", "GROUP BY", "DISTINCT", "OVER", "UNION", "EXCEPT", "INTERSECT", "INDEX"}
	setWords   = []string{"DISTINCT", "IN", "UNION", "EXCEPT", "INTERSECT", "GROUP BY", "OVER"}
	trueWords  = []string{"WHERE", "HAVING", "ON", "FILTER", "CASE", "IIF", "IS", "LIMIT", "OFFSET"}
)

// privateForms are the private forms of SQLite's aggregates.
var privateForms = map[string]string{"avg": "dx_avg", "max": "dx_max", "median": "dx_median", "min": "dx_min", "sum": "dx_sum", "total": "dx_sum"}

// newMisuse describes a use to people.
func newMisuse(u vdbe.Use, has map[string]bool, names []string, columns map[string]sealedColumn) Misuse {
	m := Misuse{Sealed: u.Columns, Through: u.Name, noun: "answer"}
	c := columns[u.Columns[0]]
	counts := fmt.Sprintf("count with dx_histogram(%s, epsilon, bins)", c.quoted())
	answers := fmt.Sprintf("dx_sum(%s, epsilon)", c.quoted())
	if c.location {
		counts = fmt.Sprintf("count with dx_heatmap(%s, epsilon, cell_m)", c.quoted())
		answers = fmt.Sprintf("dx_centroid(%s, epsilon)", c.quoted())
	}
	var results []string
	for _, i := range u.Results {
		if i < len(names) {
			results = append(results, names[i])
		}
	}
	m.Result = strings.Join(results, ", ")
	otherwise := "rows"
	switch u.Kind {
	case vdbe.UseAggregate:
		switch form := privateForms[u.Name]; {
		case form != "" && !c.location:
			m.noun, m.replace = "number", form
			m.Instead = fmt.Sprintf("write %s(%s, epsilon)", form, c.quoted())
		case strings.HasPrefix(u.Name, "stddev") && !c.location:
			m.Instead = fmt.Sprintf("write dx_stddev(%s, epsilon)", c.quoted())
		case strings.HasPrefix(u.Name, "var") && !c.location:
			m.Instead = fmt.Sprintf("write dx_variance(%s, epsilon)", c.quoted())
		case strings.HasPrefix(u.Name, "percentile") && !c.location:
			m.Instead = fmt.Sprintf("write dx_percentile(%s, p, epsilon)", c.quoted())
		default:
			m.Instead = "write a private function, such as " + answers
		}
	case vdbe.UseFunction, vdbe.UseOperator:
		switch u.Name {
		case "like", "glob", "regexp", "match":
			m.Through = strings.ToUpper(u.Name)
			m.Instead = "a condition on a sealed value is not possible; " + counts
			otherwise = "choice of rows"
		default:
			m.Instead = "compute with a private answer, such as " + answers
		}
	case vdbe.UseEqual, vdbe.UseLess, vdbe.UseCondition:
		otherwise = "choice of rows"
		words := map[vdbe.UseKind][]string{vdbe.UseEqual: equalWords, vdbe.UseLess: lessWords, vdbe.UseCondition: trueWords}[u.Kind]
		m.Through = among(words, has, map[vdbe.UseKind]string{vdbe.UseEqual: "=", vdbe.UseLess: "<", vdbe.UseCondition: "a condition"}[u.Kind])
		m.Instead = "a condition on a sealed value is not possible; " + counts
	case vdbe.UseOrder:
		otherwise = "order of rows"
		m.Through, m.noun = among(orderWords, has, "ORDER BY or GROUP BY"), "order"
		if slices.Contains(setWords[:5], m.Through) { // SQLite may sort to find equal values
			otherwise, m.noun = "choice of rows", "answer"
		}
		m.Instead = "order and group by a public column, or by a private answer; " + counts
	case vdbe.UseSet:
		otherwise = "choice of rows"
		m.Through = among(setWords, has, "DISTINCT or IN")
		m.Instead = "no two sealed values are equal; " + counts
	case vdbe.UseIndex:
		otherwise = "order of rows"
		m.Through, m.noun = "index "+u.Name, "order"
		m.Instead = "drop the index"
	case vdbe.UseVirtual:
		m.Through = "a table-valued function"
		m.Instead = "write a private function, such as " + answers
	}
	if m.Result == "" {
		m.Result = otherwise
	}
	return m
}

// wordsIn returns the words and operators that a statement has, in upper case. BY and ALL belong to the word before them.
func wordsIn(sql string) map[string]bool {
	has := map[string]bool{}
	last := ""
	for t := range sqltext.SQLite.Words(sql) {
		word := strings.ToUpper(t.Text)
		if t.Is("BY", "ALL") {
			last += " " + word
			continue
		}
		has[last] = true
		last = word
	}
	has[last] = true
	return has
}

// among returns those of some words that a statement has, or otherwise if it has none, as where a view has them.
func among(words []string, has map[string]bool, otherwise string) string {
	var found []string
	for _, word := range words {
		if has[word] {
			found = append(found, word)
		}
	}
	if found == nil {
		return otherwise
	}
	return strings.Join(found, " or ")
}

// A sealedColumn is a column of ciphertexts.
type sealedColumn struct {
	database      frame.Database
	table, column string
	location      bool // of a domain, not of a universe
}

// name returns the name of the column in messages.
func (c sealedColumn) name() string {
	name := c.table + "." + c.column
	if c.database.Number != 0 {
		name = c.database.Name + "." + name
	}
	return name
}

// quoted returns the name of the column in SQL.
func (c sealedColumn) quoted() string {
	if frame.IsColumn(c.column) && !strings.ContainsAny(c.column, `."`) {
		return c.column
	}
	return sqlite.QuoteName(c.column)
}

// sealedColumns returns the sealed columns of all databases of the connection.
func sealedColumns(s *frame.Session) (list []sealedColumn, err error) {
	databases, err := s.Databases()
	if err != nil {
		return nil, err
	}
	for _, d := range databases {
		err := s.ReadTable(d, "geosql_sealed_column", "tbl, col, kind", func(st *sqlite.Stmt) {
			list = append(list, sealedColumn{d, frame.ColumnText(st, 0), frame.ColumnText(st, 1), frame.ColumnText(st, 2) == "domain"})
		})
		if err != nil {
			return nil, fmt.Errorf("the table geosql_sealed_column of database %s cannot be read: %w", d.Name, err)
		}
	}
	return list, nil
}

// sealedLayouts returns the layouts of the records of the tables that have sealed columns, and of
// their indexes, by database and root page.
func sealedLayouts(s *frame.Session, columns []sealedColumn) (map[[2]int]vdbe.Layout, error) {
	layouts := map[[2]int]vdbe.Layout{}
	done := map[[2]string]bool{}
	for _, c := range columns {
		key := [2]string{c.database.Name, strings.ToLower(c.table)}
		if done[key] {
			continue
		}
		done[key] = true
		t := &sealedTable{database: c.database, table: c.table}
		for _, other := range columns {
			if other.database == c.database && strings.EqualFold(other.table, c.table) {
				t.sealed = append(t.sealed, other)
			}
		}
		if err := addLayouts(s, layouts, t); err != nil {
			return nil, err
		}
	}
	return layouts, nil
}

// A sealedTable is a table with sealed columns.
type sealedTable struct {
	database frame.Database
	table    string
	sealed   []sealedColumn
	virtual  map[int]bool // the generated columns that are computed when they are read
}

// of returns the names of the sealed columns for which yes holds.
func (t *sealedTable) of(yes func(sealedColumn) bool) (names []string) {
	for _, c := range t.sealed {
		if yes(c) {
			names = append(names, c.name())
		}
	}
	return names
}

// named returns the name of the sealed column that a column is, none for a public one.
func (t *sealedTable) named(column string) []string {
	return t.of(func(c sealedColumn) bool { return strings.EqualFold(c.column, column) })
}

// addLayouts adds the layouts of a table and of its indexes.
func addLayouts(s *frame.Session, layouts map[[2]int]vdbe.Layout, t *sealedTable) error {
	var fields [][]string
	t.virtual = map[int]bool{}
	err := s.Query("PRAGMA "+t.database.Table("table_xinfo")+"("+sqlite.QuoteName(t.table)+")", func(st *sqlite.Stmt) {
		const virtual = 2
		if frame.ColumnInt(st, 6) == virtual {
			t.virtual[frame.ColumnInt(st, 0)] = true
			return
		}
		fields = append(fields, t.named(frame.ColumnText(st, 1)))
	})
	if err != nil {
		return err
	}
	roots, texts := map[string]int{}, map[string]string{}
	err = s.Query("SELECT name, rootpage, sql FROM "+t.database.Table("sqlite_schema")+" WHERE tbl_name = ?1 COLLATE NOCASE AND rootpage > 0",
		func(st *sqlite.Stmt) {
			name := strings.ToLower(frame.ColumnText(st, 0))
			roots[name], texts[name] = frame.ColumnInt(st, 1), frame.ColumnText(st, 2)
		}, t.table)
	if err != nil {
		return err
	}
	root := roots[strings.ToLower(t.table)]
	layouts[[2]int{t.database.Number, root}] = vdbe.Layout{Fields: fields}
	var indexes []string
	err = s.Query("PRAGMA "+t.database.Table("index_list")+"("+sqlite.QuoteName(t.table)+")", func(st *sqlite.Stmt) {
		indexes = append(indexes, frame.ColumnText(st, 1))
	})
	if err != nil {
		return err
	}
	for _, index := range indexes {
		at, separate := roots[strings.ToLower(index)]
		if !separate {
			at = root // the key of a table WITHOUT ROWID is the table
		}
		l, err := indexLayout(s, t, index, texts[strings.ToLower(index)])
		if err != nil {
			return err
		}
		layouts[[2]int{t.database.Number, at}] = l
	}
	return nil
}

// indexLayout returns the layout of an index. The text of an index may have an expression or a
// condition, so an index that mentions a sealed column anywhere depends on it.
func indexLayout(s *frame.Session, t *sealedTable, index, text string) (vdbe.Layout, error) {
	l := vdbe.Layout{Index: index}
	l.Order = t.of(func(c sealedColumn) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(c.column)) })
	err := s.Query("PRAGMA "+t.database.Table("index_xinfo")+"("+sqlite.QuoteName(index)+")", func(st *sqlite.Stmt) {
		names := t.named(frame.ColumnText(st, 2))
		const expression = -2
		switch cid := frame.ColumnInt(st, 1); {
		case t.virtual[cid]:
			names = t.of(func(sealedColumn) bool { return true })
			l.Order = names
		case cid == expression:
			names = l.Order
		case frame.ColumnInt(st, 5) != 0: // of the key
			for _, name := range names {
				if !slices.Contains(l.Order, name) {
					l.Order = append(l.Order, name)
				}
			}
		}
		l.Fields = append(l.Fields, names)
	})
	return l, err
}

// schemaTexts returns the texts of everything that is declared in the databases of the connection.
func schemaTexts(s *frame.Session) (texts []string, err error) {
	databases, err := s.Databases()
	if err != nil {
		return nil, err
	}
	for _, d := range databases {
		err := s.Query("SELECT sql FROM "+d.Table("sqlite_schema")+" WHERE sql IS NOT NULL", func(st *sqlite.Stmt) {
			texts = append(texts, frame.ColumnText(st, 0))
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// foreignTables reports whether texts may use virtual tables other than those of functions that open
// sealed values. A virtual table is used by its name.
func foreignTables(s *frame.Session, texts []string) (foreign bool, err error) {
	lower := strings.ToLower(strings.Join(texts, "\n"))
	if strings.Contains(lower, "pragma_") || strings.Contains(lower, "create virtual") {
		return true, nil
	}
	err = s.Query("PRAGMA module_list", func(st *sqlite.Stmt) {
		name := strings.ToLower(frame.ColumnText(st, 0))
		foreign = foreign || !s.Table.Charges(name) && strings.Contains(lower, name)
	})
	return foreign, err
}

// mostArguments returns a function that tells the most arguments that a call of a function in some texts has, 0 if none
// calls it. It reads the texts once, if at all.
func mostArguments(texts []string) func(function string) int {
	read := sync.OnceValue(func() map[string]int {
		most := map[string]int{}
		for _, text := range texts {
			for name, arguments := range sqltext.SQLite.Calls(text) {
				name = strings.ToLower(name)
				most[name] = max(most[name], len(arguments))
			}
		}
		return most
	})
	return func(function string) int { return read()[strings.ToLower(function)] }
}
