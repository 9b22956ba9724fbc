package exact

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

// scripted returns a Source whose first word it is, followed by bytes that are all the same.
func scripted(word uint64, rest byte) *Source {
	return NewSource(&scriptedReader{binary.BigEndian.AppendUint64(nil, word), rest})
}

type scriptedReader struct {
	head []byte
	rest byte
}

func (r *scriptedReader) Read(p []byte) (int, error) {
	n := copy(p, r.head)
	r.head = r.head[n:]
	copy(p[n:], bytes.Repeat([]byte{r.rest}, len(p)-n))
	return len(p), nil
}

// word puts together the bits of a proposal.
func word(i, j uint64, signs, accept uint64) uint64 {
	return i<<(64-axisBits) | j<<(64-2*axisBits) | signs<<acceptBits | accept
}

// Each magnitude of a proposal is decided by its own bits of the word and the law of its axis: the intervals
// of 2^-16 that lead to n at both ends have together the probability of n, up to the two intervals
// at its ends. U = 0 in the other places makes them the largest there are, or accepts.
func TestPlanarProposalEnumerated(t *testing.T) {
	const intervals = 1 << 16
	for _, a := range trials.Some(t, 2, 0.02, math.Ln2, 1, 3) {
		l, err := NewPlanarLaplace(a*math.Sqrt2*1.0001, a)
		if err != nil {
			t.Fatal(err)
		}
		q := math.Exp(-a)
		tail := func(n int64) float64 {
			if n == 0 {
				return 1
			}
			return 2 * math.Pow(q, float64(n)) / (1 + q)
		}
		for axis := range 2 {
			for _, other := range []uint64{1, 1<<axisBits - 1} {
				for k := uint64(1); k < intervals; k += 7 {
					u := k << (axisBits - 16)
					w, value := word(u, other, 0, 0), 0
					if axis == 1 {
						w, value = word(other, u, 0, 0), 1
					}
					var at [2]int64
					i, j, _ := l.propose(scripted(w, 0))
					at[0], at[1] = i, j
					// |k| >= n exactly if U <= tail(n).
					n, p := at[value], float64(k)/intervals
					if !(tail(n) >= p*(1-1e-12) && p >= tail(n+1)*(1-1e-12)) {
						t.Fatalf("rate %v, axis %d: U = %v gives %d", a, axis, p, n)
					}
				}
			}
		}
	}
}

// The signs are two bits of the word, which nothing else reads, and so is the acceptance's U.
func TestPlanarProposalBits(t *testing.T) {
	l, err := NewPlanarLaplace(1, 0.7071067)
	if err != nil {
		t.Fatal(err)
	}
	const wi, wj = 1 << (axisBits - 4), 3 << (axisBits - 4)
	i, j, _ := l.propose(scripted(word(wi, wj, 0, 0), 0))
	if i <= 0 || j <= 0 || i == j {
		t.Fatalf("magnitudes %d, %d", i, j)
	}
	x, _ := l.exponent(i, j)
	for signs := range uint64(4) {
		want := [2]int64{i, j}
		for k := range want {
			if signs>>(1-k)&1 == 1 {
				want[k] = -want[k]
			}
		}
		for accept := range uint64(1 << acceptBits) {
			for _, rest := range []byte{0, 0xff} {
				gi, gj, accepted := l.propose(scripted(word(wi, wj, signs, accept), rest))
				if want != [2]int64{gi, gj} {
					t.Fatalf("signs %b: %d, %d", signs, gi, gj)
				}
				// The word and the bytes after it make U nearly accept or accept+1 parts of 256.
				u := float64(accept)
				if rest != 0 {
					u++
				}
				if u /= 1 << acceptBits; accepted != (u <= math.Exp(-x)) {
					t.Fatalf("U = %v, accepted %v, with probability %v", u, accepted, math.Exp(-x))
				}
			}
		}
	}
}

// R12: the share of accepted proposals, with n = 150,000 of them. It is off by six standard deviations
// with a probability below 1e-8.
func TestPlanarAcceptance(t *testing.T) {
	s := NewSource(nil)
	for _, c := range []struct{ rate, share float64 }{
		{.05, .78524}, {.1, .78477}, {.5, .77280}, {math.Ln2, .76405}, {1, .75013}, {2, .73887},
	} {
		l, err := NewPlanarLaplace(c.rate, 0.7071067*c.rate)
		if err != nil {
			t.Fatal(err)
		}
		const n = 150_000
		accepted := 0.0
		for range n {
			if _, _, ok := l.propose(s); ok {
				accepted++
			}
		}
		if math.Abs(accepted-n*c.share) > 6*math.Sqrt(n*c.share*(1-c.share)) {
			t.Errorf("rate %v: accepted %v of %v, expected %v", c.rate, accepted, n, n*c.share)
		}
	}
}

func TestPlanarLaplaceRefuses(t *testing.T) {
	for _, c := range [][2]float64{{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.NaN()}, {math.Inf(1), 1}} {
		if _, err := NewPlanarLaplace(c[0], c[1]); err == nil {
			t.Errorf("rate %v with proposals of rate %v is accepted", c[0], c[1])
		}
	}
}

func TestPlanarLaplaceAllocates(t *testing.T) {
	s := NewSource(nil)
	l, err := NewPlanarLaplace(0.00693, 0.0049)
	if err != nil {
		t.Fatal(err)
	}
	// One acceptance in a hundred is open at first.
	if n := testing.AllocsPerRun(10, func() {
		for range 10_000 {
			l.Draw(s)
		}
	}); n > 1 {
		t.Errorf("%v allocations in 10,000 draws", n)
	}
}
