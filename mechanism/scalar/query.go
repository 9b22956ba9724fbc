package scalar

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
)

// A Query is an aggregate under a metric at an epsilon. It fixes what is computed, how
// much noise the answer needs, and what a release costs. It is immutable and safe for
// concurrent use; each group has an [Accumulator] of its own.
//
// # Sensitivity
//
// Delta is the most that an answer changes per unit of the metric's distance:
//
//	            d1      nd1, dh                dinf
//	value       1       -                      -
//	sum         1       max(|lo|,|hi|,hi-lo)   none
//	ranks       1       hi-lo                  1
//	count       one per record that is present or absent
//
// The average is a sum divided by a count, with noise of its own: see mean.go. Ranks are min,
// max, median and percentile. Under nd1 and dh, and under d1 where that is better, they are
// drawn by score instead: see rank.go. Variances have sums of their own: see variance.go. Under nd1 and dh epsilon is per
// record and a row that is present or absent counts as one; elsewhere epsilon is per
// unit of the universe and such a row counts as hi - lo. The exception is the
// sum under d1 when the universe does not contain 0: one row more or less
// changes the sum by up to max(|lo|,|hi|) > hi - lo, and counts as that distance. Ranks
// under d1 do not protect which rows are present, since their number decides how they are
// drawn.
type Query struct {
	agg      Aggregate
	universe *Universe // nil for Count
	metric   budget.Metric
	price    budget.Price
	mean     *mean     // of Avg, whose answers are not on a lattice; nil otherwise
	variance *variance // of Variance and StdDev; nil otherwise
	scored   bool      // a percentile that may be drawn by score
	noise    noise     // per lattice step, at twice the rate of scores
	lattice  lattice

	// The rank is min(m, floor(m*rank/ranks)+1).
	rank, ranks uint64
}

// NewQuery returns a query, or an error if a part of it has no meaning:
//
//   - eps, an epsilon that [budget.Cost] accepts, is per unit of [Query.Price];
//   - u is nil for Count, and only then;
//   - m is D1, the zero value, for Value and Count, which have no choice; Sum has no
//     finite sensitivity under DInf;
//   - p, in 0..100, is given for Percentile and nil otherwise.
//
// Numbers are taken as the rationals that they are: convert an argument by
// [budget.Decimal].
func NewQuery(agg Aggregate, u *Universe, m budget.Metric, eps, p *big.Rat) (*Query, error) {
	price, err := budget.NewPrice(budget.Record, eps)
	if err != nil {
		return nil, err
	}
	if agg < Value || agg > StdDev {
		return nil, fmt.Errorf("aggregate %v is unknown", agg)
	}
	if agg == Count && u != nil {
		return nil, errors.New("universe: count takes none")
	}
	if agg != Count && u == nil {
		return nil, fmt.Errorf("universe: %v needs one", agg)
	}
	if err := checkMetric(agg, m); err != nil {
		return nil, err
	}
	q := &Query{agg: agg, universe: u, metric: m, price: price, scored: agg >= Min && agg <= Percentile && m != budget.DInf}
	if !q.PerRow() {
		q.price.Unit = u.Unit()
	}
	if q.rank, q.ranks, err = rankFraction(agg, p); err != nil {
		return nil, err
	}
	if agg == Avg {
		if q.mean, err = newMean(u, m, eps); err != nil {
			return nil, err
		}
		return q, nil
	}
	if agg == Variance || agg == StdDev {
		if q.variance, err = newVariance(u, m, eps); err != nil {
			return nil, err
		}
		return q, nil
	}
	q.lattice = newLattice(agg, u)
	perStep := new(big.Rat).SetFrac(big.NewInt(q.lattice.step), q.sensitivity())
	perStep.Mul(perStep, eps)
	if q.noise, err = newNoise(perStep); err != nil {
		return nil, err
	}
	return q, nil
}

func checkMetric(agg Aggregate, m budget.Metric) error {
	if m < budget.D1 || m > budget.DInf {
		return fmt.Errorf("metric %v is unknown", m)
	}
	switch {
	case m == budget.D1:
		return nil
	case (agg == Variance || agg == StdDev) && m != budget.DH:
		return fmt.Errorf("metric %v: %v is released under d1 and dh only", m, agg)
	case agg == Value || agg == Count:
		return fmt.Errorf("metric %v: %v takes no metric", m, agg)
	case agg == Sum && m == budget.DInf:
		// n readings that each move by one step move the sum by n.
		return fmt.Errorf("metric %v: sum has no finite sensitivity under it", m)
	}
	return nil
}

// sensitivity returns Delta in quanta, as in the table at Query. The proofs are at total
// and percentile.
func (q *Query) sensitivity() *big.Int {
	switch {
	case q.metric == budget.D1 || q.metric == budget.DInf:
		return integer(q.lattice.scale) // one in the unit; one row for a count
	case q.agg == Sum:
		return big.NewInt(q.universe.reach())
	case q.scored && q.metric == budget.DH:
		return big.NewInt(q.lattice.step) // a score of one takes the place of a step
	default:
		return big.NewInt(q.universe.width())
	}
}

// PerRow reports whether a release is charged once for each row that an account
// contributes, and not once for all of them.
func (q *Query) PerRow() bool {
	return q.agg == Count || q.metric == budget.ND1 || q.metric == budget.DH
}

// Disjoint reports whether releases about different readings of an account cost the account
// the largest of their prices together: under d1 their distances add up.
func (q *Query) Disjoint() bool { return q.metric == budget.D1 && q.agg != Count }

// Price returns what a release costs: once, or for each row that an account contributes.
func (q *Query) Price() budget.Price { return q.price }

// StandIn returns an answer that depends on public facts only: 0 for counts, sums and
// variances, and lo otherwise, as if it were of a single reading.
func (q *Query) StandIn() Release {
	if q.agg == Count || q.agg == Sum || q.variance != nil {
		return Release{0, 1}
	}
	return Release{q.universe.lo, 1}
}

// rankFraction returns the fraction of the readings below a percentile, rank/ranks =
// p/100.
func rankFraction(agg Aggregate, p *big.Rat) (rank, ranks uint64, err error) {
	switch agg {
	case Median:
		return 1, 2, errUnlessNil(p, agg)
	case Max:
		return 1, 1, errUnlessNil(p, agg)
	case Percentile:
	default:
		return 0, 1, errUnlessNil(p, agg)
	}
	if p == nil {
		return 0, 0, errors.New("p is missing")
	}
	fraction := new(big.Rat).Mul(p, big.NewRat(1, 100))
	if fraction.Sign() < 0 || fraction.Cmp(big.NewRat(1, 1)) > 0 {
		return 0, 0, errors.New("p is not in 0..100")
	}
	if !fraction.Denom().IsUint64() {
		return 0, 0, errors.New("p has more than 17 decimals")
	}
	return fraction.Num().Uint64(), fraction.Denom().Uint64(), nil
}

func errUnlessNil(p *big.Rat, agg Aggregate) error {
	if p != nil {
		return fmt.Errorf("p: %v takes none", agg)
	}
	return nil
}
