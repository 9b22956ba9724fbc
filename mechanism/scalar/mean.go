package scalar

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Avg is the average of the readings, from lo to hi.
var Avg Aggregate = &simple{"avg", newAvg}

// Averages are a noisy sum of readings divided by how many there are. All noise is on integers; the answer is a
// function of the drawn integers, of the universe, and of the number m of readings where that is public.
//
// # Privacy
//
// Let k be the index of a reading, so that it is lo + k*step, and n the index of hi.
//
// Under d1 and dinf the positions of NULL are public: databases with other NULLs are at no
// finite distance, and m is the same in both. S is the sum of the k.
//   - d1: readings that move by d in all, D = d/step steps, move S by D at most. Noise on S
//     at a rate of epsilon*step spends epsilon*step*D = epsilon*d. The average has noise of
//     scale 1/(epsilon*m).
//   - dinf: readings that all move by d at most move S by m*D at most. Noise at a rate of
//     epsilon*step/m spends epsilon*d. The average has noise of scale 1/epsilon.
//   - Without readings m = 0 is public and the answer is lo.
//
// Under nd1 and dh epsilon is per record. Where it is known which rows there are, a record that is replaced moves S by n at
// most, and under nd1 one at distance D/n moves it by D: noise at a rate of epsilon/n spends epsilon a record.
//
// Otherwise m is secret. Y is the sum of 2k-n, readings in
// half steps from the middle of the universe, so that |2k-n| <= n. Y has noise at a rate of
// epsilon/(2n), and m has noise at a rate of epsilon/2, drawn independently. Then
//   - a record more or less moves Y by n at most and m by 1: epsilon/2 + epsilon/2;
//   - a record that is replaced moves Y by 2n at most and m not at all: epsilon;
//   - under nd1 a record that moves by D steps is at distance D/n. It moves Y by 2D:
//     epsilon*D/n.
//
// Such moves add up, and so do their losses. This is the Laplace mechanism (thesis,
// section 4.2) on integers, and composition. Under dh the noise of Y may be a staircase of width n at a rate of epsilon/2: a
// record more or less is one width of it, and one that is replaced two. Where it is known which rows there are, readings
// only move, and S has noise for moves by n at a rate of epsilon.
func newAvg(s setting) (law, error) {
	if s.secretRows() {
		return newRecordsMean(s)
	}
	v := &mean{setting: s}
	perStep := new(big.Rat).Mul(s.epsilon, s.universe.Step())
	if s.metric == budget.DInf {
		v.perStep = perStep
		if perStep.Cmp(minMeanRate) < 0 {
			return nil, errTooFine
		}
		return v, nil
	}
	var err error
	if s.perRecord() {
		v.sum, err = s.newRecordNoise(s.epsilon, s.universe.last)
	} else {
		v.sum, err = newNoise(perStep)
	}
	return v, err
}

// A mean is an average of a public number of readings.
type mean struct {
	setting
	sums
	sum     noise    // of S; not for dinf
	perStep *big.Rat // dinf: epsilon*step, to be divided by m; nil otherwise
}

// minMeanRate is minRate for groups of up to 2^30 readings.
var minMeanRate = new(big.Rat).SetFloat64(0x1p-40)

func (v *mean) draw(src *exact.Source, a *Accumulator) Release {
	if a.rows == 0 {
		return Release{Value: v.universe.lo, Readings: math.Inf(1)}
	}
	rows := float64(a.rows)
	n := v.sumNoise(a.rows)
	s := n.add(src, a.sum.times(1))
	return Release{Value: v.universe.quotient(s.big(), big.NewInt(a.rows), v.universe.averageScale(n, rows)), Readings: rows}
}

// sumNoise returns the noise of a sum of m readings, m > 0.
func (v *mean) sumNoise(m int64) noise {
	if v.perStep == nil {
		return v.sum
	}
	n, err := noiseAt(new(big.Rat).Quo(v.perStep, new(big.Rat).SetInt64(m)))
	if err != nil {
		panic("scalar: " + err.Error()) // rates are above 2^-103
	}
	return n
}

// radius takes an unknown number of readings for one.
func (v *mean) radius(p float64, rows int64) (float64, error) {
	return v.distance(p, max(1, rows)), nil
}

// distance returns the least distance, in the unit, within which an average of m readings is of the true one with
// probability p at least, but for readings near the ends of the universe.
func (v *mean) distance(p float64, m int64) float64 {
	u, noise := v.universe, v.sumNoise(m)
	return min((noise.quantile(p)+float64(roundoff*noise.scale()))*float64(u.stride)/(u.scale*float64(m)), float64(u.width())/u.scale)
}

// A recordsMean is an average of a secret number of readings.
type recordsMean struct {
	setting
	sums
	sum, count noise // of Y and of m
}

func newRecordsMean(s setting) (*recordsMean, error) {
	v := &recordsMean{setting: s}
	half := new(big.Rat).Quo(s.epsilon, big.NewRat(2, 1))
	var err error
	if v.count, err = newNoise(half); err != nil {
		return nil, err
	}
	v.sum, err = s.newRecordNoise(half, s.universe.last)
	return v, err
}

// draw takes one for a noisy number of readings below one.
func (v *recordsMean) draw(src *exact.Source, a *Accumulator) Release {
	u := v.universe
	count := v.count.drawCount(src, a.rows)
	divisor, _ := new(big.Float).SetInt(count).Float64()
	offset := v.sum.add(src, u.offset(a)).big()
	// The average has the index n/2 + (Y+N)/(2*count). It is rounded for N alone, which is no larger than with the noise of the count.
	index := new(big.Int).Mul(count, big.NewInt(u.last))
	return Release{Value: u.quotient(index.Add(index, offset), count.Lsh(count, 1), u.averageScale(v.sum, 2*divisor)), Readings: divisor}
}

// offset returns Y, the sum of the readings in half steps from the middle of the universe.
func (u *Universe) offset(a *Accumulator) int128 {
	return a.sum.times(2).add(uint128{0, uint64(a.rows)}.times(uint64(u.last)).neg())
}

// averageScale returns the scale, in the unit, of noise on a sum of indices that is divided by a number.
func (u *Universe) averageScale(n noise, divisor float64) float64 {
	return float64(n.scale()/divisor*float64(u.stride)) / u.scale
}

// quotient returns the value of index num/den, den > 0, moved into the universe and rounded for noise of a scale.
func (u *Universe) quotient(num, den *big.Int, scale float64) float64 {
	if num.Sign() < 0 {
		return u.lo
	}
	if last := new(big.Int).Mul(den, big.NewInt(u.last)); num.Cmp(last) > 0 {
		return u.hi
	}
	quanta := new(big.Int).Mul(num, big.NewInt(u.stride))
	quanta.Add(quanta, new(big.Int).Mul(den, big.NewInt(u.first)))
	x := rounded(quanta, new(big.Int).Mul(den, u.one()), min(scale, u.hi-u.lo))
	return min(max(x, u.lo), u.hi)
}
