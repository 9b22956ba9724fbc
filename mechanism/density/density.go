// Package density estimates where a population is, or which readings it has, from a release about each member. It is
// computed from released points and public facts only, so that it costs nothing (post-processing). It imports planar and
// scalar. Start at [Plane] and [Line], which count released points, and at [Population].
//
// A law says with which probability a release lies in each bin if the truth lies in each cell: that of the mechanism,
// averaged over the cell. The estimate is the distribution over cells under which the releases are likeliest, as far as
// expectation maximisation gets in a number of steps (ElSalamouny and Palamidessi, Generalized Iterative Bayesian Update and
// Applications to Mechanisms for Privacy Protection, 2020). The likeliest one itself is made of peaks that fit the noise. So
// the number of steps is chosen by cross-validation.
//
// Estimates are the same numbers on every platform, and do not depend on the order of releases.
package density

import (
	"context"
	"math/rand/v2"

	"github.com/geosql/geosql/internal/elementary"
)

// A pair has the same kind of numbers for two estimates, which are made together.
type pair [2][]float64

func newPair(n int) pair { return pair{make([]float64, n), make([]float64, n)} }

// A law has the matrix of probabilities of bins given cells.
type law interface {
	cells() int
	bins() int
	// release sets the probabilities of bins for those of cells.
	release(bins, cells pair)
	// blame sets sums over bins, for each cell: of the probability of the bin, given the cell, times a weight of the bin.
	blame(cells, weights pair)
}

// A Matrix is a law as it is written down: for each cell the probabilities of bins, which sum to 1.
type Matrix [][]float64

// Population returns how many releases, of which so many lie in each bin, are about each cell. The estimate begins with the
// weights of cells, which are public: one without weight stays empty. If the context is cancelled, it returns its error.
func (m Matrix) Population(ctx context.Context, weights []float64, counts []int64) ([]float64, error) {
	cells, _, err := population(ctx, m, weights, counts)
	return cells, err
}

func (m Matrix) cells() int { return len(m) }
func (m Matrix) bins() int  { return len(m[0]) }

func (m Matrix) release(bins, cells pair) {
	for h := range bins {
		clear(bins[h])
		for cell, row := range m {
			for bin, p := range row {
				bins[h][bin] += float64(p * cells[h][cell])
			}
		}
	}
}

func (m Matrix) blame(cells, weights pair) {
	for h := range cells {
		for cell, row := range m {
			sum := 0.
			for bin, p := range row {
				sum += float64(p * weights[h][bin])
			}
			cells[h][cell] = sum
		}
	}
}

// checkpoints are the numbers of steps that cross-validation chooses from.
var checkpoints = []int{3, 5, 8, 12, 18, 27, 40, 60, 90, 135, 200, 300}

// patience is how often in a row cross-validation may be less than its best before it ends.
const patience = 2

// unexplained is the share of releases that may lie in any bin. It is above the share that laws leave out, and no bin is impossible.
const unexplained = 1e-6

// Population returns how many of the counted releases are about each cell, in numbers that are not negative, and after how
// many steps. If the context is cancelled, it returns its error.
func population(ctx context.Context, l law, weights []float64, counts []int64) (estimate []float64, steps int, err error) {
	halves, all := newPair(l.bins()), pair{make([]float64, l.bins()), nil}
	for bin, n := range counts {
		halves[0][bin] = split(bin, n)
		halves[1][bin] = float64(n) - halves[0][bin]
		all[0][bin] = float64(n)
	}
	if steps, err = validated(ctx, l, weights, halves); err != nil {
		return nil, 0, err
	}
	e := newExpectation(l, weights, all)
	for range steps {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		e.step()
	}
	for cell := range e.cells[0] {
		e.cells[0][cell] *= e.totals[0]
	}
	return e.cells[0], steps, nil
}

// split returns how many of n releases in a bin belong to the first half, as if each was thrown there or not. Halves that
// were more alike than by chance would hide the noise.
func split(bin int, n int64) (first float64) {
	coin := rand.NewPCG(uint64(bin), 0)
	for range n {
		first += float64(coin.Uint64() >> 63)
	}
	return first
}

// validated returns the number of steps after which each half is likeliest under the estimate from the other.
func validated(ctx context.Context, l law, weights []float64, halves pair) (best int, err error) {
	e := newExpectation(l, weights, halves)
	taken, worse, most := 0, 0, 0.
	for k, steps := range checkpoints {
		for ; taken < steps; taken++ {
			if ctx.Err() != nil {
				return 0, context.Cause(ctx)
			}
			e.step()
		}
		score := e.score(halves)
		if k == 0 || score > most {
			best, most, worse = steps, score, 0
		} else if worse++; worse == patience {
			break
		}
	}
	return best, nil
}

// An expectation has two estimates of distributions over cells, from two sets of counts.
type expectation struct {
	law     law
	counts  pair
	totals  [2]float64
	cells   pair
	likely  pair // of bins under the estimates, if current
	current bool
	weights pair
	sums    pair
}

// newExpectation returns estimates that know nothing but the weights of cells, all the same if there are none.
func newExpectation(l law, weights []float64, counts pair) *expectation {
	e := &expectation{law: l, counts: counts, cells: newPair(l.cells()), likely: newPair(l.bins()), weights: newPair(l.bins()), sums: newPair(l.cells())}
	all := float64(l.cells())
	if weights != nil {
		all = 0
		for _, w := range weights {
			all += w
		}
	}
	for h, bins := range counts {
		for _, n := range bins {
			e.totals[h] += n
		}
		for cell := range e.cells[h] {
			w := 1.
			if weights != nil {
				w = weights[cell]
			}
			e.cells[h][cell] = w / all
		}
	}
	return e
}

// release computes the probabilities of bins.
func (e *expectation) release() {
	if e.current {
		return
	}
	e.law.release(e.likely, e.cells)
	for h := range e.likely {
		for bin, p := range e.likely[h] {
			e.likely[h][bin] = float64((1-unexplained)*max(0, p)) + unexplained/float64(e.law.bins())
		}
	}
	e.current = true
}

// step makes the counts likelier: each cell gets the share of each count that it probably has caused.
func (e *expectation) step() {
	e.release()
	var anywhere [2]float64
	for h, bins := range e.counts {
		for bin, n := range bins {
			w := 0.
			if n > 0 {
				w = n / e.likely[h][bin]
			}
			e.weights[h][bin] = w
			anywhere[h] += w
		}
	}
	e.law.blame(e.sums, e.weights)
	for h, total := range e.totals {
		if total == 0 {
			continue
		}
		rest := float64(unexplained / float64(e.law.bins()) * anywhere[h])
		for cell, sum := range e.sums[h] {
			e.cells[h][cell] *= (float64((1-unexplained)*max(0, sum)) + rest) / total
		}
	}
	e.current = false
}

// score returns the logarithm of the likelihood of each half under the estimate from the other.
func (e *expectation) score(halves pair) (sum float64) {
	e.release()
	for h := range halves {
		for bin, n := range halves[1-h] {
			if n > 0 {
				sum += float64(n * elementary.Log(e.likely[h][bin]))
			}
		}
	}
	return sum
}
