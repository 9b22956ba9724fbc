package pgfunc

import (
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/sqlite"
)

// Aggregates returns the aggregates.
func Aggregates() []sqlite.Aggregate {
	list := []sqlite.Aggregate{
		{Name: "array_agg", Args: []int{1}, New: func() sqlite.Group { return &arrayGroup{} }},
		{Name: "bool_and", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "every", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{} }},
		{Name: "bool_or", Args: []int{1}, New: func() sqlite.Group { return &boolGroup{or: true} }},
		{Name: "percentile_cont", Args: []int{2, 3}, New: func() sqlite.Group { return &percentileGroup{between: true} }},
		{Name: "percentile_disc", Args: []int{2, 3}, New: func() sqlite.Group { return &percentileGroup{} }},
	}
	for name, g := range map[string]spreadGroup{"stddev": {1, true}, "stddev_samp": {1, true}, "stddev_pop": {0, true},
		"variance": {1, false}, "var_samp": {1, false}, "var_pop": {0, false}} {
		list = append(list, sqlite.Aggregate{Name: name, Args: []int{1}, New: func() sqlite.Group { return &spreadRun{spreadGroup: g} }})
	}
	return list
}

// A spreadGroup says which variance, or root of one, an aggregate answers.
type spreadGroup struct {
	less float64 // is taken from the number of values
	root bool
}

// spreadRun adds up one group: the mean so far, and the squares of the distances from it.
type spreadRun struct {
	spreadGroup
	n, mean, squares float64
}

func (g *spreadRun) Step(c *sqlite.Call) error {
	v := c.Arg(0).Copy()
	x, isNumber := number(v)
	switch {
	case v == nil:
		return nil
	case !isNumber:
		return errNoNumber
	}
	g.n++
	from := x - g.mean
	g.mean += from / g.n
	g.squares += float64(from * (x - g.mean))
	return nil
}

func (g *spreadRun) Final(c *sqlite.Call) error {
	variance := g.squares / (g.n - g.less)
	switch {
	case g.n <= g.less:
		c.ResultNull(0)
	case g.root:
		c.ResultFloat(0, math.Sqrt(variance))
	default:
		c.ResultFloat(0, variance)
	}
	return nil
}

var errNoNumber = &Error{Code: CodeBadText, Message: "the aggregate takes numbers"}

// mostSorted is how many values a percentile takes.
const mostSorted = 5_000_000

// percentileGroup is percentile_cont(x, p), which lies between values, or percentile_disc(x, p), which is one of them. A
// third argument sorts them down.
type percentileGroup struct {
	between, down bool
	p             float64
	values        []float64
}

func (g *percentileGroup) Step(c *sqlite.Call) error {
	v, p := c.Arg(0).Copy(), c.Arg(1).Copy()
	x, isNumber := number(v)
	share, isShare := number(p)
	switch {
	case !isShare || share < 0 || share > 1:
		return &Error{Code: CodeBadParameter, Message: "a percentile takes one share from 0 to 1"}
	case v == nil:
		return nil
	case !isNumber:
		return errNoNumber
	case len(g.values) == mostSorted:
		return &Error{Code: CodeLimitExceeded, Message: "a percentile takes 5000000 values at most"}
	}
	g.values, g.p, g.down = append(g.values, x), share, c.Len() == 3
	return nil
}

func (g *percentileGroup) Final(c *sqlite.Call) error {
	n := len(g.values)
	if n == 0 {
		c.ResultNull(0)
		return nil
	}
	slices.Sort(g.values)
	if g.down {
		slices.Reverse(g.values)
	}
	if !g.between {
		c.ResultFloat(0, g.values[max(0, int(math.Ceil(g.p*float64(n)))-1)])
		return nil
	}
	at := g.p * float64(n-1)
	lo, hi := g.values[int(at)], g.values[int(math.Ceil(at))]
	c.ResultFloat(0, lo+float64((at-math.Floor(at))*(hi-lo)))
	return nil
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
