package dialect

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/serve/internal/pgfunc"
)

// A Command is a classified statement, of one of the types below: SQLite answers a [Query], the server all others.
type Command any

type (
	// Empty is a statement without anything to do.
	Empty struct{}
	// Query is a statement for SQLite, not yet rewritten.
	Query struct{}
	// Set is SET name = value. Several values, as of search_path, are separated by commas.
	Set struct {
		Name    string // in lower case
		Value   string
		Default bool // SET name TO DEFAULT
		Local   bool
	}
	// Show is SHOW name; the name is "all" for all of them.
	Show struct{ Name string }
	// Reset is RESET name; the name is "all" for all of them.
	Reset struct{ Name string }
	// Begin is BEGIN and START TRANSACTION.
	Begin struct{ ReadOnly, ReadWrite bool }
	// Commit is COMMIT and END.
	Commit struct{}
	// Rollback is ROLLBACK and ABORT.
	Rollback struct{}
	// Savepoint is SAVEPOINT, RELEASE or ROLLBACK TO.
	Savepoint struct {
		Name              string
		Release, Rollback bool
	}
	// Discard is DISCARD ALL, PLANS, SEQUENCES or TEMP.
	Discard struct{ What string } // in lower case
	// Declare is DECLARE name CURSOR FOR query.
	Declare struct {
		Name                 string
		Hold, Scroll, Binary bool
		SQL                  string // of the query
	}
	// Fetch is FETCH and MOVE, forwards only.
	Fetch struct {
		Name  string
		Count int64 // of rows
		All   bool
		Move  bool
	}
	// Close is CLOSE; the name is empty for all cursors.
	Close struct{ Name string }
	// Deallocate is DEALLOCATE; the name is empty for all statements.
	Deallocate struct{ Name string }
	// Unlisten is UNLISTEN, which has nothing to do.
	Unlisten struct{}
	// Copy is COPY (query) TO STDOUT or COPY table TO STDOUT.
	Copy struct {
		SQL       string // of the query
		CSV       bool
		Header    bool
		Delimiter string
		Null      string
	}
	// Explain is EXPLAIN query.
	Explain struct {
		SQL     string
		Analyze bool
	}
)

// parser reads the words of a command, up to its first error.
type parser struct {
	sql   string
	read  func() (sqltext.Token, bool)
	ahead []sqltext.Token // that are read and not used
	err   error
}

// token returns a token ahead, an empty one at the end of the text and after an error. The next one has the number 0.
func (p *parser) token(n int) sqltext.Token {
	for p.err == nil && len(p.ahead) <= n {
		t, ok := p.read()
		if !ok {
			break
		}
		p.ahead = append(p.ahead, t)
	}
	if p.err != nil || n >= len(p.ahead) {
		return sqltext.Token{At: len(p.sql)}
	}
	return p.ahead[n]
}

func (p *parser) peek() sqltext.Token { return p.token(0) }

func (p *parser) next() sqltext.Token {
	t := p.peek()
	p.skip(1)
	return t
}

// skip leaves out tokens that have been looked at.
func (p *parser) skip(n int) { p.ahead = append(p.ahead[:0], p.ahead[min(n, len(p.ahead)):]...) }

// more reports whether there is another token.
func (p *parser) more() bool { return p.peek().Text != "" }

// word reports whether the next tokens are the keywords, and then reads them.
func (p *parser) word(keywords ...string) bool {
	for k, w := range keywords {
		if !p.token(k).Is(w) {
			return false
		}
	}
	p.skip(len(keywords))
	return true
}

// symbol reports whether the next token is one of the symbols, and then reads it.
func (p *parser) symbol(symbols ...string) bool {
	is := p.peek().IsSymbol(symbols...)
	if is {
		p.skip(1)
	}
	return is
}

// text returns the text from one token to before another.
func (p *parser) text(from, to sqltext.Token) string { return p.sql[from.At:to.At] }

// query returns the text from the next token on. Without any the command, which needs it, is an error.
func (p *parser) query(needed string) string {
	if !p.more() {
		p.fail(p.peek(), pgfunc.CodeSyntax, "%s", needed)
	}
	return p.text(p.peek(), sqltext.Token{At: len(p.sql)})
}

// fail notes the first error, at a token.
func (p *parser) fail(t sqltext.Token, code, format string, args ...any) {
	if p.err == nil {
		p.err = errorAt(p.sql, t.At, code, format, args...)
	}
}

