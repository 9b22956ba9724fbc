package scalar

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// The spread of readings.
var (
	Variance = register(spread{"variance", false})
	StdDev   = register(spread{"stddev", true})
)

// A spread is a variance or its root.
type spread struct {
	name string
	root bool
}

func (s spread) String() string    { return s.name }
func (spread) TakesUniverse() bool { return true }

// A variance is a noisy sum of squares and a noisy sum, divided by how many readings there are. All noise is on
// integers; the answer is a function of the drawn integers, of the universe, and
// under d1 of the public number m of readings.
//
// # Privacy
//
// Let k be the index of a reading, n the index of hi, and y = 2k-n: the reading in half steps
// from the middle of the universe, |y| <= n. A is the sum of the y, B that of the y^2. All
// noises are drawn independently, and their losses add up.
//
// Under d1 the positions of NULL are public, and m is the same in both databases. Readings
// that move by D steps in all move A by 2D, and B by 4nD at most, since
// |y^2 - y'^2| = |y + y'|*|y - y'| <= 2n*2D. Noise on A at a rate of epsilon*step/4 and on B at
// a rate of epsilon*step/(8n) spends epsilon*step*D/2 each: epsilon per unit.
//
// Under dh a third of epsilon is for each of m, A and B: m has noise at a rate of epsilon/3,
// A at epsilon/(3n), B at epsilon/(3n^2).
//   - A record more or less moves m by 1, A by n and B by n^2 at most: epsilon in all.
//   - A record that is replaced leaves m, moves A by 2n at most, and B by n^2 at most, since
//     both squares are in 0..n^2: 2/3 + 1/3 of epsilon.
//
// A is not centred again at a noisy average: that would cost as much once more.
type variance struct {
	setting
	of                  spread
	count, sum, squares noise // of m, where it is secret; of A; of B
}

func (of spread) law(s setting) (_ law, err error) {
	if s.metric != budget.D1 && s.metric != budget.DH {
		return nil, fmt.Errorf("metric %v: %s is released under d1 and dh only", s.metric, of)
	}
	v := &variance{setting: s, of: of}
	n := new(big.Rat).SetInt64(s.universe.last)
	var sum *big.Rat // the rate of A; that of B is 1/n or 1/(2n) of it
	squares := new(big.Rat).Inv(n)
	if !s.perRecord() {
		sum = new(big.Rat).Mul(s.epsilon, s.universe.Step())
		sum.Quo(sum, big.NewRat(4, 1))
		squares.Quo(squares, big.NewRat(2, 1))
	} else {
		third := new(big.Rat).Quo(s.epsilon, big.NewRat(3, 1))
		if v.count, err = newNoise(third); err != nil {
			return nil, err
		}
		sum = new(big.Rat).Quo(third, n)
	}
	if v.sum, err = newNoise(sum); err != nil {
		return nil, err
	}
	if v.squares, err = newNoise(squares.Mul(squares, sum)); err != nil {
		return nil, err
	}
	return v, nil
}

func (*variance) add(a *Accumulator, k int64) {
	a.sum = a.sum.add(uint64(k))
	a.squares = a.squares.addSquare(uint64(k))
}

func (*variance) standIn() Release { return zero }

func (v *variance) radius(float64, int64) (float64, error) {
	return 0, fmt.Errorf("how far a %v is off depends on the readings", v.of)
}

func (v *variance) draw(src *exact.Source, a *Accumulator) Release {
	x, count := v.drawExactly(src, a)
	if count.Sign() == 0 {
		return zero
	}
	scale := v.scale(count)
	half := new(big.Rat).SetFrac(big.NewInt(v.universe.width()), new(big.Int).Lsh(v.universe.one(), 1))
	most := new(big.Rat).Mul(half, half)
	if v.of.root {
		// Noise that is small against x moves its root by 1/(2*root) of that, and other noise by about its own root.
		square, _ := x.Float64()
		root := math.Sqrt(square)
		x.SetFloat64(root)
		most, scale = half, min(scale/(2*root), math.Sqrt(scale)/2)
	}
	limit, _ := most.Float64()
	return Release{Value: min(rounded(x.Num(), x.Denom(), min(scale, limit)), limit), Readings: 1}
}

// scale returns the scale of a variance's noise for a number of readings, public or drawn, in the unit squared: that of
// the squares alone, which is no larger than with the noise of the sum.
func (v *variance) scale(count *big.Int) float64 {
	over, _ := new(big.Float).SetInt(count).Float64()
	step, _ := v.universe.Step().Float64()
	return float64(step*step) / 4 / float64(v.squares.rate*over)
}

// drawExactly returns a released variance, in the unit squared, from 0 to the largest of readings in
// the universe, ((hi-lo)/2)^2, and the number of readings that it was divided by. Both are 0 without readings under d1,
// where that is public.
func (v *variance) drawExactly(src *exact.Source, a *Accumulator) (x *big.Rat, count *big.Int) {
	count = big.NewInt(a.rows)
	if v.perRecord() {
		count = v.count.drawCount(src, a.rows)
	}
	if count.Sign() == 0 {
		return new(big.Rat), count
	}
	u := v.universe
	sum := v.sum.add(src, u.offset(a)).big()
	squares := v.squares.add(src, int128{}).big()
	squares.Add(squares, u.squares(a))
	// B/m - (A/m)^2, in quarters of a squared step.
	mean := new(big.Rat).SetFrac(sum, count)
	quarters := new(big.Rat).SetFrac(squares, count)
	quarters.Sub(quarters, mean.Mul(mean, mean))
	most := new(big.Rat).SetInt64(u.last)
	if most.Mul(most, most); quarters.Cmp(most) > 0 {
		quarters = most
	}
	if quarters.Sign() < 0 {
		quarters = new(big.Rat)
	}
	half := new(big.Rat).Quo(u.Step(), big.NewRat(2, 1))
	return quarters.Mul(quarters, half.Mul(half, half)), count
}

// squares returns B, the sum of 4k^2 - 4kn + n^2.
func (u *Universe) squares(a *Accumulator) *big.Int {
	n := big.NewInt(u.last)
	b := new(big.Int).Lsh(a.squares.big(), 2)
	cross := a.sum.times(1).big()
	b.Sub(b, cross.Lsh(cross.Mul(cross, n), 2))
	return b.Add(b, n.Mul(n, n).Mul(n, big.NewInt(a.rows)))
}
