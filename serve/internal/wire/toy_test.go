package wire

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// A toy is a handler with a language of its own. Statements end with semicolons:
//
//	rows N          N rows of a number and a text; rows N I fails at row I, rows N noisy has a notice for each
//	types           a row with a value of each type, and one of NULLs
//	echo TYPE ..    its parameters, of the types int8, float8, bool, bytea, text, numeric or any
//	wait            a row, and then nothing until the context ends
//	big N           a value of N bytes
//	copy N [csv]    N rows for COPY
//	notice, fail, panic, begin, commit, rollback
type toy struct {
	verifiers map[string]Verifier
	queries   atomic.Int64         // calls of Query
	open      atomic.Int64         // sessions, statements and rows that are open
	waiting   chan context.Context // gets that of a statement which waits
	logins    chan *Login

	idleInTransaction, idleSession time.Duration

	held atomic.Int64 // bytes
	room int64        // for these; 0 for any
}

func newToy() *toy {
	t := &toy{verifiers: map[string]Verifier{}, waiting: make(chan context.Context, 1000), logins: make(chan *Login, 1000)}
	for user, password := range map[string]string{"ana": "secret", "björn": "pässwörd\u00a0x"} {
		v, err := NewVerifier(password, DefaultIterations)
		if err != nil {
			panic(err)
		}
		t.verifiers[user] = v
	}
	return t
}

func (t *toy) Login(_ context.Context, user, _ string) (Verifier, bool, error) {
	if user == "broken" {
		return Verifier{}, false, errors.New("the list of roles cannot be read")
	}
	v, ok := t.verifiers[user]
	return v, ok, nil
}

func (t *toy) NewSession(_ context.Context, login *Login) (Session, error) {
	if login.Database == "nowhere" {
		return nil, &Error{Code: "3D000", Message: `database "nowhere" does not exist`}
	}
	t.open.Add(1)
	select {
	case t.logins <- login:
	default:
	}
	return &toySession{toy: t, client: login.Client, status: Idle}, nil
}

type toySession struct {
	toy    *toy
	client Client
	status TxStatus
}

func (s *toySession) Close() { s.toy.open.Add(-1) }

func (s *toySession) IdleTimeout(executing bool) (time.Duration, *Error) {
	if executing || s.status != Idle {
		return s.toy.idleInTransaction, ErrIdleInTransaction
	}
	return s.toy.idleSession, ErrIdleSession
}

func (s *toySession) Hold(bytes int64) error {
	if s.toy.held.Add(bytes); s.toy.room > 0 && s.toy.held.Load() > s.toy.room {
		s.toy.held.Add(-bytes)
		return &Error{Code: "53200", Message: "no room"}
	}
	return nil
}

func (s *toySession) Ready(failed bool) TxStatus {
	if failed && s.status == InTransaction {
		s.status = Failed
	}
	return s.status
}

func (s *toySession) Prepare(_ context.Context, sql string, types []uint32) (Statement, string, error) {
	text, rest, _ := strings.Cut(sql, ";")
	if strings.Trim(rest, "; \n") == "" {
		rest = ""
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		if rest == "" {
			return nil, "", nil
		}
		return s.Prepare(context.Background(), rest, types)
	}
	if s.status == Failed && words[0] != "rollback" {
		return nil, "", &Error{Code: "25P02", Message: "current transaction is aborted"}
	}
	st := &toyStatement{session: s, words: words, tag: strings.ToUpper(words[0])}
	count := func() (err error) {
		if len(words) < 2 {
			return &Error{Code: "42601", Message: "a number is missing", Hint: "Add a number.", Position: 1 + strings.Index(sql, words[0])}
		}
		st.n, err = strconv.ParseInt(words[1], 10, 64)
		return err
	}
	var err error
	switch words[0] {
	case "rows":
		err = count()
		st.columns = []Column{{Name: "n", OID: OIDInt8}, {Name: "t", OID: OIDText}}
	case "copy", "big":
		err = count()
		if words[0] == "big" {
			st.columns = []Column{{Name: "b", OID: OIDText}}
		}
	case "FETCH": // the only cursor
		if text != `FETCH 0 FROM "held ""one"""` {
			return nil, "", &Error{Code: "34000", Message: "there is no such cursor"}
		}
		st.columns = []Column{{Name: "n", OID: OIDInt8}}
	case "wait":
		st.columns = []Column{{Name: "n", OID: OIDInt8}}
	case "types":
		for _, c := range []uint32{OIDInt2, OIDInt4, OIDInt8, OIDFloat4, OIDFloat8, OIDBool, OIDBytea, OIDText, OIDUUID} {
			if c != OIDUUID || len(words) == 1 {
				st.columns = append(st.columns, Column{Name: fmt.Sprint("c", c), OID: c})
			}
		}
	case "echo":
		for i, w := range words[1:] {
			oid := map[string]uint32{"int8": OIDInt8, "int2": OIDInt2, "float8": OIDFloat8, "bool": OIDBool,
				"bytea": OIDBytea, "text": OIDText, "numeric": OIDNumeric, "timestamptz": OIDTimestamptz}[w]
			if w == "any" && i < len(types) {
				oid = types[i]
			}
			st.parameters = append(st.parameters, oid)
			st.columns = append(st.columns, Column{Name: w, OID: OIDText})
		}
	case "notice", "fail", "plain", "panic", "begin", "commit", "rollback", "short":
		if words[0] == "short" {
			st.columns = []Column{{Name: "a", OID: OIDInt8}, {Name: "b", OID: OIDInt2}}
		}
	case "panicprepare":
		panic("in Prepare")
	default:
		err = &Error{Code: "42601", Message: fmt.Sprintf("syntax error at %q", words[0]), Position: 1 + strings.Index(sql, words[0])}
	}
	if err != nil {
		return nil, "", err
	}
	s.toy.open.Add(1)
	return st, rest, nil
}

