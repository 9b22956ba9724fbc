package accuracy

import (
	"math"
	"math/big"
	"math/rand/v2"
	"sort"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// The mechanisms that are compared.
const (
	Ours        = "geosql"
	Thesis      = "thesis"
	Exponential = "exponential"
)

// A drawer draws an answer. It is for one worker.
type drawer func(src *exact.Source) float64

// A trial is a question that a mechanism answers at an epsilon.
type trial struct {
	question  question
	epsilon   float64
	mechanism string
	start     func(sorted []int64) drawer // over the sorted indices of readings
}

// trials returns the trials of a question at an epsilon.
func (s *Settings) trials(q question, epsilon float64) ([]trial, error) {
	query, err := q.query(s, epsilon)
	if err != nil {
		return nil, err
	}
	all := []trial{{q, epsilon, Ours, func(sorted []int64) drawer { return ours(query, s.Universe, sorted) }}}
	if q.thesis {
		geometric, err := s.geometric(epsilon)
		if err != nil {
			return nil, err
		}
		all = append(all, trial{q, epsilon, Thesis, func(sorted []int64) drawer {
			return ours(geometric, s.Universe, []int64{s.Universe.Index(q.truth(s.Universe, sorted))})
		}})
	}
	if q.percent != none && s.metric == budget.DH {
		all = append(all, trial{q, epsilon, Exponential, func(sorted []int64) drawer {
			return exponential(s.Universe, sorted, rank(q.percent, len(sorted)), epsilon)
		}})
	}
	return all, nil
}

// ours returns a drawer of the answers that are released about readings.
func ours(q *scalar.Query, u *scalar.Universe, sorted []int64) drawer {
	var a scalar.Accumulator
	for _, k := range sorted {
		q.Add(&a, u.Value(k))
	}
	return func(src *exact.Source) float64 { return q.Draw(src, &a) }
}

// geometric returns the truncated geometric mechanism on the universe as the thesis uses it.
func (s *Settings) geometric(epsilon float64) (*scalar.Query, error) {
	rate := budget.Decimal(epsilon)
	if s.metric == budget.DH {
		width := new(big.Rat).SetInt64(s.Universe.Last())
		rate.Quo(rate, width.Mul(width, s.Universe.Step()))
	}
	return scalar.NewQuery(scalar.Value, s.Universe, budget.D1, rate)
}

// exponential returns a drawer of the reading of a rank by the rank exponential mechanism: the
// weight of a value is exp(-epsilon/2) to the power of how many ranks it is off.
func exponential(u *scalar.Universe, sorted []int64, rank int, epsilon float64) drawer {
	equal := make([]int, u.Last()+1)
	for _, k := range sorted {
		equal[k]++
	}
	upTo, total, below := make([]float64, len(equal)), 0.0, 0
	for k, n := range equal {
		off := max(0, below+1-rank, rank-(below+n))
		total += math.Exp(-epsilon / 2 * float64(off))
		upTo[k] = total
		below += n
	}
	return func(*exact.Source) float64 {
		return u.Value(int64(sort.SearchFloat64s(upTo, rand.Float64()*total)))
	}
}
