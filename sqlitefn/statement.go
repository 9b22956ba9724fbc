package sqlitefn

import (
	"bytes"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// statement holds what belongs to one execution of a statement: what it has reserved ahead
// in the ledger, what groups have paid for each other, the last plan of each function, and the variables of
// the families.
type statement struct {
	session  *session
	ended    bool       // SQLite still ends a group of it, and then nothing ends it
	began    *beginning // nil before the first group under d1
	places   map[int]*callSite
	ledger   ledger.Statement // nil until the first charge
	spenders []spender
	plans    []*plan
	locals   []local                 // of each [variable]
	compiled map[string]*sqlite.Stmt // that read declarations once for many of its calls
}

// spender charges the evaluations of a function in a unit.
type spender struct {
	function *function
	unit     budget.Unit
	ledger.Spender
}

func (s *session) newStatement() *statement { return &statement{session: s} }

// statement returns the running statement.
func (c call) statement() *statement {
	if c.own != nil {
		return c.own
	}
	if t, ok := c.Scope().(*statement); ok {
		return t
	}
	t := c.session.newStatement()
	t.ended = true
	return t
}

// End gives back to the ledger what was reserved and not used.
func (t *statement) End() {
	for _, s := range t.compiled {
		s.Close()
	}
	t.compiled = nil
	for _, l := range t.locals {
		if e, ok := l.is.(ender); ok {
			e.end()
		}
	}
	if t.ledger != nil {
		_ = t.ledger.End() // what it could not return stays spent
		t.ledger, t.spenders = nil, nil
	}
}

// spender returns what charges the evaluations of a function in a unit.
func (t *statement) spender(f *function, unit budget.Unit) (ledger.Spender, error) {
	for i := range t.spenders {
		if p := &t.spenders[i]; p.function == f && p.unit == unit {
			return p.Spender, nil
		}
	}
	book, err := t.charges()
	if err != nil {
		return nil, err
	}
	p := book.Spender(f.name, unit)
	t.spenders = append(t.spenders, spender{f, unit, p})
	return p, nil
}

// charges returns what charges the ledger for the statement.
func (t *statement) charges() (ledger.Statement, error) {
	if t.ledger == nil {
		book, err := t.session.chargeableLedger()
		if err != nil {
			return nil, err
		}
		t.ledger = book.NewStatement()
	}
	return t.ledger, nil
}

// A plan is what was built from the settings of a call.
type plan struct {
	function *function
	version  int // of the settings
	built    any // a pointer, nil before the first
}

// cachedPlan returns what build makes of the settings of a call. Within one statement the
// settings hardly ever change, so the last plan of each function is kept.
func cachedPlan[P any](c call, build func(call) (P, error)) (P, error) {
	p := c.statement().lastPlan(c.function)
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
func (t *statement) lastPlan(f *function) *plan {
	for _, p := range t.plans {
		if p.function == f {
			return p
		}
	}
	p := &plan{function: f}
	t.plans = append(t.plans, p)
	return p
}

// settings holds the settings of an earlier call of a function.
type settings []setting

// setting holds the value of one of them.
type setting struct {
	given  bool
	number float64
	text   []byte // nil for a number
}

// copySettings returns a copy of the settings of a call.
func (c call) copySettings() settings {
	list := settings{}
	for i, a := range c.args {
		if v := &c.values[i]; a.setting {
			list = append(list, setting{v.given, v.number, bytes.Clone(v.text)})
		}
	}
	return list
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
