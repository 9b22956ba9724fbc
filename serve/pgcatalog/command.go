package pgcatalog

import (
	"fmt"
	"strconv"
	"strings"
)

// A Command is a statement, classified by who answers it: [Query] is for SQLite, the others are
// for the server.
type Command interface{ command() }

type (
	// Empty is a statement without anything to do.
	Empty struct{}
	// Query is a statement for SQLite, not yet rewritten.
	Query struct{ SQL string }
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

// Split returns the first statement of a text, without its semicolon, and what follows it.
func Split(sql string) (first, rest string) {
	for _, t := range tokens(sql) {
		if t.isSymbol(";") {
			return sql[:t.at], sql[t.at+1:]
		}
	}
	return sql, ""
}

// parser reads the words of a command.
type parser struct {
	sql    string
	tokens []token // without blanks and comments
	i      int
}

func (p *parser) peek() token {
	if p.i < len(p.tokens) {
		return p.tokens[p.i]
	}
	return token{at: len(p.sql)}
}

func (p *parser) next() token {
	t := p.peek()
	p.i++
	return t
}

// word reports whether the next tokens are the keywords, and then reads them.
func (p *parser) word(keywords ...string) bool {
	for k, w := range keywords {
		if p.i+k >= len(p.tokens) || !p.tokens[p.i+k].is(w) {
			return false
		}
	}
	p.i += len(keywords)
	return true
}

// rest returns the text from the next token on.
func (p *parser) rest() string { return p.sql[p.peek().at:] }

func (p *parser) fail(code, format string, args ...any) error {
	at := min(p.peek().at, len(p.sql))
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Position: len([]rune(p.sql[:at])) + 1}
}

// name reads a name, or a dotted one such as geosql.epsilon.
func (p *parser) name() (string, error) {
	s := p.peek().name()
	if s == "" {
		return "", p.fail(codeSyntax, "a name has to stand here")
	}
	p.i++
	for p.peek().isSymbol(".") && p.i+1 < len(p.tokens) && p.tokens[p.i+1].name() != "" {
		s += "." + p.tokens[p.i+1].name()
		p.i += 2
	}
	return s, nil
}

// end returns the command, or an error if something follows it.
func (p *parser) end(c Command) (Command, error) {
	if p.i < len(p.tokens) {
		return nil, p.fail(codeSyntax, "%q is not understood here", p.peek().text)
	}
	return c, nil
}

