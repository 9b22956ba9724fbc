package scalar

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// A law says how an aggregate is answered at a setting: how readings are added up, how an answer is drawn, and
// how far off it is. It is immutable and safe for concurrent use. It embeds its setting, and overrides those
// of its methods that do not fit. The proof of its privacy stands in its file.
type law interface {
	// at returns the setting. Its metric decides how often a release is charged, and in which unit.
	at() setting

	// add adds a reading, which is the value of the index k of the universe, to the accumulator. Its rows have been
	// counted, this one included.
	add(a *Accumulator, k int64)

	// bytes returns the memory that so many readings take in an accumulator, an answer of more than one number included.
	bytes(readings int64) int64

	// draw returns a released answer. It may reorder what the accumulator holds, and leaves its readings the same.
	draw(src *exact.Source, a *Accumulator) Release

	// standIn returns an answer that depends on public facts only.
	standIn() Release

	// radius returns the distance for [Query.Radius], or why public facts do not tell it.
	radius(p float64, rows int64) (float64, error)
}

// A setting has the arguments that all aggregates share.
type setting struct {
	universe *Universe // nil for an aggregate that takes none
	metric   budget.Metric
	epsilon  *big.Rat
	known    bool // it is public which rows there are, under each metric
}

func (s setting) at() setting { return s }

// perRecord reports whether epsilon is per record, and not per unit of the universe. Then a row more or less is a distance
// of one. Under d1 and dinf the positions of NULL are public, as databases that differ in them are at no finite distance:
// a law may use the number of readings.
func (s setting) perRecord() bool { return s.metric == budget.ND1 || s.metric == budget.DH }

// secretRows reports whether the number of readings is secret.
func (s setting) secretRows() bool { return s.perRecord() && !s.known }

// unit returns the unit of epsilon.
func (s setting) unit() budget.Unit {
	if s.perRecord() {
		return budget.Record
	}
	return s.universe.Unit()
}

// times returns a number times epsilon.
func (s setting) times(x float64) float64 {
	eps, _ := s.epsilon.Float64()
	return float64(x * eps)
}

// bytes is that of accumulators of a fixed size.
func (s setting) bytes(int64) int64 { return 0 }

// standIn returns lo, as if it were the answer of a single reading.
func (s setting) standIn() Release { return Release{Value: s.universe.lo, Readings: 1} }

// noMetric returns an error unless the metric is D1, the zero value, which stands for none where there is no choice.
func (s setting) noMetric(name string) error {
	if s.metric != budget.D1 {
		return fmt.Errorf("metric %v: %s takes no metric", s.metric, name)
	}
	return nil
}

// zero is the stand-in of laws that answer 0 without readings.
var zero = Release{Readings: 1}

// A noised answer is a point of a public lattice with geometric noise, moved to the nearest end of the lattice.
type noised struct {
	lattice
	noise noise
	most  float64 // answers are off by at most so many steps
}

// newNoised returns noise for answers that change by at most a sensitivity, in quanta, per unit of the metric's distance.
func (s setting) newNoised(l lattice, most float64, sensitivity *big.Int) (noised, error) {
	perStep := new(big.Rat).SetFrac(big.NewInt(l.step), sensitivity)
	noise, err := newNoise(perStep.Mul(perStep, s.epsilon))
	return noised{l, noise, most}, err
}

// release returns a released answer for the true one.
func (n *noised) release(src *exact.Source, z int128) Release {
	return Release{Value: n.number(n.clamp(n.noise.add(src, z))), Readings: 1}
}

// radius returns the least distance that holds with probability p for answers far from the ends. Clamping only moves
// the others closer to the true one.
func (n *noised) radius(p float64, _ int64) (float64, error) {
	return min(n.noise.quantile(p), n.most) * float64(n.step) / n.scale, nil
}

// sums is embedded by laws that add up readings.
type sums struct{}

func (sums) add(a *Accumulator, k int64) { a.sum = a.sum.add(uint64(k)) }
