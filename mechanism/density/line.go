package density

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// MaxRuns is how many runs of values a [Line] has at most.
const MaxRuns = 1000

// A Line counts readings that the truncated geometric mechanism has released at one epsilon, and estimates how many
// readings there are in each run of values of their universe: its values, or [MaxRuns] runs with lengths that differ by one at most.
type Line struct {
	universe *scalar.Universe
	runs     scalar.Runs
	counts   []int64
	truncated
}

// NewLine returns a line without readings. Its law is that of [scalar.Value] that spends eps per unit of the universe.
func NewLine(u *scalar.Universe, eps *big.Rat) (*Line, error) {
	rate, err := exact.RateFloor(new(big.Rat).Mul(eps, u.Step()))
	if err != nil {
		return nil, fmt.Errorf("epsilon is too small: %w", err)
	}
	runs := u.Runs(min(MaxRuns, u.Last()+1))
	lengths := make([]float64, runs.Len())
	for i := range lengths {
		lengths[i] = float64(runs.First(int64(i)+1) - runs.First(int64(i)))
	}
	return &Line{u, runs, make([]int64, len(lengths)), newTruncated(lengths, rate)}, nil
}

// Add counts a released value.
func (l *Line) Add(z float64) { l.counts[l.runs.Of(l.universe.Index(z))]++ }

// Population returns the estimate as a JSON array on one line, of {"lo":..,"hi":..,"count":..} for each run in order.
// Counts are rounded to hundredths. If the context is cancelled, it returns its error.
func (l *Line) Population(ctx context.Context) (string, error) {
	estimate, _, err := population(ctx, &l.truncated, nil, l.counts)
	if err != nil {
		return "", err
	}
	b := []byte{'['}
	for i, n := range estimate {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"lo":`...)
		b = strconv.AppendFloat(b, l.universe.Value(l.runs.First(int64(i))), 'f', -1, 64)
		b = append(b, `,"hi":`...)
		b = strconv.AppendFloat(b, l.universe.Value(l.runs.First(int64(i)+1)-1), 'f', -1, 64)
		b = append(b, `,"count":`...)
		b = append(appendCount(b, n), '}')
	}
	return string(append(b, ']')), nil
}

// appendCount appends an estimated number of releases, rounded to hundredths.
func appendCount(b []byte, n float64) []byte {
	return strconv.AppendFloat(b, math.Round(100*n)/100, 'f', 2, 64)
}

// truncated is the law of the truncated geometric mechanism between runs of values: z = clamp(x + N) with
// P(N = k) = (1-q)/(1+q) q^|k|, q = exp(-rate), and x even over the values of a run.
//
// From a run of length l, N leads beyond either end with probability a/(1+q), where
//
//	a = (q + q^2 + .. + q^l)/l,
//
// if there is another run. Beyond it, it reaches a run of length m at a distance of d values with probability
// a*q^d*(1-q^m)/(1+q), or a*q^d/(1+q) if that is the last, where the tail is. So both sums over runs are done in one pass
// in each direction.
type truncated struct {
	out  []float64    // a
	stay []float64    // probability of a release in the run itself
	in   [2][]float64 // 1/(1+q) times 1-q^l, or 1: from the left, from the right
	pass []float64    // q^l
}

func newTruncated(lengths []float64, rate float64) truncated {
	n := len(lengths)
	t := truncated{make([]float64, n), make([]float64, n), newPair(n), make([]float64, n)}
	q, rest := elementary.Exp(-rate), -elementary.Expm1(-rate)
	for i, l := range lengths {
		left := -elementary.Expm1(-rate * l) // 1-q^l
		t.out[i], t.pass[i], t.stay[i] = q*left/(l*rest), elementary.Exp(-rate*l), 1
		t.in[0][i], t.in[1][i] = left/(1+q), left/(1+q)
		if i > 0 {
			t.stay[i] -= t.out[i] / (1 + q)
		} else {
			t.in[1][i] = 1 / (1 + q)
		}
		if i < n-1 {
			t.stay[i] -= t.out[i] / (1 + q)
		} else {
			t.in[0][i] = 1 / (1 + q)
		}
	}
	return t
}

func (t *truncated) cells() int { return len(t.out) }
func (t *truncated) bins() int  { return len(t.out) }

func (t *truncated) release(bins, cells pair) {
	for h, from := range cells {
		to := bins[h]
		arrived := 0.
		for i, x := range from {
			to[i] = float64(t.stay[i]*x) + float64(t.in[0][i]*arrived)
			arrived = float64(arrived*t.pass[i]) + float64(x*t.out[i])
		}
		arrived = 0
		for i := len(from) - 1; i >= 0; i-- {
			to[i] += float64(t.in[1][i] * arrived)
			arrived = float64(arrived*t.pass[i]) + float64(from[i]*t.out[i])
		}
	}
}

func (t *truncated) blame(cells, weights pair) {
	for h, from := range weights {
		to := cells[h]
		arrived := 0.
		for i, w := range from {
			to[i] = float64(t.stay[i]*w) + float64(t.out[i]*arrived)
			arrived = float64(arrived*t.pass[i]) + float64(w*t.in[1][i])
		}
		arrived = 0
		for i := len(from) - 1; i >= 0; i-- {
			to[i] += float64(t.out[i] * arrived)
			arrived = float64(arrived*t.pass[i]) + float64(from[i]*t.in[0][i])
		}
	}
}
