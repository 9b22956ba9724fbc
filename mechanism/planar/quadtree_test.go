package planar

import (
	"crypto/rand"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/nearest"
)

func mustAdaptive(t testing.TB, d *Domain, eps string, cellM float64) *Heatmap {
	t.Helper()
	return mustMap(t, d.AdaptiveHeatmap, eps, cellM)
}

// The squares of an adaptive map cover each cell of the grid once, and where there is no noise to speak of they hold as many
// locations as they say, small squares where these are. A place outside the box is moved to it.
func TestAdaptiveMapCoversTheGrid(t *testing.T) {
	for _, d := range []*Domain{block(t), mustDomain(t, -20, 175, -15, -175, 10), mustDomain(t, 39.9, 116, 39.92, 117, 1)} {
		h := mustAdaptive(t, d, "1000", max(d.width, d.height)/25)
		counts := new(CellCounts)
		for range 40 {
			h.Add(counts, d.box.South+0.003, nearest.Wrap(d.frame.lon0-d.box.Half+0.004))
		}
		h.Add(counts, 90, 0)
		h.Add(counts, d.box.North-0.004, d.frame.lon0)
		listed := h.Draw(exact.NewSource(nil), counts)
		covered := map[int64]int{}
		for _, s := range listed {
			n := int64(0)
			for row := s.Cell / h.grid.columns; row < min(s.Cell/h.grid.columns+s.Side, h.grid.rows); row++ {
				for column := s.Cell % h.grid.columns; column < min(s.Cell%h.grid.columns+s.Side, h.grid.columns); column++ {
					covered[row*h.grid.columns+column]++
					n += counts.of[row*h.grid.columns+column]
				}
			}
			if n != s.N || n > 1 && s.Side > 1 {
				t.Errorf("a square of %d cells has %d locations, and says %d", s.Side, n, s.N)
			}
		}
		for cell := range h.grid.columns * h.grid.rows {
			if covered[cell] != 1 {
				t.Fatalf("cell %d of %d x %d is in %d squares", cell, h.grid.columns, h.grid.rows, covered[cell])
			}
		}
		m := parseHeat(t, h.AppendGeoJSON(nil, listed))
		if len(m.Features) != len(listed) || m.Threshold != 0 || m.CellM != h.grid.cellM || m.Epsilon != 1000 {
			t.Errorf("%+v", m)
		}
		for i, f := range m.Features {
			if f.ring(t); f.Properties.CellM != float64(listed[i].Side)*h.grid.cellM || f.Properties.Count != listed[i].N {
				t.Errorf("%+v is no %+v", f, listed[i])
			}
		}
	}
}

// A map of four cells follows its law: it is one square or four, and each count has noise of its own of rate epsilon/4. The
// constants are ACCURACY's. 40,000 draws, false alarm 1e-10. A map that spends twice as much is caught.
func TestAdaptiveMapFollowsItsLaw(t *testing.T) {
	const n, a = 40_000, 0.15736
	h := mustAdaptive(t, block(t), "1", 1120)
	_, places := quarters(t, "1")
	c := h.collect(places, []int{0, 0, 3, 3, 3, 3, 2})
	check := func(drawn *Heatmap) error {
		type event struct{ cells, cell, count int64 }
		events := newTally[event]()
		split := 1 - math.Exp(-a*7)/(1+math.Exp(-a))
		expect := func(cells, cell, of int64, p float64) {
			for k := of - 160; k <= of+160; k++ { // one of 160,000 counts is beyond with probability 1e-12
				events.probability[event{cells, cell, k}] = p * math.Tanh(0.125) * math.Exp(-0.25*math.Abs(float64(k-of)))
			}
		}
		expect(1, 0, 7, 1-split)
		for cell := range int64(4) {
			expect(4, cell, c.of[cell], split)
		}
		src := exact.NewSource(nil)
		for range n {
			listed := drawn.Draw(src, c)
			for _, s := range listed {
				events.count[event{int64(len(listed)), s.Cell, s.N}]++
			}
		}
		return events.check(n, 1e-10)
	}
	if err := check(h); err != nil {
		t.Error(err)
	}
	if full := mustAdaptive(t, block(t), "2", 1120); check(full) == nil {
		t.Error("twice the rate is not caught")
	}
}

