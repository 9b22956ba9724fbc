//go:build geosql_loadable

// Command panics is an extension whose functions all panic, and from the second
// connection on the loading of it too.
package main

import "github.com/geosql/geosql/internal/sqlite"

func ohNo() { panic("oh no") }

type group struct{ inStep bool }

func (g group) Step(*sqlite.Call) error {
	if g.inStep {
		ohNo()
	}
	return nil
}

func (g group) Final(*sqlite.Call) error {
	if !g.inStep {
		ohNo()
	}
	return nil
}

type partition struct{}

func (partition) Row(*sqlite.Call) error { panic("oh no") }
func (partition) End()                   { ohNo() }

type cursor struct{ inFilter bool }

func (t cursor) Filter(*sqlite.Call, uint) (sqlite.Rows, error) {
	if t.inFilter {
		ohNo()
	}
	return sqlite.OneRow, nil
}

func (cursor) Next(*sqlite.Call) (sqlite.Rows, error) { panic("oh no") }
func (cursor) Close()                                 { ohNo() }

var library = sqlite.Library{
	Scalars: []sqlite.Scalar{{Name: "panics", Args: []int{0}, Call: func(*sqlite.Call) error { panic("oh no") }}},
	Aggregates: []sqlite.Aggregate{
		{Name: "panics_step", Args: []int{1}, New: func() sqlite.Group { return group{inStep: true} }},
		{Name: "panics_final", Args: []int{1}, New: func() sqlite.Group { return group{} }},
	},
	Windows: []sqlite.Window{
		{Name: "panics_row", Args: []int{1}, New: func() sqlite.Partition { return partition{} }},
	},
	Tables: []sqlite.Table{
		{Name: "panics_filter", Columns: []string{"a"}, Hidden: []string{"x"}, Open: func() sqlite.Cursor { return cursor{inFilter: true} }},
		{Name: "panics_next", Columns: []string{"a"}, Hidden: []string{"x"}, Open: func() sqlite.Cursor { return cursor{} }},
	},
	Close: ohNo,
}

var loads int

func init() {
	sqlite.OnLoad(func(c *sqlite.Conn) error {
		if loads++; loads > 1 {
			ohNo()
		}
		return c.Register(library)
	})
}

func main() {}
