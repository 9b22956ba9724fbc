package exact_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/iotest"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// The tests here prove a law instead of sampling it. A draw is a monotone
// function of U, so when both ends of an interval of U lead to one outcome, so
// does everything between. The 2^16 intervals given by the first 16 bits
// bracket the probability of each outcome:
//
//	decided/2^16 <= P <= (decided + undecided)/2^16.

const intervals = 1 << 16

// edge returns a Source whose U is i/2^16, or the closest there is to 1.
func edge(i int) *exact.Source { return edgeOf(i, intervals) }

// edgeOf is edge for another power of two of intervals, of at most 2^16.
func edgeOf(i, intervals int) *exact.Source {
	if i == intervals {
		return exact.NewSource(ones)
	}
	return script(binary.BigEndian.AppendUint16(nil, uint16(i*(1<<16/intervals))), zeros)
}

func magnitude(k int64) int64 { return max(k, -k) }

// laplaceTail is P(|k| >= n) in float64, good to 1e-15.
func laplaceTail(rate float64, n int64) float64 {
	if n == 0 {
		return 1
	}
	return 2 * math.Exp(-rate*float64(n)) / (1 + math.Exp(-rate))
}

// geometricTail is P(k >= n) in float64, for the one-sided law.
func geometricTail(rate float64, n int64) float64 { return math.Exp(-rate * float64(n)) }

// A tailFunc is laplaceTail or geometricTail.
type tailFunc func(rate float64, n int64) float64

// misfitEnumerated returns the first n whose P(|k| = n) the decided intervals
// exclude, or -1.
func misfitEnumerated(tail tailFunc, rate float64, draw func(s *exact.Source) int64) int64 {
	return misfitIn(intervals, tail, rate, draw)
}

// misfitIn is misfitEnumerated with another power of two of intervals.
func misfitIn(intervals int, tail tailFunc, rate float64, draw func(s *exact.Source) int64) int64 {
	decided, undecided := map[int64]int{}, map[int64]int{}
	// The first interval holds the whole tail: U = 0 stands for infinity.
	far := magnitude(draw(edgeOf(1, intervals)))
	largest := far
	for i := 2; i <= intervals; i++ {
		near := magnitude(draw(edgeOf(i, intervals)))
		if far == near {
			decided[far]++
		} else {
			for n := near; n <= far; n++ {
				undecided[n]++
			}
		}
		far = near
	}
	undecided[largest]++ // by the first interval, with everything beyond
	for n := range largest + 1 {
		p := (tail(rate, n) - tail(rate, n+1)) * float64(intervals)
		if p < float64(decided[n])-1e-9 || p > float64(decided[n]+undecided[n])+1e-9 {
			return n
		}
	}
	return -1
}

func TestDiscreteLaplaceEnumerated(t *testing.T) {
	for _, rate := range trials.Some(t, 2, 0.02, math.Ln2, 1, 3) {
		d := must(exact.NewDiscreteLaplace(rate))
		if n := misfitEnumerated(laplaceTail, rate, d.Draw); n >= 0 {
			t.Errorf("rate %g: P(|k| = %d) is outside its bounds", rate, n)
		}
	}
}

