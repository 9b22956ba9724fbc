package unseal

import (
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// A Remote evaluates the functions over sealed values somewhere else: where the key and the ledger are. An
// [Evaluator] does so there. Arguments are valid during a call.
type Remote interface {
	// Call evaluates a scalar function, or the table-valued form of one.
	Call(function string, args []sqlite.Value) (frame.Released, error)

	// Group begins a group of an aggregate.
	Group(function string) RemoteGroup
}

// A RemoteGroup is a group of an aggregate that a [Remote] evaluates.
type RemoteGroup interface {
	// Step adds a row. An error may be that of an earlier row.
	Step(args []sqlite.Value) error

	// Final answers the group. SQLite also calls it for a group of a statement that is being aborted.
	Final() (frame.Released, error)
}

// A Description describes a function.
type Description struct {
	Name       string
	Signatures []string // such as dx_sum(sealed, epsilon [, metric])
	Returns    string   // INTEGER, REAL, TEXT or BLOB
	Numbers    []int    // places, from 0, of arguments that are numbers
	Does       string
	Charges    bool
}

// Describe describes the functions of a table that a connection with a [Remote] has.
func Describe(all frame.Table) (list []Description) {
	for _, f := range RemoteTable(all, noRemote{}) {
		i := slices.IndexFunc(list, func(d Description) bool { return d.Name == f.Name })
		if i < 0 {
			i = len(list)
			list = append(list, Description{Name: f.Name, Returns: f.Returns, Does: f.Does, Charges: f.Charges != ""})
		}
		list[i].Signatures = append(list[i].Signatures, f.Signature())
		for k, a := range f.Args {
			if a.Kind.Expects == frame.Number.Expects && !slices.Contains(list[i].Numbers, k) {
				list[i].Numbers = append(list[i].Numbers, k)
			}
		}
	}
	return list
}

// noRemote stands for a remote that is not called.
type noRemote struct{ Remote }

// RemoteTable returns the functions of a table for a connection with a remote, which evaluates all releases.
func RemoteTable(all frame.Table, r Remote) (list frame.Table) {
	for _, f := range all {
		switch {
		case takesSealed(f) && f.Charges != "":
			list = append(list, remoteForm(f, r))
		case takesSealed(f), f.Section == frame.Free && !f.OfStatement:
			list = append(list, f)
		}
	}
	return list
}

// remoteForm returns the row for a function that a remote evaluates. Its arguments are checked here too, so that
// mistakes are errors where they are made.
func remoteForm(f *frame.Function, r Remote) *frame.Function {
	remote := *f
	remote.Remote = true
	if f.Aggregate != nil {
		remote.Aggregate = func(*frame.Session) frame.Group { return &remoteGroup{remote: r} }
	}
	if f.Answer != nil {
		remote.Answer = func(c frame.Call) (frame.Answer, error) {
			b, err := r.Call(f.Name, c.Args())
			if err != nil {
				return frame.Answer{}, frame.Named(err)
			}
			return frame.ParseAnswer(b)
		}
		remote.Complete()
	}
	return &remote
}

// remoteGroup is a group of an aggregate that a remote evaluates.
type remoteGroup struct {
	remote Remote
	group  RemoteGroup
}

func (g *remoteGroup) Begin(c frame.Call) error {
	g.group = g.remote.Group(c.Name)
	return nil
}

func (g *remoteGroup) Row(c frame.Call) error {
	if err := g.group.Step(c.Args()); err != nil {
		return frame.Named(err)
	}
	return nil
}

func (g *remoteGroup) Final(c frame.Call) error {
	if c.Aborted() {
		return nil // nobody gets an answer, and nobody is to pay for it
	}
	b, err := g.group.Final()
	if err != nil {
		return frame.Named(err)
	}
	return c.Result(frame.ParseAnswer(b))
}
