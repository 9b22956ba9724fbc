package pgfunc

import (
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
)

// Aggregates returns the aggregates.
func Aggregates() []sqlite.Aggregate {
	return []sqlite.Aggregate{
		{Name: "array_agg", Args: []int{1}, New: func() sqlite.Group { return &arrayGroup{} }},
		{Name: "bool_and", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "every", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "bool_or", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{or: true} }},
	}
}

// arrayGroup is array_agg over one group.
type arrayGroup struct {
	elements []any
	size     int
}

func (g *arrayGroup) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	if b, ok := v.([]byte); ok {
		v = fmt.Sprintf(`\x%x`, b)
	}
	if s, ok := v.(string); ok {
		g.size += len(s)
	}
	if g.size += 16; g.size > maxText {
		return tooLong("array_agg")
	}
	g.elements = append(g.elements, v)
	return nil
}

func (g *arrayGroup) Final(c *sqlite.Call) error {
	if g.elements == nil {
		c.ResultNull(0)
	} else {
		c.ResultString(0, FormatArray(g.elements))
	}
	return nil
}

// boolGroup is bool_and or bool_or over one group.
type boolGroup struct {
	or    bool
	value any // nil before the first value
}

func (g *boolGroup) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	if v == nil {
		return nil
	}
	b, err := Truth(v)
	if g.value == nil || b == g.or {
		g.value = b
	}
	return err
}

func (g *boolGroup) Final(c *sqlite.Call) error {
	Result(c, 0, g.value)
	return nil
}
