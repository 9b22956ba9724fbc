package frame

import (
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// Register gives the session's connection functions, and calls closed when the connection has closed.
func (s *Session) Register(offered Table, closed func()) error {
	return s.Conn.Register(s.library(offered, closed))
}

// library returns functions bound to the session's connection.
func (s *Session) library(offered Table, closed func()) sqlite.Library {
	lib := sqlite.Library{
		NewScope: func() sqlite.Scope { return s.NewStatement() },
		Close: func() {
			closed()
			s.close()
		},
	}
	for _, f := range offered {
		b := f.Bind(s)
		if f.Scalar != nil {
			lib.Scalars = append(lib.Scalars, sqlite.Scalar{
				Name: f.Name, Args: f.Arities(), Flags: f.Flags, Scoped: f.Charges != "" || f.Scoped, Call: b.callScalar,
			})
		}
		if f.Aggregate != nil {
			lib.Aggregates = append(lib.Aggregates, sqlite.Aggregate{
				Name: f.Name, Args: f.Arities(), Flags: f.Flags, Scoped: f.Charges != "", Varying: f.varying(), Windowed: f.Windowed,
				New: func() sqlite.Group { return &BoundGroup{Bound: b, group: f.Aggregate(s)} },
			})
		}
		if f.Window != nil {
			lib.Windows = append(lib.Windows, sqlite.Window{
				Name: f.Name, Args: f.Arities(), Flags: f.Flags, Scoped: f.Charges != "",
				New: func() sqlite.Partition { return &boundPartition{b, f.Window(s)} },
			})
		}
		if f.Table != nil && !slices.ContainsFunc(lib.Tables, func(t sqlite.Table) bool { return t.Name == f.Name }) {
			lib.Tables = append(lib.Tables, s.tableForm(f, offered))
		}
	}
	return lib
}

// tableForm returns the table-valued form of a function, and of the others of its name: SQLite tells
// tables apart by their names only.
func (s *Session) tableForm(f *Function, offered Table) sqlite.Table {
	var forms []*Bound
	least := f.Required()
	for _, g := range offered {
		if g.Name == f.Name && g.Table != nil {
			forms = append(forms, g.Bind(s))
			least = min(least, g.Required())
		}
	}
	return sqlite.Table{
		Name: f.Name, Columns: f.Columns, Hidden: f.hidden(), Required: least,
		Flags: f.Flags & sqlite.DirectOnly, SingleRow: f.Section == ReleasedValues,
		Open: func() sqlite.Cursor { return &boundCursor{session: s, forms: forms, own: s.NewStatement()} },
	}
}

func (b *Bound) callScalar(c *sqlite.Call) error {
	in, err := b.enter(c, nil, nil)
	if err == nil {
		err = b.Scalar(in)
	}
	return b.end(c, err)
}

// end returns the error of a call with the function's name in front, or nil. If the error is a
// refusal, it keeps that to explain later why a statement failed. A group that ends because
// its statement is being aborted does not count: the statement's error came before.
func (b *Bound) end(c *sqlite.Call, err error) error {
	if err == nil {
		return nil
	}
	err = b.named(err)
	if !c.Aborted() {
		b.Session.Refused = newRefusal(b.Function, err)
	}
	if d := b.Session.dry; d != nil && b.Charges != "" {
		d.Failed = err
	}
	return err
}

// AnswerFor answers a scalar call that is evaluated for a statement elsewhere; t stands for it.
func (b *Bound) AnswerFor(t *Statement, args []sqlite.Value) (Answer, error) {
	in, err := b.enter(sqlite.NewCall(args, t, 0), nil, nil)
	if err != nil {
		return Answer{}, err
	}
	return b.Answer(in)
}

// A namedError is an error of a call that names the function already.
type namedError struct{ error }

func (e namedError) Unwrap() error { return e.error }

// Named returns an error of a call that names the function already, so that its name is not put in front.
func Named(err error) error { return namedError{err} }

// named returns an error of a call with the function's name in front, unless it has that already.
func (b *Bound) named(err error) error {
	if n, ok := err.(namedError); ok {
		return n.error
	}
	return fmt.Errorf("%s: %w", b.Name, err)
}

// BoundGroup is a group of an aggregate on one connection.
type BoundGroup struct {
	*Bound
	group  Group
	kept   Settings // of the first row; nil before it
	failed bool     // whether a row failed or panicked
}

// Open begins a group of an aggregate.
func (f *Function) Open(s *Session) *BoundGroup {
	return &BoundGroup{Bound: f.Bind(s), group: f.Aggregate(s)}
}

func (g *BoundGroup) Step(c *sqlite.Call) error {
	failed := g.failed
	g.failed = true
	in, err := g.enter(c, nil, g.kept)
	if err == nil {
		err = g.rows(in)
	}
	g.failed = failed || err != nil
	return g.end(c, err)
}

// rows adds the row of a call and the rows after it with the same settings.
func (g *BoundGroup) rows(c Call) error {
	if g.kept == nil {
		if err := g.group.Begin(c); err != nil {
			return err
		}
		g.kept = c.CopySettings()
	}
	batch, _ := g.group.(BatchGroup)
	for {
		if err := g.group.Row(c); err != nil {
			return err
		}
		if batch != nil {
			c.Skip(batch.Take(c.Ahead()))
		}
		if !c.NextRow() {
			return nil
		}
		if err := c.decode(c.Len(), g.kept); err != nil {
			return err
		}
	}
}

// Final answers the group. SQLite also calls it when the statement is aborted. After an
// error of the group itself nothing is charged or drawn. An error elsewhere cannot be
// noticed here, so the group is charged then.
func (g *BoundGroup) Final(c *sqlite.Call) error {
	if g.failed {
		return nil
	}
	if err := g.Session.admit(g.Function); err != nil {
		return g.end(c, err)
	}
	return g.end(c, g.group.Final(Call{c, g.Bound, nil}))
}

// Value answers the group for a row of a window.
func (g *BoundGroup) Value(c *sqlite.Call) error {
	return g.end(c, g.group.(Valuer).Value(Call{c, g.Bound, nil}))
}

// Answer answers a group that is evaluated for a statement elsewhere.
func (g *BoundGroup) Answer(c *sqlite.Call) (Answer, error) {
	return g.group.(Answerer).Answer(Call{c, g.Bound, nil})
}

// Release frees the memory of such a group.
func (g *BoundGroup) Release() {
	if a, ok := g.group.(Answerer); ok {
		a.Release()
	}
}

// boundPartition is a partition of a window function on one connection.
type boundPartition struct {
	*Bound
	partition Partition
}

func (p *boundPartition) Row(c *sqlite.Call) error {
	in, err := p.enter(c, nil, nil)
	if err == nil {
		err = p.partition.Row(in)
	}
	return p.end(c, err)
}

func (p *boundPartition) End() { p.partition.End() }

// boundCursor is a cursor of a table-valued function on one connection.
type boundCursor struct {
	session *Session
	forms   []*Bound // the number of arguments chooses one
	*Bound           // the one in use; nil before the first
	cursor  Cursor
	own     *Statement // its releases are charged with it
	passed  int        // number of arguments that it was chosen by
}

// choose chooses the form that takes so many arguments.
func (t *boundCursor) choose(passed int) error {
	if t.cursor != nil && passed == t.passed {
		return nil
	}
	t.passed = passed
	for _, form := range t.forms {
		if passed < form.Required() || passed > len(form.Args) {
			continue
		}
		if t.Bound != form {
			t.Close()
			t.Bound, t.cursor = form, form.Table(t.session)
		}
		return nil
	}
	t.Close()
	t.Bound, t.cursor = t.forms[0], nil
	return fmt.Errorf("%s is missing", t.Args[passed].Name)
}

func (t *boundCursor) Filter(c *sqlite.Call, used uint) (rows sqlite.Rows, err error) {
	if err := t.choose(c.Len()); err != nil {
		return sqlite.NoRow, t.end(c, err)
	}
	in, err := t.enter(c, t.own, nil)
	if err == nil {
		rows, err = t.cursor.Filter(in, used)
	}
	return rows, t.end(c, err)
}

// Next returns the next row. Its call has no arguments.
func (t *boundCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	rows, err := t.cursor.Next(Call{c, t.Bound, t.own})
	return rows, t.end(c, err)
}

// Close closes the cursor of the form in use, and ends its charges.
func (t *boundCursor) Close() {
	if t.cursor != nil {
		t.cursor.Close()
	}
	t.own.End()
}
