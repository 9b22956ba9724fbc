package shell

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/internal/sqltext"
)

// Candidates are the completions of a word.
type candidates struct {
	word string // the part that is typed
	list []candidate
}

// A candidate is a completion of a word, and its kind.
type candidate struct{ text, kind string }

// complete returns the completions at the end of a text: a command of the shell and its
// arguments, the name of something declared inside a text literal, the column of a table behind
// a dot, and else a keyword, a function, a table or a column. Names that cannot be shown as
// they are do not stand in the list.
func (sh *shell) complete(text string) candidates {
	text = lastUnit(text)
	if strings.HasPrefix(text, ".") {
		return sh.completeCommand(text)
	}
	at := sqltext.SQLite.Caret(text)
	word := at.Word
	switch {
	case at.Token.Kind == sqltext.Comment:
		return candidates{}
	case at.Token.Kind == sqltext.Unended && at.Token.Text[0] == '\'':
		found := candidates{word: at.Token.Text[1:]}
		for _, table := range declared {
			found.add("declared", "", "'", sh.names(`SELECT name FROM main.geosql_`+table)...)
		}
		return found
	case at.Token.Kind == sqltext.Unended: // a name
		word = at.Token.Text[1:]
	}
	found := candidates{word: word}
	if at.Table != "" {
		found.add("columns", "", "", sh.names(columnsSQL, cmp.Or(at.Tables[strings.ToLower(at.Table)], at.Table))...)
		return found
	}
	if at.Previous.Is("from", "join", "into", "update", "table") {
		found.add("tables", "", "", sh.names(tableNamesSQL)...)
		if word != "" && at.Previous.Is("from", "join") {
			found.add("functions", "", "(", sh.names(tableFunctionsSQL)...)
		}
		return found
	}
	found.add("columns", "", "", sh.columnsNear(at)...)
	found.add("tables", "", "", sh.names(tableNamesSQL)...)
	if word == "" { // nobody looks through all there is
		return found
	}
	found.add("functions", "", "(", sh.names(functionsSQL)...)
	keywords := sqlite.Keywords()
	if word != strings.ToUpper(word) {
		for i := range keywords {
			keywords[i] = strings.ToLower(keywords[i])
		}
	}
	found.add("keywords", "", "", keywords...)
	return found
}

// add adds the names that begin with the word, in any case, between the marks begin and end.
func (c *candidates) add(kind, begin, end string, names ...string) {
	for _, name := range names {
		if len(name) >= len(c.word) && strings.EqualFold(name[:len(c.word)], c.word) && printable.Is(name) &&
			!slices.ContainsFunc(c.list, func(k candidate) bool { return k.text == begin+name+end }) {
			// Typed letters keep their case.
			c.list = append(c.list, candidate{begin + c.word + name[len(c.word):] + end, kind})
		}
	}
	slices.SortStableFunc(c.list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.text, b.text))
	})
}

// columnsNear returns the columns of the tables that a statement names, or of all tables if it
// names none.
func (sh *shell) columnsNear(at sqltext.Caret) (columns []string) {
	tables := sh.names(tableNamesSQL)
	named := slices.DeleteFunc(slices.Clone(tables), func(t string) bool { return at.Tables[strings.ToLower(t)] == "" })
	if len(named) == 0 {
		named = tables
	}
	for _, t := range named {
		columns = append(columns, sh.names(columnsSQL, t)...)
	}
	return columns
}

// userTables selects the users' tables and views of pragma_table_list: not SQLite's own tables, and not
// the tables of declarations.
const userTables = `schema IN ('main', 'temp') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name NOT LIKE 'geosql\_%' ESCAPE '\'`

const (
	tableNamesSQL = `SELECT name FROM pragma_table_list WHERE ` + userTables + ` ORDER BY name`
	columnsSQL    = `SELECT name FROM pragma_table_xinfo(?1) WHERE hidden <> 1`
	functionsSQL  = `SELECT DISTINCT name FROM pragma_function_list WHERE name GLOB '[a-z]*' UNION ` + tableFunctionsSQL

	tableFunctionsSQL = `SELECT name FROM pragma_module_list
		WHERE name NOT GLOB 'pragma_*' AND name NOT GLOB 'fts*' AND name NOT GLOB 'rtree*'`
)

// declared holds the kinds of named declarations: their tables, behind geosql_.
var declared = []string{"domain", "universe", "markov", "prior", "cip", "optimal"}

// names returns the first column of a query. It returns nothing if the query fails: completion
// is a convenience.
func (sh *shell) names(sql string, params ...any) (names []string) {
	_ = declaration.Each(sh.Conn, sql, func(v []sqlite.Value) error {
		if v[0].Type() == sqlite.Text {
			names = append(names, v[0].Text())
		}
		return nil
	}, params...)
	return names
}

// completeCommand completes a command of the shell or its argument.
func (sh *shell) completeCommand(text string) candidates {
	name, argument, found := strings.Cut(text, " ")
	if !found {
		c := candidates{word: text}
		for _, command := range dotCommands {
			c.add("commands", "", "", command.name)
		}
		return c
	}
	switch name {
	case ".columns", ".schema", ".tables":
		c := candidates{word: argument}
		c.add("tables", "", "", sh.names(tableNamesSQL)...)
		return c
	case ".mode":
		c := candidates{word: argument}
		c.add("modes", "", "", output.Names()...)
		return c
	case ".confirm", ".header", ".preflight", ".timer":
		c := candidates{word: argument}
		c.add("switch", "", "", "on", "off")
		return c
	case ".read", ".output":
		c := candidates{word: argument}
		files, _ := filepath.Glob(globQuote.Replace(argument) + "*")
		for i, f := range files {
			if info, err := os.Stat(f); err == nil && info.IsDir() {
				files[i] = f + string(filepath.Separator)
			}
		}
		c.add("files", "", "", files...)
		return c
	case ".cost":
		return sh.complete(argument)
	}
	return candidates{}
}

// globQuote takes their meaning from the characters of a pattern.
var globQuote = strings.NewReplacer(append(escapedInGlobs, `*`, `[*]`, `?`, `[?]`, `[`, `[[]`)...)
