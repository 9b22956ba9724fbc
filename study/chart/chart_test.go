package chart

import (
	"io"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/study/chart/charttest"
	"github.com/geosql/geosql/study/track"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 4800, "0 500 1000 1500 2000 2500 3000 3500 4000 4500"},
		{-0.3, 9.3, "0 1 2 3 4 5 6 7 8 9"},
		{-7.2, 8.1, "-6 -4 -2 0 2 4 6 8"},
		{0, 0.05, "0 0.01 0.02 0.03 0.04 0.05"},
	} {
		var labels []string
		for _, tick := range ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s", c.lo, c.hi, got)
		}
	}
}

// A scale may have words for numbers; a curve without points is left out.
func TestPage(t *testing.T) {
	page, err := Page([][]Panel{{
		{Title: "one", X: "size", Y: "metres", Right: 1, Names: []string{"small", "large"}, Curves: []Curve{
			{Name: "length", Colour: Blue, Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 3}}},
			{Name: "width", Colour: Red, Dashed: true, Plain: true, Points: plotter.XYs{{X: 0, Y: 2}, {X: 1, Y: 2}}},
			{Name: "height", Colour: Green},
		}},
		{Title: "empty", X: "size", Right: 1},
		{Title: "below", X: "depth", Right: 1, Bottom: -30, Curves: []Curve{
			{Name: "sea", Colour: Sky, Points: plotter.XYs{{X: 0, Y: -30}, {X: 1, Y: 20}}},
			{Name: "fish", Colour: Grey, Loose: true, Points: plotter.XYs{{X: 0.5, Y: -3}}},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	texts := charttest.Texts(t, page)
	charttest.Hold(t, texts, 1, "one", "metres", "small", "large", "length", "width", "empty", "-20", "40", "sea", "fish")
	charttest.Hold(t, texts, 2, "size")
	charttest.Hold(t, texts, 0, "height")
}

// A cloud has no name and no line, and the scale reaches to its top.
func TestCloud(t *testing.T) {
	curves := []Curve{{
		Name: "median", Colour: Blue, Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: 3}},
		Cloud: plotter.XYs{{X: 0, Y: 0.5}, {X: 0, Y: 40}, {X: 1, Y: 3}},
	}}
	draw := func() io.WriterTo {
		page, err := Page([][]Panel{{{Right: 1, Curves: curves}}})
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	charttest.Hold(t, charttest.Texts(t, draw()), 1, "median", "60")
	if n := charttest.Discs(t, draw(), 1); n != 3 {
		t.Errorf("%d discs for a cloud of 3", n)
	}
	if top := Top(curves); top != 40 {
		t.Errorf("the top is %v", top)
	}
}

// Boxes stand above their names; a group may be one value.
func TestBoxes(t *testing.T) {
	page, err := Page([][]Panel{{{Title: "times", Left: -0.5, Right: 1.5, Names: []string{"day", "night"}, Boxes: []Box{
		{Name: "old", Colour: Grey, Groups: [][]float64{{1, 2, 3, 4, 40}, {5}}},
		{Name: "new", Colour: Blue, Groups: [][]float64{{1, 2}, {2, 2, 2}}},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	charttest.Hold(t, charttest.Texts(t, page), 1, "times", "day", "night", "old", "new", "60")
	if _, err := Page([][]Panel{{{Right: 1, Boxes: []Box{{Groups: [][]float64{{}}}}}}}); err == nil {
		t.Error("a box of nothing was drawn")
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
	charttest.Hold(t, charttest.Texts(t, m.Draw()), 1, "islands", "ferry", "stops", "km to the east", "km to the north", "20")
}
