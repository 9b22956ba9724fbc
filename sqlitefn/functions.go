package sqlitefn

import "slices"

// functions is the table of all functions, in the order of the reference: by section, and
// within one as the files of the package register them.
var functions []*function

var sections = []string{declared, released, free, owners}

// register adds rows to the function table. The files that have them call it in init.
func register(rows ...*function) {
	functions = append(functions, rows...)
	slices.SortStableFunc(functions, func(f, g *function) int {
		return slices.Index(sections, f.section) - slices.Index(sections, g.section)
	})
}