// TestDiscreteLaplaceEnumeratedMisfits plants errors, some of them too small for
// the statistical checks of this package.
func TestDiscreteLaplaceEnumeratedMisfits(t *testing.T) {
	const rate = 0.02
	d := must(exact.NewDiscreteLaplace(rate))
	near := must(exact.NewDiscreteLaplace(rate * (1 + 0x1p-10)))
	planted := map[string]func(s *exact.Source) int64{
		"rate 0.1% off":       near.Draw,
		"tail clamped at 400": func(s *exact.Source) int64 { return min(400, magnitude(d.Draw(s))) },
		"zero counted twice": func(s *exact.Source) int64 {
			u := (float64(s.Uint32()) + 0.5) * 0x1p-32
			return int64(-math.Log(u) / rate)
		},
	}
	for name, draw := range planted {
		if misfitEnumerated(laplaceTail, rate, draw) < 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// A Geometric is never negative, so its magnitude is all of it.
func TestGeometricEnumerated(t *testing.T) {
	for _, rate := range trials.Some(t, 2, 0.02, math.Ln2, 1, 3) {
		g := must(exact.NewGeometric(rate))
		draw := func(s *exact.Source) int64 {
			k := g.Draw(s)
			if k < 0 {
				t.Fatalf("rate %g: %d", rate, k)
			}
			return k
		}
		if n := misfitEnumerated(geometricTail, rate, draw); n >= 0 {
			t.Errorf("rate %g: P(k = %d) is outside its bounds", rate, n)
		}
	}
}

func TestGeometricEnumeratedMisfits(t *testing.T) {
	const rate = 0.02
	g := must(exact.NewGeometric(rate))
	near := must(exact.NewGeometric(rate * (1 + 0x1p-10)))
	laplace := must(exact.NewDiscreteLaplace(rate))
	planted := map[string]func(s *exact.Source) int64{
		"rate 0.1% off":          near.Draw,
		"tail clamped at 400":    func(s *exact.Source) int64 { return min(400, g.Draw(s)) },
		"counted from 1":         func(s *exact.Source) int64 { return g.Draw(s) + 1 },
		"rounded to the nearest": func(s *exact.Source) int64 { return int64(0.5 - math.Log((float64(s.Uint32())+0.5)*0x1p-32)/rate) },
		"discrete Laplace":       func(s *exact.Source) int64 { return magnitude(laplace.Draw(s)) },
	}
	for name, draw := range planted {
		if misfitEnumerated(geometricTail, rate, draw) < 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// TestDiscreteLaplaceSign shows that the sign is one fair bit, read after a
// magnitude it has no influence on.
func TestDiscreteLaplaceSign(t *testing.T) {
	d := must(exact.NewDiscreteLaplace(0.1))
	for i := 1; i < intervals; i += 37 {
		head := binary.BigEndian.AppendUint32(nil, uint32(i)<<16|0x8000)
		plus, minus := d.Draw(script(head, zeros)), d.Draw(script(head, ones))
		if plus < 0 || minus != -plus {
			t.Fatalf("U near %d/2^16: %d and %d", i, plus, minus)
		}
	}
}

// checkCoin proves the probability p of true to 2^-16, for a toss which is true
// for small U.
func checkCoin(t *testing.T, name string, p float64, toss func(s *exact.Source) bool) {
	t.Helper()
	hits := 0.0 // intervals of which both ends, and all before them, are true
	for hits < intervals && toss(edge(int(hits)+1)) {
		hits++
	}
	lo, hi := hits/intervals, (hits+1)/intervals
	if p < lo-1e-12 || p > hi+1e-12 {
		t.Errorf("%s: probability %v not in [%v, %v]", name, p, lo, hi)
	}
	for i := int(hits) + 1; i <= intervals; i++ {
		if toss(edge(i)) {
			t.Fatalf("%s: true again at U = %d/2^16", name, i)
		}
	}
}

func TestBernoulliExpRatioEnumerated(t *testing.T) {
	for _, c := range trials.Some(t, 2, []struct {
		rate     float64
		num, den uint64
	}{{1. / 70000, 1, 1}, {0.02, 50, 3}, {1, 7, 5}, {0.7, math.MaxUint64, math.MaxUint64 / 2}, {1e19, 1, math.MaxUint64}}...) {
		p := math.Exp(-c.rate * float64(c.num) / float64(c.den))
		toss := func(s *exact.Source) bool { return s.BernoulliExpRatio(c.rate, c.num, c.den) }
		checkCoin(t, fmt.Sprint(c), p, toss)
	}
	empty := exact.NewSource(iotest.ErrReader(errors.New("a bit was read")))
	if !empty.BernoulliExpRatio(1, 0, 1) || !empty.BernoulliExpRatio(math.MaxFloat64, 0, math.MaxUint64) {
		t.Error("e^-0 is not certain")
	}
}

func TestBernoulliExpL2Enumerated(t *testing.T) {
	const rate, a = 0.7, 0.49
	for _, z := range [][2]int64{{1, 0}, {-2, 3}, {5, 5}} {
		i, j := z[0], z[1]
		x := rate*math.Hypot(float64(i), float64(j)) - a*(math.Abs(float64(i))+math.Abs(float64(j)))
		toss := func(s *exact.Source) bool { return s.BernoulliExpL2(rate, a, i, j) }
		checkCoin(t, "L2", math.Exp(-x), toss)
	}
}

// laplaceCDF is the distribution function of the standard Laplace law.
func laplaceCDF(t float64) float64 {
	if t <= 0 {
		return math.Exp(t) / 2
	}
	return 1 - math.Exp(-t)/2
}

// misfitTest returns an error unless test passes with the probability p, which
// is the average over a fair bit and U: to 2^-16 by enumeration, for a test
// which changes its answer at one U at most for each bit.
func misfitTest(p float64, test func(s *exact.Source) bool) error {
	lo, hi := 0.0, 0.0
	for _, bit := range []bool{false, true} {
		before := test(edge(0).NextBit(bit))
		changes := 0
		for i := 1; i <= intervals; i++ {
			now := test(edge(i).NextBit(bit))
			if now && before {
				lo++
			}
			if now || before {
				hi++
			}
			if now != before {
				changes++
			}
			before = now
		}
		if changes > 1 {
			return fmt.Errorf("bit %v: the answer changes %d times", bit, changes)
		}
	}
	lo, hi = lo/(2*intervals), hi/(2*intervals)
	if p < lo-1e-12 || p > hi+1e-12 {
		return fmt.Errorf("probability %v not in [%v, %v]", p, lo, hi)
	}
	return nil
}

func TestLaplaceTestEnumerated(t *testing.T) {
	const rate, c = 0.7, 2.0
	for _, z := range trials.Some(t, 2, [][2]int64{{0, 0}, {1, 0}, {-2, 1}, {2, 2}, {3, -4}, {9, 0}}...) {
		i, j := z[0], z[1]
		p := laplaceCDF(c - rate*math.Hypot(float64(i), float64(j)))
		if err := misfitTest(p, func(s *exact.Source) bool { return s.LaplaceTest(rate, c, i, j) }); err != nil {
			t.Errorf("at %v: %v", z, err)
		}
	}
}

// TestLaplaceTestEnumeratedMisfits plants tests which are not quite the one.
func TestLaplaceTestEnumeratedMisfits(t *testing.T) {
	const rate, c, i, j = 0.7, 2.0, 3, -4
	p := laplaceCDF(c - rate*5)
	for name, test := range map[string]func(s *exact.Source) bool{
		"rate 0.1% off":        func(s *exact.Source) bool { return s.LaplaceTest(rate*(1+0x1p-10), c, i, j) },
		"threshold 0.1% off":   func(s *exact.Source) bool { return s.LaplaceTest(rate, c*(1-0x1p-10), i, j) },
		"one axis":             func(s *exact.Source) bool { return s.LaplaceTest(rate, c, i, 0) },
		"Manhattan distance":   func(s *exact.Source) bool { return s.LaplaceTest(rate, c, 7, 0) },
		"one-sided noise":      func(s *exact.Source) bool { return s.NextBit(false).LaplaceTest(rate, c, i, j) },
		"answer turned around": func(s *exact.Source) bool { return !s.LaplaceTest(rate, c, i, j) },
	} {
		if misfitTest(p, test) == nil {
			t.Errorf("%s not noticed", name)
		}
	}
}

// TestBelowEnumerated counts the intervals of each outcome. Their ends avoid
// the few low words which are rejected.
func TestBelowEnumerated(t *testing.T) {
	for _, n := range []uint64{1, 6, 1000} {
		decided := make([]float64, n)
		for i := range uint64(intervals) {
			word := i<<48 | 1<<16
			lowest := script(binary.BigEndian.AppendUint64(nil, word), zeros)
			highest := script(binary.BigEndian.AppendUint64(nil, word|(1<<48-1)), zeros)
			if k := highest.Below(n); lowest.Below(n) == k {
				decided[k]++
			}
		}
		for k, count := range decided {
			if p := intervals / float64(n); count > p || count < p-2 {
				t.Errorf("n = %d: %v of 2^16 intervals give %d", n, count, k)
			}
		}
	}
}