type toyStatement struct {
	session    *toySession
	words      []string
	tag        string
	n          int64
	parameters []uint32
	columns    []Column
	closed     bool
}

func (st *toyStatement) Parameters() []uint32 { return st.parameters }
func (st *toyStatement) Columns() []Column    { return st.columns }

func (st *toyStatement) Close() {
	st.closed = true
	st.session.toy.open.Add(-1)
}

func (st *toyStatement) Query(ctx context.Context, args []any) (Rows, error) {
	st.session.toy.queries.Add(1)
	switch st.words[0] {
	case "fail":
		return nil, &Error{Code: "53400", Message: "account 'ana' has nothing left", Detail: "0.1/kWh asked", Hint: "Raise the limit."}
	case "plain":
		return nil, fmt.Errorf("an error without a code")
	case "panic":
		panic("in Query")
	case "notice":
		st.session.client.Notice(&Error{Message: "this answer cost 0.1/kWh", Detail: "plus or minus 3"})
		st.session.client.Parameter("application_name", "noticed")
	case "begin":
		st.session.status = InTransaction
	case "commit", "rollback":
		st.session.status = Idle
	}
	st.session.toy.open.Add(1)
	return &toyRows{st: st, ctx: ctx, args: args}, nil
}

type toyRows struct {
	st   *toyStatement
	ctx  context.Context
	args []any
	i    int64
}

func (r *toyRows) Close() { r.st.session.toy.open.Add(-1) }

func (r *toyRows) Copy() *Copy {
	if r.st.words[0] != "copy" {
		return nil
	}
	c := &Copy{Columns: []Column{{Name: "n", OID: OIDInt8}, {Name: "t,u", OID: OIDText}}}
	c.CSV = len(r.st.words) > 2 && r.st.words[2] == "csv"
	c.Header = c.CSV
	return c
}

func (r *toyRows) Tag(rows int64) string {
	switch {
	case r.st.words[0] == "copy":
		return fmt.Sprintf("COPY %d", rows)
	case len(r.st.columns) > 0:
		return fmt.Sprintf("SELECT %d", rows)
	}
	return r.st.tag
}

func (r *toyRows) Next(row Row) (bool, error) {
	if r.st.closed {
		return false, errors.New("the statement is closed")
	}
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	i := r.i
	r.i++
	switch r.st.words[0] {
	case "rows":
		if i == r.st.n {
			return false, nil
		}
		if len(r.st.words) > 2 && strconv.FormatInt(i, 10) == r.st.words[2] {
			return false, &Error{Code: "22012", Message: "row " + r.st.words[2] + " fails"}
		}
		row.Int(i)
		if len(r.st.words) > 2 && r.st.words[2] == "noisy" {
			r.st.session.client.Notice(&Error{Message: "a row"})
		}
		row.Text("row")
		return true, nil
	case "copy":
		if i == r.st.n {
			return false, nil
		}
		row.Int(i)
		switch i {
		case 1:
			row.Null()
		case 2:
			row.Text("a\tb\\c\n\"d,")
		case 3:
			row.Text("")
		default:
			row.Text("plain")
		}
		return true, nil
	case "big":
		if i == 1 {
			return false, nil
		}
		row.Text(strings.Repeat("x", int(r.st.n)))
		return true, nil
	case "wait":
		if i == 0 {
			row.Int(0)
			return true, nil
		}
		r.st.session.toy.waiting <- r.ctx
		<-r.ctx.Done()
		return false, errors.New("interrupted")
	case "short":
		row.Int(1)
		if len(r.st.words) > 1 {
			row.Int(1 << 20)
		}
		return true, nil
	case "types":
		return r.types(row, i), nil
	case "echo":
		if i == 1 {
			return false, nil
		}
		for _, a := range r.args {
			row.Text(fmt.Sprintf("%T %v", a, a))
		}
		return true, nil
	}
	return false, nil
}

func (r *toyRows) types(row Row, i int64) bool {
	switch i {
	case 0:
		row.Int(-2)
		row.Int(1 << 30)
		row.Int(1 << 62)
		row.Float(0.5)
		row.Int(3)
		row.Bool(true)
		row.Bytes([]byte{0, 255})
		row.Text("é")
		if len(r.st.columns) == 9 {
			row.Text("12.50")
		}
		return true
	case 1:
		for range r.st.columns {
			row.Null()
		}
		return true
	}
	return false
}

const patience = 20 * time.Second // after which a test is said to hang