// errorAt returns an error at a byte of a statement.
func errorAt(sql string, at int, code, format string, args ...any) *pgfunc.Error {
	return &pgfunc.Error{Code: code, Message: fmt.Sprintf(format, args...), Position: utf8.RuneCountInString(sql[:at]) + 1}
}

// name reads a name, or a dotted one such as geosql.epsilon.
func (p *parser) name() string {
	t := p.peek()
	if t.Name() == "" {
		p.fail(t, pgfunc.CodeSyntax, "a name has to stand here")
		return ""
	}
	parts := []string{p.next().Name()}
	for p.peek().IsSymbol(".") && p.token(1).Name() != "" {
		parts = append(parts, p.token(1).Name())
		p.skip(2)
	}
	return strings.Join(parts, ".")
}

// end returns the command, if nothing follows it.
func (p *parser) end(c Command) Command {
	if p.more() {
		p.fail(p.peek(), pgfunc.CodeSyntax, "%q is not understood here", p.peek().Text)
	}
	return c
}

// Parse classifies a statement. It reads no further than it has to.
func Parse(s sqltext.Statement) (Command, error) {
	read, stop := iter.Pull(s.Words())
	defer stop()
	p := &parser{sql: s.SQL, read: read}
	c := p.command()
	if p.err != nil {
		return nil, p.err
	}
	return c, nil
}

func (p *parser) command() Command {
	switch first := p.peek(); {
	case !p.more():
		return Empty{}
	case p.word("set"):
		return p.set()
	case p.word("show"):
		return p.end(Show{p.setting()})
	case p.word("reset"):
		return p.end(Reset{p.setting()})
	case p.word("begin"), p.word("start", "transaction"):
		return p.end(p.modes())
	case p.word("commit"), p.word("end"):
		p.transaction()
		return p.end(Commit{})
	case p.word("rollback"), p.word("abort"):
		p.transaction()
		if !p.word("to") {
			return p.end(Rollback{})
		}
		p.word("savepoint")
		return p.end(Savepoint{Name: p.name(), Rollback: true})
	case p.word("savepoint"):
		return p.end(Savepoint{Name: p.name()})
	case p.word("release"):
		p.word("savepoint")
		return p.end(Savepoint{Name: p.name(), Release: true})
	case p.word("discard"):
		what := p.next()
		if !what.Is("all", "plans", "sequences", "temp", "temporary") {
			p.fail(what, pgfunc.CodeSyntax, "DISCARD takes ALL, PLANS, SEQUENCES or TEMP")
		}
		return p.end(Discard{what.Name()})
	case p.word("declare"):
		return p.declare()
	case p.word("fetch"), p.word("move"):
		return p.fetch(first.Is("move"))
	case p.word("close"):
		return p.end(Close{p.oneOrAll()})
	case p.word("deallocate"):
		p.word("prepare")
		return p.end(Deallocate{p.oneOrAll()})
	case p.word("copy"):
		return p.copy()
	case p.word("explain"):
		return p.explain()
	default:
		return p.other(first)
	}
}

// other reads UNLISTEN, refuses statements that the dialect lacks, and leaves others to SQLite.
func (p *parser) other(first sqltext.Token) Command {
	switch {
	case first.Is("prepare", "execute"):
		p.fail(p.token(1), pgfunc.CodeNotSupported, "PREPARE and EXECUTE are not statements here: use the client's prepared statements")
	case p.word("unlisten"): // pools do that; nothing listens
		if t := p.next(); !t.IsSymbol("*") && t.Name() == "" {
			p.fail(t, pgfunc.CodeSyntax, "UNLISTEN takes a name or *")
		}
		return p.end(Unlisten{})
	case first.Is("listen", "notify", "lock", "grant", "revoke", "call", "do"):
		p.fail(first, pgfunc.CodeNotSupported, "the dialect is SQLite's: it has no %s", strings.ToUpper(first.Text))
	}
	return Query{}
}

// oneOrAll reads a name, which is empty for ALL.
func (p *parser) oneOrAll() string {
	if p.word("all") {
		return ""
	}
	return p.name()
}

// setting reads the name of a setting, which may have several words.
func (p *parser) setting() string {
	switch {
	case p.word("transaction", "isolation", "level"):
		return "transaction_isolation"
	case p.word("time", "zone"):
		return "timezone"
	case p.word("session", "authorization"):
		return "session_authorization"
	}
	return strings.ToLower(p.name())
}

