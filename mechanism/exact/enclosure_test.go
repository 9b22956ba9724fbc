package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The derivations beside the enclosures rest on the facts checked here, with the
// certified bounds of e^-x as the judge.

// within reports whether e^-(x+delta) <= lo and hi <= e^-(x-delta), that is,
// whether -ln of everything between lo and hi is within delta of x.
func within(x, delta float64, lo, hi *big.Rat) bool {
	const precision = 200
	mid, radius := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(delta)
	if _, upper := ExpBounds(new(big.Rat).Add(mid, radius), precision); upper.Cmp(lo) > 0 {
		return false
	}
	if mid.Cmp(radius) <= 0 {
		return true // the other end is at or above 1
	}
	lower, _ := ExpBounds(mid.Sub(mid, radius), precision)
	return lower.Cmp(hi) >= 0
}

// sample yields words of every magnitude, and those near powers of two.
func sample(bits int, n int) []uint64 {
	r := rand.New(rand.NewPCG(1, 2))
	var words []uint64
	for b := range bits {
		top := uint64(1) << b
		words = append(words, top, top|1, top|(top-1), top|r.Uint64N(top), top|r.Uint64N(top))
	}
	for range n {
		words = append(words, r.Uint64()>>(64-bits))
	}
	return words
}

func TestLogarithmAccuracy(t *testing.T) {
	for _, w := range sample(64, 2000) {
		f := float64(w>>11|1) * 0x1p-53
		x := -math.Log(f)
		exactly := new(big.Rat).SetFloat64(f)
		if !within(x, x*0x1p-50, exactly, exactly) {
			t.Errorf("ln %v is off by more than 4 units in the last place", f)
		}
	}
}

// halfLog is tried at both ends and in the middle of each part of its table, where
// the series is cut off worst and where it ends at its first term, in binades of all
// sizes.
func TestHalfLog(t *testing.T) {
	words := sample(32, 1000)
	for part := range uint64(1 << logBits) {
		for _, binade := range []uint64{1 << logBits, 1 << 16, 1 << 23, 1 << 31} {
			size := binade >> logBits
			start := binade + part*size
			words = append(words, start, start+size/2, start+size-1)
		}
	}
	for _, w := range append(words, 0) {
		exactly := big.NewRat(int64(2*w+1), 1<<33)
		if x := -halfLog(uint32(w), 32); !within(x, 0x1p-45, exactly, exactly) {
			t.Errorf("%08x: ln is not within 2^-45 of %v", w, -x)
		}
	}
}

func TestEnclose32(t *testing.T) {
	scale := new(big.Rat).SetFrac64(1, 1<<32)
	for _, w := range sample(32, 1000) {
		lo := new(big.Rat).SetInt(new(big.Int).SetUint64(w))
		hi := new(big.Rat).Add(lo, big.NewRat(1, 1))
		e := enclose32(uint32(w))
		if half := e.err - 0.03125/float64(w); !within(e.mid, half, lo.Mul(lo, scale), hi.Mul(hi, scale)) {
			t.Errorf("%08x: -ln U is not within %v of %v", w, half, e.mid)
		}
	}
	if e := enclose32(0); !math.IsInf(e.err, 1) {
		t.Errorf("the tail is enclosed by %v", e)
	}
}

func TestEnclose64(t *testing.T) {
	scale := new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 64))
	for _, w := range sample(64, 1000) {
		lo := new(big.Rat).SetInt(new(big.Int).SetUint64(w))
		hi := new(big.Rat).Add(lo, big.NewRat(1, 1))
		e := enclose64(w)
		if half := e.err - (1+e.mid)*0x1p-48; !within(e.mid, half, lo.Mul(lo, scale), hi.Mul(hi, scale)) {
			t.Errorf("%016x: -ln U is not within %v of %v", w, half, e.mid)
		}
	}
	if e := enclose64(0); !math.IsInf(e.err, 1) {
		t.Errorf("the tail is enclosed by %v", e)
	}
}

