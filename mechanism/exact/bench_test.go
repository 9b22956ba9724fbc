package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// benchRates are l = ln 4 within 200 m per cell of 1 m, and 1.
var benchRates = []float64{math.Ln2 / 100, 1}

var (
	sinkInt   int64
	sinkFloat float64
	sinkBool  bool
)

func BenchmarkDiscreteLaplace(b *testing.B) {
	for _, rate := range append(benchRates, 1e-6, 1e-12, 1e-18, 1e3) {
		b.Run(fmt.Sprintf("rate=%.3g", rate), func(b *testing.B) {
			d, err := NewDiscreteLaplace(rate)
			if err != nil {
				b.Fatal(err)
			}
			s := NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = d.Draw(s)
			}
		})
	}
}

func BenchmarkGeometric(b *testing.B) {
	for _, rate := range append(benchRates, 1e-6, 1e-12, 1e-18, 1e3) {
		b.Run(fmt.Sprintf("rate=%.3g", rate), func(b *testing.B) {
			g, err := NewGeometric(rate)
			if err != nil {
				b.Fatal(err)
			}
			s := NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = g.Draw(s)
			}
		})
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	for _, sigma := range []float64{0.5, 100, 1e9} {
		b.Run(fmt.Sprintf("sigma=%.3g", sigma), func(b *testing.B) {
			g, err := NewDiscreteGaussian(1 / (2 * sigma * sigma))
			if err != nil {
				b.Fatal(err)
			}
			s := NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = g.Draw(s)
			}
		})
	}
}

func BenchmarkRoundedNormal(b *testing.B) {
	for _, sigma := range []float64{0.5, 100, 1 << 40} {
		b.Run(fmt.Sprintf("sigma=%.3g", sigma), func(b *testing.B) {
			s := NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = s.RoundedNormal(1e6+0.25, sigma)
			}
		})
	}
}

// BenchmarkNormalTextbook is the ziggurat of the standard library in plain
// float64, on a generator which is not for secrets.
func BenchmarkNormalTextbook(b *testing.B) {
	for b.Loop() {
		sinkInt = int64(math.Round(1e6 + 0.25 + 100*rand.NormFloat64()))
	}
}

// BenchmarkPolarTextbook draws the continuous planar Laplace law as the
// literature has it, direction and radius, in plain float64: not private, and
// the yardstick for the cost of exactness.
func BenchmarkPolarTextbook(b *testing.B) {
	radii := []struct {
		name   string
		radius func(s *Source, eps float64) float64
	}{{"LambertW", radiusLambert}, {"Gamma", radiusGamma}}
	for _, r := range radii {
		for _, rate := range benchRates {
			b.Run(fmt.Sprintf("%s/rate=%.3g", r.name, rate), func(b *testing.B) {
				s := NewSource(nil)
				b.ReportAllocs()
				for b.Loop() {
					sin, cos := math.Sincos(2 * math.Pi * uniform53(s))
					radius := r.radius(s, rate)
					sinkFloat = radius*cos + radius*sin
				}
			})
		}
	}
}

// uniform53 returns a float64 uniform on (0,1).
func uniform53(s *Source) float64 { return (float64(s.Uint64()>>11) + 0.5) * 0x1p-53 }

// radiusLambert inverts C(r) = 1 - (1 + eps r) e^(-eps r) (Andres et al. 2013).
func radiusLambert(s *Source, eps float64) float64 {
	return -(lambertWm1((uniform53(s)-1)/math.E) + 1) / eps
}

// TestYardstick checks lambertWm1 against R1: quantiles of the planar Laplace
// radius at eps = 1, computed with 60 digits.
func TestYardstick(t *testing.T) {
	for p, want := range map[float64]float64{
		.5: 1.678346990017, .75: 2.692634528890, .95: 4.743864518391, .999: 9.233413476452,
	} {
		if got := -(lambertWm1((p-1)/math.E) + 1); math.Abs(got-want) > 1e-11 {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}

// radiusGamma draws from the same law, Gamma(2, 1/eps), as a sum of two
// exponential variates.
func radiusGamma(s *Source, eps float64) float64 {
	return -math.Log(uniform53(s)*uniform53(s)) / eps
}

// lambertWm1 is the branch W <= -1 of W e^W = x for -1/e <= x < 0: a series at
// either end, then three steps of Halley's iteration.
func lambertWm1(x float64) float64 {
	var w float64
	if x < -0.25 {
		p := -math.Sqrt(2 * (1 + math.E*x))
		w = -1 + p - p*p/3 + 11./72*p*p*p
	} else {
		l1 := math.Log(-x)
		l2 := math.Log(-l1)
		w = l1 - l2 + l2/l1
	}
	for range 3 {
		e := math.Exp(w)
		f := w*e - x
		if f == 0 {
			break
		}
		w -= f / (e*(w+1) - (w+2)*f/(2*w+2))
	}
	return w
}

func BenchmarkBernoulliExpL2(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%.3g", rate), func(b *testing.B) {
			a := rate * 0.7071067
			d, _ := NewDiscreteLaplace(a)
			s := NewSource(nil)
			var i, j [1024]int64
			for k := range i {
				i[k], j[k] = d.Draw(s), d.Draw(s)
			}
			b.ReportAllocs()
			for k := 0; b.Loop(); k = (k + 1) % len(i) {
				sinkBool = s.BernoulliExpL2(rate, a, i[k], j[k])
			}
		})
	}
}

func BenchmarkLaplaceTest(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%.3g", rate), func(b *testing.B) {
			d, _ := NewDiscreteLaplace(rate)
			s := NewSource(nil)
			var i, j [1024]int64
			for k := range i {
				i[k], j[k] = d.Draw(s), d.Draw(s)
			}
			b.ReportAllocs()
			for k := 0; b.Loop(); k = (k + 1) % len(i) {
				sinkBool = s.LaplaceTest(rate, 2.01, i[k], j[k])
			}
		})
	}
}

func BenchmarkBernoulliExpRatio(b *testing.B) {
	for _, rate := range benchRates {
		b.Run(fmt.Sprintf("rate=%.3g", rate), func(b *testing.B) {
			s := NewSource(nil)
			b.ReportAllocs()
			for k := uint64(0); b.Loop(); k = (k + 1) % 1024 {
				sinkBool = s.BernoulliExpRatio(rate, k+1, 7)
			}
		})
	}
}

func BenchmarkBelow(b *testing.B) {
	for _, n := range []uint64{1000, 1<<63 + 1} { // the second rejects almost half
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := NewSource(nil)
			b.ReportAllocs()
			for b.Loop() {
				sinkInt = int64(s.Below(n))
			}
		})
	}
}

func BenchmarkUint32(b *testing.B) {
	s := NewSource(nil)
	for b.Loop() {
		sinkInt = int64(s.Uint32())
	}
}

func BenchmarkExpBounds(b *testing.B) {
	x := big.NewRat(355, 113)
	for _, prec := range []uint{64, 128, 1024} {
		b.Run(fmt.Sprint(prec), func(b *testing.B) {
			for b.Loop() {
				ExpBounds(x, prec)
			}
		})
	}
}