// transaction reads words without a meaning of their own.
func (p *parser) transaction() {
	if !p.word("work") {
		p.word("transaction")
	}
	p.word("and", "no", "chain")
}

// modes reads the modes of a transaction.
func (p *parser) modes() (b Begin) {
	if !p.word("work") {
		p.word("transaction")
	}
	for p.more() {
		switch {
		case p.word("read", "only"):
			b.ReadOnly = true
		case p.word("read", "write"):
			b.ReadWrite = true
		case p.word("isolation", "level"):
			if !p.word("serializable") && !p.word("repeatable", "read") && !p.word("read", "committed") && !p.word("read", "uncommitted") {
				p.fail(p.peek(), pgfunc.CodeSyntax, "an isolation level has to stand here")
			}
		case p.word("not", "deferrable"), p.word("deferrable"), p.word("deferred"), p.word("immediate"), p.word("exclusive"),
			p.symbol(","):
		default:
			p.end(b)
		}
	}
	return b
}

func (p *parser) set() Command {
	s := Set{}
	if p.word("local") {
		s.Local = true
	} else if p.word("session", "characteristics", "as", "transaction") {
		return p.setTransaction("default_transaction_")
	} else {
		p.word("session")
	}
	switch {
	case p.word("transaction"):
		return p.setTransaction("transaction_")
	case p.word("time", "zone"):
		s.Name = "timezone"
	case p.word("names"):
		s.Name = "client_encoding"
	case p.word("schema"):
		s.Name = "search_path"
	case p.word("role"), p.word("session", "authorization"), p.word("authorization"):
		p.fail(p.peek(), pgfunc.CodeNotSupported, "a session keeps its role: log in as another one")
	default:
		s.Name = strings.ToLower(p.name())
		if !p.word("to") && !p.symbol("=") {
			p.fail(p.peek(), pgfunc.CodeSyntax, "SET %s needs = and a value", s.Name)
		}
	}
	if p.word("default") {
		s.Default = true
		return p.end(s)
	}
	values := []string{p.value(s.Name)}
	for p.symbol(",") {
		values = append(values, p.value(s.Name))
	}
	s.Value = strings.Join(values, ", ")
	return p.end(s)
}

// value reads one value of a setting.
func (p *parser) value(setting string) string {
	sign := ""
	if !p.symbol("+") && p.symbol("-") {
		sign = "-"
	}
	t := p.next()
	switch {
	case t.IsText():
		return t.Literal()
	case t.Kind == sqltext.Number:
		return sign + t.Text
	case t.Name() == "":
		p.fail(t, pgfunc.CodeSyntax, "SET %s needs a value", setting)
	}
	return t.Name()
}

// setTransaction is SET TRANSACTION. Of levels of isolation there is one.
func (p *parser) setTransaction(prefix string) Command {
	b := p.modes()
	s := Set{Name: prefix + "read_only", Local: prefix == "transaction_"}
	switch {
	case b.ReadWrite:
		s.Value = "off"
	case b.ReadOnly:
		s.Value = "on"
	default:
		s.Name, s.Default = prefix+"isolation", true
	}
	return s
}

func (p *parser) declare() Command {
	const needed = "DECLARE needs CURSOR FOR and a query"
	d := Declare{Name: p.name()}
	for p.err == nil && !p.word("cursor") {
		switch {
		case p.word("binary"):
			d.Binary = true
		case p.word("no", "scroll"), p.word("insensitive"), p.word("asensitive"):
		case p.word("scroll"):
			d.Scroll = true
		default:
			p.fail(p.peek(), pgfunc.CodeSyntax, "%s", needed)
		}
	}
	if d.Hold = p.word("with", "hold"); !d.Hold {
		p.word("without", "hold")
	}
	if !p.word("for") {
		p.fail(p.peek(), pgfunc.CodeSyntax, "%s", needed)
	}
	d.SQL = p.query(needed)
	return d
}

func (p *parser) fetch(move bool) Command {
	f := Fetch{Count: 1, Move: move}
	if p.peek().Is("prior", "backward", "first", "last", "absolute", "relative") || p.peek().IsSymbol("-") {
		p.fail(p.peek(), pgfunc.CodeNotSupported, "cursors move forward only")
	}
	p.word("forward")
	if t := p.peek(); t.Kind == sqltext.Number {
		var err error
		if f.Count, err = strconv.ParseInt(p.next().Text, 10, 64); err != nil {
			p.fail(t, pgfunc.CodeSyntax, "FETCH takes a whole number of rows")
		}
	} else if f.All = p.word("all"); !f.All {
		p.word("next")
	}
	if !p.word("from") {
		p.word("in")
	}
	f.Name = p.name()
	return p.end(f)
}

