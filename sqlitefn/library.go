package sqlitefn

import (
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// library returns the functions of the table, bound to one connection.
func library(s *session) sqlite.Library {
	lib := sqlite.Library{
		NewScope: func() sqlite.Scope { return s.newStatement() },
		Close:    s.close,
	}
	offered := s.opts.offered(s.table)
	for _, f := range offered {
		b := f.bind(s)
		if f.scalar != nil {
			lib.Scalars = append(lib.Scalars, sqlite.Scalar{
				Name: f.name, Args: f.arities(), Flags: f.flags, Scoped: f.charges != "" || f.scoped, Call: b.callScalar,
			})
		}
		if f.aggregate != nil {
			lib.Aggregates = append(lib.Aggregates, sqlite.Aggregate{
				Name: f.name, Args: f.arities(), Flags: f.flags, Scoped: f.charges != "", Varying: f.varying(),
				New: func() sqlite.Group { return &boundGroup{bound: b, group: f.aggregate(s)} },
			})
		}
		if f.window != nil {
			lib.Windows = append(lib.Windows, sqlite.Window{
				Name: f.name, Args: f.arities(), Flags: f.flags, Scoped: f.charges != "",
				New: func() sqlite.Partition { return &boundPartition{b, f.window(s)} },
			})
		}
		if f.table != nil && !slices.ContainsFunc(lib.Tables, func(t sqlite.Table) bool { return t.Name == f.name }) {
			lib.Tables = append(lib.Tables, s.tableForm(f, offered))
		}
	}
	return lib
}

// tableForm returns the table-valued form of a function, and of the others of its name: SQLite tells
// tables apart by their names only.
func (s *session) tableForm(f *function, offered []*function) sqlite.Table {
	var forms []*bound
	least := f.required()
	for _, g := range offered {
		if g.name == f.name && g.table != nil {
			forms = append(forms, g.bind(s))
			least = min(least, g.required())
		}
	}
	return sqlite.Table{
		Name: f.name, Columns: f.columns, Hidden: f.hidden(), Required: least,
		Flags: f.flags & sqlite.DirectOnly, SingleRow: f.section == released,
		Open: func() sqlite.Cursor { return &boundCursor{session: s, forms: forms, own: s.newStatement()} },
	}
}

func (b *bound) callScalar(c *sqlite.Call) error {
	in, err := b.enter(c, nil, nil)
	if err == nil {
		err = b.scalar(in)
	}
	return b.end(c, err)
}

// end returns the error of a call with the function's name in front, or nil. It keeps the
// refusal that the error is, for whoever asks why a statement failed. A group that ends because
// its statement is being aborted does not count: the statement's error came before.
func (b *bound) end(c *sqlite.Call, err error) error {
	if err == nil {
		return nil
	}
	err = b.named(err)
	if !c.Aborted() {
		b.session.refused = newRefusedError(b.function, err)
	}
	if d := b.session.dry; d != nil && b.charges != "" {
		d.failed = err
	}
	return err
}

// answerFor answers a scalar call that is evaluated for a statement elsewhere, whose state t has.
func (b *bound) answerFor(t *statement, args []sqlite.Value) (answer, error) {
	in, err := b.enter(sqlite.NewCall(args, t, 0), nil, nil)
	if err != nil {
		return answer{}, err
	}
	return b.answer(in)
}

// boundGroup is a group of an aggregate on one connection.
type boundGroup struct {
	*bound
	group  group
	kept   settings // of the first row; nil before it
	failed bool     // whether a row failed or panicked
}

func (g *boundGroup) Step(c *sqlite.Call) error {
	failed := g.failed
	g.failed = true
	in, err := g.enter(c, nil, g.kept)
	if err == nil {
		err = g.rows(in)
	}
	g.failed = failed || err != nil
	return g.end(c, err)
}

// rows adds the row of a call and those that have the same settings.
func (g *boundGroup) rows(c call) error {
	if g.kept == nil {
		if err := g.group.begin(c); err != nil {
			return err
		}
		g.kept = c.copySettings()
	}
	batch, _ := g.group.(batchGroup)
	for {
		if err := g.group.row(c); err != nil {
			return err
		}
		if batch != nil {
			c.Skip(batch.take(c.Ahead()))
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
func (g *boundGroup) Final(c *sqlite.Call) error {
	if g.failed {
		return nil
	}
	if err := g.session.admit(g.function); err != nil {
		return g.end(c, err)
	}
	return g.end(c, g.group.final(call{c, g.bound, nil}))
}

// answer answers a group that is evaluated for a statement elsewhere.
func (g *boundGroup) answer(c *sqlite.Call) (answer, error) {
	return g.group.(answerer).answer(call{c, g.bound, nil})
}

// release frees what such a group holds.
func (g *boundGroup) release() {
	if a, ok := g.group.(answerer); ok {
		a.release()
	}
}

// boundPartition is a partition of a window function on one connection.
type boundPartition struct {
	*bound
	partition partition
}

func (p *boundPartition) Row(c *sqlite.Call) error {
	in, err := p.enter(c, nil, nil)
	if err == nil {
		err = p.partition.row(in)
	}
	return p.end(c, err)
}

func (p *boundPartition) End() { p.partition.end() }

// boundCursor is a cursor of a table-valued function on one connection.
type boundCursor struct {
	session *session
	forms   []*bound // of which the number of arguments chooses one
	*bound           // the one in use; nil before the first
	cursor  cursor
	own     *statement // that what is released is charged with
	passed  int        // number of arguments that it was chosen by
}

// choose chooses the form that takes so many arguments.
func (t *boundCursor) choose(passed int) error {
	if t.cursor != nil && passed == t.passed {
		return nil
	}
	t.passed = passed
	for _, form := range t.forms {
		if passed < form.required() || passed > len(form.args) {
			continue
		}
		if t.bound != form {
			t.Close()
			t.bound, t.cursor = form, form.table(t.session)
		}
		return nil
	}
	t.Close()
	t.bound, t.cursor = t.forms[0], nil
	return fmt.Errorf("%s is missing", t.args[passed].name)
}

func (t *boundCursor) Filter(c *sqlite.Call, used uint) (rows sqlite.Rows, err error) {
	if err := t.choose(c.Len()); err != nil {
		return sqlite.NoRow, t.end(c, err)
	}
	in, err := t.enter(c, t.own, nil)
	if err == nil {
		rows, err = t.cursor.filter(in, used)
	}
	return rows, t.end(c, err)
}

// Next returns the next row. Its call has no arguments.
func (t *boundCursor) Next(c *sqlite.Call) (sqlite.Rows, error) {
	rows, err := t.cursor.next(call{c, t.bound, t.own})
	return rows, t.end(c, err)
}

// Close closes the cursor of the form in use, and ends what it has charged.
func (t *boundCursor) Close() {
	if t.cursor != nil {
		t.cursor.close()
	}
	t.own.End()
}
