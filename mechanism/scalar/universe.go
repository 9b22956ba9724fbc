package scalar

import (
	"fmt"
	"math"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/mechanism/nearest"
)

// maxValues bounds the values of a universe.
const maxValues = 1 << 40

// A Universe is the public range of a reading: the decimals lo, lo+step, .., hi and
// their unit. Internally, a value is its index 0..n, and every decimal is a whole number
// of quanta, a power of ten of which all three arguments are multiples. A Universe is
// immutable and safe for concurrent use.
type Universe struct {
	name string
	unit budget.Unit

	first  int64   // lo in quanta
	stride int64   // step in quanta
	last   int64   // index of hi
	scale  float64 // quanta in 1: a power of ten, exact

	lo, hi  float64 // the float64 nearest to each
	perStep float64 // about 1/step
	sure    float64 // how near a rounded index proves it right, see Index
}

// NewUniverse returns the universe lo, lo+step, .., hi, with readings that are
// protected per unit. The numbers are taken as the decimals that people wrote: 0.1 is
// 1/10. It returns an error, which names the argument, if one is not finite, step is not
// above 0, hi is not above lo, step does not divide hi - lo, the unit's name is reserved,
// there are more than 2^40 values, or the values have more than 22 decimals or more than
// 15 digits.
func NewUniverse(name string, lo, hi, step float64, unit budget.Unit) (*Universe, error) {
	for _, arg := range []struct {
		name  string
		value float64
	}{{"lo", lo}, {"hi", hi}, {"step", step}} {
		if math.IsNaN(arg.value) || math.IsInf(arg.value, 0) {
			return nil, fmt.Errorf("%s is not finite", arg.name)
		}
	}
	if step <= 0 {
		return nil, fmt.Errorf("step %v is not above 0", step)
	}
	if hi <= lo {
		return nil, fmt.Errorf("hi %v is not above lo %v", hi, lo)
	}
	if err := budget.CheckUniverseUnit(unit); err != nil {
		return nil, err
	}
	q, err := quantize(lo, hi, step)
	if err != nil {
		return nil, err
	}
	u := &Universe{
		name: name, unit: unit,
		first: q.First, stride: q.Stride, last: q.Last, scale: q.Scale,
		perStep: 1 / step,
	}
	u.lo, u.hi = u.Value(0), u.Value(u.last)
	largest := float64(max(q.End(), -q.First))
	u.sure = 0.5 - 0x1p-49*largest/float64(q.Stride)
	return u, nil
}

// quantize returns lo, hi and step in quanta.
func quantize(lo, hi, step float64) (q nearest.Steps, err error) {
	l, h, s := budget.Decimal(lo), budget.Decimal(hi), budget.Decimal(step)
	width := new(big.Rat).Sub(h, l)
	n := new(big.Rat).Quo(width, s)
	if !n.IsInt() {
		return q, fmt.Errorf("step %v does not divide the range from lo %v to hi %v", step, lo, hi)
	}
	if n.Num().Cmp(big.NewInt(maxValues)) >= 0 {
		return q, fmt.Errorf("step %v is too fine: more than 2^40 values from lo %v to hi %v", step, lo, hi)
	}
	if max(decimalsOf(l), decimalsOf(s)) > nearest.MaxDecimals { // hi = lo + n*step needs no more
		return q, fmt.Errorf("step %v or lo %v has more than %d decimals", step, lo, nearest.MaxDecimals)
	}
	q, ok := nearest.StepsOf(lo, hi, step)
	if !ok {
		return q, fmt.Errorf("lo %v, hi %v and step %v need more than 15 digits", lo, hi, step)
	}
	return q, nil
}

// decimalsOf returns how many decimals the decimal r has.
func decimalsOf(r *big.Rat) int {
	n, _ := r.FloatPrec()
	return n
}

// Name returns the name that the universe was declared with.
func (u *Universe) Name() string { return u.name }

// Unit returns the unit of the values, in which budgets are counted.
func (u *Universe) Unit() budget.Unit { return u.unit }

// String describes the universe in one line.
func (u *Universe) String() string {
	return fmt.Sprintf("%s: %s to %s in steps of %s %s, %d values", u.name,
		decimal.Format(u.lo), decimal.Format(u.hi), decimal.Format(u.decimal(u.stride)), u.unit, u.last+1)
}

// Value returns the value of index k in 0..n as the float64 nearest to its
// decimal, which prints as that decimal.
func (u *Universe) Value(k int64) float64 { return u.decimal(u.first + k*u.stride) }

// decimal returns the float64 nearest to a number of quanta below 2^53: both
// operands are exact, so the division rounds once.
func (u *Universe) decimal(quanta int64) float64 { return float64(quanta) / u.scale }

// Last returns the index n of hi.
func (u *Universe) Last() int64 { return u.last }

// Step returns the distance between neighbouring values, in the unit.
func (u *Universe) Step() *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(u.stride), u.one())
}

// Outside reports whether x is below lo or above hi.
func (u *Universe) Outside(x float64) bool { return x < u.lo || x > u.hi }

// Index returns the index of the value nearest to x, that of lo or hi if x is outside,
// and the higher of two equally near ones. x is taken as the decimal that people wrote:
// 0.0005 is halfway between 0 and 0.001 although no float64 is. Index is monotone, and
// Index(Value(k)) = k.
//
// Precisely, Index is that of [nearest.Steps], in less time.
func (u *Universe) Index(x float64) int64 {
	if !(x > u.lo) { // or NaN, which no caller passes
		return 0
	}
	if x >= u.hi {
		return u.last
	}
	y := float64((x - u.lo) * u.perStep)
	k := int64(y + 0.5)
	// With e = 2^-53 and M = max(|lo|, |hi|): lo was rounded by e*M at most, the
	// difference by 2e*M, step, its inverse and the product lose 3e relative
	// to at most 2M/step, and a midpoint was rounded by e*M. That is 10e*M/step
	// and terms in e^2, and u.sure and the difference below are rounded too: less than
	// 2^-49 M/step = 16e*M/step between y's distance to a midpoint and the true one.
	// Closer to k than half of one less that, k is right. TestFilters proves it.
	if math.Abs(y-float64(k)) < u.sure {
		return k
	}
	return u.steps().IndexFrom(x, k)
}

// steps returns the values by their definition.
func (u *Universe) steps() nearest.Steps {
	return nearest.Steps{First: u.first, Stride: u.stride, Last: u.last, Scale: u.scale}
}

// grain returns the step, in quanta, of the coarsest lattice that contains 0 and every
// value: sums of any number of readings lie on it.
func (u *Universe) grain() int64 { return gcd(u.first, u.stride) }

// one returns 1 of the unit in quanta.
func (u *Universe) one() *big.Int { return integer(u.scale) }

// width returns hi - lo in quanta.
func (u *Universe) width() int64 { return u.last * u.stride }

// reach returns max(|lo|, |hi|, hi-lo) in quanta: the most by which a sum changes if a
// row is added, removed or replaced.
func (u *Universe) reach() int64 {
	return max(-u.first, u.first+u.width(), u.width())
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}
