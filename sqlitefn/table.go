package sqlitefn

import (
	"slices"
	"strings"
)

// sections lists the sections in the order of the reference.
var sections = []string{declared, released, overSealed, free, owners}

// A table is a function table, in the order of the reference: by section.
type table []*function

// newTable returns the table of some rows, which keep their order within a section.
func newTable(rows ...[]*function) table {
	t := table(slices.Concat(rows...))
	for _, f := range t {
		if f.answer != nil {
			f.scalar = f.answerScalar
		}
	}
	slices.SortStableFunc(t, func(f, g *function) int {
		return slices.Index(sections, f.section) - slices.Index(sections, g.section)
	})
	return t
}

// lookup returns the first function of that name in any case, or nil.
func (t table) lookup(name string) *function {
	for _, f := range t {
		if strings.EqualFold(f.name, name) {
			return f
		}
	}
	return nil
}

// charges reports whether a function charges.
func (t table) charges(name string) bool {
	f := t.lookup(name)
	return f != nil && f.charges != ""
}

// isFree reports whether a function charges and changes nothing, whatever its answers depend on.
func (t table) isFree(name string) bool {
	f := t.lookup(name)
	return f != nil && f.section == free
}

// releasing returns the names of the functions that release values and charge for them.
func (t table) releasing() (names []string) {
	for _, f := range t {
		if f.charges != "" && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}
