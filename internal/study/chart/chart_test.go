package chart

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/internal/study/track"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 4800, "0 1000 2000 3000 4000"},
		{-0.3, 9.3, "0 2 4 6 8"},
		{-7.2, 8.1, "-5 0 5"},
		{0, 0.05, "0.00 0.01 0.02 0.03 0.04 0.05"},
		{0, 100, "0 20 40 60 80 100"},
		{0, 3e-7, "0 5e-08 1e-07 1.5e-07 2e-07 2.5e-07 3e-07"},
		{0, 3e7, "0 5e+06 1e+07 1.5e+07 2e+07 2.5e+07 3e+07"},
	} {
		var labels []string
		for _, tick := range ticks(c.lo, c.hi, 6) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s", c.lo, c.hi, got)
		}
	}
}

var metres = Axis{"length", "m"}

// onePage returns a page of one panel.
func onePage(t *testing.T, p Panel) io.WriterTo {
	t.Helper()
	page, err := Page([][]Panel{{p}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// A scale may have words for numbers; a curve without points is left out. The legends differ, so
// that each panel has its own.
func TestPage(t *testing.T) {
	size := Axis{"size", "cm"}
	page, err := Page([][]Panel{{
		{Title: "one", X: Axis{Name: "kind"}, Y: metres, Names: []string{"small", "large"}, Curves: []Curve{
			{Name: "length", Style: Blue, Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 3}}},
			{Name: "width", Style: Red, Plain: true, Points: plotter.XYs{{X: 0, Y: 2}, {X: 1, Y: 2}}},
			{Name: "height", Style: Green},
		}},
		{Title: "empty", X: size, Y: metres},
	}, {
		{Title: "below", X: size, Y: metres, Curves: []Curve{
			{Name: "sea", Style: Sky, Points: plotter.XYs{{X: 0, Y: -30}, {X: 1, Y: 20}}},
			{Name: "fish", Style: Grey, Loose: true, Points: plotter.XYs{{X: 0.5, Y: -3}}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, page)
	texts := charttest.Texts(t, page)
	charttest.Hold(t, texts, 1, "one", "kind", "small", "large", "length", "width", "empty", "-20", "sea", "fish")
	charttest.Hold(t, texts, 2, "size (cm)")
	charttest.Hold(t, texts, 3, "length (m)")
	charttest.Hold(t, texts, 0, "height")
}

// Panels with the same series have one legend.
func TestCommonLegend(t *testing.T) {
	curve := func(name string, k int) Curve {
		return Curve{Name: name, Style: Numbered(k), Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 3}}}
	}
	page, err := Page([][]Panel{{
		{Title: "one", X: metres, Y: metres, Curves: []Curve{curve("first", 0)}},
		{Title: "two", X: metres, Y: metres, Curves: []Curve{curve("first", 0), curve("second", 1)}},
		{Title: "three", X: metres, Y: metres, Curves: []Curve{curve("second", 1)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, page)
	charttest.Hold(t, charttest.Texts(t, page), 1, "first", "second")
}

// A cloud has no name and no line, and the scale reaches to its top.
func TestCloud(t *testing.T) {
	page := onePage(t, Panel{X: metres, Y: metres, Curves: []Curve{{
		Name: "median", Style: Blue, Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 3}},
		Cloud: plotter.XYs{{X: 0, Y: 0.5}, {X: 0, Y: 40}, {X: 1, Y: 3}},
	}}})
	charttest.Check(t, page)
	charttest.Hold(t, charttest.Texts(t, page), 1, "median", "40")
	if n := charttest.Discs(t, page, cloudRadius); n != 3 {
		t.Errorf("%d discs for a cloud of 3", n)
	}
}

// Intervals are named once, and the scale reaches to their ends. NaN and infinities have none. One interval alone is
// seen, too.
func TestSpread(t *testing.T) {
	for _, names := range [][]string{nil, {"small", "large"}} {
		var curves []Curve
		for k := range 2 {
			c := Curve{Name: string(rune('a' + k)), Style: Numbered(k)}
			c.Add(0, 3, stats.Quartiles{Low: 1, High: 40})
			c.Add(1, 5, stats.NewQuartiles(nil))
			c.Add(1, 5, stats.Quartiles{Low: 1, High: math.Inf(1)})
			if len(c.Points) != 3 || len(c.Spread) != 1 {
				t.Fatalf("%+v", c)
			}
			curves = append(curves, c)
		}
		page := onePage(t, Panel{X: metres, Y: metres, Names: names, Curves: curves, Spread: "quartiles of the cats"})
		charttest.Check(t, page)
		charttest.Hold(t, charttest.Texts(t, page), 1, "quartiles of the cats", "40")
	}
}

// Axes begin at 0 unless that leaves half of them empty, and end a little above the values.
// Shares end at 100 %.
func TestHeights(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		unit   string
		whole  bool
		wantLo float64
		wantHi float64
	}{
		{1, 10, "m", false, 0, 10.4},
		{60, 110, "m", false, 58, 112},
		{-10, 10, "m", false, -10.8, 10.8},
		{5, 5, "m", false, 0, 5.2},
		{-5, -5, "m", false, -10, 0},
		{0, 0, "m", false, 0, 1},
		{0, 99, Percent, false, 0, 100},
		{0, 10, Percent, false, 0, 10.4},
		{0, 150, Percent, false, 0, 156},
		{20, 30, Percent, true, 0, 100},
	} {
		p := Panel{Y: Axis{"size", c.unit}, Whole: c.whole, Curves: []Curve{{Points: plotter.XYs{{Y: c.lo}, {Y: c.hi}}}}}
		if lo, hi := p.heights(); math.Abs(lo-c.wantLo) > 1e-9 || math.Abs(hi-c.wantHi) > 1e-9 {
			t.Errorf("%+v: %v to %v", c, lo, hi)
		}
	}
}

func TestSameScale(t *testing.T) {
	of := func(y float64) Panel { return Panel{Curves: []Curve{{Points: plotter.XYs{{Y: y}}}}} }
	lines := [][]Panel{{of(3), of(1)}, {of(25)}}
	SameScale(lines...)
	for _, p := range slices.Concat(lines...) {
		if lo, hi := p.heights(); lo != 0 || hi != 26 {
			t.Errorf("%v to %v", lo, hi)
		}
	}
}

// No two of many series look the same, and no two of the first have the same dashes.
func TestNumbered(t *testing.T) {
	seen := map[string]int{}
	for k := range len(numbered) * len(numbered) {
		s := Numbered(k)
		key := fmt.Sprint(s.colour, s.dashes)
		if other, ok := seen[key]; ok {
			t.Errorf("%d looks like %d", k, other)
		}
		seen[key] = k
		for j := range k {
			if k < len(numbered) && slices.Equal(s.dashes, Numbered(j).dashes) {
				t.Errorf("%d has the dashes of %d", k, j)
			}
		}
	}
}

// Marks of a long axis are left out where they would lie on each other.
func TestManyNames(t *testing.T) {
	p := Panel{X: metres, Y: metres, Curves: []Curve{{Name: "a", Style: Blue}}}
	for k := range 60 {
		p.Names = append(p.Names, strconv.Itoa(1000+k))
		p.Curves[0].Points = append(p.Curves[0].Points, plotter.XY{X: float64(k), Y: 1})
	}
	charttest.Check(t, onePage(t, p))
}

// Boxes stand above their names; a group may be one value.
func TestBoxes(t *testing.T) {
	page := onePage(t, Panel{Title: "times", X: Axis{Name: "when"}, Y: metres, Names: []string{"day", "night"}, Boxes: []Box{
		{Name: "old", Style: Grey, Groups: [][]float64{{1, 2, 3, 4, 40}, {5}}},
		{Name: "new", Style: Blue, Groups: [][]float64{{1, 2}, {2, 2, 2}}},
	}})
	charttest.Check(t, page)
	charttest.Hold(t, charttest.Texts(t, page), 1, "times", "day", "night", "old", "new", "40")
	if _, err := Page([][]Panel{{{Boxes: []Box{{Groups: [][]float64{{}}}}}}}); err == nil {
		t.Error("a box of nothing was drawn")
	}
}

// Bars stand side by side on 0, and do not touch.
func TestBars(t *testing.T) {
	p := Panel{X: Axis{Name: "when"}, Y: metres, Names: []string{"day", "night", "dusk"}, Bars: []Bar{
		{Name: "old", Style: Black, Heights: []float64{10, 20, 30}},
		{Name: "new", Style: Blue, Heights: []float64{0, 40, 10}},
	}}
	page := onePage(t, p)
	charttest.Check(t, page)
	charttest.Hold(t, charttest.Texts(t, page), 1, "old", "new", "day", "40")
	end := math.Inf(-1)
	for group := range p.Names {
		for k := range p.Bars {
			left, right := bars{p.Bars[k], k, len(p.Bars)}.place(group)
			if left <= max(end, float64(group)-0.5) || right <= left || right >= float64(group)+0.5 {
				t.Errorf("bar %d of group %d is from %v to %v", k, group, left, right)
			}
			end = right
		}
	}
}

// A layer of one place, and one across the antimeridian.
func TestMap(t *testing.T) {
	m := NewMap("islands", track.Fix{Lat: -17, Lon: 179.9})
	if err := m.Line("ferry", []track.Fix{{Lat: -17, Lon: 179.9}, {Lat: -17.1, Lon: -179.9}}, Red); err != nil {
		t.Fatal(err)
	}
	if err := m.Discs("stops", []track.Fix{{Lat: -17, Lon: 179.95}, {Lat: -17, Lon: 179.95}}, Sky, 2); err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, m.Draw())
	charttest.Hold(t, charttest.Texts(t, m.Draw()), 1, "islands", "ferry", "stops", "to the east (km)", "to the north (km)", "20")
}
