package scalar

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// A Query is an aggregate of readings under a metric at an epsilon. It says how readings are added up, how much noise the
// answer needs, and the price of a release. It is immutable and safe for concurrent use; each group has an [Accumulator] of its
// own.
type Query struct {
	setting
	law   law
	price budget.Price
}

// NewQuery returns a query, or an error if a part of it has no meaning:
//
//   - u is nil for an aggregate that takes no universe, and only then;
//   - m is D1, the zero value, for an aggregate without a choice of metrics;
//   - eps, an epsilon that [budget.Cost] accepts, is per unit of [Query.Price]. It is taken as the rational that it is:
//     convert an argument by [budget.Decimal].
func NewQuery(a Aggregate, u *Universe, m budget.Metric, eps *big.Rat) (*Query, error) {
	return newQuery(a, setting{u, m, eps, false})
}

// NewQueryOfKnownRows returns a query over rows that everybody may know: databases differ in readings that are replaced,
// under nd1 and dh too, and none appears or disappears. It is more accurate there, at the same price.
func NewQueryOfKnownRows(a Aggregate, u *Universe, m budget.Metric, eps *big.Rat) (*Query, error) {
	return newQuery(a, setting{u, m, eps, true})
}

func newQuery(a Aggregate, s setting) (*Query, error) {
	u, m := s.universe, s.metric
	price, err := budget.NewPrice(budget.Record, s.epsilon)
	if err != nil {
		return nil, err
	}
	if m < budget.D1 || m > budget.DInf {
		return nil, fmt.Errorf("metric %v is unknown", m)
	}
	if !a.TakesUniverse() && u != nil {
		return nil, fmt.Errorf("universe: %v takes none", a)
	}
	if a.TakesUniverse() && u == nil {
		return nil, fmt.Errorf("universe: %v needs one", a)
	}
	l, err := a.law(s)
	if err != nil {
		return nil, err
	}
	s = l.at()
	price.Unit = s.unit()
	return &Query{s, l, price}, nil
}

// PerRow reports whether a release is charged once for each row that an account contributes, and not once for all of
// them: under nd1 and dh, where epsilon is per record.
func (q *Query) PerRow() bool { return q.perRecord() }

// Disjoint reports whether releases about different readings of an account cost the account the largest of their prices
// together: under d1 their distances add up.
func (q *Query) Disjoint() bool { return q.metric == budget.D1 }

// Price returns the price of a release: once, or for each row that an account contributes.
func (q *Query) Price() budget.Price { return q.price }

// StandIn returns an answer that depends on public facts only: 0 for counts, sums and variances, and lo otherwise, as if
// it were of a single reading.
func (q *Query) StandIn() Release { return q.law.standIn() }

// A Release is a released answer, and what has been released with it about its accuracy. Its four words are as many
// as the compiler keeps in registers.
type Release struct {
	Value float64

	// Readings is the number of readings where the accuracy depends on it: the divisor of the noisy sum for an average, which
	// is the number where it is public, as under d1 and dinf, and the noisy number where it is secret; and the number for a variance
	// under d1 and for a percentile that was drawn by score under d1. It is infinite for an average and a variance without readings
	// where their number is public, which have no noise, and for a percentile that was drawn with noise; not a number for one that is
	// the mean of a window; and 1 for other aggregates.
	Readings float64

	// JSON is the answer of an aggregate of more than one number, in place of Value; empty for others.
	JSON string
}

// Release returns a released answer over the readings in a. Each call is one release and costs one charge. The result is
// a function of public facts and of draws. A number is the float64 nearest to its decimal: a value of the
// universe, a multiple of gcd(lo, step) for a sum, a whole number up to 2^53 for a count; for an average, to a number
// from lo to hi.
func (q *Query) Release(src *exact.Source, a *Accumulator) Release { return q.law.draw(src, a) }

// Draw returns the number of a [Query.Release].
func (q *Query) Draw(src *exact.Source, a *Accumulator) float64 { return q.law.draw(src, a).Value }

// Radius returns the smallest r such that the release is within r of the true answer
// with probability at least p, 0 < p < 1. It is in the universe's unit, or in rows for a
// count. The true answer is that of the readings as moved to the universe's grid. It
// returns an error where the error of an answer depends on the readings, as it does for percentiles
// under nd1, dh and d1 (but not where a metric names noise for them), for variances under dh, and for histograms.
//
// That of an average or a variance is larger by the 2000th of the noise's scale by which rounding may move the answer. It
// depends on how many readings there are, rows; 0 means that this is not known.
// Then it is that of a single reading under d1 and dinf, which is the largest, and an
// error under nd1 and dh. For averages under these, and for variances, it is that of the worst readings.
//
// Clamping only moves a release closer to the true answer, so p is a lower bound for
// answers near the ends.
func (q *Query) Radius(p float64, rows int64) (float64, error) {
	if !(p > 0 && p < 1) {
		return 0, errors.New("p is not between 0 and 1")
	}
	return q.law.radius(p, rows)
}
