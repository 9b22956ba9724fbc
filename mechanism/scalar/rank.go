package scalar

import (
	"math"
	"math/bits"

	"github.com/geosql/geosql/internal/elementary"
)

// The percentiles of a group under d1, nd1 and dh are drawn by score: a value v of the
// universe is released with probability proportional to
//
//	exp(-rate*score(v)),
//
// the exponential mechanism (McSherry and Talwar, Mechanism Design via Differential
// Privacy, 2007). If two databases differ so little that no score differs by more than s,
// the weight of a value and the sum of all weights each differ by a factor of at most
// exp(rate*s), and the probability of a value by exp(2*rate*s). So rate is half of epsilon
// for what the metric takes as one, and less than that by the rounding of a float64.
//
// Below, x_1 <= .. <= x_n are the readings in the order of size, as indices of the
// universe, k(n) = min(n, floor(n*p/100)+1) is the rank of the percentile, and W = hi-lo.
//
// # dh: how many ranks v is off
//
// The score is that of private quantiles (Smith, Privacy-preserving statistical estimation
// with optimal convergence rates, 2011). With L readings below v and E equal to it, v has the ranks L+1 to L+E, and
//
//	score(v) = max(0, L+1-k(n), k(n)-(L+E)).
//
// A reading that is added, removed or replaced changes it by 1 at most. Replacing keeps n,
// and L and L+E change by 1 at most each, hence both differences and their maximum do.
// Adding turns L into L or L+1, L+E into L+E or L+E+1, and k(n) into k(n) or k(n)+1: the
// floor grows by at most one since p <= 100, so both arguments of the minimum do, and
// neither falls. The difference of two numbers that each grow by 0 or 1 changes by 1 at
// most. Removing is the same backwards.
//
// One record is a distance of one, so rate is epsilon/2 per rank. All of this includes
// n = 0, where k is 0: without readings every value has the score max(0, 1-k(0)) = 1, so
// the draw is uniform.
//
// A maximum may be aimed at c ranks inside, see ranksInside: k(n) = n - min(c, floor(n/2)). Of a reading more, n and floor(n/2)
// grow by 1 and by 0 or 1, hence the minimum by 0 or 1 and k(n) by 0 or 1, which is all that was used of it.
//
// # d1 and nd1: how far the readings are from having the percentile v
//
// The score is the inverse sensitivity (Asi and Duchi, Instance-optimality in
// differential privacy via approximate inverse sensitivity mechanisms, 2020): the least
// Manhattan distance from the readings to n readings whose percentile is v. To raise the percentile to v, at least all readings from x_k on that are below v
// have to move up to it, and that is enough; to lower it, likewise. So
//
//	score(v) = sum over i >= k of max(0, v - x_i)  for v >= x_k,
//	score(v) = sum over i <= k of max(0, x_i - v)  for v <= x_k.
//
// As a distance to a set it changes by no more than the readings move. That is all for d1,
// where the positions of NULL, hence n, are public: rate is epsilon*step/2 per step.
//
// Under nd1 it changes by at most W when a reading is added or removed. Without readings
// it is 0 everywhere, and with one it is |v - x_1| <= W. Otherwise, let y be n readings
// with the percentile v = y_k, at the least distance from x.
//
// Adding a to x: add hi to y if k(n+1) = k(n), and lo if k(n+1) = k(n)+1. The percentile
// of y is still v, and a is at most W from what was added.
//
// Removing a: let y be n+1 readings with the percentile v at the least distance from x and
// a, and take the reading b that a was moved to away from y. That does not add to the
// distance. With k = k(n), let z be the reading of rank k in what is left. If z is not v,
// moving it to v adds W at most and makes v the percentile, that is, at most k-1 readings
// are then below v and at least k are not above it:
//
//   - If k(n+1) = k, z is the reading of rank k or k+1 in y, so z > v. At most k-1 readings
//     of y are below v, and at least k are not above it, b perhaps among them: k-1 are
//     left, and z joins them.
//   - If k(n+1) = k+1, z is the reading of rank k or k+1 in y, so z < v. At most k readings
//     of y are below v, z among them, which leaves them. At least k+1 are not above v, b
//     perhaps among them: k are left.
//
// A move by d is at the distance d/W under nd1, and a reading more or less at 1. So a
// distance of one changes the score by at most W, and rate is epsilon*step/(2W) per step.

// A run is a stretch of neighbouring values with scores that grow evenly: the value
// first + j*step has the score score + j*slope, for 0 <= j < n. The slope is 0 between
// neighbouring ranks, and the number of readings that have to move under d1 and nd1.
type run struct {
	first, step, n int64
	score          uint128
	slope          int64
}

// scores are the scores of all values of a universe, as runs that together have every value once. Over readings there
// are at most twice as many runs as different readings, and one.
type scores interface {
	restart()          // begins anew
	next() (run, bool) // returns the next run, and false after the last
}

