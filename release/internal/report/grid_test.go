package report

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/planar"
)

// at returns the column and the row that one location counts in.
func at(t *testing.T, box Box, lat, lon float64) (column, row int) {
	t.Helper()
	g := NewGrid(box)
	g.Add(lat, lon)
	for i, n := range g.counts {
		if n == 1 {
			return i % g.columns, i / g.columns
		}
	}
	t.Fatalf("%v, %v counts nowhere", lat, lon)
	return
}

// A box of 3 x 1 degrees at the equator has 72 x 24 squares.
func TestGridPlacesLocations(t *testing.T) {
	box := Box{South: -0.5, West: 10, North: 0.5, East: 13}
	for _, c := range []struct {
		lat, lon    float64
		column, row int
	}{
		{-0.5, 10, 0, 0}, {0.5, 13, 71, 23}, {0, 11.5, 36, 12},
		{-0.4999, 10.0416, 0, 0}, {-0.4999, 10.0417, 1, 0},
		{-0.4583, 10, 0, 1}, {-0.4584, 10, 0, 0},
		{80, 9, 0, 23}, {-80, 14, 71, 0},
		{0, -170, 71, 12}, {0, -168, 0, 12}, // the nearer side, round the Earth
		{math.NaN(), math.NaN(), 0, 0},
	} {
		if column, row := at(t, box, c.lat, c.lon); column != c.column || row != c.row {
			t.Errorf("%v, %v counts in %d, %d, not in %d, %d", c.lat, c.lon, column, row, c.column, c.row)
		}
	}
}

func TestGridAcrossTheAntimeridian(t *testing.T) {
	box := Box{South: -0.5, West: 178.5, North: 0.5, East: -178.5}
	for lon, want := range map[float64]int{178.5: 0, 179.99: 35, 180: 36, -180: 36, -179.99: 36, -178.5: 71, -170: 71, 170: 0} {
		if column, _ := at(t, box, 0, lon); column != want {
			t.Errorf("longitude %v counts in column %d, not %d", lon, column, want)
		}
	}
}

func TestGridOfLongBoxes(t *testing.T) {
	for _, box := range []Box{{0, 0, 0.001, 90}, {0, 0, 60, 0.001}, {-90, 0, -89, 1}} {
		g := NewGrid(box)
		if max(g.columns, g.rows) != longSide || min(g.columns, g.rows) != longSide/maxAspect {
			t.Errorf("%v has %d x %d squares", box, g.columns, g.rows)
		}
	}
}

// Workers that count apart and merge have the counts of one worker.
func TestMergeIsAdding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, moved := NewGrid(washington), NewMoves(planar.LaplaceLaw.Plane(0.01))
		grids := []*Grid{NewGrid(washington), NewGrid(washington), NewGrid(washington)}
		moves := []*Moves{NewMoves(planar.LaplaceLaw.Plane(0.01)), NewMoves(planar.LaplaceLaw.Plane(0.01)), NewMoves(planar.LaplaceLaw.Plane(0.01))}
		n := rapid.IntRange(0, 200).Draw(t, "n")
		for range n {
			worker := rapid.IntRange(0, 2).Draw(t, "worker")
			lat, lon := rapid.Float64Range(-90, 90).Draw(t, "lat"), rapid.Float64Range(-180, 180).Draw(t, "lon")
			metres := float64(rapid.IntRange(0, 2000).Draw(t, "metres"))
			whole.Add(lat, lon)
			grids[worker].Add(lat, lon)
			moved.Add(metres)
			moves[worker].Add(metres)
		}
		for i := 1; i < 3; i++ {
			grids[0].Merge(grids[i])
			moves[0].Merge(moves[i])
		}
		if whole.difference(grids[0]) != 0 || grids[0].Total() != int64(n) {
			t.Fatal("the merged maps differ from the whole one")
		}
		if *moves[0] != *moved || moved.Total() != int64(n) {
			t.Fatal("the merged histograms differ from the whole one")
		}
	})
}

func TestDifferenceOfMaps(t *testing.T) {
	g, h := NewGrid(washington), NewGrid(washington)
	if d := g.difference(h); d != 0 {
		t.Errorf("empty maps differ by %v", d)
	}
	for range 4 {
		g.Add(38.9, -77)
		h.Add(38.9, -77)
	}
	for range 4 {
		g.Add(38.9, -77)
		h.Add(38.8, -77.1)
	}
	if d := g.difference(h); d != 0.5 {
		t.Errorf("maps of which half the locations moved differ by %v", d)
	}
}

func TestAddDoesNotAllocate(t *testing.T) {
	g, m := NewGrid(washington), NewMoves(planar.LaplaceLaw.Plane(0.01))
	if n := testing.AllocsPerRun(100, func() { g.Add(38.9, -77); m.Add(120) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGridAdd(b *testing.B) {
	b.ReportAllocs()
	g := NewGrid(washington)
	for b.Loop() {
		g.Add(38.9, -77)
	}
}

func BenchmarkMovesAdd(b *testing.B) {
	b.ReportAllocs()
	m := NewMoves(planar.LaplaceLaw.Plane(0.01))
	for b.Loop() {
		m.Add(120)
	}
}
