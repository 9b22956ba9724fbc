package interval

import (
	"math"
	"strings"
	"testing"
)

// released are numbers with their intervals.
var released = map[float64]Interval{
	12: {1, 6, false}, 3: {2, 6, false}, 0.5: {1, 0.0625, false}, 7: {1, 16, true}, 9: {1, math.NaN(), false},
}

func of(number float64) Interval { return released[number] }

// A table with all of its answers marked. Columns with other numbers have none, and numbers that are shown too often neither.
func TestFinder(t *testing.T) {
	x := math.Inf(1) // stands for a text
	for _, c := range []struct {
		rows [][]float64
		want string
	}{
		{[][]float64{{12, 3}, {3, 0.5}}, "± 6 | ± 6 / ± 6 | ± 0.0625"},
		{[][]float64{{11, 3}, {12, 12}}, " | ± 6 /  | ± 6"}, // an hour 12 beside a count of 12
		{[][]float64{{12, 12}}, " | "},                      // which of them?
		{[][]float64{{x, 7}, {12, 9}}, " | ± 16 ranks /  | "},
		{[][]float64{{3, 3}, {3, 0.5}}, " |  /  | ± 0.0625"},
		{nil, ""},
	} {
		f := NewFinder(of, 2)
		for _, row := range c.rows {
			for i, v := range row {
				if v == x {
					f.SeeOther(i)
				} else {
					f.See(i, v)
				}
			}
		}
		var rows []string
		for _, row := range c.rows {
			rows = append(rows, f.Interval(0, row[0]).String()+" | "+f.Interval(1, row[1]).String())
		}
		if got := strings.Join(rows, " / "); got != c.want {
			t.Errorf("%v: %q, want %q", c.rows, got, c.want)
		}
	}
}

func TestPlus(t *testing.T) {
	for _, c := range []struct {
		a, b Interval
		want string
	}{
		{Interval{1, 6, false}, Interval{}, "± 6"}, {Interval{}, Interval{2, 3, true}, "± 3 ranks"}, {Interval{1, 6, false}, Interval{2, 7, false}, "± 7"},
		{Interval{1, 6, false}, Interval{2, 7, true}, ""}, {Interval{1, 6, false}, Interval{1, math.NaN(), false}, ""}, {Interval{}, Interval{}, ""},
	} {
		if got := c.a.Plus(c.b); got.String() != c.want || got.Times != c.a.Times+c.b.Times {
			t.Errorf("%v and %v: %v, want %s", c.a, c.b, got, c.want)
		}
	}
}
