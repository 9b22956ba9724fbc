package exact_test

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func TestNewDiscreteGaussianRefuses(t *testing.T) {
	for _, rate := range []float64{0, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p-65, math.SmallestNonzeroFloat64} {
		if _, err := exact.NewDiscreteGaussian(rate); err == nil {
			t.Errorf("rate %v accepted", rate)
		}
	}
	for _, rate := range []float64{0x1p-64, 1, 9e20, math.MaxFloat64} {
		if _, err := exact.NewDiscreteGaussian(rate); err != nil {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

// gaussianLaw is P(-reach), .., P(reach) by enumeration, and the reach. What is left out
// weighs less than 1e-17.
func gaussianLaw(rate float64) (law []float64, reach int64) {
	reach = int64(math.Sqrt(40/rate)) + 1
	sum := 0.
	for k := -reach; k <= reach; k++ {
		w := math.Exp(-rate * float64(k*k))
		law = append(law, w)
		sum += w
	}
	for i := range law {
		law[i] /= sum
	}
	return law, reach
}

// gaussianPvalue draws a million values and compares how often there is each integer that
// is expected at least ten times, and the tails below and above these.
func gaussianPvalue(rate float64, draw func() int64) float64 {
	const n = 1_000_000
	law, reach := gaussianLaw(rate)
	edge := int64(0)
	for edge+1 < reach && law[reach+edge+1]*n >= 10 {
		edge++
	}
	cells := make([]float64, 2*edge+3) // from -edge-1 to edge+1, with all beyond
	for i, p := range law {
		k := min(max(int64(i)-reach, -edge-1), edge+1)
		cells[k+edge+1] += p
	}
	counts := make([]int, len(cells))
	for range n {
		counts[min(max(draw(), -edge-1), edge+1)+edge+1]++
	}
	return pvalue(counts, cells)
}

// gaussianPairPvalue is pairPvalue for the discrete Gaussian law, cut as laplacePvalue.
func gaussianPairPvalue(rate float64, draw func() int64) float64 {
	law, reach := gaussianLaw(rate)
	cuts := []int64{0, 1}
	for _, sigmas := range []float64{0.5, 1, 2, 2.6} {
		c := int64(math.Ceil(sigmas / math.Sqrt(2*rate)))
		cuts = append(cuts, c, 1-c)
	}
	return pairPvalue(cuts, func(c int64) float64 {
		below := 0.
		for i := range c + reach {
			below += law[i]
		}
		return below
	}, draw)
}

func TestDiscreteGaussianFits(t *testing.T) {
	for _, rate := range trials.Some(t, 3, 1e-4, 0.005, 0.1, 0.5, 1, 3) {
		g := must(exact.NewDiscreteGaussian(rate))
		s := exact.NewSource(nil)
		draw := func() int64 { return g.Draw(s) }
		if p := gaussianPvalue(rate, draw); p < falseAlarm {
			t.Errorf("rate %g: p-value %g", rate, p)
		}
		if p := gaussianPairPvalue(rate, draw); p < falseAlarm {
			t.Errorf("rate %g: p-value of pairs %g", rate, p)
		}
	}
}

// TestDiscreteGaussianMisfits plants errors which the checks above have to see.
func TestDiscreteGaussianMisfits(t *testing.T) {
	for _, rate := range trials.Some(t, 1, 0.005, 0.5) {
		g := must(exact.NewDiscreteGaussian(rate))
		narrow := must(exact.NewDiscreteGaussian(1.05 * rate))
		laplace := must(exact.NewDiscreteLaplace(g.ProposalRate()))
		s := exact.NewSource(nil)
		sigma := 1 / math.Sqrt(2*rate)
		edge := int64(3 * sigma)
		planted := map[string]func() int64{
			"variance 5% too small": func() int64 { return narrow.Draw(s) },
			"proposals":             func() int64 { return laplace.Draw(s) },
			"clamped tail":          func() int64 { return min(edge, max(-edge, g.Draw(s))) },
			"biased sign": func() int64 {
				k := g.Draw(s)
				if k < 0 && s.Below(20) == 0 {
					return -k
				}
				return k
			},
			"zero half as often": func() int64 {
				for {
					if k := g.Draw(s); k != 0 || s.Bool() {
						return k
					}
				}
			},
			"test of another proposal": func() int64 {
				for {
					if k := laplace.Draw(s); narrow.Accept(s, k) {
						return k
					}
				}
			},
		}
		if rate > 0.1 { // where sigma is large, it is nearly the same
			planted["rounded normal"] = func() int64 { return s.RoundedNormal(0, sigma) }
		}
		for name, draw := range planted {
			if p := gaussianPvalue(rate, draw); p >= falseAlarm {
				t.Errorf("rate %g: %s not noticed, p-value %g", rate, name, p)
			}
		}
		if p := gaussianPairPvalue(rate, twice(func() int64 { return g.Draw(s) })); p >= falseAlarm {
			t.Errorf("rate %g: noise used twice not noticed, p-value %g", rate, p)
		}
	}
}

// The acceptance test has its probability to 2^-16, and with it proposals have the law: an
// accepted k has e^(-a|k|) e^-x, which is e^(-rate k^2) up to a constant.
func TestDiscreteGaussianEnumerated(t *testing.T) {
	for _, rate := range trials.Some(t, 1, 1e-6, 0.02, 0.5, 4) {
		g := must(exact.NewDiscreteGaussian(rate))
		a := g.ProposalRate()
		if math.Abs(a-math.Sqrt(2*rate)) > 1e-15*a {
			t.Errorf("rate %v: the proposals' is %v", rate, a)
		}
		for _, sigmas := range []float64{0, 0.5, 1, 1.7, 3} {
			k := int64(math.Round(sigmas / a))
			x := rate*float64(k*k) - a*float64(k) + a*a/(4*rate)
			for _, signed := range []int64{k, -k} {
				toss := func(s *exact.Source) bool { return g.Accept(s, signed) }
				checkCoin(t, fmt.Sprint("gaussian ", rate, signed), math.Exp(-x), toss)
			}
		}
	}
}

// gaussianExponent is x as a rational number.
func gaussianExponent(g exact.DiscreteGaussian, rate float64, k int64) *big.Rat {
	r := new(big.Rat).SetFloat64(rate)
	x := new(big.Rat).Mul(r, new(big.Rat).SetInt64(2*k))
	x.Sub(x, new(big.Rat).SetFloat64(g.ProposalRate()))
	return x.Mul(x, x).Quo(x, r.Mul(r, big.NewRat(4, 1)))
}

// misplacedGaussian places U as close to e^-x as so many bits allow, on either side, and
// returns the first number of bits for which the answer is wrong, or 0.
func misplacedGaussian(p *big.Float, accept func(s *exact.Source) bool) int {
	for _, bits := range []int{32, 64, 96, 128, 192, 256, 1600} {
		below := leadingBits(p, bits)
		above := new(big.Int).Add(below, big.NewInt(1))
		if below.Sign() == 0 || above.BitLen() > bits {
			continue // U would be 0 or 1
		}
		head := make([]byte, bits/8)
		if !accept(script(below.FillBytes(head), zeros)) || accept(script(above.FillBytes(head), zeros)) {
			return bits
		}
	}
	return 0
}

var gaussianBoundaries = []struct {
	rate float64
	k    int64
}{{0x1p-64, 3_000_000_000}, {1e-18, 700_000_001}, {1e-9, 22_360}, {1e-9, 100_000}, {0.005, 0}, {0.005, 10}, {0.005, 47}, {0.1, -3}, {1, 5}, {7.25, 1}, {40, 3}}

func TestDiscreteGaussianBoundaries(t *testing.T) {
	for _, b := range gaussianBoundaries {
		g := must(exact.NewDiscreteGaussian(b.rate))
		p := oracleExp(gaussianExponent(g, b.rate, magnitude(b.k)))
		if bits := misplacedGaussian(p, func(s *exact.Source) bool { return g.Accept(s, b.k) }); bits > 0 {
			t.Errorf("rate %g, k = %d: %d bits of U are taken for the wrong side", b.rate, b.k, bits)
		}
		naive := func(s *exact.Source) bool {
			far := math.Sqrt(b.rate) * float64(magnitude(b.k))
			x := (far - math.Sqrt(0.5)) * (far - math.Sqrt(0.5))
			return (float64(s.Uint64())+0.5)*0x1p-64 < math.Exp(-x)
		}
		if misplacedGaussian(p, naive) == 0 {
			t.Errorf("rate %g, k = %d: float64 arithmetic not noticed", b.rate, b.k)
		}
	}
}

func TestDiscreteGaussianAgrees(t *testing.T) {
	for _, c := range trials.Some(t, 3, []struct {
		rate  float64
		draws int
	}{{0x1p-64, 300}, {1e-18, 500}, {1e-9, 2_000}, {1e-4, 5_000}, {0.005, 5_000}, {0.5, 5_000}, {3, 5_000}, {1e6, 2_000}, {math.MaxFloat64, 300}}...) {
		g := must(exact.NewDiscreteGaussian(c.rate))
		checkAgreement(t, c.draws, func() io.Reader { return pseudorandom(17) }, g.Draw)
		checkAgreement(t, c.draws, func() io.Reader { return newHostile(18, edges(laplaceTail, g.ProposalRate())...) }, g.Draw)
		edge := uint32(math.Exp(-0.5) * 0x1p32) // the acceptance of 0
		checkAgreement(t, c.draws, func() io.Reader { return newHostile(19, edge) }, g.Draw)
	}
}

// renyi is the divergence of an order between the law and itself moved by d, by enumeration.
func renyi(rate float64, order float64, d int64) float64 {
	// The terms P(k-d)^order P(k)^(1-order) are largest near order*d. The rest is as
	// in gaussianLaw.
	_, reach := gaussianLaw(rate)
	largest := func(k int64) float64 {
		return -rate * (order*math.Pow(float64(k-d), 2) + (1-order)*math.Pow(float64(k), 2))
	}
	middle := int64(math.Round(order * float64(d)))
	top, sum, mass := largest(middle), 0., 0.
	for k := -reach; k <= reach; k++ {
		sum += math.Exp(largest(middle+k) - top)
		mass += math.Exp(-rate * float64(k*k))
	}
	return (top + math.Log(sum/mass)) / (order - 1)
}

// The divergence is at most order*rate*d^2 for all orders, and no less for integers. A law
// with 1 % less variance exceeds it.
func TestDiscreteGaussianDivergence(t *testing.T) {
	for _, rate := range []float64{1e-4, 0.005, 0.5, 1, 3, 10} {
		for _, d := range []int64{1, 2, 5, 40} {
			for _, order := range []float64{1.01, 1.1, 1.5, 2, 2.5, 3, 7.3, 32, 100.5, 200} {
				bound := order * rate * float64(d*d)
				got := renyi(rate, order, d)
				if got > bound*(1+1e-9) {
					t.Errorf("rate %v, order %v, distance %d: divergence %v, bound %v", rate, order, d, got, bound)
				}
				if order == math.Trunc(order) && got < bound*(1-1e-9) {
					t.Errorf("rate %v, order %v, distance %d: divergence %v does not reach %v", rate, order, d, got, bound)
				}
				if order == math.Trunc(order) && renyi(1.01*rate, order, d) <= bound {
					t.Errorf("rate %v, order %v, distance %d: less variance is not noticed", rate, order, d)
				}
			}
		}
	}
}

func TestDiscreteGaussianAllocates(t *testing.T) {
	for _, rate := range []float64{1e-8, 0.005, 1, 1e6} {
		g := must(exact.NewDiscreteGaussian(rate))
		s := exact.NewSource(nil)
		if n := testing.AllocsPerRun(10_000, func() { g.Draw(s) }); n != 0 {
			t.Errorf("rate %g: %v allocations per draw", rate, n)
		}
	}
}
