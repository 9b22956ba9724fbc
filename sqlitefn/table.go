package sqlitefn

import (
	"slices"
	"strings"
)

// functions is the table of all functions, in the order of the reference: by section, and
// within a section by the name of the file that registers them.
var functions []*function

// sections lists the sections in the order of the reference.
var sections = []string{declared, released, overSealed, free, owners}

// register adds rows to the function table. Each file calls it for its rows in init.
func register(rows ...*function) {
	functions = append(functions, rows...)
	slices.SortStableFunc(functions, func(f, g *function) int {
		return slices.Index(sections, f.section) - slices.Index(sections, g.section)
	})
}

// lookup returns the function of that name in any case, or nil.
func lookup(name string) *function {
	for _, f := range functions {
		if strings.EqualFold(f.name, name) {
			return f
		}
	}
	return nil
}

// Releasing returns the names of the functions that release values and charge for them, in the order of the reference.
func Releasing() (names []string) {
	for _, f := range functions {
		if f.charges != "" && !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}