// memory returns the scores that c was last prepared with, to be overwritten, or new ones if these are of another type.
func memory[S any](c *choice) *S {
	if s, ok := any(c.scores).(*S); ok {
		return s
	}
	return new(S)
}

// rankScores count ranks.
type rankScores struct {
	sorted []int64 // the readings, at least one
	k      int     // how many readings there are below rank k(n)
	last   int64   // the highest value

	at int64 // the value at which the next run begins
	i  int   // how many readings are below it
}

func (s *rankScores) restart() { s.at, s.i = 0, 0 }

// next goes up from lo.
func (s *rankScores) next() (run, bool) {
	if s.at > s.last {
		return run{}, false
	}
	first, below := s.at, s.i
	for s.i < len(s.sorted) && s.sorted[s.i] == first {
		s.i++
	}
	s.at++
	if s.i == below { // no reading is here: go on to the next one
		s.at = s.last + 1
		if s.i < len(s.sorted) {
			s.at = s.sorted[s.i]
		}
	}
	// The rank is s.k+1.
	return run{first: first, step: 1, n: s.at - first, score: uint128{lo: uint64(max(0, below-s.k, s.k+1-s.i))}}, true
}

// moveScores add up moves of readings. Without readings all scores are 0.
type moveScores struct {
	sorted []int64 // the readings
	k      int     // how many readings there are below rank k(n)
	last   int64   // the highest value

	at    int64 // the value at which the next run begins, or before which it does on the way down
	i     int   // the next reading
	down  bool  // below the percentile
	score uint128
	slope int64
}

func (s *moveScores) restart() { s.turn(false) }

// turn begins at the percentile.
func (s *moveScores) turn(down bool) {
	s.at, s.i, s.down, s.score, s.slope = 0, s.k, down, uint128{}, 0
	if len(s.sorted) > 0 {
		s.at = s.sorted[s.k]
	}
}

// next goes up from the percentile and then down from it.
func (s *moveScores) next() (run, bool) {
	if !s.down {
		if next, ok := s.nextAbove(); ok {
			return next, true
		}
		s.turn(true)
	}
	return s.nextBelow()
}

// nextAbove goes up from the percentile, which is part of the first run.
func (s *moveScores) nextAbove() (run, bool) {
	if s.at > s.last {
		return run{}, false
	}
	for s.i < len(s.sorted) && s.sorted[s.i] == s.at {
		s.i++
		s.slope++
	}
	next := run{first: s.at, step: 1, n: s.reading(s.last+1) - s.at, score: s.score, slope: s.slope}
	s.at += next.n
	s.score = next.scoreAt(next.n)
	return next, true
}

// nextBelow goes down from the percentile, which is not part of any run.
func (s *moveScores) nextBelow() (run, bool) {
	if s.at == 0 {
		return run{}, false
	}
	for s.i >= 0 && s.sorted[s.i] == s.at {
		s.i--
		s.slope++
	}
	next := run{first: s.at - 1, step: -1, n: s.at - s.reading(0), score: s.score.add(uint64(s.slope)), slope: s.slope}
	s.at -= next.n
	s.score = next.scoreAt(next.n - 1)
	return next, true
}

// reading returns the next reading, or a value instead of one.
func (s *moveScores) reading(otherwise int64) int64 {
	if s.i < 0 || s.i >= len(s.sorted) {
		return otherwise
	}
	return s.sorted[s.i]
}

// scoreAt returns the score of the j-th value.
func (r run) scoreAt(j int64) uint128 {
	hi, lo := bits.Mul64(uint64(r.slope), uint64(j))
	s := r.score.add(lo)
	s.hi += hi
	return s
}

// ranksInside returns by how many ranks c a maximum under dh is aimed inside, over scores that weigh e^-(rate/2) a rank: 2 ln(U)/rate
// of U values, rounded up, or 0 where the references say that this is better. It is a function of public facts.
//
// All values above the largest reading are one rank off, and nearly U may be there. Aimed at the last rank, they weigh
// e^-(rate/2) each against the 1 of the maximum; aimed c ranks inside, 1/U at most.
func ranksInside(u *Universe, rate float64) int64 {
	c, cases := maximaInside(u, rate)
	if leastWorst(cases) == 0 {
		return 0
	}
	return c
}

// maximaInside returns c, and for each reference and some numbers of readings the errors of a maximum that is aimed at the last
// rank and of one that is aimed c ranks inside.
func maximaInside(u *Universe, rate float64) (c int64, cases [][]float64) {
	c = int64(min(math.Ceil(2*elementary.Log(float64(u.last+1))/rate), maxCount)) // more are never counted
	for _, n := range [...]int{40, 300, 2_000, 15_000, 100_000} {
		for _, r := range references {
			largest := n - 1
			atLargest := ranking{sample{r, n, u.last}, largest, rate / 2, true}
			inside := atLargest
			inside.before -= int(min(c, int64(n/2)))
			cases = append(cases, []float64{atLargest.expectedError(largest), inside.expectedError(largest)})
		}
	}
	return c, cases
}
