package scalar

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/exact"
)

// The percentiles of fixed p: 0, 100 and 50.
var (
	Min    Aggregate = percentile{name: "min", fraction: fraction{0, 1}}
	Max    Aggregate = percentile{name: "max", fraction: fraction{1, 1}, inside: true}
	Median Aggregate = percentile{name: "median", fraction: fraction{1, 2}}
)

// Percentile returns the aggregate of the reading of rank min(m, floor(p*m/100)+1) among m, for p in 0..100.
func Percentile(p *big.Rat) (Aggregate, error) {
	f, err := fractionOf(p)
	return percentile{name: "percentile", fraction: f}, err
}

// PercentileAt is Percentile for a p that somebody wrote. Between 0 and 1 that is an error: it is meant as a fraction of 1, and
// the answer would be nearly the smallest reading.
func PercentileAt(p float64) (Aggregate, error) {
	f, err := fractionAt(p)
	return percentile{name: "percentile", fraction: f}, err
}

func fractionAt(p float64) (f fraction, err error) {
	exactly := budget.Decimal(p)
	if 0 < p && p < 1 {
		hundredfold, _ := new(big.Rat).Mul(exactly, big.NewRat(100, 1)).Float64()
		return f, fmt.Errorf("p is %s: percentiles go from 0 to 100, so write %s", decimal.Format(p), decimal.Format(hundredfold))
	}
	return fractionOf(exactly)
}

// fractionAmong is fractionAt for one of several that somebody wrote: if one is above 1, none is a fraction of 1.
func fractionAmong(p, largest float64) (fraction, error) {
	if largest > 1 {
		return fractionOf(budget.Decimal(p))
	}
	return fractionAt(p)
}

// A fraction of the readings comes before a percentile: num/den = p/100.
type fraction struct{ num, den uint64 }

// fractionOf returns p/100.
func fractionOf(p *big.Rat) (f fraction, err error) {
	part := new(big.Rat).Mul(p, big.NewRat(1, 100))
	if part.Sign() < 0 || part.Cmp(big.NewRat(1, 1)) > 0 {
		return f, errors.New("p is not in 0..100")
	}
	if !part.Denom().IsUint64() {
		return f, errors.New("p has more than 17 decimals")
	}
	return fraction{part.Num().Uint64(), part.Denom().Uint64()}, nil
}

// below returns how many of m > 0 readings come before the percentile, min(m-1, floor(m*p/100)).
func (f fraction) below(m int) int {
	hi, lo := bits.Mul64(uint64(m), f.num)
	below, _ := bits.Div64(hi, lo, f.den) // num <= den: at most m
	return min(m-1, int(below))
}

type percentile struct {
	name string
	fraction
	inside bool // whether it may be aimed a few ranks inside under dh
	by     way  // under d1
}

func (p percentile) String() string    { return p.name }
func (percentile) TakesUniverse() bool { return true }

// law is noise under dinf, a draw by score under nd1 and dh, and one of three ways to draw under d1.
func (p percentile) law(s setting) (law, error) {
	u := s.universe
	sensitivity := u.one()
	switch s.metric {
	case budget.ND1:
		sensitivity = big.NewInt(u.width())
	case budget.DH:
		sensitivity = big.NewInt(u.stride) // a score of one takes the place of a step
	}
	n, err := s.newNoised(u.lattice(), float64(u.last), sensitivity)
	if err != nil {
		return nil, err
	}
	ranks := ranked{s, n, keeping{}, p.fraction}
	switch {
	case s.metric == budget.DH && p.inside:
		return &scored{ranked: ranks, inside: ranksInside(u, n.noise.rate)}, nil
	case s.metric != budget.DInf:
		return &scored{ranked: ranks, by: p.by}, nil
	case p.num == 0, p.num == p.den:
		return &extreme{ranks, p.num == 0}, nil
	}
	return &ranks, nil
}

// A ranked law answers with the reading of a rank, with noise.
//
// Sensitivity under dinf, and under d1 with the same rows NULL, hence the same m and
// rank: a reading of given rank moves by no more than the largest move of any reading
// (thesis, theorem 4.9). Under dinf, when other rows are NULL, the distance is hi - lo at
// least, and no two points of the grid are further apart; lo, the answer without readings,
// is one of them.
type ranked struct {
	setting
	noised
	keeping
	fraction
}

