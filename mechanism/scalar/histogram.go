package scalar

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// MaxBins is the largest number of bins of a [Histogram].
const MaxBins = 10_000

// A Histogram counts how many readings lie in each of several runs of values of a universe,
// with noise. The runs are as equally long as can be, and follow from the universe and their
// number. It is immutable and safe for concurrent use with a Source per goroutine.
type Histogram struct {
	universe *Universe
	bins     int64
	price    budget.Price
	noise    noise
}

// NewHistogram returns the histogram of 1 to [MaxBins] bins, of which there are at most as
// many as values, that spends eps for each reading, above 0 and at most [budget.Max]. Errors
// name bins or epsilon.
func NewHistogram(u *Universe, eps *big.Rat, bins int64) (*Histogram, error) {
	price, err := budget.NewPrice(budget.Record, eps)
	if err != nil {
		return nil, err
	}
	if bins < 1 || bins > MaxBins {
		return nil, fmt.Errorf("bins must be from 1 to %d, not %d", MaxBins, bins)
	}
	if bins > u.last+1 {
		return nil, fmt.Errorf("bins must be at most %d, the number of values of universe '%s', not %d", u.last+1, u.name, bins)
	}
	noise, err := newNoise(new(big.Rat).Quo(eps, big.NewRat(2, 1)))
	if err != nil {
		return nil, err
	}
	return &Histogram{u, bins, price, noise}, nil
}

// Price returns what a release costs for each reading.
func (h *Histogram) Price() budget.Price { return h.price }

// Bins returns the number of bins.
func (h *Histogram) Bins() int64 { return h.bins }

// StandIn returns the counts of no readings, without noise.
func (h *Histogram) StandIn() []int64 { return make([]int64, h.bins) }

// first returns the index of the first value of a bin: floor(bin*N/bins) for N values, below
// 2^40 * 10^4.
func (h *Histogram) first(bin int64) int64 { return bin * (h.universe.last + 1) / h.bins }

// bin returns the bin of the value of an index k, the last one that begins at k or before:
// floor(bin*N/bins) <= k holds if bin*N/bins < k+1, that is, bin < (k+1)*bins/N.
func (h *Histogram) bin(k int64) int64 { return ((k+1)*h.bins - 1) / (h.universe.last + 1) }

// BinCounts holds how many readings there are in the bins of a histogram. The zero value is
// empty.
type BinCounts struct{ of []int64 }

// Add adds a reading, moved to the nearest value of the universe.
func (h *Histogram) Add(c *BinCounts, x float64) { h.AddIndex(c, h.universe.Index(x)) }

// AddIndex adds a reading that is the value of an index of the universe, 0 to its last.
func (h *Histogram) AddIndex(c *BinCounts, k int64) {
	if c.of == nil {
		c.of = make([]int64, h.bins)
	}
	c.of[h.bin(k)]++
}

// Draw returns the released counts of all bins, from 0 to 2^53.
//
// # Privacy
//
// Every bin has independent discrete Laplace noise of rate r <= eps/2, and is clamped after
// that. The bins depend on public facts only. So for worlds that differ in one reading:
//   - one that is added or removed changes one count by 1, and so no probability by more than
//     a factor of e^r;
//   - one that is replaced changes one count by 1, or two if the bins differ, and so no
//     probability by more than e^(2r) <= e^eps.
//
// Readings of an account add up: worlds that differ in n of them spend at most n*eps.
func (h *Histogram) Draw(src *exact.Source, c *BinCounts) []int64 {
	counts := h.StandIn()
	copy(counts, c.of)
	released := newLattice(Count, nil)
	for i, rows := range counts {
		counts[i], _ = released.clamp(h.noise.add(src, fromInt64(min(rows, maxCount)))).int64()
	}
	return counts
}

// AppendJSON appends the counts of all bins as a JSON array on one line, each with the first
// and the last value of its bin.
func (h *Histogram) AppendJSON(b []byte, counts []int64) []byte {
	value := func(k int64) { b = strconv.AppendFloat(b, h.universe.Value(k), 'f', -1, 64) }
	b = append(b, '[')
	for i, n := range counts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"lo":`...)
		value(h.first(int64(i)))
		b = append(b, `,"hi":`...)
		value(h.first(int64(i)+1) - 1)
		b = append(b, `,"count":`...)
		b = strconv.AppendInt(b, n, 10)
		b = append(b, '}')
	}
	return append(b, ']')
}
