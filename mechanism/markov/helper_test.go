package markov

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/geosql/geosql/mechanism/planar"
	"pgregory.net/rapid"
)

// must unwraps a result which cannot fail in the test at hand.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// town is 8.6 km by 11.1 km, with steps of 10 m.
var town = must(planar.NewDomain("town", 39.9, 116.35, 40, 116.45, 10))

// grids are of all shapes that make a difference to neighbourhoods.
var grids = map[string]*Grid{
	"one cell":   must(NewGrid(must(planar.NewDomain("spot", 40, 116, 40.001, 116.0012, 1)), 113)),
	"column":     must(NewGrid(must(planar.NewDomain("road", 40, 116, 40.1, 116.001, 10)), 500)),
	"row":        must(NewGrid(must(planar.NewDomain("street", 40, 116, 40.001, 116.1, 10)), 500)),
	"two by two": must(NewGrid(must(planar.NewDomain("block", 39.9999, 115.9999, 40.0001, 116.0001, 5)), 20)),
	"town":       must(NewGrid(town, 1500)),
}

func drawGrid(t *rapid.T) *Grid {
	return grids[rapid.SampledFrom(slices.Sorted(maps.Keys(grids))).Draw(t, "grid")]
}

// A point is a fix as it is added to a trainer.
type point struct {
	trace string
	at    int64
	cell  int
}

const period = time.Minute

// train trains a model; the points are at the centres of their cells.
func train(t fataler, g *Grid, period time.Duration, points []point) *Model {
	t.Helper()
	trainer := NewTrainer(g, period)
	for _, p := range points {
		lat, lon := g.domain.Location(g.Centre(p.cell))
		if got := g.Index(lat, lon); got != p.cell {
			t.Fatalf("cell %d has its centre in cell %d", p.cell, got)
		}
		trainer.Add(p.trace, p.at, lat, lon)
	}
	m, err := trainer.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fataler is a *testing.T, a *testing.B or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// drawPoints draws traces that stay near the first cells, so that transitions
// repeat, with gaps and with fixes which share a slot or a time.
func drawPoints(t *rapid.T, g *Grid) []point {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) point {
		return point{
			trace: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "trace"),
			at:    rapid.Int64Range(-20, 20).Draw(t, "at") * int64(period/time.Microsecond) / 2,
			cell:  rapid.IntRange(0, min(4, g.Len()-1)).Draw(t, "cell") * max(1, (g.Len()-1)/4),
		}
	}), 1, 60).Draw(t, "points")
}

// dense is the chain written out by the definition, from points.
type dense struct {
	start  []float64
	matrix [][]float64
	info   Info
}

// bruteForce counts with maps, and finds neighbours by looking at all pairs.
func bruteForce(g *Grid, points []point) dense {
	n := g.Len()
	slots := map[string]map[int64]point{}
	first := map[string]int64{}
	for _, p := range points {
		if at, ok := first[p.trace]; !ok || p.at < at {
			first[p.trace] = p.at
		}
	}
	for _, p := range points {
		if slots[p.trace] == nil {
			slots[p.trace] = map[int64]point{}
		}
		slot := (p.at - first[p.trace]) / int64(period/time.Microsecond)
		q, ok := slots[p.trace][slot]
		if !ok || p.at < q.at || p.at == q.at && p.cell < q.cell {
			slots[p.trace][slot] = p
		}
	}
	visits, counts := make([]float64, n), make([][]float64, n)
	for i := range counts {
		counts[i] = make([]float64, n)
	}
	d := dense{start: make([]float64, n), matrix: make([][]float64, n)}
	d.info = Info{Domain: g.domain.Name(), CellMetres: g.metres, Period: period, Width: g.width, Height: g.height, Traces: int64(len(slots))}
	for _, trace := range slots {
		for slot, p := range trace {
			visits[p.cell]++
			d.info.Visits++
			if q, ok := trace[slot+1]; ok {
				counts[p.cell][q.cell]++
				d.info.Transitions++
			}
		}
	}
	stayed := 1.0
	for i := range n {
		stayed += counts[i][i]
	}
	stay := stayed / float64(d.info.Transitions+9)
	for i := range n {
		if visits[i] > 0 {
			d.info.VisitedCells++
		}
		d.start[i] = (1-1e-6)*visits[i]/float64(d.info.Visits) + 1e-6/float64(n)
		total, neighbours := 0.0, 0.0
		for j := range n {
			total += counts[i][j]
			if adjacent(g, i, j) && i != j {
				neighbours++
			}
			if counts[i][j] > 0 {
				d.info.Nonzero++
			}
		}
		d.matrix[i] = make([]float64, n)
		for j := range n {
			pseudo := 0.0
			switch {
			case neighbours == 0:
				pseudo = 1
			case i == j:
				pseudo = stay
			case adjacent(g, i, j):
				pseudo = (1 - stay) / neighbours
			}
			d.matrix[i][j] = (1-1e-6)*(counts[i][j]+pseudo)/(total+1) + 1e-6/float64(n)
		}
	}
	return d
}

func adjacent(g *Grid, i, j int) bool {
	a, b := g.Centre(i), g.Centre(j)
	return max(a.I-b.I, b.I-a.I, a.J-b.J, b.J-a.J) <= g.k
}

// unit is the belief that cell i is certain.
func unit(n, i int) []float64 {
	p := make([]float64, n)
	p[i] = 1
	return p
}

func total(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	return sum
}

// differ says where two beliefs are further apart than a relative error.
func differ(got, want []float64, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d values, want %d", len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= tolerance*want[i]) {
			return fmt.Errorf("cell %d has %v, want %v", i, got[i], want[i])
		}
	}
	return nil
}