// answer returns the index of rank below(m)+1 among the m readings, which it reorders. It is 0 if there are none.
func (l *ranked) answer(a *Accumulator) int128 {
	if len(a.indices) == 0 {
		return int128{}
	}
	return fromInt64(nth(a.indices, l.below(len(a.indices)), bits.Len64(uint64(l.universe.last))))
}

func (l *ranked) draw(src *exact.Source, a *Accumulator) Release { return l.release(src, l.answer(a)) }

func (*ranked) bytes(readings int64) int64 { return readingSize * readings }

// An extreme law keeps only the least reading, or the largest.
type extreme struct {
	ranked
	least bool
}

func (l *extreme) add(a *Accumulator, k int64) {
	if a.rows == 1 || k < a.index == l.least {
		a.index = k
	}
}

func (*extreme) answer(a *Accumulator) int128 { return fromInt64(a.index) }

func (l *extreme) draw(src *exact.Source, a *Accumulator) Release { return l.release(src, l.answer(a)) }

func (*extreme) bytes(int64) int64 { return 0 }

// A scored law draws a percentile by score, or under d1 in one of three ways. Its noise has twice the rate of scores.
type scored struct {
	ranked
	inside  int64             // by how many ranks it is aimed inside: see ranksInside
	by      way               // under d1
	choices [64]atomic.Uint64 // the last ones by m modulo 64: 4*m + way
}

// below returns how many of m > 0 readings come before the one that is aimed at.
func (l *scored) below(m int) int { return l.ranked.below(m) - int(min(l.inside, int64(m/2))) }

// readings returns Readings of a [Release] over m readings.
func (l *scored) readings(m int) float64 {
	if l.metric != budget.D1 {
		return 1
	}
	switch l.way(m) {
	case byNoise:
		return math.Inf(1)
	case byWindow:
		return math.NaN()
	}
	return float64(m)
}

func (l *scored) draw(src *exact.Source, a *Accumulator) Release {
	m := len(a.indices)
	r := Release{Readings: l.readings(m)}
	switch l.way(m) {
	case byNoise:
		r.Value = l.ranked.draw(src, a).Value
	case byWindow:
		r.Value = l.number(l.drawWindow(src, a))
	default:
		r.Value = l.number(fromInt64(l.choose(src, a)))
	}
	return r
}

// choose draws an index of the universe by score. It sorts the readings.
func (l *scored) choose(src *exact.Source, a *Accumulator) int64 {
	a.choice.prepare(l.noise.rate/2, l.scores(&a.choice, a.sorted(l.universe))) // halving is exact
	return a.choice.draw(src)
}

// scores returns the scores over sorted readings, in the memory of c if that has some. Without readings all values have
// the same score, whatever is scored: 0 in moves.
func (l *scored) scores(c *choice, sorted []int64) scores {
	k := 0
	if len(sorted) > 0 {
		k = l.below(len(sorted))
	}
	if l.metric == budget.DH && len(sorted) > 0 {
		s := memory[rankScores](c)
		*s = rankScores{sorted: sorted, k: k, last: l.universe.last}
		return s
	}
	s := memory[moveScores](c)
	*s = moveScores{sorted: sorted, k: k, last: l.universe.last}
	return s
}

// deviation is known for answers with noise, which a number of readings under d1 has.
func (l *scored) deviation(p float64) Deviation {
	noised, _ := l.ranked.radius(p, 0)
	return func(r Release) float64 {
		if math.IsInf(r.Readings, 1) {
			return noised
		}
		return math.NaN()
	}
}

func (l *scored) radius(p float64, rows int64) (float64, error) {
	const data = "how far a percentile is off under metric %v depends on the readings"
	if l.by == byNoise {
		return l.ranked.radius(p, rows)
	}
	if l.metric == budget.DH {
		return 0, fmt.Errorf(data+"; dx_rank_radius(p, epsilon, universe) tells how many ranks", l.metric)
	}
	return 0, fmt.Errorf(data, l.metric)
}