// group reads the tokens within the parentheses that open here.
func (p *parser) group() string {
	open, depth := p.peek(), 0
	for p.more() {
		t := p.next()
		if t.IsSymbol("(") {
			depth++
		} else if t.IsSymbol(")") {
			if depth--; depth == 0 {
				return p.text(open, t)[len("("):]
			}
		}
	}
	p.fail(p.peek(), pgfunc.CodeSyntax, "COPY ( needs a query and )")
	return ""
}

// copied reads the source of COPY and returns its query.
func (p *parser) copied() string {
	start := p.peek()
	if start.IsSymbol("(") {
		return p.group()
	}
	for p.more() && !p.peek().Is("to", "from") && !p.peek().IsSymbol("(") {
		p.skip(1)
	}
	table := strings.TrimSpace(p.text(start, p.peek()))
	columns := "*"
	if p.peek().IsSymbol("(") {
		columns = p.group()
	}
	if table == "" {
		p.fail(p.peek(), pgfunc.CodeSyntax, "COPY needs a table, or a query in parentheses")
	}
	return "SELECT " + columns + " FROM " + table
}

func (p *parser) copy() Command {
	c := Copy{SQL: p.copied(), Null: `\N`}
	if p.peek().Is("from") {
		p.fail(p.peek(), "25006", "the database is read-only: COPY FROM is refused")
	}
	if !p.word("to", "stdout") {
		p.fail(p.peek(), pgfunc.CodeNotSupported, "COPY writes TO STDOUT only")
	}
	p.word("with")
	inside, null := p.symbol("("), false
	for p.more() {
		switch t := p.next(); {
		case t.Is("null"):
			p.word("as")
			c.Null, null = p.next().Literal(), true
		case t.IsSymbol(",") || inside && t.IsSymbol(")"):
		default:
			p.copyOption(&c, t)
		}
	}
	if c.CSV && !null {
		c.Null = ""
	}
	if c.Delimiter == "" && c.CSV {
		c.Delimiter = ","
	} else if c.Delimiter == "" {
		c.Delimiter = "\t"
	}
	return c
}

// copyOption reads an option of COPY that begins with a token.
func (p *parser) copyOption(c *Copy, t sqltext.Token) {
	switch {
	case t.Is("format"):
		f := p.next()
		csv := says(f, "csv")
		if c.CSV = c.CSV || csv; !csv && !says(f, "text") {
			p.fail(f, pgfunc.CodeNotSupported, "COPY has the formats text and csv")
		}
	case t.Is("csv"):
		c.CSV = true
	case t.Is("header"):
		c.Header = !says(p.peek(), "false", "off")
		if !c.Header || says(p.peek(), "true", "on") {
			p.skip(1)
		}
	case t.Is("delimiter", "delimiters"):
		p.word("as")
		d := p.next()
		if c.Delimiter = d.Literal(); len(c.Delimiter) != 1 {
			p.fail(d, pgfunc.CodeBadParameter, "COPY takes a delimiter of one byte")
		}
	case t.Is("encoding"):
		p.next()
	case t.Is("quote", "escape"):
		p.word("as")
		if q := p.next(); q.Literal() != `"` {
			p.fail(q, pgfunc.CodeNotSupported, `COPY quotes with " only`)
		}
	default:
		p.fail(t, pgfunc.CodeSyntax, "COPY has no option %q here", t.Text)
	}
}

// says reports whether a token is one of some words, also as a text.
func says(t sqltext.Token, words ...string) bool {
	return t.Is(words...) || slices.Contains(words, t.Literal())
}

func (p *parser) explain() Command {
	e := Explain{}
	if p.peek().Is("query") { // SQLite's EXPLAIN QUERY PLAN
		return Query{}
	}
	if p.symbol("(") {
		for p.more() && !p.peek().IsSymbol(")") {
			if p.next().Is("analyze") {
				e.Analyze = !p.peek().Is("false", "off")
			}
		}
		p.skip(1)
	}
	for p.peek().Is("analyze", "verbose") {
		e.Analyze = p.next().Is("analyze") || e.Analyze
	}
	e.SQL = p.query("EXPLAIN needs a query")
	return e
}
