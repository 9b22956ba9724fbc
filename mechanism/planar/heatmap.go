package planar

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/exact"
)

// A Heatmap releases how many locations there are in squares of a grid over a domain, with noise: it lists the cells with a
// noisy count that reaches a public threshold, or the leaves of a quadtree, see [Domain.AdaptiveHeatmap]. It is immutable
// and safe for concurrent use with a Source per goroutine.
type Heatmap struct {
	grid    Grid
	epsilon *big.Rat
	price   budget.Price
	counts  *exact.SparseCounts // of a flat map
	tree    *quadtree           // of an adaptive one
}

// A Square is a square of cells with a released number. Its south-west cell is one of the grid.
type Square struct {
	exact.Count       // of its south-west cell
	Side        int64 // in cells
}

// Heatmap returns the heat map of a domain with square cells of cellM metres that spends eps
// for each location, above 0 and at most [budget.Max]. cellM is at least 0.1 and at most the
// larger side of the domain's box, and the grid has at most 2^40 cells. Errors name cell_m
// or epsilon.
func (d *Domain) Heatmap(eps *big.Rat, cellM float64) (*Heatmap, error) {
	h, err := d.newHeatmap(eps, cellM)
	if err != nil {
		return nil, err
	}
	rate, err := exact.RateFloor(new(big.Rat).Quo(eps, big.NewRat(2, 1)))
	if err != nil {
		return nil, fmt.Errorf("epsilon is too small: %w", err)
	}
	if h.counts, err = exact.NewSparseCounts(rate, h.grid.columns*h.grid.rows); err != nil {
		return nil, fmt.Errorf("epsilon is too small: %w", err)
	}
	return h, nil
}

// newHeatmap returns a heat map without noise.
func (d *Domain) newHeatmap(eps *big.Rat, cellM float64) (*Heatmap, error) {
	price, err := budget.NewPrice(budget.Record, eps)
	if err != nil {
		return nil, err
	}
	grid, err := d.Grid(cellM)
	return &Heatmap{grid: grid, epsilon: eps, price: price}, err
}

// Price returns the price of a release for each location.
func (h *Heatmap) Price() budget.Price { return h.price }

// CellCounts holds how many locations there are in the cells of a heat map. The zero value
// is empty.
type CellCounts struct{ of map[int64]int64 }

// Add adds a location in degrees, moved to the box like every secret (see [Domain.Cell]).
// lat must be within 90 and lon within 180 degrees of 0.
func (h *Heatmap) Add(c *CellCounts, lat, lon float64) {
	if c.of == nil {
		c.of = map[int64]int64{}
	}
	c.of[h.grid.Cell(lat, lon)]++
}

// Len returns how many cells are not empty.
func (c *CellCounts) Len() int { return len(c.of) }

// list returns the cells that are not empty in their order.
func (c *CellCounts) list() []exact.Count {
	list := make([]exact.Count, 0, len(c.of))
	for _, cell := range slices.Sorted(maps.Keys(c.of)) {
		list = append(list, exact.Count{Cell: cell, N: c.of[cell]})
	}
	return list
}

// Draw returns a released heat map, which an adaptive one draws as [quadtree] says: the cells with a noisy count that reaches the
// threshold, in their order, and these counts. Its running time depends on its occupied and its listed cells only,
// however many others there are.
//
// # Privacy
//
// The answer is that of a draw which adds independent discrete Laplace noise of rate r <=
// eps/2 to the count of every cell, and then leaves out counts below a threshold that
// depends on r and on the number of cells only ([exact.SparseCounts.Draw]). The grid depends
// on the domain and on cell_m only. So all there is to compare are the noisy counts of
// worlds that differ in one location:
//   - one that is added or removed changes one count by 1, and so no probability by more than
//     a factor of e^r;
//   - one that is replaced changes one count by 1, or two if the cells differ, and so no
//     probability by more than e^(2r) <= e^eps.
//
// Locations of an account add up: worlds that differ in n of them spend at most n*eps.
func (h *Heatmap) Draw(src *exact.Source, c *CellCounts) []Square {
	if h.tree != nil {
		return h.tree.draw(src, &h.grid, c.list())
	}
	var listed []Square
	for _, k := range h.counts.Draw(src, c.list()) {
		listed = append(listed, Square{k, 1})
	}
	return listed
}

// AppendGeoJSON appends a heat map as a GeoJSON FeatureCollection on one line (RFC 7946). Each
// listed square is a Polygon with the property count, of an adaptive map also with its side cell_m. The members
// cell_m, epsilon and, of a flat map, threshold say how the map was made.
func (h *Heatmap) AppendGeoJSON(b []byte, listed []Square) []byte {
	eps, _ := h.epsilon.Float64()
	b = fmt.Appendf(b, `{"type":"FeatureCollection","cell_m":%s,"epsilon":%s,`, decimal.Format(h.grid.cellM), decimal.Format(eps))
	if h.counts != nil {
		b = fmt.Appendf(b, `"threshold":%d,`, h.counts.Threshold())
	}
	b = append(b, `"features":[`...)
	for i, s := range listed {
		if i > 0 {
			b = append(b, ',')
		}
		properties := strconv.FormatInt(s.N, 10)
		if h.tree != nil {
			properties += `,"cell_m":` + decimal.Format(float64(s.Side)*h.grid.cellM)
		}
		b = h.grid.appendSquare(b, s.Cell, s.Side, properties)
	}
	return append(b, `]}`...)
}
