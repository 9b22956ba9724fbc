package exact_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// The tests here prove a law instead of sampling it. A draw is a monotone
// function of U, so when the least and the greatest U with given first 16 bits
// lead to one outcome, so does everything between. The decided prefixes bracket
// the probability of each outcome:
//
//	decided/2^16 <= P <= (decided + undecided)/2^16.

const prefixBits = 16

// ends returns Sources whose U has the given first bits and then only zeros or
// only ones; the bits of later draws are all zeros or all ones as well.
func ends(prefix int) (lowest, highest *exact.Source) {
	head := binary.BigEndian.AppendUint16(nil, uint16(prefix))
	return script(head, zeros), script(head, ones)
}

func magnitude(k int64) int64 { return max(k, -k) }

// laplaceTail is P(|k| >= n) in float64, good to 1e-15.
func laplaceTail(rate float64, n int64) float64 {
	if n == 0 {
		return 1
	}
	return 2 * math.Exp(-rate*float64(n)) / (1 + math.Exp(-rate))
}

// misfitEnumerated returns the first n whose P(|k| = n) the decided prefixes
// exclude, or -1.
func misfitEnumerated(rate float64, draw func(s *exact.Source) int64) int64 {
	decided, undecided := map[int64]int{}, map[int64]int{}
	largest := int64(0)
	// Prefix 0 holds the whole tail: U = 0 itself stands for infinity.
	for prefix := 1; prefix < 1<<prefixBits; prefix++ {
		lowest, highest := ends(prefix)
		far, near := magnitude(draw(lowest)), magnitude(draw(highest))
		if far == near {
			decided[far]++
		} else {
			for n := near; n <= far; n++ {
				undecided[n]++
			}
		}
		largest = max(largest, far)
	}
	undecided[largest]++ // by prefix 0, together with everything beyond
	for n := range largest + 1 {
		p := (laplaceTail(rate, n) - laplaceTail(rate, n+1)) * (1 << prefixBits)
		if p < float64(decided[n])-1e-9 || p > float64(decided[n]+undecided[n])+1e-9 {
			return n
		}
	}
	return -1
}

func TestDiscreteLaplaceEnumerated(t *testing.T) {
	for _, rate := range []float64{0.02, math.Ln2, 1, 3} {
		d := must(exact.NewDiscreteLaplace(rate))
		if n := misfitEnumerated(rate, d.Draw); n >= 0 {
			t.Errorf("rate %g: P(|k| = %d) is outside its bounds", rate, n)
		}
	}
}

// TestDiscreteLaplaceEnumeratedMisfits plants errors below the reach of any
// feasible statistical test.
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
		if misfitEnumerated(rate, draw) < 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// TestDiscreteLaplaceSign shows that the sign is one fair bit, read after a
// magnitude it has no influence on.
func TestDiscreteLaplaceSign(t *testing.T) {
	d := must(exact.NewDiscreteLaplace(0.1))
	for prefix := 1; prefix < 1<<prefixBits; prefix += 37 {
		head := binary.BigEndian.AppendUint32(nil, uint32(prefix)<<16|0x8000)
		plus, minus := d.Draw(script(head, zeros)), d.Draw(script(head, ones))
		if plus < 0 || minus != -plus {
			t.Fatalf("prefix %04x: %d and %d", prefix, plus, minus)
		}
	}
}

// coinBounds brackets the probability of true, for a toss which is true for
// small U.
func coinBounds(toss func(s *exact.Source) bool) (lo, hi float64) {
	for prefix := range 1 << prefixBits {
		lowest, highest := ends(prefix)
		if toss(highest) {
			lo++
		}
		if toss(lowest) {
			hi++
		}
	}
	return lo * 0x1p-16, hi * 0x1p-16
}

func checkCoin(t *testing.T, name string, p float64, toss func(s *exact.Source) bool) {
	t.Helper()
	lo, hi := coinBounds(toss)
	if hi-lo > 0x1p-16 || p < lo-1e-12 || p > hi+1e-12 {
		t.Errorf("%s: probability %v not in [%v, %v]", name, p, lo, hi)
	}
}

func TestBernoulliExpEnumerated(t *testing.T) {
	for _, x := range []*big.Rat{big.NewRat(1, 70000), big.NewRat(1, 3), big.NewRat(7, 5)} {
		f, _ := x.Float64()
		toss := func(s *exact.Source) bool { return s.BernoulliExp(x) }
		checkCoin(t, x.RatString(), math.Exp(-f), toss)
	}
	for _, x := range []*big.Rat{new(big.Rat), big.NewRat(-1, 2)} {
		if s := exact.NewSource(ones); !s.BernoulliExp(x) {
			t.Errorf("exponent %s: false", x.RatString())
		}
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

// TestUint64nEnumerated counts the prefixes of each outcome. The bits after a
// prefix avoid the few low words which are rejected.
func TestUint64nEnumerated(t *testing.T) {
	for _, n := range []uint64{1, 6, 1000} {
		decided := make([]float64, n)
		for prefix := range uint64(1 << prefixBits) {
			word := prefix<<48 | 1<<16
			lowest := script(binary.BigEndian.AppendUint64(nil, word), zeros)
			highest := script(binary.BigEndian.AppendUint64(nil, word|(1<<48-1)), zeros)
			if k := highest.Uint64n(n); lowest.Uint64n(n) == k {
				decided[k]++
			}
		}
		for k, count := range decided {
			if p := (1 << prefixBits) / float64(n); count > p || count < p-2 {
				t.Errorf("n = %d: %v of 2^16 prefixes give %d", n, count, k)
			}
		}
	}
}
