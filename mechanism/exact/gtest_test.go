package exact_test

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// falseAlarm is the probability with which one goodness-of-fit check may fail
// on a correct sampler. A run of the package makes fewer than 100 of them. The
// planted errors are eight standard deviations or more beyond it: each is missed
// with a probability below 1e-14.
const falseAlarm = 1e-10

// pvalue bounds the probability that a multinomial sample diverges from its
// law as much as counts does from law: the likelihood-ratio (G) test with
// Agrawal's bound, which holds for every sample size (Finite-sample
// concentration of the multinomial in relative entropy, 2020): for n samples in
// m cells, P(D >= t) <= e^(-nt) (e n t/(m-1))^(m-1) when nt > m-1.
func pvalue(counts []int, law []float64) float64 {
	n := 0
	for _, c := range counts {
		n += c
	}
	nt := 0.0
	for i, c := range counts {
		if c > 0 {
			nt += float64(c) * math.Log(float64(c)/(float64(n)*law[i]))
		}
	}
	freedom := float64(len(counts) - 1)
	if nt <= freedom {
		return 1
	}
	return math.Exp(-nt + freedom*(1+math.Log(nt/freedom)))
}

// laplaceBelow is P(k < c) for the discrete Laplace law.
func laplaceBelow(rate float64, c int64) float64 {
	q := math.Exp(-rate)
	if c <= 0 {
		return math.Exp(-rate*float64(1-c)) / (1 + q)
	}
	return 1 - math.Exp(-rate*float64(c))/(1+q)
}

// laplacePvalue is pairPvalue for the discrete Laplace law, cut around 0 and at
// several scales out to tails of half a per cent.
func laplacePvalue(rate float64, draw func() int64) float64 {
	cuts := []int64{0, 1}
	for _, t := range []float64{0.25, 1, 2, 4.6} {
		c := int64(math.Ceil(t / rate))
		cuts = append(cuts, c, 1-c)
	}
	return pairPvalue(cuts, func(c int64) float64 { return laplaceBelow(rate, c) }, draw)
}

// geometricPvalue is pairPvalue for the geometric law, with the cuts of
// laplacePvalue on its side.
func geometricPvalue(rate float64, draw func() int64) float64 {
	cuts := []int64{1}
	for _, t := range []float64{0.25, 1, 2, 4.6} {
		cuts = append(cuts, int64(math.Ceil(t/rate)))
	}
	return pairPvalue(cuts, func(c int64) float64 { return -math.Expm1(-rate * float64(c)) }, draw)
}

// pairPvalue draws 400,000 pairs of consecutive values and compares the pair of
// classes they fall in, which begin at the cuts, with the product law, so it
// sees a wrong law and dependent draws alike. The law is given by
// cumulative(c) = P(k < c).
func pairPvalue(cuts []int64, cumulative func(c int64) float64, draw func() int64) float64 {
	const pairs = 400_000
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	classes := len(cuts) + 1

	var single []float64
	below := 0.0
	for _, c := range cuts {
		p := cumulative(c)
		single = append(single, p-below)
		below = p
	}
	single = append(single, 1-below)
	law := make([]float64, 0, classes*classes)
	for _, p := range single {
		for _, r := range single {
			law = append(law, p*r)
		}
	}

	class := func(k int64) int {
		i, found := slices.BinarySearch(cuts, k)
		if found {
			i++
		}
		return i
	}
	counts := make([]int, len(law))
	for range pairs {
		first := class(draw())
		counts[first*classes+class(draw())]++
	}
	return pvalue(counts, law)
}

func TestDiscreteLaplaceFits(t *testing.T) {
	for _, rate := range trials.Some(t, 3, 1e-9, math.Ln2/100, 0.1, 0.7, 1, 3) {
		d := must(exact.NewDiscreteLaplace(rate))
		s := exact.NewSource(nil)
		if p := laplacePvalue(rate, func() int64 { return d.Draw(s) }); p < falseAlarm {
			t.Errorf("rate %g: p-value %g", rate, p)
		}
	}
}

// TestDiscreteLaplaceMisfits plants errors which the check above has to see.
func TestDiscreteLaplaceMisfits(t *testing.T) {
	for _, rate := range trials.Some(t, 1, math.Ln2/100, 1) {
		d := must(exact.NewDiscreteLaplace(rate))
		fast := must(exact.NewDiscreteLaplace(1.1 * rate))
		s := exact.NewSource(nil)
		edge := int64(2 / rate)
		planted := map[string]func() int64{
			"rate 10% off": func() int64 { return fast.Draw(s) },
			"clamped tail": func() int64 { return min(edge, max(-edge, d.Draw(s))) },
			"redrawn tail": func() int64 {
				for {
					if k := d.Draw(s); k >= -edge && k <= edge {
						return k
					}
				}
			},
			"biased sign": func() int64 {
				k := d.Draw(s)
				if k < 0 && s.Below(20) == 0 {
					return -k
				}
				return k
			},
			"zero counted twice": func() int64 {
				// |k|, given that it is not 0, is 1 + a geometric.
				k := d.Draw(s)
				for k == 0 {
					k = d.Draw(s)
				}
				if k < 0 {
					return k + 1
				}
				return k - 1
			},
			"noise used twice": twice(func() int64 { return d.Draw(s) }),
			"buffer repeated":  drawFrom(d, exact.NewSource(&loop{data: buffer(s)})),
		}
		for name, draw := range planted {
			if p := laplacePvalue(rate, draw); p >= falseAlarm {
				t.Errorf("rate %g: %s not noticed, p-value %g", rate, name, p)
			}
		}
	}
}

