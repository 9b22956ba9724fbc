package scalar

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// MaxBins is the largest number of bins of a [Histogram].
const MaxBins = 10_000

// Histogram returns the aggregate that counts how many readings lie in each of 1 to [MaxBins] runs of values of a universe,
// at most as many runs as values, with noise. The runs are as equally long as can be, and follow from the universe and
// their number. It takes no metric; its epsilon is per record.
func Histogram(bins int64) Aggregate { return binning{bins} }

type binning struct{ bins int64 }

func (binning) String() string      { return "histogram" }
func (binning) TakesUniverse() bool { return true }

func (b binning) law(s setting) (law, error) {
	if err := s.noMetric("histogram"); err != nil {
		return nil, err
	}
	if b.bins < 1 || b.bins > MaxBins {
		return nil, fmt.Errorf("bins must be from 1 to %d, not %d", MaxBins, b.bins)
	}
	if values := s.universe.last + 1; b.bins > values {
		return nil, fmt.Errorf("bins must be at most %d, the number of values of universe '%s', not %d", values, s.universe.name, b.bins)
	}
	s.metric = budget.DH
	noise, err := newNoise(new(big.Rat).Quo(s.epsilon, big.NewRat(2, 1)))
	return &histogram{s, s.universe.Runs(b.bins), noise}, err
}

// A histogram has a count for each bin.
type histogram struct {
	setting
	bins  Runs
	noise noise
}

// binSize is the memory of a bin, with its part of an answer.
const binSize = 64

func (h *histogram) bytes(int64) int64 { return binSize * h.bins.Len() }

func (h *histogram) add(a *Accumulator, k int64) {
	if a.counts == nil {
		a.counts = make([]int64, h.bins.Len())
	}
	a.counts[h.bins.Of(k)]++
}

// standIn has the counts of no readings, without noise.
func (h *histogram) standIn() Release { return h.release(make([]int64, h.bins.Len())) }

func (*histogram) radius(float64, int64) (float64, error) {
	return 0, errors.New("a histogram has more than one answer")
}

func (h *histogram) draw(src *exact.Source, a *Accumulator) Release {
	return h.release(h.drawCounts(src, a))
}

// binned is the lattice of counts of bins. They may be negative: if they were moved to 0, empty bins would have counts above
// 0 on average, and many of them would add up.
var binned = lattice{step: 1, scale: 1, low: fromInt64(-maxCount), high: fromInt64(maxCount)}

// drawCounts returns the released counts of all bins, as drawn, from -2^53 to 2^53.
//
// # Privacy
//
// Every bin has independent discrete Laplace noise of rate r <= eps/2. The bins depend on public facts only. So for worlds that differ in one reading:
//   - one that is added or removed changes one count by 1, and so no probability by more than
//     a factor of e^r;
//   - one that is replaced changes one count by 1, or two if the bins differ, and so no
//     probability by more than e^(2r) <= e^eps.
//
// Readings of an account add up: worlds that differ in n of them spend at most n*eps.
func (h *histogram) drawCounts(src *exact.Source, a *Accumulator) []int64 {
	drawn := make([]int64, h.bins.Len())
	copy(drawn, a.counts)
	for i, rows := range drawn {
		drawn[i], _ = binned.clamp(h.noise.add(src, fromInt64(min(rows, maxCount)))).int64()
	}
	return drawn
}

// release returns the counts of all bins as a JSON array on one line, each with the first
// and the last value of its bin.
func (h *histogram) release(drawn []int64) Release {
	b := []byte{'['}
	value := func(k int64) { b = strconv.AppendFloat(b, h.universe.Value(k), 'f', -1, 64) }
	for i, n := range drawn {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"lo":`...)
		value(h.bins.First(int64(i)))
		b = append(b, `,"hi":`...)
		value(h.bins.First(int64(i)+1) - 1)
		b = append(b, `,"count":`...)
		b = strconv.AppendInt(b, n, 10)
		b = append(b, '}')
	}
	return Release{Readings: 1, JSON: string(append(b, ']'))}
}
