package planar

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/nearest"
)

func mustHeatmap(t testing.TB, d *Domain, eps string, cellM float64) *Heatmap {
	t.Helper()
	return mustMap(t, d.Heatmap, eps, cellM)
}

// mustMap returns the heat map that a method of a domain makes.
func mustMap(t testing.TB, of func(eps *big.Rat, cellM float64) (*Heatmap, error), eps string, cellM float64) *Heatmap {
	t.Helper()
	e, _ := new(big.Rat).SetString(eps)
	h, err := of(e, cellM)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// block is a domain of some 2.2 km in either direction.
func block(t testing.TB) *Domain { return mustDomain(t, 39.99, 115.987, 40.01, 116.013, 1) }

// quarters returns a heat map of the block with four cells, and a location in each.
func quarters(t testing.TB, eps string) (*Heatmap, [][2]float64) {
	h := mustHeatmap(t, block(t), eps, 1120)
	if h.grid.columns != 2 || h.grid.rows != 2 {
		t.Fatalf("%d x %d cells", h.grid.columns, h.grid.rows)
	}
	return h, [][2]float64{{39.992, 115.99}, {39.992, 116.01}, {40.008, 115.99}, {40.008, 116.01}}
}

// collect returns the counts of a database; -1 stands for a row without a location.
func (h *Heatmap) collect(places [][2]float64, db []int) *CellCounts {
	c := new(CellCounts)
	for _, i := range db {
		if i >= 0 {
			h.Add(c, places[i][0], places[i][1])
		}
	}
	return c
}

// heatLoss returns the largest ln(P(z|x)/P(z|y)) over all answers z of four cells with noise
// of that rate: cells are independent, so it is the sum of each cell's largest.
func heatLoss(rate float64, threshold int64, x, y *CellCounts) float64 {
	listed := func(count, n int64) float64 { return math.Tanh(rate/2) * math.Exp(-rate*math.Abs(float64(n-count))) }
	dropped := func(count int64) float64 { // P(Z < threshold-count)
		if k := float64(threshold - count); k <= 0 {
			return math.Exp(-rate*(1-k)) / (1 + math.Exp(-rate))
		}
		return 1 - math.Exp(-rate*float64(threshold-count))/(1+math.Exp(-rate))
	}
	sum := 0.
	for cell := range int64(4) {
		a, b := x.of[cell], y.of[cell]
		worst := math.Log(dropped(a) / dropped(b))
		for n := threshold; n < threshold+40; n++ {
			worst = max(worst, math.Log(listed(a, n)/listed(b, n)))
		}
		sum += worst
	}
	return sum
}

// Between all databases of up to three rows beside twenty in each cell, with rows added, removed
// and replaced, a heat map spends at most epsilon for each row in which they differ, and all of it for some. With
// all of epsilon as the rate of each cell, it does not.
func TestHeatmapKeepsItsEpsilon(t *testing.T) {
	for _, eps := range trials.Some(t, 1, "0.1", "1", "3") {
		h, places := quarters(t, eps)
		common := slices.Clip(slices.Repeat([]int{0, 1, 2, 3}, 20)) // above the threshold
		var dbs [][]int
		for i := -1; i < 4; i++ {
			for j := -1; j < 4; j++ {
				for k := -1; k < 4; k++ {
					dbs = append(dbs, []int{i, j, k})
				}
			}
		}
		spent := func(rate float64) (worst float64, over bool) {
			for _, x := range dbs {
				for _, y := range dbs {
					rows := 0
					for i := range x {
						if x[i] != y[i] {
							rows++
						}
					}
					if rows == 0 {
						continue
					}
					a, b := h.collect(places, append(common, x...)), h.collect(places, append(common, y...))
					bound, _ := h.epsilon.Float64()
					worst = max(worst, heatLoss(rate, h.counts.Threshold(), a, b)/(float64(rows)*bound))
					moves := int64(0)
					for cell := range int64(4) {
						d := a.of[cell] - b.of[cell]
						moves += max(d, -d)
					}
					cost := new(big.Rat).SetFloat64(rate)
					cost.Mul(cost, new(big.Rat).SetInt64(moves))
					over = over || cost.Cmp(new(big.Rat).Mul(h.epsilon, new(big.Rat).SetInt64(int64(rows)))) > 0
				}
			}
			return worst, over
		}
		rate, err := exact.RateFloor(new(big.Rat).Quo(h.epsilon, big.NewRat(2, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if law, err := exact.NewSparseCounts(rate, h.grid.columns*h.grid.rows); err != nil || *law != *h.counts {
			t.Fatalf("epsilon %s: the noise has the law %+v, %v, not that of the rate %v", eps, *h.counts, err, rate)
		}
		if worst, over := spent(rate); over || math.Abs(worst-1) > 1e-9 {
			t.Errorf("epsilon %s: spends %v of it", eps, worst)
		}
		if worst, over := spent(2 * rate); !over || worst < 1.9 {
			t.Errorf("epsilon %s: a rate of epsilon is not caught, %v", eps, worst)
		}
	}
}

// Each of four cells follows the law of its own noisy count, at half of epsilon: n = 40,000
// draws, false alarm 1e-10. A heat map with twice the rate is caught.
func TestHeatmapFollowsItsLaw(t *testing.T) {
	const n = 40_000
	h, places := quarters(t, "1")
	c := h.collect(places, []int{0, 0, 3, 3, 3, 3, 2})
	check := func(drawn *Heatmap) error {
		type event struct{ cell, count int64 } // 0: not listed
		events := newTally[event]()
		threshold := h.counts.Threshold()
		for cell := range int64(4) {
			rest := 1.
			for k := threshold; k < threshold+60; k++ {
				p := math.Tanh(0.25) * math.Exp(-0.5*math.Abs(float64(k-c.of[cell])))
				events.probability[event{cell, k}] = p
				rest -= p
			}
			events.probability[event{cell, 0}] = rest
		}
		src := exact.NewSource(nil)
		for range n {
			var listed [4]int64
			for _, k := range drawn.Draw(src, c) {
				listed[k.Cell] = k.N
			}
			for cell, k := range listed {
				events.count[event{int64(cell), k}]++
			}
		}
		return events.check(n, 1e-10)
	}
	if err := check(h); err != nil {
		t.Error(err)
	}
	if full := mustHeatmap(t, block(t), "2", 1120); check(full) == nil {
		t.Error("twice the rate is not caught")
	}
}

// heatJSON is a heat map as a program reads it.
type heatJSON struct {
	Type      string
	CellM     float64 `json:"cell_m"`
	Epsilon   float64
	Threshold int64
	Features  []heatFeature
}

type heatFeature struct {
	Type     string
	Geometry struct {
		Type        string
		Coordinates [][][2]float64
	}
	Properties struct {
		Count int64
		CellM float64 `json:"cell_m"` // of an adaptive map
	}
}

func parseHeat(t testing.TB, text []byte) (m heatJSON) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if m.Type != "FeatureCollection" || m.Features == nil || strings.ContainsAny(string(text), "\n\r") {
		t.Errorf("%s", text)
	}
	for _, f := range m.Features {
		below := m.Threshold > 0 && f.Properties.Count < m.Threshold // an adaptive map has no threshold
		if f.Type != "Feature" || f.Geometry.Type != "Polygon" || len(f.Geometry.Coordinates) != 1 || below {
			t.Errorf("%+v", f)
		}
	}
	return m
}

// ring returns the corners of a cell, after checks that it is closed and goes around
// counter-clockwise.
func (f heatFeature) ring(t testing.TB) [][2]float64 {
	t.Helper()
	ring := f.Geometry.Coordinates[0]
	area := 0.
	for i := range ring[1:] {
		a, b := ring[i], ring[i+1]
		area += (a[0]-ring[0][0])*(b[1]-ring[0][1]) - (b[0]-ring[0][0])*(a[1]-ring[0][1])
	}
	if len(ring) != 5 || ring[0] != ring[4] || area <= 0 {
		t.Errorf("ring %v of area %v", ring, area)
	}
	return ring
}

// Without noise to speak of, a map lists the cells of its locations with their numbers, in
// the order of cells, and the rings hold the locations: in frames of both hemispheres, across
// the antimeridian and near a pole.
func TestHeatmapListsItsCells(t *testing.T) {
	for _, c := range []struct {
		south, west, north, east, cell float64
		places                         [][2]float64
	}{
		{39.4, 115.4, 41.1, 117.6, 5000, [][2]float64{{39.9, 116.3}, {39.41, 117.59}, {40.25, 116.5}, {41.09, 115.41}, {39.401, 115.42}}},
		{-20, 175, -15, -175, 20_000, [][2]float64{{-17, 179.99}, {-17, -179.99}, {-19, 176}, {-16, -176}, {-18, 180}}},
		{60, -30, 72, 40, 100_000, [][2]float64{{61, -29}, {71, 39}, {65, 0}}},
		{-89, 10, -80, 60, 50_000, [][2]float64{{-88, 20}, {-81, 59}}},
	} {
		h := mustHeatmap(t, mustDomain(t, c.south, c.west, c.north, c.east, 10), "1000", c.cell)
		counts := new(CellCounts)
		for i, p := range c.places {
			for range 10 + i {
				h.Add(counts, p[0], p[1])
			}
		}
		text := h.AppendGeoJSON(nil, h.Draw(exact.NewSource(nil), counts))
		m := parseHeat(t, text)
		if m.CellM != c.cell || m.Epsilon != 1000 || m.Threshold != 1 {
			t.Errorf("%s", text)
		}
		if len(m.Features) != len(counts.of) {
			t.Errorf("%d of %d cells", len(m.Features), len(counts.of))
		}
		for i, p := range c.places {
			found := 0
			for _, f := range m.Features {
				if inRing(f.ring(t), p) {
					found++
					if f.Properties.Count < int64(10+i) {
						t.Errorf("%v: counts %d", p, f.Properties.Count)
					}
				}
			}
			if found != 1 {
				t.Errorf("%v is in %d cells", p, found)
			}
		}
	}
}

// inRing reports whether a location, as latitude and longitude, lies in a ring that is
// convex. It is moved by a whole turn if that brings it closer.
func inRing(ring [][2]float64, p [2]float64) bool {
	lat, lon := p[0], p[1]
	lon += 360 * math.Round((ring[0][0]-lon)/360)
	for i := range ring[1:] {
		a, b := ring[i], ring[i+1]
		if (b[0]-a[0])*(lat-a[1])-(b[1]-a[1])*(lon-a[0]) < 0 {
			return false
		}
	}
	return true
}

// Cells are squares of the frame, numbered row by row from the south-west, and neighbours
// share their corners to the last decimal.
func TestGrid(t *testing.T) {
	d := mustDomain(t, -20, 175, -15, -175, 10)
	h := mustHeatmap(t, d, "1", 50_000)
	g := h.grid
	corners := map[string]int{}
	for cell := range g.columns * g.rows {
		ring := parseHeat(t, h.AppendGeoJSON(nil, []Square{{exact.Count{Cell: cell, N: h.counts.Threshold()}, 1}})).Features[0].ring(t)
		var xs, ys []float64
		for _, c := range ring[:4] {
			x, y := d.frame.project(c[1], nearest.Wrap(d.frame.offset(nearest.Wrap(c[0]))))
			xs, ys = append(xs, x), append(ys, y)
			corners[fmt.Sprintf("%.7f %.7f", nearest.Wrap(c[0]), c[1])]++
		}
		west, south := float64(cell%g.columns)*50_000+g.west*10, float64(cell/g.columns)*50_000+g.south*10
		for i, want := range [4][2]float64{{0, 0}, {1, 0}, {1, 1}, {0, 1}} {
			if math.Hypot(xs[i]-west-want[0]*50_000, ys[i]-south-want[1]*50_000) > 0.02 {
				t.Fatalf("cell %d: corner %d is at %v %v", cell, i, xs[i], ys[i])
			}
		}
	}
	if got, want := int64(len(corners)), (g.columns+1)*(g.rows+1); got != want {
		t.Errorf("%d different corners, want %d", got, want)
	}
	low := g.Cell(-90, 175) // moved to the box
	high := g.Cell(90, -175)
	if low >= g.columns || high/g.columns != g.rows-1 {
		t.Errorf("the south-west is cell %d, the north-east %d of %d x %d", low, high, g.columns, g.rows)
	}
	inRegion, err := d.WithRegion(t.Context(), "POLYGON((176 -19, 177 -19, 177 -18, 176 -19))")
	if err != nil {
		t.Fatal(err)
	}
	if other := mustHeatmap(t, inRegion, "1", 50_000).grid; other.columns != g.columns || other.rows != g.rows || other.west != g.west || other.south != g.south {
		t.Error("a region changes the grid")
	}
}

// Every location of the box has its cell, and each border of the grid is within a cell of one.
func TestGridHoldsTheBox(t *testing.T) {
	for _, d := range []*Domain{
		mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1), mustDomain(t, -15, 0, 25, 30, 100), mustDomain(t, 85, -90, 90, 90, 100),
	} {
		h := mustHeatmap(t, d, "1", 1000)
		var lowest, highest [2]float64
		const n = 500
		for i := range n + 1 {
			for j := range n + 1 {
				lat := d.box.South + (d.box.North-d.box.South)*float64(i)/n
				x, y := d.position(lat, nearest.Wrap(d.frame.lon0+d.box.Half*(2*float64(j)/n-1)))
				at := [2]float64{(x - h.grid.west) / h.grid.side, (y - h.grid.south) / h.grid.side}
				for k := range at {
					lowest[k] = min(lowest[k], at[k])
					highest[k] = max(highest[k], at[k])
				}
			}
		}
		for k, size := range []int64{h.grid.columns, h.grid.rows} {
			if lowest[k] < 0 || highest[k] > float64(size) || lowest[k] > 1 || highest[k] < float64(size)-2 {
				t.Errorf("%v: from %v to %v of %d cells", d, lowest[k], highest[k], size)
			}
		}
	}
}

// A counted reader counts what is read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// The work for a grid of more than 10^8 cells depends on its occupied and its listed cells: a draw over 3,000 reads less than a
// byte of entropy for a hundred cells.
func TestHeatmapOfManyCells(t *testing.T) {
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	h := mustHeatmap(t, d, "1", 15)
	if cells := h.grid.columns * h.grid.rows; cells < 100_000_000 {
		t.Fatalf("%d cells", cells)
	}
	counts, entropy := new(CellCounts), &counted{Reader: rand.Reader}
	src := exact.NewSource(entropy)
	for range 3000 {
		h.Add(counts, 39.8+0.3*float64(src.Below(1e6))/1e6, 116.2+0.3*float64(src.Below(1e6))/1e6)
	}
	drawn := 0
	const draws = 200
	for range draws {
		listed := h.Draw(src, counts)
		h.AppendGeoJSON(nil, listed)
		if !slices.IsSortedFunc(listed, func(a, b Square) int { return int(a.Cell - b.Cell) }) {
			t.Fatal("not in the order of cells")
		}
		drawn += len(listed)
	}
	t.Logf("%d x %d cells, threshold %d: %d listed in %d draws, of %d bytes each", h.grid.columns, h.grid.rows, h.counts.Threshold(), drawn, draws, entropy.n/draws)
	if entropy.n/draws > 1_000_000 {
		t.Errorf("%d draws read %d bytes", draws, entropy.n)
	}
}

func TestHeatmapRefuses(t *testing.T) {
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	for _, c := range []struct {
		eps   *big.Rat
		cell  float64
		names string
	}{
		{big.NewRat(1, 1), 0, "cell_m must be at least 0.1, not 0"},
		{big.NewRat(1, 1), -1, "cell_m must be at least 0.1, not -1"},
		{big.NewRat(1, 1), math.NaN(), "cell_m must be"},
		{big.NewRat(1, 1), math.Inf(1), "cell_m +Inf exceeds the box"},
		{big.NewRat(1, 1), 190_000, "cell_m 190000 exceeds the box"},
		{big.NewRat(1, 1), 0.1, "cells, the limit is 1099511627776"},
		{big.NewRat(0, 1), 1000, "epsilon"},
		{big.NewRat(1, 1<<46), 1000, "epsilon is too small"},
		{new(big.Rat).SetFloat64(5e-324), 1000, "epsilon is too small"},
		{big.NewRat(9_000_001, 1), 1000, "epsilon"},
	} {
		if _, err := d.Heatmap(c.eps, c.cell); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("epsilon %v, cell %v: %v", c.eps, c.cell, err)
		}
	}
	if p := mustHeatmap(t, d, "0.25", 1000).Price(); p.Unit != budget.Record || p.Amount.Float64() != 0.25 {
		t.Errorf("price %v", p)
	}
}
