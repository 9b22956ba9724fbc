package frame

import (
	"cmp"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// Sections of the reference.
const (
	DeclaredByOwner = "Declared by the owner"
	ReleasedValues  = "Released values"
	OverSealed      = "Over sealed values"
	Free            = "Free, on public arguments"
	ForOwner        = "For the owner only"
)

// Flags by section. A released value has none. It may be used in views, which is how an
// owner hands out a sanitised table, and it must not be deterministic, since SQLite may
// evaluate a deterministic function once for many rows.
const (
	OwnerOnly = sqlite.DirectOnly
	Pure      = sqlite.Deterministic | sqlite.Innocuous
)

// Function is one row of the function table.
type Function struct {
	Name        string
	Section     string // of the reference
	Args        []*Arg
	Columns     []string // of the table-valued form
	Returns     string   // the type of an answer: INTEGER, REAL, TEXT or BLOB; "" if there are several, or only rows
	Flags       sqlite.Flags
	Scoped      bool   // it keeps something with the running statement although it charges nothing
	OfStatement bool   // it answers about the releases of the running statement
	OfRun       bool   // it answers about the run of a trace, which a step changes
	Reads       bool   // an owner's function that changes nothing, so a dry run may call it
	Remote      bool   // it is evaluated somewhere else, where each of its rows goes with all arguments
	Does        string // one sentence
	Charges     string // the charge and its account; empty if there is none
	Accuracy    string // the functions that tell it, or why there is none; empty if the answer is without noise
	OnceAs      string // of one that charges for each row: the function that asks about accounts, and charges each once
	OnceBy      string // the function that makes one sealed value of all that an account has, which is charged once
	Notes       string // other things that a user has to know
	Examples    []string

	Scalar    func(Call) error
	Answer    func(Call) (Answer, error) // of a scalar over sealed values, in place of scalar
	Aggregate func(*Session) Group
	Windowed  bool // the groups are Valuers, for windows and groups of one row
	Window    func(*Session) Partition
	Table     func(*Session) Cursor
}

// Group is the state of an aggregate over one group of rows.
type Group interface {
	Begin(Call) error // reads the settings of the first row, before row gets it
	Row(Call) error
	Final(Call) error // is not called after an error; its call has no arguments
}

// A Valuer is a group that answers for each row of a window, see [sqlite.Valuer].
type Valuer interface {
	Group
	Value(Call) error
}

// An Answerer is a group over sealed values, which may be evaluated for a statement elsewhere.
type Answerer interface {
	Group
	Answer(Call) (Answer, error) // is final without the result
	Release()                    // gives its memory back, whether it is answered or dropped
}

// A BatchGroup takes rows many at a time. To decode the arguments of a row by their kinds costs more
// than to add it.
type BatchGroup interface {
	Group
	// Take adds the first of the rows that follow, up to one that is not as nearly all are,
	// which row gets, and returns how many. They are as [sqlite.Call.Ahead] returns them.
	Take(values []sqlite.Value, each int) (rows int)
}

// Partition is the state of a window function over one partition, or over the one
// row of a group. See [sqlite.Partition].
type Partition interface {
	Row(Call) error
	End()
}

// Cursor iterates over the rows of a table-valued function.
type Cursor interface {
	Filter(c Call, used uint) (sqlite.Rows, error)
	Next(Call) (sqlite.Rows, error)
	Close()
}

// Required returns the number of arguments that are not optional.
func (f *Function) Required() int {
	n := 0
	for _, a := range f.Args {
		if !a.Optional {
			n++
		}
	}
	return n
}

// varying returns how many arguments of an aggregate may be others in each row: all but the settings
// at the end.
func (f *Function) varying() int {
	n := len(f.Args)
	for n > 1 && !f.Remote && f.Args[n-1].Setting {
		n--
	}
	return n
}

// Arities returns the numbers of arguments that the function accepts.
func (f *Function) Arities() []int {
	var list []int
	for n := f.Required(); n <= len(f.Args); n++ {
		list = append(list, n)
	}
	return list
}

// hidden returns the names of the argument columns of the table-valued form. They have
// a prefix, so that a query's own columns of the same names stay unambiguous.
func (f *Function) hidden() []string {
	list := make([]string, len(f.Args))
	for i, a := range f.Args {
		list[i] = "arg_" + a.Name
	}
	return list
}

// Signature returns the call as a user writes it: f(a, b [, c]).
func (f *Function) Signature() string {
	var b strings.Builder
	b.WriteString(f.Name + "(")
	for i, a := range f.Args {
		switch {
		case a.Optional && i == 0:
			b.WriteString("[" + a.Name)
		case a.Optional:
			b.WriteString(" [, " + a.Name)
		case i > 0:
			b.WriteString(", " + a.Name)
		default:
			b.WriteString(a.Name)
		}
	}
	b.WriteString(strings.Repeat("]", len(f.Args)-f.Required()) + ")")
	return b.String()
}

// Cost says which charge a call makes.
func (f *Function) Cost() string { return cmp.Or(f.Charges, "nothing") }

// Exactness says which functions tell how far off an answer is.
func (f *Function) Exactness() string { return cmp.Or(f.Accuracy, "without noise") }

// Forms describes how the function may be called.
func (f *Function) Forms() string {
	var forms []string
	if f.Scalar != nil {
		forms = append(forms, "scalar")
	}
	if f.Aggregate != nil && !f.Windowed {
		forms = append(forms, "aggregate")
	}
	if f.Window != nil || f.Windowed {
		forms = append(forms, "window function, or aggregate over one row")
	}
	if f.Table != nil {
		forms = append(forms, "table-valued ("+strings.Join(f.Columns, ", ")+")")
	}
	return strings.Join(forms, " and ")
}