func TestGeometricFits(t *testing.T) {
	for _, rate := range trials.Some(t, 3, 1e-9, math.Ln2/100, 0.1, 0.7, 1, 3) {
		g := must(exact.NewGeometric(rate))
		s := exact.NewSource(nil)
		if p := geometricPvalue(rate, func() int64 { return g.Draw(s) }); p < falseAlarm {
			t.Errorf("rate %g: p-value %g", rate, p)
		}
	}
}

// TestGeometricMisfits plants errors which the check above has to see.
func TestGeometricMisfits(t *testing.T) {
	for _, rate := range trials.Some(t, 1, math.Ln2/100, 1) {
		g := must(exact.NewGeometric(rate))
		fast := must(exact.NewGeometric(1.1 * rate))
		laplace := must(exact.NewDiscreteLaplace(rate))
		s := exact.NewSource(nil)
		edge := int64(2 / rate)
		planted := map[string]func() int64{
			"rate 10% off":              func() int64 { return fast.Draw(s) },
			"clamped tail":              func() int64 { return min(edge, g.Draw(s)) },
			"counted from 1":            func() int64 { return g.Draw(s) + 1 },
			"two-sided":                 func() int64 { return laplace.Draw(s) },
			"smaller of two":            func() int64 { return min(g.Draw(s), g.Draw(s)) },
			"difference of two, folded": func() int64 { return magnitude(g.Draw(s) - fast.Draw(s)) },
			"noise used twice":          twice(func() int64 { return g.Draw(s) }),
		}
		for name, draw := range planted {
			if p := geometricPvalue(rate, draw); p >= falseAlarm {
				t.Errorf("rate %g: %s not noticed, p-value %g", rate, name, p)
			}
		}
	}
}

func drawFrom(d exact.DiscreteLaplace, s *exact.Source) func() int64 {
	return func() int64 { return d.Draw(s) }
}

// twice returns each value of draw two times.
func twice(draw func() int64) func() int64 {
	var last int64
	again := false
	return func() int64 {
		if again = !again; again {
			last = draw()
		}
		return last
	}
}

// buffer is 4 KiB of entropy.
func buffer(s *exact.Source) []byte {
	b := make([]byte, 4096)
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	return b
}

// loop reads data over and over.
type loop struct {
	data []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.at:])
	l.at = (l.at + n) % len(l.data)
	return n, nil
}

// coinPvalue compares 200,000 tosses with a probability of true.
func coinPvalue(probability float64, toss func() bool) float64 {
	const n = 200_000
	hits := 0
	for range n {
		if toss() {
			hits++
		}
	}
	return pvalue([]int{hits, n - hits}, []float64{probability, 1 - probability})
}

func TestBernoulliExpRatioFits(t *testing.T) {
	s := exact.NewSource(nil)
	for _, c := range []struct {
		rate     float64
		num, den uint64
	}{{0.001, 1, 1}, {0.1, 10, 3}, {1, math.MaxUint64, math.MaxUint64 / 2}, {5, 7, 7}} {
		x := c.rate * float64(c.num) / float64(c.den)
		toss := func() bool { return s.BernoulliExpRatio(c.rate, c.num, c.den) }
		if p := coinPvalue(math.Exp(-x), toss); p < falseAlarm {
			t.Errorf("%+v: p-value %g", c, p)
		}
	}
	for name, toss := range map[string]func() bool{
		"rate 10% off":     func() bool { return s.BernoulliExpRatio(0.11, 10, 3) },
		"integer quotient": func() bool { return s.BernoulliExpRatio(0.1, 10/3, 1) },
		"turned around":    func() bool { return !s.BernoulliExpRatio(0.1, 10, 3) },
	} {
		if p := coinPvalue(math.Exp(-1./3), toss); p >= falseAlarm {
			t.Errorf("%s not noticed, p-value %g", name, p)
		}
	}
}

func TestBernoulliExpL2Fits(t *testing.T) {
	const rate, a = 0.1, 0.07
	s := exact.NewSource(nil)
	for _, z := range [][2]int64{{1, 0}, {3, -4}, {-20, 1}, {15, 15}, {0, -40}} {
		i, j := z[0], z[1]
		x := rate*math.Hypot(float64(i), float64(j)) - a*(math.Abs(float64(i))+math.Abs(float64(j)))
		if p := coinPvalue(math.Exp(-x), func() bool { return s.BernoulliExpL2(rate, a, i, j) }); p < falseAlarm {
			t.Errorf("(%d,%d): p-value %g", i, j, p)
		}
	}
	x := rate*40 - a*40
	if p := coinPvalue(math.Exp(-x), func() bool { return s.BernoulliExpL2(1.02*rate, a, 0, 40) }); p >= falseAlarm {
		t.Errorf("rate 2%% off not noticed, p-value %g", p)
	}
}

// naiveBelow is multiply-shift without its rejection.
func naiveBelow(s *exact.Source, n uint64) uint64 {
	hi, _ := bits.Mul64(s.Uint64(), n)
	return hi
}

func TestBelowFits(t *testing.T) {
	s := exact.NewSource(nil)
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	residues := func(draw func() uint64) float64 {
		counts := make([]int, 3)
		for range 100_000 {
			counts[draw()%3]++
		}
		return pvalue(counts, third)
	}
	// Without rejection, half of all draws below 3*2^62 are multiples of 3.
	const large = 3 << 62
	if p := residues(func() uint64 { return s.Below(large) }); p < falseAlarm {
		t.Errorf("n = 3*2^62: p-value %g", p)
	}
	if p := residues(func() uint64 { return naiveBelow(s, large) }); p >= falseAlarm {
		t.Errorf("missing rejection not noticed, p-value %g", p)
	}
	if p := residues(func() uint64 { return s.Below(3) }); p < falseAlarm {
		t.Errorf("n = 3: p-value %g", p)
	}
}
