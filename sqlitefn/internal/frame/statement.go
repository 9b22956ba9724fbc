package frame

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// Statement holds the state of one execution of a statement: the amounts reserved ahead in the
// ledger, the payments of groups for each other, the last plan of each function, and the variables of
// the families.
type Statement struct {
	Session  *Session
	ended    bool       // SQLite still ends a group of it, and then nothing ends it
	began    *beginning // nil until it is remembered
	released bool       // whether it has released anything, see rememberSilence
	places   map[int]*callSite
	ledger   ledger.Statement // nil until the first charge
	spenders []spender
	plans    []*plan
	locals   []local                 // of each [Variable]
	compiled map[string]*sqlite.Stmt // that read declarations once for many of its calls
}

// spender charges the evaluations of a function in a unit.
type spender struct {
	function *Function
	unit     budget.Unit
	ledger.Spender
}

// NewStatement returns a statement that has charged nothing.
func (s *Session) NewStatement() *Statement { return &Statement{Session: s} }

// Statement returns the running statement.
func (c Call) Statement() *Statement {
	if c.own != nil {
		return c.own
	}
	if t, ok := c.Scope().(*Statement); ok {
		return t
	}
	t := c.Session.NewStatement()
	t.ended = true
	return t
}

// End gives the unused part of its reservations back to the ledger.
func (t *Statement) End() {
	for _, s := range t.compiled {
		s.Close()
	}
	t.compiled = nil
	for _, l := range t.locals {
		if e, ok := l.is.(ender); ok {
			e.End()
		}
	}
	if t.ledger != nil {
		_ = t.ledger.End() // a part that it could not return stays spent
		t.ledger, t.spenders = nil, nil
	}
}

// CompileOnce does something that reads declarations with statements that are compiled once for all of its calls.
func (t *Statement) CompileOnce(do func() error) error {
	t.Session.running = t
	defer func() { t.Session.running = nil }() // also after a panic, which becomes the error of a call
	return do()
}

// spender returns the spender that charges the evaluations of a function in a unit.
func (t *Statement) spender(f *Function, unit budget.Unit) (ledger.Spender, error) {
	for i := range t.spenders {
		if p := &t.spenders[i]; p.function == f && p.unit == unit {
			return p.Spender, nil
		}
	}
	l, err := t.charges()
	if err != nil {
		return nil, err
	}
	p := l.Spender(f.Name, unit)
	t.spenders = append(t.spenders, spender{f, unit, p})
	return p, nil
}

// charges returns the ledger's statement, which makes the charges.
func (t *Statement) charges() (ledger.Statement, error) {
	if t.ledger == nil {
		l, err := t.Session.LedgerToCharge()
		if err != nil {
			return nil, err
		}
		t.ledger = l.NewStatement()
		demands := t.Session.expected
		t.Session.expected = nil
		if err := t.ledger.Reserve(demands); err != nil {
			return nil, err
		}
	}
	return t.ledger, nil
}

// Expect has the session's next statement that charges reserve demands before its first charge, in one transaction.
func (s *Session) Expect(demands []ledger.Demand) { s.expected = demands }

// A plan is built from the settings of a call.
type plan struct {
	function *Function
	version  int // of the settings
	built    any // a pointer, nil before the first
}

// Plan returns the plan that build makes from the settings of a call. Within one statement the
// settings hardly ever change, so the last plan of each function is kept.
func Plan[P any](c Call, build func(Call) (P, error)) (P, error) {
	p := c.Statement().lastPlan(c.Function)
	if p.built != nil && p.version == c.version {
		return *p.built.(*P), nil
	}
	built, err := build(c)
	if err == nil {
		p.version, p.built = c.version, &built
	}
	return built, err
}

// lastPlan returns the last plan of a function, empty before the first.
func (t *Statement) lastPlan(f *Function) *plan {
	for _, p := range t.plans {
		if p.function == f {
			return p
		}
	}
	p := &plan{function: f}
	t.plans = append(t.plans, p)
	return p
}

// Settings holds the settings of an earlier call of a function.
type Settings []setting

// setting holds the value of one of them.
type setting struct {
	given  bool
	number float64
	text   []byte // nil for a number
}

// CopySettings returns a copy of the settings of a call.
func (c Call) CopySettings() Settings {
	list := Settings{}
	for i, a := range c.Function.Args {
		if v := &c.values[i]; a.Setting {
			list = append(list, setting{v.Given, v.number, bytes.Clone(v.Text)})
		}
	}
	return list
}

// AppendTo appends the settings to b as bytes that no other settings have. They must never change: answers are
// remembered under names that are made of them.
func (list Settings) AppendTo(b []byte) []byte {
	for _, s := range list {
		switch {
		case !s.given:
			b = append(b, 'n')
		case s.text != nil:
			b = binary.BigEndian.AppendUint64(append(b, 't'), uint64(len(s.text)))
			b = append(b, s.text...)
		default:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(s.number))
		}
	}
	return b
}

// equals reports whether argument i of a call has the value of the setting.
func (s *setting) equals(c *sqlite.Call, i int) bool {
	if i >= c.Len() {
		return !s.given
	}
	switch v := c.Arg(i); v.Type() {
	case sqlite.Float:
		return s.given && s.text == nil && v.Float() == s.number
	case sqlite.Integer:
		return s.given && s.text == nil && float64(v.Int()) == s.number
	case sqlite.Text:
		return s.text != nil && string(v.Bytes()) == string(s.text)
	default:
		return !s.given && v.Type() == sqlite.Null
	}
}
