package frame

// A Variable has a value for each statement, such as the answers that the statement has
// released. A value with a method End is told when the statement ends.
type Variable[T any] struct{ _ byte } // not empty, so that each has an address of its own

// Of returns the value for a statement, at first the zero value.
func (v *Variable[T]) Of(t *Statement) *T {
	for _, l := range t.locals {
		if l.of == v {
			return l.is.(*T)
		}
	}
	is := new(T)
	t.locals = append(t.locals, local{v, is})
	return is
}

// A local is a variable of a statement.
type local struct{ of, is any }

// An ender is told that the statement has ended.
type ender interface{ End() }
