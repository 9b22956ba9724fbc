package cip

import (
	"context"
	"math"
	"math/big"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// A gap is the time between two points, hi + lo without error.
type gap struct{ hi, lo float64 }

// gapBetween returns later - earlier without error (Knuth's TwoSum).
func gapBetween(later, earlier float64) gap {
	hi := later - earlier
	b := hi - later
	return gap{hi, (later - (hi - b)) - (earlier + b)}
}

func (g gap) rat() *big.Rat {
	r := new(big.Rat).SetFloat64(g.hi)
	return r.Add(r, new(big.Rat).SetFloat64(g.lo))
}

// A kernel computes the correlations of a trace's points. It is safe for concurrent
// use.
type kernel struct {
	name   string
	period *big.Rat
	gaps   []gap   // the different gaps
	of     [][]int // for points i and j < i, the index of the gap between them

	mu        sync.Mutex
	exponents map[uint][]*big.Float
}

func newKernel(p *Policy, times []float64) *kernel {
	k := &kernel{name: p.Kernel, period: new(big.Rat).SetFloat64(p.Period), exponents: map[uint][]*big.Float{}}
	index := map[gap]int{}
	for i := range times {
		row := make([]int, i)
		for j := range row {
			g := gapBetween(times[i], times[j])
			at, known := index[g]
			if !known {
				at = len(k.gaps)
				index[g] = at
				k.gaps = append(k.gaps, g)
			}
			row[j] = at
		}
		k.of = append(k.of, row)
	}
	return k
}

// power returns the power of 1/l in the exponent.
func (k *kernel) power() int {
	if k.name == Exponential {
		return 1
	}
	return 2
}

// unitExponents returns, for each gap, -ln of the correlation for l = 1, with a relative
// error below 2^-bits.
func (k *kernel) unitExponents(ctx context.Context, bits uint) ([]*big.Float, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if list := k.exponents[bits]; list != nil {
		return list, nil
	}
	pi := bigPi(bits + 40)
	list := make([]*big.Float, len(k.gaps))
	for i, g := range k.gaps {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		list[i] = k.exponent(g.rat(), pi, bits+8)
	}
	k.exponents[bits] = list
	return list, nil
}

func (k *kernel) exponent(dt *big.Rat, pi *big.Float, bits uint) *big.Float {
	x := newFloat(bits)
	switch k.name {
	case Exponential:
		return x.SetRat(dt)
	case RBF:
		x.SetRat(dt)
		return x.Mul(x, x).Mul(x, big.NewFloat(0.5))
	default:
		sine := bigSinPi(phase(dt, k.period), pi, bits)
		return x.Mul(sine, sine).Mul(x, big.NewFloat(2))
	}
}

// phase returns how far dt is from the nearest multiple of a period, in periods.
func phase(dt, period *big.Rat) *big.Rat {
	r := new(big.Rat).Quo(dt, period)
	half := new(big.Rat).Add(r, big.NewRat(1, 2))
	whole := new(big.Int).Div(half.Num(), half.Denom())
	return r.Sub(r, new(big.Rat).SetInt(whole)).Abs(r)
}

// coincident reports, for each gap, whether the kernel identifies points that far apart.
// Only a periodic kernel does.
func (k *kernel) coincident() []bool {
	same := make([]bool, len(k.gaps))
	for i, g := range k.gaps {
		same[i] = k.name == Periodic && phase(g.rat(), k.period).Sign() == 0
	}
	return same
}

// decorrelatedScale returns a length scale at and below which every correlation of points
// that do not coincide is at most limit: correlations grow with l.
func (k *kernel) decorrelatedScale(ctx context.Context, limit float64) (float64, error) {
	exponents, err := k.unitExponents(ctx, tableBits)
	least := math.Inf(1)
	for _, x := range exponents {
		if x.Sign() > 0 {
			y, _ := x.Float64()
			least = min(least, y)
		}
	}
	l := least / -math.Log(limit)
	if k.power() == 2 {
		l = math.Sqrt(l)
	}
	return l * (1 - 1e-12), err
}

// A table holds the correlations at one length scale. It is not safe for concurrent use.
type table struct {
	kernel  *kernel
	l       float64
	bits    uint
	rho     []*big.Float // for each gap, with an absolute error below 2^-bits
	rounded []float64    // rho in float64
	one     *big.Float
}

// tableBits is the initial precision of a table.
const tableBits = 128

func (k *kernel) tableAt(l float64) *table { return &table{kernel: k, l: l, one: big.NewFloat(1)} }

// refine raises the precision of the table to at least the given bits.
func (t *table) refine(ctx context.Context, bits uint) error {
	if t.bits >= bits {
		return nil
	}
	divisor := newFloat(bits + 48).SetFloat64(t.l)
	if t.kernel.power() == 2 {
		divisor.Mul(divisor, divisor)
	}
	exponents, err := t.kernel.unitExponents(ctx, bits+48)
	if err != nil {
		return err
	}
	t.rho, t.rounded = make([]*big.Float, len(exponents)), make([]float64, len(exponents))
	x := newFloat(bits + 48)
	for i, e := range exponents {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.rho[i] = bigExp(x.Quo(e, divisor), bits)
		t.rounded[i], _ = t.rho[i].Float64()
	}
	t.bits = bits
	return nil
}

func (t *table) correlation(i, j int) *big.Float {
	if i == j {
		return t.one
	}
	return t.rho[t.kernel.of[max(i, j)][min(i, j)]]
}

func (t *table) correlation64(i, j int) float64 {
	if i == j {
		return 1
	}
	return t.rounded[t.kernel.of[max(i, j)][min(i, j)]]
}

// Covariances returns those of a trace's points under the prior, in each coordinate, by the
// times in ascending order. The length scale is the policy's, or its maximum. They are rounded
// to float64, which may leave a matrix that is not positive definite.
func (p Policy) Covariances(ctx context.Context, times []float64) (*mat.SymDense, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	times, err := sortTimes(times)
	if err != nil {
		return nil, err
	}
	t := newKernel(&p, times).tableAt(max(p.LengthScale, p.LengthScaleMax))
	if err := t.refine(ctx, tableBits); err != nil {
		return nil, err
	}
	c := mat.NewSymDense(len(times), nil)
	for i := range times {
		for j := range i + 1 {
			c.SetSym(i, j, p.Variance*t.correlation64(i, j))
		}
	}
	return c, nil
}