// Parse classifies one statement, as Split returns it.
func Parse(sql string) (Command, error) {
	p := &parser{sql: sql}
	for _, t := range tokens(sql) {
		if t.kind > nested {
			p.tokens = append(p.tokens, t)
		}
	}
	if len(p.tokens) == 0 {
		return Empty{}, nil
	}
	switch {
	case p.word("set"):
		return p.set()
	case p.word("show"):
		switch {
		case p.word("transaction", "isolation", "level"):
			return p.end(Show{"transaction_isolation"})
		case p.word("time", "zone"):
			return p.end(Show{"timezone"})
		case p.word("session", "authorization"):
			return p.end(Show{"session_authorization"})
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return p.end(Show{strings.ToLower(name)})
	case p.word("reset"):
		if p.word("session", "authorization") {
			return p.end(Reset{"session_authorization"})
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return p.end(Reset{strings.ToLower(name)})
	case p.word("begin"), p.word("start", "transaction"):
		return p.begin()
	case p.word("commit"), p.word("end"):
		p.transaction()
		return p.end(Commit{})
	case p.word("rollback"), p.word("abort"):
		p.transaction()
		if p.word("to") {
			p.word("savepoint")
			name, err := p.name()
			if err != nil {
				return nil, err
			}
			return p.end(Savepoint{Name: name, Rollback: true})
		}
		return p.end(Rollback{})
	case p.word("savepoint"), p.word("release"):
		release := p.tokens[0].is("release")
		if release {
			p.word("savepoint")
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return p.end(Savepoint{Name: name, Release: release})
	case p.word("discard"):
		what := p.next()
		if !what.is("all", "plans", "sequences", "temp", "temporary") {
			p.i--
			return nil, p.fail(codeSyntax, "DISCARD takes ALL, PLANS, SEQUENCES or TEMP")
		}
		return p.end(Discard{what.name()})
	case p.word("declare"):
		return p.declare()
	case p.word("fetch"), p.word("move"):
		return p.fetch(p.tokens[0].is("move"))
	case p.word("close"):
		if p.word("all") {
			return p.end(Close{})
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return p.end(Close{name})
	case p.word("deallocate"):
		p.word("prepare")
		if p.word("all") {
			return p.end(Deallocate{})
		}
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		return p.end(Deallocate{name})
	case p.word("copy"):
		return p.copy()
	case p.word("explain"):
		return p.explain()
	case p.word("prepare"), p.word("execute"):
		return nil, p.fail(codeNotSupported, "PREPARE and EXECUTE are not statements here: use the client's prepared statements")
	case p.word("unlisten"): // pools do that; nothing listens
		if t := p.next(); !t.isSymbol("*") && t.name() == "" {
			p.i--
			return nil, p.fail(codeSyntax, "UNLISTEN takes a name or *")
		}
		return p.end(Unlisten{})
	case p.word("listen"), p.word("notify"), p.word("lock"), p.word("grant"), p.word("revoke"), p.word("call"), p.word("do"):
		p.i = 0
		return nil, p.fail(codeNotSupported, "the dialect is SQLite's: it has no %s", strings.ToUpper(p.tokens[0].text))
	}
	return Query{sql}, nil
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
	for p.i < len(p.tokens) {
		switch {
		case p.word("read", "only"):
			b.ReadOnly = true
		case p.word("read", "write"):
			b.ReadWrite = true
		case p.word("isolation", "level"):
			if !p.word("serializable") && !p.word("repeatable", "read") && !p.word("read", "committed") && !p.word("read", "uncommitted") {
				return nil, p.fail(codeSyntax, "an isolation level has to stand here")
			}
		case p.word("not", "deferrable"), p.word("deferrable"), p.word("deferred"), p.word("immediate"), p.word("exclusive"):
		case p.peek().isSymbol(","):
			p.i++
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
		return nil, p.fail(codeNotSupported, "a session keeps its role: log in as another one")
	default:
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		s.Name = strings.ToLower(name)
		if !p.word("to") {
			if !p.peek().isSymbol("=") {
				return nil, p.fail(codeSyntax, "SET %s needs = and a value", s.Name)
			}
			p.i++
		}
	}
	if p.word("default") {
		s.Default = true
		return p.end(s)
	}
	var values []string
	for {
		sign := ""
		if p.peek().isSymbol("-", "+") {
			if sign = p.next().text; sign == "+" {
				sign = ""
			}
		}
		t := p.next()
		switch {
		case t.kind == text || t.kind == escaped || t.kind == dollar:
			values = append(values, t.literal())
		case t.kind == number:
			values = append(values, sign+t.text)
		case t.name() != "":
			values = append(values, t.name())
		default:
			p.i--
			return nil, p.fail(codeSyntax, "SET %s needs a value", s.Name)
		}
		if !p.peek().isSymbol(",") {
			break
		}
		p.i++
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
			return nil, p.fail(codeSyntax, "DECLARE needs CURSOR FOR and a query")
		}
	}
	switch {
	case p.word("with", "hold"):
		d.Hold = true
	case p.word("without", "hold"):
	}
	if !p.word("for") || p.i >= len(p.tokens) {
		return nil, p.fail(codeSyntax, "DECLARE needs CURSOR FOR and a query")
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
	case p.word("forward"), p.peek().kind == number:
		if p.word("all") {
			f.All = true
		} else if p.peek().kind == number {
			n, err := strconv.ParseInt(p.peek().text, 10, 64)
			if err != nil {
				return nil, p.fail(codeSyntax, "FETCH takes a whole number of rows")
			}
			f.Count = n
			p.i++
		}
	case p.peek().is("prior", "backward", "first", "last", "absolute", "relative") || p.peek().isSymbol("-"):
		return nil, p.fail(codeNotSupported, "cursors move forward only")
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

func (p *parser) copy() (Command, error) {
	c := Copy{Delimiter: "\t", Null: `\N`}
	start := p.peek()
	if start.isSymbol("(") {
		depth := 0
		for p.i < len(p.tokens) {
			t := p.next()
			if t.isSymbol("(") {
				depth++
			} else if t.isSymbol(")") {
				if depth--; depth == 0 {
					c.SQL = p.sql[start.at+1 : t.at]
					break
				}
			}
		}
		if c.SQL == "" {
			return nil, p.fail(codeSyntax, "COPY ( needs a query and )")
		}
	} else {
		for p.i < len(p.tokens) && !p.peek().is("to", "from") && !p.peek().isSymbol("(") {
			p.i++
		}
		table := strings.TrimSpace(p.sql[start.at:p.peek().at])
		columns := "*"
		if p.peek().isSymbol("(") {
			from := p.next().at + 1
			for p.i < len(p.tokens) && !p.peek().isSymbol(")") {
				p.i++
			}
			columns = p.sql[from:p.next().at]
		}
		if table == "" {
			return nil, p.fail(codeSyntax, "COPY needs a table, or a query in parentheses")
		}
		c.SQL = "SELECT " + columns + " FROM " + table
	}
	if p.peek().is("from") {
		return nil, p.fail("25006", "the database is read-only: COPY FROM is refused")
	}
	if !p.word("to", "stdout") {
		return nil, p.fail(codeNotSupported, "COPY writes TO STDOUT only")
	}
	p.word("with")
	delimiter, null := "", false
	inside := p.peek().isSymbol("(")
	if inside {
		p.i++
	}
	for p.i < len(p.tokens) {
		switch t := p.next(); {
		case t.is("format"):
			switch f := p.next(); {
			case f.is("csv"), f.literal() == "csv":
				c.CSV = true
			case !f.is("text") && f.literal() != "text":
				p.i--
				return nil, p.fail(codeNotSupported, "COPY has the formats text and csv")
			}
		case t.is("csv"):
			c.CSV = true
		case t.is("header"):
			c.Header = true
			switch v := p.peek(); {
			case v.is("false", "off"), v.literal() == "false", v.literal() == "off":
				c.Header = false
				p.i++
			case v.is("true", "on"), v.literal() == "true", v.literal() == "on":
				p.i++
			}
		case t.is("delimiter", "delimiters"):
			p.word("as")
			if delimiter = p.next().literal(); len(delimiter) != 1 {
				p.i--
				return nil, p.fail(codeBadParameter, "COPY takes a delimiter of one byte")
			}
		case t.is("null"):
			p.word("as")
			c.Null, null = p.next().literal(), true
		case t.is("encoding"):
			p.next()
		case t.is("quote", "escape"):
			p.word("as")
			if q := p.next().literal(); q != `"` {
				p.i--
				return nil, p.fail(codeNotSupported, `COPY quotes with " only`)
			}
		case t.isSymbol(",") || inside && t.isSymbol(")"):
		default:
			p.i--
			return nil, p.fail(codeSyntax, "COPY has no option %q here", t.text)
		}
	}
	if c.CSV {
		if c.Delimiter = ","; !null {
			c.Null = ""
		}
	}
	if delimiter != "" {
		c.Delimiter = delimiter
	}
	return c, nil
}

func (p *parser) explain() (Command, error) {
	e := Explain{}
	if p.peek().is("query") { // SQLite's EXPLAIN QUERY PLAN
		return Query{p.sql}, nil
	}
	if p.peek().isSymbol("(") {
		for p.i < len(p.tokens) && !p.peek().isSymbol(")") {
			if p.next().is("analyze") {
				e.Analyze = !p.peek().is("false", "off")
			}
		}
		p.i++
	}
	for p.peek().is("analyze", "verbose") {
		e.Analyze = p.next().is("analyze") || e.Analyze
	}
	if p.i >= len(p.tokens) {
		return nil, p.fail(codeSyntax, "EXPLAIN needs a query")
	}
	e.SQL = p.rest()
	return e, nil
}