func TestOffsetAccuracy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	half := big.NewRat(1, 2)
	for range 2000 {
		rate := math.Exp2(50*r.Float64() - 40)
		d, err := NewDiscreteLaplace(rate)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := ExpBounds(new(big.Rat).SetFloat64(rate), 200)
		for _, q := range []*big.Rat{lo, hi} {
			q.Mul(q.Add(q, big.NewRat(1, 1)), half)
		}
		if !within(d.offset, 16*0x1p-53, lo, hi) || d.offset >= rate {
			t.Errorf("rate %v: offset %v", rate, d.offset)
		}
	}
}

func TestProposalExponent(t *testing.T) {
	unit := new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 64))
	for _, x := range sample(64, 500) {
		for _, k := range []int64{0, 1, 63, 64, 65, 300, 2500, 1<<53 + 1, math.MaxInt64} {
			approx, scale := proposal{k, x}.exponent()
			for end := range int64(2) {
				z := new(big.Rat).SetInt(new(big.Int).Add(new(big.Int).SetUint64(x), big.NewInt(end)))
				z.Mul(z.Add(z.Mul(z, unit), big.NewRat(k, 1)), big.NewRat(1, 64))
				// t = (z^2+1)/2 - k/64
				z.Mul(z.Add(z.Mul(z, z), big.NewRat(1, 1)), big.NewRat(1, 2))
				z.Sub(z, big.NewRat(k, 64))
				z.Sub(z, new(big.Rat).SetFloat64(approx))
				if z.Abs(z).Cmp(new(big.Rat).SetFloat64(scale*0x1p-49)) > 0 {
					t.Errorf("k = %d, x = %016x: t is not within 2^-49 scale of %v", k, x, approx)
				}
			}
		}
	}
}

// TestWithinNotices demands that the judge sees errors a little larger than
// the allowed ones.
func TestWithinNotices(t *testing.T) {
	half := big.NewRat(1, 2)
	if !within(math.Ln2, 0x1p-53, half, half) {
		t.Error("ln 2 refused")
	}
	for _, off := range []float64{-0x1p-48, 0x1p-48} {
		if within(math.Ln2+off, 0x1p-49, half, half) {
			t.Errorf("ln 2 %+g accepted", off)
		}
	}
}

// TestExpFixed checks the promise ExpBounds does not show: validity for every x
// in [n, n+2], and the width, at precisions down to a single bit.
func TestExpFixed(t *testing.T) {
	for p := uint(1); p < 300; p = p*3/2 + 1 {
		for _, shift := range []int{-20, -3, 0, 1, 4, 9, 12} {
			n := big.NewInt(0xb504f333)
			if s := int(p) + shift - 32; s >= 0 {
				n.Lsh(n, uint(s))
			} else {
				n.Rsh(n, uint(-s))
			}
			lo, hi := expFixed(n, p)
			if width := new(big.Int).Sub(hi, lo); width.Cmp(big.NewInt(4)) > 0 || lo.Sign() < 0 || hi.BitLen() > int(p)+1 {
				t.Errorf("p = %d, n = %v: bounds %v and %v", p, n, lo, hi)
			}
			unit := new(big.Int).Lsh(one, p)
			nearest, furthest := new(big.Rat).SetFrac(n, unit), new(big.Rat).SetFrac(new(big.Int).Add(n, big.NewInt(2)), unit)
			_, most := ExpBounds(nearest, p+300)
			least, _ := ExpBounds(furthest, p+300)
			if new(big.Rat).SetFrac(hi, unit).Cmp(most) < 0 && n.Sign() > 0 || new(big.Rat).SetFrac(lo, unit).Cmp(least) > 0 {
				t.Errorf("p = %d, n = %v: %v and %v do not enclose", p, n, lo, hi)
			}
		}
	}
}
