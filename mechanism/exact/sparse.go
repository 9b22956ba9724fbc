package exact

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"slices"
)

const (
	// maxSparseCells and minSparseRate keep thresholds below 2^50.
	maxSparseCells = 1 << 40
	minSparseRate  = 0x1p-45

	// maxCount is where noisy counts saturate.
	maxCount = 1 << 53
)

// A Count is the number of something in one of many cells.
type Count struct{ Cell, N int64 }

// SparseCounts adds discrete Laplace noise to the counts of many cells, nearly all of them
// 0, and lists those that reach a threshold afterwards. It visits only the cells that are
// not empty and those that it lists. It is made by [NewSparseCounts], immutable, and safe
// for concurrent use with a [Source] per goroutine.
type SparseCounts struct {
	rate             float64
	cells, threshold int64
	noise            DiscreteLaplace
	excess           Geometric
}

// NewSparseCounts returns the law for cells 0 to cells-1, at most 2^40 of them,
// and noise Z of the given rate, which is at least 2^-45 and taken as the rational that it
// is. The threshold is the least t >= 1 for which the expected number of empty cells that
// are listed is at most one: cells * P(Z >= t) <= 1. It is decided by comparisons of
// certified bounds.
func NewSparseCounts(rate float64, cells int64) (*SparseCounts, error) {
	if cells < 1 || cells > maxSparseCells {
		return nil, fmt.Errorf("there may be 1 to %d cells, not %d", maxSparseCells, cells)
	}
	if !(rate >= minSparseRate) {
		return nil, fmt.Errorf("rate %v is below 2^-45", rate)
	}
	noise, err := NewDiscreteLaplace(rate)
	if err != nil {
		return nil, err
	}
	excess, err := NewGeometric(rate)
	if err != nil {
		return nil, err
	}
	guess := uint64(math.Log(float64(cells)) / rate)
	below := lastReached(guess, func(t uint64) bool { return expectsMore(rate, cells, t) })
	return &SparseCounts{rate, cells, below + 1, noise, excess}, nil
}

// expectsMore reports whether cells * P(Z >= t) > 1, which is cells*q^t > 1+q for q =
// e^-rate.
//
// The two sides are never equal, so that some precision tells them apart: q is
// transcendental, since the rate is rational and not 0, and so is no root of the polynomial
// cells*q^t - q - 1, whose constant term is not 0.
func expectsMore(rate float64, cells int64, t uint64) bool {
	for precision := uint(128); ; precision *= 2 {
		qlo, qhi := ratio{rate, 1, 1}.bounds(precision)
		lo, hi := ratio{rate, t, 1}.bounds(precision)
		unit, n := new(big.Int).Lsh(one, precision), big.NewInt(cells)
		if lo.Mul(lo, n).Cmp(qhi.Add(qhi, unit)) > 0 {
			return true
		}
		if hi.Mul(hi, n).Cmp(qlo.Add(qlo, unit)) <= 0 {
			return false
		}
	}
}

// Threshold returns the least noisy count that is listed. It depends on the rate and on the
// number of cells only.
func (c *SparseCounts) Threshold() int64 { return c.threshold }

// Draw returns the cells whose count plus noise reaches the threshold, with that sum, or
// 2^53 if that is less, in the order of cells. The counts are those of the cells that are
// not empty, each once and in that order.
//
// # Law
//
// The answer has the law of a draw that adds independent noise Z to each of all cells,
// empty ones included, and then leaves out sums below the threshold t. Cells that are
// not empty are drawn like that. An empty one is listed if Z >= t, which has probability
// p = q^t/(1+q) for q = e^-rate, independently of all others. So each of all cells is
// marked with probability p, and marks of cells that are not empty are dropped: how many
// cells a mark is behind the one before is geometric, see wait. Given Z >= t, the excess
// Z-t has the probabilities
//
//	P(Z = t+k)/P(Z >= t) = (1-q)/(1+q) q^(t+k) / (q^t/(1+q)) = (1-q) q^k.
func (c *SparseCounts) Draw(s *Source, counts []Count) []Count {
	var listed []Count
	for _, k := range counts {
		if n := Noisy(k.N, c.noise.Draw(s)); n >= c.threshold {
			listed = append(listed, Count{k.Cell, n})
		}
	}
	for cell := c.wait(s, c.cells); cell < c.cells; cell += 1 + c.wait(s, c.cells-cell-1) {
		n := Noisy(c.threshold, c.excess.Draw(s))
		if _, counted := slices.BinarySearchFunc(counts, cell, compareCell); !counted {
			listed = append(listed, Count{cell, n})
		}
	}
	slices.SortFunc(listed, func(a, b Count) int { return compareCell(a, b.Cell) })
	return listed
}

func compareCell(c Count, cell int64) int { return cmp.Compare(c.Cell, cell) }

// Noisy returns n+z, moved into -maxCount..maxCount, for n >= 0. A z so far from 0 that it
// may have saturated does not overflow, and shows nothing of n.
func Noisy(n, z int64) int64 {
	const far = 4 * maxCount
	return max(-maxCount, min(min(n, maxCount)+max(-far, min(z, far)), maxCount))
}

// wait draws how many of at most limit cells are not marked before the first one that is:
// a number k with P(k >= n) = (1-p)^n for n <= limit.
//
// There are less than two marks to expect among all cells, so every comparison is made by
// certified bounds; a float64 only guesses where to begin.
func (c *SparseCounts) wait(s *Source, limit int64) int64 {
	u := newUniform(s, s.Uint64(), 64)
	p := math.Exp(-c.rate*float64(c.threshold)) / (1 + math.Exp(-c.rate))
	guess := uint64(min(-u.exponential()/math.Log1p(-p), float64(limit)))
	return lastReached(guess, func(n uint64) bool {
		return n <= uint64(limit) && u.below(unmarked{c.rate, uint64(c.threshold), n})
	})
}

// unmarked is the probability (1 - q^t/(1+q))^n, q = e^-rate, that n cells have no mark.
type unmarked struct {
	rate float64
	t, n uint64
}

// bounds raises bounds of 1-p, which are some ten units apart, to the power n. Squaring at
// most doubles the distance of bounds on a number below 1, multiplying by 1-p adds theirs,
// and each rounding adds a unit, so that they end up less than 2^5 n units apart: the guard
// makes that a few units of the precision asked for.
func (m unmarked) bounds(precision uint) (lo, hi *big.Int) {
	guard := uint(bits.Len64(m.n)) + 5
	w := precision + guard
	unit := new(big.Int).Lsh(one, w)
	qlo, qhi := ratio{m.rate, 1, 1}.bounds(w)
	plo, phi := ratio{m.rate, m.t, 1}.bounds(w)
	plo.Quo(plo.Lsh(plo, w), qhi.Add(qhi, unit))
	phi.Quo(phi.Lsh(phi, w), qlo.Add(qlo, unit))
	phi.Add(phi, one)
	baseLow, baseHigh := phi.Sub(unit, phi), plo.Sub(unit, plo)
	lo, hi = new(big.Int).Set(unit), new(big.Int).Set(unit)
	multiply := func(low, high *big.Int) {
		lo.Rsh(lo.Mul(lo, low), w)
		ceilRsh(hi.Mul(hi, high), w)
	}
	for bit := bits.Len64(m.n) - 1; bit >= 0; bit-- {
		multiply(lo, hi)
		if m.n>>bit&1 != 0 {
			multiply(baseLow, baseHigh)
		}
	}
	lo.Rsh(lo, guard)
	ceilRsh(hi, guard)
	return lo, hi
}
