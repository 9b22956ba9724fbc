package frame

import (
	"slices"
	"strings"
)

// Sections lists the sections in the order of the reference.
var Sections = []string{DeclaredByOwner, ReleasedValues, OverSealed, Free, ForOwner}

// A Table is a function table, in the order of the reference: by section.
type Table []*Function

// NewTable returns the table of some rows, which keep their order within a section.
func NewTable(rows ...[]*Function) Table {
	t := Table(slices.Concat(rows...))
	for _, f := range t {
		f.Complete()
	}
	slices.SortStableFunc(t, func(f, g *Function) int {
		return slices.Index(Sections, f.Section) - slices.Index(Sections, g.Section)
	})
	return t
}

// Lookup returns the first function of that name in any case, or nil.
func (t Table) Lookup(name string) *Function {
	for _, f := range t {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return nil
}

// Charges reports whether a function charges.
func (t Table) Charges(name string) bool {
	f := t.Lookup(name)
	return f != nil && f.Charges != ""
}

// isFree reports whether a function charges and changes nothing.
func (t Table) isFree(name string) bool {
	f := t.Lookup(name)
	return f != nil && f.Section == Free
}

// isSettled reports whether a function answers by its arguments and by declarations alone.
func (t Table) isSettled(name string) bool {
	f := t.Lookup(name)
	return f != nil && f.Section == Free && !f.OfStatement && !f.OfRun
}

// Releasing returns the names of the functions that release values and charge for them.
func (t Table) Releasing() (names []string) {
	for _, f := range t {
		if f.Charges != "" && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
