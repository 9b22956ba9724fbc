package planar

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

// AdaptiveHeatmap returns a heat map with squares that are large where few locations are: the leaves of a quadtree over the domain,
// down to cells of cellM metres. Its settings and their errors are those of [Domain.Heatmap].
func (d *Domain) AdaptiveHeatmap(eps *big.Rat, cellM float64) (*Heatmap, error) {
	h, err := d.newHeatmap(eps, cellM)
	if err != nil {
		return nil, err
	}
	h.tree, err = newQuadtree(eps)
	return h, err
}

// A quadtree is a tree of squares, of which some are split and the others, the leaves, are released with noisy counts. Its root is
// the smallest square of 2^b cells a side that covers the grid, from the grid's south-west on.
//
// # Privacy
//
// Half of epsilon decides which squares are split (see [exact.NewSplits]). Given the tree, a location that is
// replaced changes the counts of two leaves by 1, each with fresh discrete Laplace noise of rate epsilon/4 at most,
// and that spends the other half. Which squares lie outside the grid, and that a cell is not split, is public.
type quadtree struct {
	splits *exact.Splits
	noise  exact.DiscreteLaplace
}

func newQuadtree(eps *big.Rat) (*quadtree, error) {
	splits, err := exact.NewSplits(new(big.Rat).Quo(eps, big.NewRat(2, 1)))
	if err != nil {
		return nil, fmt.Errorf("epsilon is too small: %w", err)
	}
	rate, err := exact.RateFloor(new(big.Rat).Quo(eps, big.NewRat(4, 1)))
	if err != nil {
		return nil, err
	}
	noise, err := exact.NewDiscreteLaplace(rate)
	return &quadtree{splits, noise}, err
}

// draw returns the leaves, the quarters of each square from the south-west, the western one first. The counts are those of the
// cells of the grid that are not empty; their order is changed.
func (t *quadtree) draw(src *exact.Source, g *Grid, counts []exact.Count) []Square {
	side := int64(1)
	for side < max(g.columns, g.rows) {
		side *= 2
	}
	d := drawing{t, src, g, nil}
	d.grow(0, 0, side, 0, counts)
	return d.leaves
}

// A drawing is a tree that grows.
type drawing struct {
	*quadtree
	src    *exact.Source
	grid   *Grid
	leaves []Square
}

// grow draws a square and all below it.
func (d *drawing) grow(column, row, side int64, depth int, counts []exact.Count) {
	if column >= d.grid.columns || row >= d.grid.rows {
		return
	}
	n := int64(0)
	for _, c := range counts {
		n += c.N
	}
	if side == 1 || !d.splits.Split(d.src, n, depth) {
		cell := exact.Count{Cell: row*d.grid.columns + column, N: exact.Noisy(n, d.noise.Draw(d.src))}
		d.leaves = append(d.leaves, Square{cell, side})
		return
	}
	side /= 2
	north, south := partition(counts, func(cell int64) bool { return cell/d.grid.columns >= row+side })
	for i, half := range [2][]exact.Count{south, north} {
		east, west := partition(half, func(cell int64) bool { return cell%d.grid.columns >= column+side })
		d.grow(column, row+int64(i)*side, side, depth+1, west)
		d.grow(column+side, row+int64(i)*side, side, depth+1, east)
	}
}

// partition moves the counts of some cells to the front, and returns them and the others.
func partition(counts []exact.Count, first func(cell int64) bool) (some, others []exact.Count) {
	n := 0
	for i, c := range counts {
		if first(c.Cell) {
			counts[i], counts[n] = counts[n], c
			n++
		}
	}
	return counts[:n], counts[n:]
}
