package pgcatalog

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/sqltext"
)

// A Command is a classified statement: SQLite answers a [Query], the server all others.
type Command interface{ command() }

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

func (Empty) command()      {}
func (Query) command()      {}
func (Set) command()        {}
func (Show) command()       {}
func (Reset) command()      {}
func (Begin) command()      {}
func (Commit) command()     {}
func (Rollback) command()   {}
func (Savepoint) command()  {}
func (Discard) command()    {}
func (Declare) command()    {}
func (Fetch) command()      {}
func (Close) command()      {}
func (Deallocate) command() {}
func (Unlisten) command()   {}
func (Copy) command()       {}
func (Explain) command()    {}

// parser reads the words of a command.
type parser struct {
	sql   string
	read  func() (sqltext.Token, bool)
	ahead []sqltext.Token // that are read and not used
}

// token returns a token ahead, an empty one at the end of the text. The next one has the number 0.
func (p *parser) token(n int) sqltext.Token {
	for len(p.ahead) <= n {
		t, ok := p.read()
		if !ok {
			return sqltext.Token{At: len(p.sql)}
		}
		p.ahead = append(p.ahead, t)
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

// rest returns the text from the next token on.
func (p *parser) rest() string { return p.text(p.peek(), sqltext.Token{At: len(p.sql)}) }

// text returns the text from one token to before another.
func (p *parser) text(from, to sqltext.Token) string { return p.sql[from.At:to.At] }

// fail returns an error at a token.
func (p *parser) fail(t sqltext.Token, code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: utf8.RuneCountInString(p.sql[:t.At]) + 1}
}

// name reads a name, or a dotted one such as geosql.epsilon.
func (p *parser) name() (string, error) {
	t := p.peek()
	if t.Name() == "" {
		return "", p.fail(t, codeSyntax, "a name has to stand here")
	}
	parts := []string{p.next().Name()}
	for p.peek().IsSymbol(".") && p.token(1).Name() != "" {
		parts = append(parts, p.token(1).Name())
		p.skip(2)
	}
	return strings.Join(parts, "."), nil
}

// end returns the command, or an error if something follows it.
func (p *parser) end(c Command) (Command, error) {
	if p.more() {
		return nil, p.fail(p.peek(), codeSyntax, "%q is not understood here", p.peek().Text)
	}
	return c, nil
}

// named returns the command of the name that ends a statement.
func (p *parser) named(command func(name string) Command) (Command, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	return p.end(command(name))
}

// Parse classifies a statement. It reads no further than it has to.
func Parse(s sqltext.Statement) (Command, error) {
	read, stop := iter.Pull(s.Words())
	defer stop()
	p := &parser{sql: s.SQL, read: read}
	first := p.peek()
	switch {
	case !p.more():
		return Empty{}, nil
	case p.word("set"):
		return p.set()
	case p.word("show"):
		return p.show()
	case p.word("reset"):
		if p.word("session", "authorization") {
			return p.end(Reset{"session_authorization"})
		}
		return p.named(func(name string) Command { return Reset{strings.ToLower(name)} })
	case p.word("begin"), p.word("start", "transaction"):
		return p.begin()
	case p.word("commit"), p.word("end"):
		p.transaction()
		return p.end(Commit{})
	case p.word("rollback"), p.word("abort"):
		p.transaction()
		if p.word("to") {
			p.word("savepoint")
			return p.named(func(name string) Command { return Savepoint{Name: name, Rollback: true} })
		}
		return p.end(Rollback{})
	case p.word("savepoint"), p.word("release"):
		release := first.Is("release")
		if release {
			p.word("savepoint")
		}
		return p.named(func(name string) Command { return Savepoint{Name: name, Release: release} })
	case p.word("discard"):
		what := p.next()
		if !what.Is("all", "plans", "sequences", "temp", "temporary") {
			return nil, p.fail(what, codeSyntax, "DISCARD takes ALL, PLANS, SEQUENCES or TEMP")
		}
		return p.end(Discard{what.Name()})
	case p.word("declare"):
		return p.declare()
	case p.word("fetch"), p.word("move"):
		return p.fetch(first.Is("move"))
	case p.word("close"):
		if p.word("all") {
			return p.end(Close{})
		}
		return p.named(func(name string) Command { return Close{name} })
	case p.word("deallocate"):
		p.word("prepare")
		if p.word("all") {
			return p.end(Deallocate{})
		}
		return p.named(func(name string) Command { return Deallocate{name} })
	case p.word("copy"):
		return p.copy()
	case p.word("explain"):
		return p.explain()
	}
	return p.other(first)
}

// show reads SHOW.
func (p *parser) show() (Command, error) {
	switch {
	case p.word("transaction", "isolation", "level"):
		return p.end(Show{"transaction_isolation"})
	case p.word("time", "zone"):
		return p.end(Show{"timezone"})
	case p.word("session", "authorization"):
		return p.end(Show{"session_authorization"})
	}
	return p.named(func(name string) Command { return Show{strings.ToLower(name)} })
}

// other reads UNLISTEN, refuses statements that the dialect lacks, and leaves others to SQLite.
func (p *parser) other(first sqltext.Token) (Command, error) {
	switch {
	case first.Is("prepare", "execute"):
		p.skip(1)
		return nil, p.fail(p.peek(), codeNotSupported, "PREPARE and EXECUTE are not statements here: use the client's prepared statements")
	case p.word("unlisten"): // pools do that; nothing listens
		if t := p.next(); !t.IsSymbol("*") && t.Name() == "" {
			return nil, p.fail(t, codeSyntax, "UNLISTEN takes a name or *")
		}
		return p.end(Unlisten{})
	case first.Is("listen", "notify", "lock", "grant", "revoke", "call", "do"):
		return nil, p.fail(first, codeNotSupported, "the dialect is SQLite's: it has no %s", strings.ToUpper(first.Text))
	}
	return Query{}, nil
}

func (p *parser) transaction() {
	if !p.word("work") {
		p.word("transaction")
	}
	if p.word("and", "no", "chain") {
		return
	}
}

func (p *parser) begin() (Command, error) {
	if !p.word("work") {
		p.word("transaction")
	}
	b := Begin{}
	for p.more() {
		switch {
		case p.word("read", "only"):
			b.ReadOnly = true
		case p.word("read", "write"):
			b.ReadWrite = true
		case p.word("isolation", "level"):
			if !p.word("serializable") && !p.word("repeatable", "read") && !p.word("read", "committed") && !p.word("read", "uncommitted") {
				return nil, p.fail(p.peek(), codeSyntax, "an isolation level has to stand here")
			}
		case p.word("not", "deferrable"), p.word("deferrable"), p.word("deferred"), p.word("immediate"), p.word("exclusive"):
		case p.peek().IsSymbol(","):
			p.skip(1)
		default:
			return p.end(b)
		}
	}
	return b, nil
}

func (p *parser) set() (Command, error) {
	s := Set{}
	if p.word("local") {
		s.Local = true
	} else if p.word("session", "characteristics", "as", "transaction") {
		b, err := p.begin()
		if err != nil {
			return nil, err
		}
		return setTransaction("default_transaction_", b.(Begin)), nil
	} else {
		p.word("session")
	}
	switch {
	case p.word("transaction"):
		b, err := p.begin()
		if err != nil {
			return nil, err
		}
		return setTransaction("transaction_", b.(Begin)), nil
	case p.word("time", "zone"):
		s.Name = "timezone"
	case p.word("names"):
		s.Name = "client_encoding"
	case p.word("schema"):
		s.Name = "search_path"
	case p.word("role"), p.word("session", "authorization"), p.word("authorization"):
		return nil, p.fail(p.peek(), codeNotSupported, "a session keeps its role: log in as another one")
	default:
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		s.Name = strings.ToLower(name)
		if !p.word("to") {
			if !p.peek().IsSymbol("=") {
				return nil, p.fail(p.peek(), codeSyntax, "SET %s needs = and a value", s.Name)
			}
			p.skip(1)
		}
	}
	if p.word("default") {
		s.Default = true
		return p.end(s)
	}
	var values []string
	for {
		sign := ""
		if p.peek().IsSymbol("-", "+") {
			if sign = p.next().Text; sign == "+" {
				sign = ""
			}
		}
		t := p.next()
		switch {
		case t.IsText():
			values = append(values, t.Literal())
		case t.Kind == sqltext.Number:
			values = append(values, sign+t.Text)
		case t.Name() != "":
			values = append(values, t.Name())
		default:
			return nil, p.fail(t, codeSyntax, "SET %s needs a value", s.Name)
		}
		if !p.peek().IsSymbol(",") {
			break
		}
		p.skip(1)
	}
	s.Value = strings.Join(values, ", ")
	return p.end(s)
}

// setTransaction is SET TRANSACTION. Of levels of isolation there is one.
func setTransaction(prefix string, b Begin) Set {
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

func (p *parser) declare() (Command, error) {
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	d := Declare{Name: name}
	for !p.word("cursor") {
		switch {
		case p.word("binary"):
			d.Binary = true
		case p.word("no", "scroll"), p.word("insensitive"), p.word("asensitive"):
		case p.word("scroll"):
			d.Scroll = true
		default:
			return nil, p.fail(p.peek(), codeSyntax, "DECLARE needs CURSOR FOR and a query")
		}
	}
	switch {
	case p.word("with", "hold"):
		d.Hold = true
	case p.word("without", "hold"):
	}
	if !p.word("for") || !p.more() {
		return nil, p.fail(p.peek(), codeSyntax, "DECLARE needs CURSOR FOR and a query")
	}
	d.SQL = p.rest()
	return d, nil
}

func (p *parser) fetch(move bool) (Command, error) {
	f := Fetch{Count: 1, Move: move}
	switch {
	case p.word("next"):
	case p.word("all"):
		f.All = true
	case p.word("forward"), p.peek().Kind == sqltext.Number:
		if p.word("all") {
			f.All = true
		} else if p.peek().Kind == sqltext.Number {
			n, err := strconv.ParseInt(p.peek().Text, 10, 64)
			if err != nil {
				return nil, p.fail(p.peek(), codeSyntax, "FETCH takes a whole number of rows")
			}
			f.Count = n
			p.skip(1)
		}
	case p.peek().Is("prior", "backward", "first", "last", "absolute", "relative") || p.peek().IsSymbol("-"):
		return nil, p.fail(p.peek(), codeNotSupported, "cursors move forward only")
	}
	if !p.word("from") {
		p.word("in")
	}
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	f.Name = name
	return p.end(f)
}

// copied reads the source of COPY and returns its query.
func (p *parser) copied() (sql string, err error) {
	start := p.peek()
	if start.IsSymbol("(") {
		depth := 0
		for p.more() {
			t := p.next()
			if t.IsSymbol("(") {
				depth++
			} else if t.IsSymbol(")") {
				if depth--; depth == 0 {
					return p.text(start, t)[len("("):], nil
				}
			}
		}
		return "", p.fail(p.peek(), codeSyntax, "COPY ( needs a query and )")
	}
	for p.more() && !p.peek().Is("to", "from") && !p.peek().IsSymbol("(") {
		p.skip(1)
	}
	table := strings.TrimSpace(p.text(start, p.peek()))
	columns := "*"
	if p.peek().IsSymbol("(") {
		open := p.next()
		for p.more() && !p.peek().IsSymbol(")") {
			p.skip(1)
		}
		columns = p.text(open, p.next())[len("("):]
	}
	if table == "" {
		return "", p.fail(p.peek(), codeSyntax, "COPY needs a table, or a query in parentheses")
	}
	return "SELECT " + columns + " FROM " + table, nil
}

func (p *parser) copy() (Command, error) {
	sql, err := p.copied()
	if err != nil {
		return nil, err
	}
	c := Copy{SQL: sql, Delimiter: "\t", Null: `\N`}
	if p.peek().Is("from") {
		return nil, p.fail(p.peek(), "25006", "the database is read-only: COPY FROM is refused")
	}
	if !p.word("to", "stdout") {
		return nil, p.fail(p.peek(), codeNotSupported, "COPY writes TO STDOUT only")
	}
	p.word("with")
	o := copyOptions{Copy: &c, inside: p.peek().IsSymbol("(")}
	if o.inside {
		p.skip(1)
	}
	for p.more() {
		if err := p.copyOption(&o); err != nil {
			return nil, err
		}
	}
	if c.CSV {
		if c.Delimiter = ","; !o.null {
			c.Null = ""
		}
	}
	if o.delimiter != "" {
		c.Delimiter = o.delimiter
	}
	return c, nil
}

// copyOptions are the options of COPY that were read.
type copyOptions struct {
	*Copy
	inside    bool // parentheses
	delimiter string
	null      bool // NULL was given
}

// copyOption reads an option of COPY.
func (p *parser) copyOption(o *copyOptions) error {
	switch t := p.next(); {
	case t.Is("format"):
		switch f := p.next(); {
		case f.Is("csv"), f.Literal() == "csv":
			o.CSV = true
		case !f.Is("text") && f.Literal() != "text":
			return p.fail(f, codeNotSupported, "COPY has the formats text and csv")
		}
	case t.Is("csv"):
		o.CSV = true
	case t.Is("header"):
		o.Header = true
		switch v := p.peek(); {
		case v.Is("false", "off"), v.Literal() == "false", v.Literal() == "off":
			o.Header = false
			p.skip(1)
		case v.Is("true", "on"), v.Literal() == "true", v.Literal() == "on":
			p.skip(1)
		}
	case t.Is("delimiter", "delimiters"):
		p.word("as")
		d := p.next()
		if o.delimiter = d.Literal(); len(o.delimiter) != 1 {
			return p.fail(d, codeBadParameter, "COPY takes a delimiter of one byte")
		}
	case t.Is("null"):
		p.word("as")
		o.Null, o.null = p.next().Literal(), true
	case t.Is("encoding"):
		p.next()
	case t.Is("quote", "escape"):
		p.word("as")
		if q := p.next(); q.Literal() != `"` {
			return p.fail(q, codeNotSupported, `COPY quotes with " only`)
		}
	case t.IsSymbol(",") || o.inside && t.IsSymbol(")"):
	default:
		return p.fail(t, codeSyntax, "COPY has no option %q here", t.Text)
	}
	return nil
}

func (p *parser) explain() (Command, error) {
	e := Explain{}
	if p.peek().Is("query") { // SQLite's EXPLAIN QUERY PLAN
		return Query{}, nil
	}
	if p.peek().IsSymbol("(") {
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
	if !p.more() {
		return nil, p.fail(p.peek(), codeSyntax, "EXPLAIN needs a query")
	}
	e.SQL = p.rest()
	return e, nil
}
