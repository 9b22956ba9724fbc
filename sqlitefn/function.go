package sqlitefn

import (
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// Sections of the reference.
const (
	declared   = "Declared by the owner"
	released   = "Released values"
	overSealed = "Over sealed values"
	free       = "Free, on public arguments"
	owners     = "For the owner only"
)

// Flags by section. A released value has none. It may be used in views, which is how an
// owner hands out a sanitised table, and it must not be deterministic, since SQLite may
// evaluate a deterministic function once for many rows.
const (
	ownerOnly = sqlite.DirectOnly
	pure      = sqlite.Deterministic | sqlite.Innocuous
)

// function is one row of the function table.
type function struct {
	name    string
	section string // of the reference
	args    []*argument
	columns []string // of the table-valued form
	flags   sqlite.Flags
	scoped  bool   // it keeps something with the running statement although it charges nothing
	reads   bool   // an owner's function that changes nothing, so a dry run may call it
	remote  bool   // it is evaluated somewhere else, where each of its rows goes with all arguments
	does    string // one sentence
	charges string // what is charged to whom; empty if nothing is
	notes   string // what else a user has to know
	example []string

	scalar    func(call) error
	answer    func(call) (answer, error) // of a scalar over sealed values, in place of scalar
	aggregate func(*session) group
	window    func(*session) partition
	table     func(*session) cursor
}

// group is the state of an aggregate over one group of rows.
type group interface {
	begin(call) error // reads the settings of the first row, before row gets it
	row(call) error
	final(call) error // is not called after an error; its call has no arguments
}

// An answerer is a group over sealed values, which may be evaluated for a statement elsewhere.
type answerer interface {
	group
	answer(call) (answer, error) // is final without the result
	release()                    // gives its memory back, whether it is answered or dropped
}

// A batchGroup takes rows many at a time. To decode the arguments of a row by their kinds costs more
// than to add it.
type batchGroup interface {
	group
	// take adds the first of the rows that follow, up to one that is not as nearly all are,
	// which row gets, and returns how many. They are as [sqlite.Call.Ahead] returns them.
	take(values []sqlite.Value, each int) (rows int)
}

// partition is the state of a window function over one partition, or over the one
// row of a group. See [sqlite.Partition].
type partition interface {
	row(call) error
	end()
}

// cursor iterates over the rows of a table-valued function.
type cursor interface {
	filter(c call, used uint) (sqlite.Rows, error)
	next(call) (sqlite.Rows, error)
	close()
}

// required returns the number of arguments that are not optional.
func (f *function) required() int {
	n := 0
	for _, a := range f.args {
		if !a.optional {
			n++
		}
	}
	return n
}

// varying returns how many arguments of an aggregate may be others in each row: all but the settings
// at the end.
func (f *function) varying() int {
	n := len(f.args)
	for n > 1 && !f.remote && f.args[n-1].setting {
		n--
	}
	return n
}

// arities returns the numbers of arguments that the function accepts.
func (f *function) arities() []int {
	var list []int
	for n := f.required(); n <= len(f.args); n++ {
		list = append(list, n)
	}
	return list
}

// hidden returns the names of the argument columns of the table-valued form. They have
// a prefix, so that a query's own columns of the same names stay unambiguous.
func (f *function) hidden() []string {
	list := make([]string, len(f.args))
	for i, a := range f.args {
		list[i] = "arg_" + a.name
	}
	return list
}

// signature returns the call as a user writes it: f(a, b [, c]).
func (f *function) signature() string {
	var b strings.Builder
	b.WriteString(f.name + "(")
	for i, a := range f.args {
		switch {
		case a.optional && i == 0:
			b.WriteString("[" + a.name)
		case a.optional:
			b.WriteString(" [, " + a.name)
		case i > 0:
			b.WriteString(", " + a.name)
		default:
			b.WriteString(a.name)
		}
	}
	b.WriteString(strings.Repeat("]", len(f.args)-f.required()) + ")")
	return b.String()
}

// forms describes how the function may be called.
func (f *function) forms() string {
	var forms []string
	if f.scalar != nil {
		forms = append(forms, "scalar")
	}
	if f.aggregate != nil {
		forms = append(forms, "aggregate")
	}
	if f.window != nil {
		forms = append(forms, "window function, or aggregate over one row")
	}
	if f.table != nil {
		forms = append(forms, "table-valued ("+strings.Join(f.columns, ", ")+")")
	}
	return strings.Join(forms, " and ")
}
