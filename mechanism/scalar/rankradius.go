package scalar

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/elementary"
)

// How many readings lie between a percentile that was drawn by score and the true one, whatever the readings are. Those
// between x_k and a value v above it are the ones from rank k on that are below v, x_k included, and likewise below: as many
// readings would have to move for v to be the percentile. All of this is in the words of rank.go.
//
// x_k has the score 0. So if the values with t readings or more between weigh A together and all others B, then B >= 1, and
//
//	P(t or more) = A/(A+B) <= A/(A+1),
//
// which is at most 1-p if A <= (1-p)/p.
//
// Under dh the score is the number of readings between. Of the N values, up to N-1 have t or more, so that
// A <= (N-1) e^(-rate*t), and rate*t >= ln((N-1) p/(1-p)) is enough.
//
// Under d1 and nd1 each of the readings between moves by one step at least, which gives the same bound, and the next value
// is a step further from all of them: the j-th value with t or more above x_k has a score of j*t at least, and so has the
// j-th below. So A <= 2 (e^(-rate*t) + e^(-2 rate*t) + ..) = 2/(e^(rate*t) - 1) as well, and rate*t >= ln((1+p)/(1-p)) is
// enough, which is less unless N or p is small.
//
// From a maximum that is aimed c ranks inside, c more readings lie between at most.
//
// Where 2t or so readings are all equal, in the middle of a large universe, the median meets the bounds: no smaller t will do.

// leastRanks returns the largest number of readings that lie between with probability p at least.
func (l *scored) leastRanks(p float64) float64 {
	odds := elementary.Log(float64(l.universe.last)) + elementary.Log(p)
	if l.metric != budget.DH {
		odds = min(odds, elementary.Log1p(p))
	}
	t := math.Ceil((odds - elementary.Log1p(-p)) / (l.noise.rate / 2))
	return min(max(t, 1)-1+float64(l.inside), maxCount) // more are never counted
}

// rankDeviation does not know those of answers with noise. Under d1 no more lie between than there are readings.
func (l *scored) rankDeviation(p float64) Deviation {
	most := l.leastRanks(p)
	return func(r Release) float64 {
		switch {
		case l.metric != budget.D1:
			return most
		case math.IsInf(r.Readings, 1):
			return math.NaN()
		}
		return min(most, r.Readings)
	}
}

// RankRadius returns the smallest r such that a percentile, extremes included, is under dh at most r ranks
// off with probability at least p, 0 < p < 1, whatever the readings are: if it lies above
// the true one, at most r readings, equal ones of the true one included, would have to
// move up to it, and likewise below. Without readings there is no rank to be off. The ranks by which a maximum is aimed inside are
// among them.
func RankRadius(a Aggregate, p float64, eps *big.Rat, u *Universe) (int64, error) {
	if !(p > 0 && p < 1) {
		return 0, errors.New("p is not between 0 and 1")
	}
	if _, ranks := a.(percentile); !ranks {
		return 0, fmt.Errorf("aggregate %v has no rank", a)
	}
	q, err := NewQuery(a, u, budget.DH, eps)
	if err != nil {
		return 0, err
	}
	return int64(q.law.(*scored).leastRanks(p)), nil
}
