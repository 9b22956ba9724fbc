package accuracy

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

const lawDraws = 100_000

// shares returns the share of each value of the universe among the draws.
func shares(u *scalar.Universe, draw drawer) []float64 {
	src, got := exact.NewSource(nil), make([]float64, u.Last()+1)
	for range lawDraws {
		got[u.Index(draw(src))] += 1. / lawDraws
	}
	return got
}

// follows reports whether shares are those of a law.
func follows(shares, law []float64) bool {
	for k, p := range law {
		if math.Abs(shares[k]-p) > strays(lawDraws) {
			return false
		}
	}
	return true
}

// rankLaw returns the law of the rank exponential mechanism from its definition: the score of
// a value is the least number of readings that have to become it for it to have the rank.
func rankLaw(u *scalar.Universe, sorted []int64, rank int, epsilon float64) []float64 {
	law, total := make([]float64, u.Last()+1), 0.0
	for v := range law {
		score := len(sorted)
		for changed := range uint(1) << len(sorted) {
			readings := slices.Clone(sorted)
			for i := range readings {
				if changed>>i&1 == 1 {
					readings[i] = int64(v)
				}
			}
			slices.Sort(readings)
			if readings[rank-1] == int64(v) {
				score = min(score, bits.OnesCount(changed))
			}
		}
		law[v] = math.Exp(-epsilon / 2 * float64(score))
		total += law[v]
	}
	for v := range law {
		law[v] /= total
	}
	return law
}

// Percentiles under dh and the rank exponential mechanism of the study have one law, which is
// the one of the definition. A rank or an epsilon that is wrong is caught. 100,000 draws
// for each of nine values; a false alarm has a probability below 1e-7 in all.
func TestRankExponential(t *testing.T) {
	const epsilon = 1.5
	s := settings(t, budget.DH, 1, epsilon)
	u := s.Universe
	sorted := indices(u, -1, 0, 0, 1, 1.5, 3)
	for _, q := range questions {
		if q.percent == none {
			continue
		}
		query, err := q.query(&s, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		at := rank(q.percent, len(sorted))
		law := rankLaw(u, sorted, at, epsilon)
		if !follows(shares(u, ours(query, u, sorted)), law) {
			t.Errorf("%s: another law than the definition's", q.name)
		}
		if !follows(shares(u, exponential(u, sorted, at, epsilon)), law) {
			t.Errorf("%s: the study's own mechanism has another law", q.name)
		}
		if follows(shares(u, exponential(u, sorted, at, 2*epsilon)), law) {
			t.Errorf("%s: a wrong epsilon is not caught", q.name)
		}
		if wrong := at%len(sorted) + 1; follows(shares(u, exponential(u, sorted, wrong, epsilon)), law) {
			t.Errorf("%s: a wrong rank is not caught", q.name)
		}
	}
}

// The thesis's noise is truncated geometric with the sensitivity of the metric: 1 under d1, and
// hi-lo = 4 under dh. The one for the other is caught. 100,000 draws
// each; a false alarm has a probability below 1e-7.
func TestThesis(t *testing.T) {
	const epsilon, answer = 1.5, 1.0
	law := func(m budget.Metric) []float64 {
		rate := epsilon * 0.5
		if m == budget.DH {
			rate /= 4
		}
		q, p := math.Exp(-rate), make([]float64, 9)
		for k := range p {
			p[k] = math.Pow(q, math.Abs(float64(k-4))) / (1 + q)
			if 0 < k && k < 8 {
				p[k] *= 1 - q
			}
		}
		return p
	}
	for m, other := range map[budget.Metric]budget.Metric{budget.D1: budget.DH, budget.DH: budget.D1} {
		s := settings(t, m, 1, epsilon)
		q, err := s.geometric(epsilon)
		if err != nil {
			t.Fatal(err)
		}
		got := shares(s.Universe, ours(q, s.Universe, []int64{s.Universe.Index(answer)}))
		if !follows(got, law(m)) {
			t.Errorf("%v: %v, not %v", m, got, law(m))
		}
		if follows(got, law(other)) {
			t.Errorf("%v: the law of %v is not told apart", m, other)
		}
	}
}