// Noise of different squares is independent: whether one of two alike is split says nothing of the other one.
func TestSquaresAreDrawnIndependently(t *testing.T) {
	const n = 40_000
	h := mustAdaptive(t, mustDomain(t, 39.98, 115.974, 40.02, 116.026, 1), "1", 1120)
	counts := new(CellCounts)
	for range 9 {
		h.Add(counts, 39.982, 115.976)
		h.Add(counts, 39.982, 116.024)
	}
	var both, west, east, roots float64
	src := exact.NewSource(nil)
	for range n {
		var small [2]float64
		listed := h.Draw(src, counts)
		for _, s := range listed {
			if row := s.Cell / h.grid.columns; s.Side == 1 && row < 2 {
				small[min(s.Cell%h.grid.columns/2, 1)] = 1
			}
		}
		if len(listed) > 1 {
			roots++
			west, east, both = west+small[0], east+small[1], both+small[0]*small[1]
		}
	}
	p, q := west/roots, east/roots
	if z := (both/roots - p*q) / math.Sqrt(p*q*(1-p)*(1-q)/roots); math.Abs(z) > 6.5 || p < 0.3 || p > 0.7 {
		t.Errorf("split %v and %v, both %v", p, q, both/roots)
	}
}

// A map of more than 10^11 cells is drawn with as much work as its locations make: a draw over 50,000 reads less than a byte of entropy
// for ten thousand cells.
func TestAdaptiveMapOfManyCells(t *testing.T) {
	h := mustAdaptive(t, mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1), "1", 0.5)
	counts, entropy := new(CellCounts), &counted{Reader: rand.Reader}
	src := exact.NewSource(entropy)
	for range 50_000 {
		h.Add(counts, 39.8+0.3*float64(src.Below(1e6))/1e6, 116.2+0.3*float64(src.Below(1e6))/1e6)
	}
	listed := h.Draw(src, counts)
	t.Logf("%d x %d cells: %d squares, of %d bytes", h.grid.columns, h.grid.rows, len(listed), entropy.n)
	if entropy.n > 10_000_000 {
		t.Errorf("a draw reads %d bytes", entropy.n)
	}
}

func TestAdaptiveMapRefuses(t *testing.T) {
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	for _, c := range []struct {
		eps   *big.Rat
		cell  float64
		names string
	}{
		{big.NewRat(1, 1), 0, "cell_m must be at least 0.1, not 0"},
		{big.NewRat(1, 1), 0.1, "cells, the limit is 1099511627776"},
		{big.NewRat(0, 1), 1000, "epsilon"},
		{big.NewRat(1, 1<<43), 1000, "epsilon is too small"},
		{big.NewRat(9_000_001, 1), 1000, "epsilon"},
	} {
		if _, err := d.AdaptiveHeatmap(c.eps, c.cell); err == nil || !strings.Contains(err.Error(), c.names) {
			t.Errorf("epsilon %v, cell %v: %v", c.eps, c.cell, err)
		}
	}
	for _, eps := range []string{"0.25", "1e-11", "9000000"} {
		h := mustAdaptive(t, d, eps, 1000)
		if p := h.Price(); p.Unit != budget.Record || fmt.Sprint(p.Amount.Float64()) != fmt.Sprint(must64(eps)) {
			t.Errorf("price %v", p)
		}
		h.Draw(exact.NewSource(nil), new(CellCounts))
	}
}

func must64(decimal string) float64 {
	r, _ := new(big.Rat).SetString(decimal)
	f, _ := r.Float64()
	return f
}
