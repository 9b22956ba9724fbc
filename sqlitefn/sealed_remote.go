package sqlitefn

import (
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// A Remote evaluates the functions over sealed values somewhere else: where the key and the ledger are. An
// [Evaluator] does so there. Arguments are valid during a call.
type Remote interface {
	// Call evaluates a scalar function, or the table-valued form of one.
	Call(function string, args []sqlite.Value) (Released, error)

	// Group begins a group of an aggregate.
	Group(function string) RemoteGroup
}

// A RemoteGroup is a group of an aggregate that a [Remote] evaluates.
type RemoteGroup interface {
	// Step adds a row. An error may be that of an earlier row.
	Step(args []sqlite.Value) error

	// Final answers the group. SQLite also calls it for a group whose statement is being aborted.
	Final() (Released, error)
}

// RegisterRemote gives a connection without key and ledger the functions over sealed values, which a remote
// evaluates, and those that are free. It has no other function that releases or declares anything.
func RegisterRemote(conn *sqlite.Conn, r Remote) error {
	o := options{remote: r}
	_, err := attach(conn, o)
	return err
}

// A Description describes a function.
type Description struct {
	Name       string
	Signatures []string // such as dx_sum(sealed, epsilon [, metric])
	Does       string
	Charges    bool
}

// RemoteFunctions describes the functions that RegisterRemote gives a connection.
func RemoteFunctions() (list []Description) {
	o := options{remote: noRemote{}}
	for _, f := range o.offered(functions) {
		i := slices.IndexFunc(list, func(d Description) bool { return d.Name == f.name })
		if i < 0 {
			i = len(list)
			list = append(list, Description{Name: f.name, Does: f.does, Charges: f.charges != ""})
		}
		list[i].Signatures = append(list[i].Signatures, f.signature())
	}
	return list
}

// noRemote stands for a remote that is not called.
type noRemote struct{ Remote }

// offered returns the functions of a table that a connection has.
func (o *options) offered(all table) []*function {
	if o.remote == nil {
		return all
	}
	var list []*function
	for _, f := range all {
		switch {
		case f.takesSealed() && f.name != "dx_narrow":
			list = append(list, remoteForm(f, o.remote))
		case f.section == free && f.name != withinName, f.name == "dx_narrow":
			list = append(list, f)
		}
	}
	return list
}

// remoteForm returns the row for a function that a remote evaluates. Its arguments are checked here too, so that
// mistakes are errors where they are made.
func remoteForm(f *function, r Remote) *function {
	remote := *f
	remote.remote = true
	if f.aggregate != nil {
		remote.aggregate = func(*session) group { return &remoteGroup{remote: r} }
	}
	evaluate := func(c call) (answer, error) {
		b, err := r.Call(f.name, c.Args())
		if err != nil {
			return answer{}, remoteError{err}
		}
		return b.answer()
	}
	if f.scalar != nil {
		remote.scalar = func(c call) error {
			a, err := evaluate(c)
			if err == nil {
				c.result(a)
			}
			return err
		}
	}
	if f.table != nil {
		remote.table = locationDraw(func(c call) (lat, lon float64, released bool, err error) {
			a, err := evaluate(c)
			return a.place[0], a.place[1], a.kind == ofLocation, err
		}).table
	}
	return &remote
}

// A remoteError is an error of a remote, which names the function itself.
type remoteError struct{ error }

func (e remoteError) Unwrap() error { return e.error }

// remoteGroup is a group of an aggregate that a remote evaluates.
type remoteGroup struct {
	remote Remote
	group  RemoteGroup
}

func (g *remoteGroup) begin(c call) error {
	g.group = g.remote.Group(c.name)
	return nil
}

func (g *remoteGroup) row(c call) error {
	if err := g.group.Step(c.Args()); err != nil {
		return remoteError{err}
	}
	return nil
}

func (g *remoteGroup) final(c call) error {
	if c.Aborted() {
		return nil // nobody gets an answer, and nobody is to pay for it
	}
	b, err := g.group.Final()
	if err != nil {
		return remoteError{err}
	}
	a, err := b.answer()
	if err == nil {
		c.result(a)
	}
	return err
}

// named returns an error of a call with the function's name in front, unless it has that already.
func (b *bound) named(err error) error {
	if r, ok := err.(remoteError); ok {
		return r.error
	}
	return fmt.Errorf("%s: %w", b.name, err)
}
