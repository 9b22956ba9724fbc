package exact_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// TestRoundedNormalDigits follows one draw by hand.
func TestRoundedNormalDigits(t *testing.T) {
	tape := []byte{
		0x80, 0, 0, 0, // U = 1/2, k = floor(64 ln 2) = 44
		0x80, 0, 0, 0, 0, 0, 0, 0, // x = 1/2, z = 44.5/64, t = 0.054
		0xff, 0, 0, 0, // U = 0.996 > e^-t = 0.947: rejected
		0x40, 0, 0, 0, // U = 1/4, k = floor(64 ln 4) = 88
		0xc0, 0, 0, 0, 0, 0, 0, 0, // x = 3/4, z = 88.75/64, t = 0.086
		0xe0, 0, 0, 0, // U = 0.875 < e^-t = 0.917: accepted
	}
	for _, c := range []struct {
		sign byte
		c    float64
		want int64
	}{{0x00, 0.25, 89}, {0x80, 0.25, -89}, {0x00, -0.5, 88}, {0x80, 0.5, -88}, {0x00, -89.75, -1}} {
		sign := []byte{c.sign, 0, 0, 0, 0, 0, 0, 0}
		if got := script(slices.Concat(tape, sign), pseudorandom(1)).RoundedNormal(c.c, 64); got != c.want {
			t.Errorf("c = %v, sign %#x: %d, want %d", c.c, c.sign, got, c.want)
		}
	}
}

// An acceptance is a test which is true with probability e^-t, as AcceptProposal.
type acceptance func(s *exact.Source, k int64, word uint64) bool

// inFloat64 is an acceptance with the given exponent.
func inFloat64(t func(k, x float64) float64) acceptance {
	return func(s *exact.Source, k int64, word uint64) bool {
		u := (float64(s.Uint64()) + 0.5) * 0x1p-64
		return u < math.Exp(-t(float64(k), float64(word)*0x1p-64))
	}
}

// plantedAcceptances are acceptance tests with a slip of the pen in the exponent.
var plantedAcceptances = map[string]acceptance{
	"square of x missing":  inFloat64(func(k, x float64) float64 { return ((k*k+2*k*x)/4096+1)/2 - k/64 }),
	"x missing":            inFloat64(func(k, x float64) float64 { return (k*k/4096+1)/2 - k/64 }),
	"x in the linear term": inFloat64(func(k, x float64) float64 { return ((k+x)*(k+x)/4096+1)/2 - (k+x)/64 }),
	"square not halved":    inFloat64(func(k, x float64) float64 { return (k+x)*(k+x)/4096 + 0.5 - k/64 }),
	"all accepted":         func(*exact.Source, int64, uint64) bool { return true },
}

// misfitAccepted returns a k, up to 8 standard deviations, for which the normal
// law of |Z| is excluded, or -1. Each step is cut in 16 by the leading digits of
// x, and as the test is true for small U, and less often for larger x, its
// probability at either end of a cut encloses the one on the cut, which has to
// be, with q = e^(-1/64),
//
//	A * (integral of e^(-z^2/2)) / (16 cuts of (1-q) q^k), A = 64 (1-q) e^(-1/2).
func misfitAccepted(accept acceptance) int64 {
	const cuts, resolution = 16, 1 << 20
	// threshold is how many of 2^20 equal parts of U have a true lower end.
	threshold := func(k int64, word uint64) float64 {
		lo, hi := 0, resolution
		for hi-lo > 1 {
			mid := (lo + hi) / 2
			if accept(script(binary.BigEndian.AppendUint32(nil, uint32(mid)<<12), zeros), k, word) {
				lo = mid
			} else {
				hi = mid
			}
		}
		return float64(hi)
	}
	for k := range int64(8 * 64) {
		more := threshold(k, 0)
		for cut := range uint64(cuts) {
			less := threshold(k, (cut+1)<<60-1)
			from, width := (float64(k)+float64(cut)/cuts)/64, 1./(64*cuts)
			area := (math.Erfc(from/math.Sqrt2) - math.Erfc((from+width)/math.Sqrt2)) * math.Sqrt(math.Pi/2)
			p := area / width * math.Exp(float64(k)/64-0.5) * resolution
			if p > more+1e-6 || p < less-1-1e-6 {
				return k
			}
			more = less
		}
	}
	return -1
}

func TestRoundedNormalAcceptedEnumerated(t *testing.T) {
	if k := misfitAccepted((*exact.Source).AcceptProposal); k >= 0 {
		t.Errorf("the law of |Z| between %d/64 and the next is not the normal one", k)
	}
	for name, accept := range plantedAcceptances {
		if misfitAccepted(accept) < 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// misplacedAcceptance places U as close to e^-t as so many bits allow, on either
// side, where x has as many digits, and returns the first number of bits for
// which the answer is wrong, or 0.
func misplacedAcceptance(k int64, digits io.Reader, accept acceptance) int {
	for _, bits := range []int{32, 64, 128, 192, 256, 1600} {
		x := make([]byte, max(bits, 64)/8)
		io.ReadFull(digits, x)
		p := oracleExp(normalExponent(k, x))
		below := leadingBits(p, bits)
		above := new(big.Int).Add(below, big.NewInt(1))
		if below.Sign() == 0 || above.BitLen() > bits {
			continue // U would be 0 or 1
		}
		toss := func(u *big.Int) bool {
			tape := interleave(u.FillBytes(make([]byte, bits/8)), x[8:])
			return accept(script(tape, zeros), k, binary.BigEndian.Uint64(x))
		}
		if !toss(below) || toss(above) {
			return bits
		}
	}
	return 0
}

// normalExponent is t = (z^2+1)/2 - k/64 for z = (k+x)/64.
func normalExponent(k int64, x []byte) *big.Rat {
	z := normalPoint(k, x)
	t := new(big.Rat).Mul(z, z)
	t.Add(t, big.NewRat(1, 1)).Mul(t, big.NewRat(1, 2))
	return t.Sub(t, big.NewRat(k, 64))
}

// normalPoint is (k+x)/64 for the binary digits of x.
func normalPoint(k int64, x []byte) *big.Rat {
	fraction := new(big.Rat).SetInt(new(big.Int).SetBytes(x))
	fraction.Mul(fraction, powerOfTwo(uint(8*len(x))))
	z := fraction.Add(fraction, new(big.Rat).SetInt64(k))
	return z.Mul(z, big.NewRat(1, 64))
}

// interleave yields 64 bits of u and then 64 of each in turn, as they are read.
func interleave(u, x []byte) []byte {
	n := min(8, len(u))
	tape := bytes.Clone(u[:n])
	for u = u[n:]; len(u) > 0; u, x = u[8:], x[8:] {
		tape = append(append(tape, u[:8]...), x[:8]...)
	}
	return tape
}

func TestRoundedNormalAcceptanceBoundaries(t *testing.T) {
	for _, k := range []int64{0, 1, 2, 40, 63, 64, 65, 100, 300, 1000, 2500} {
		for name, digits := range map[string]io.Reader{"random": pseudorandom(uint64(k)), "0": zeros, "1": ones} {
			if bits := misplacedAcceptance(k, digits, (*exact.Source).AcceptProposal); bits > 0 {
				t.Errorf("k = %d, digits %s: %d bits of e^-t are taken for the wrong side", k, name, bits)
			}
		}
	}
	plantedAcceptances := maps.Clone(plantedAcceptances)
	plantedAcceptances["comparison in float64"] = inFloat64(func(k, x float64) float64 {
		return ((k+x)*(k+x)/4096+1)/2 - k/64
	})
	for name, accept := range plantedAcceptances {
		if misplacedAcceptance(40, pseudorandom(1), accept) == 0 {
			t.Errorf("%s not noticed", name)
		}
	}
}

// roundedPoint is the integer nearest to c + sigma*z in rational arithmetic, for
// a z which exceeds (k+x)/64 by no more than a further digit could say.
func roundedPoint(k int64, x []byte, c, sigma float64) int64 {
	y := normalPoint(k, x)
	y.Mul(y, new(big.Rat).SetFloat64(sigma)).Add(y, new(big.Rat).SetFloat64(c))
	y.Add(y, big.NewRat(1, 2))
	integer, remainder := new(big.Int).DivMod(y.Num(), y.Denom(), new(big.Int)) // floor
	if sigma < 0 && remainder.Sign() == 0 {
		integer.Sub(integer, big.NewInt(1)) // from below
	}
	switch {
	case integer.IsInt64():
		return integer.Int64()
	case integer.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// TestRoundedNormalRounds compares rounding with rational arithmetic, where the
// numbers drawn make halves and near halves frequent.
func TestRoundedNormalRounds(t *testing.T) {
	number := rapid.OneOf(
		rapid.Float64(),
		rapid.Float64Range(-1000, 1000),
		rapid.Map(rapid.Int64Range(-1<<40, 1<<40), func(i int64) float64 { return float64(i) / 2 }),
		rapid.Map(rapid.IntRange(-1074, 1023), func(i int) float64 { return math.Ldexp(1, i) }),
		rapid.SampledFrom([]float64{64, -64, 0.5, -0.5, 1 << 52, 1<<53 - 1, math.Nextafter(0.5, 0), math.MaxFloat64}),
	)
	digit := rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 0, 0xff, 0xff, 0x80}))
	rapid.Check(t, func(t *rapid.T) {
		c, sigma := number.Draw(t, "c"), number.Draw(t, "sigma")
		if sigma == 0 {
			t.Skip("sigma is 0")
		}
		k := rapid.OneOf(rapid.Int64Range(0, 600), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "k")
		x := rapid.SliceOfN(digit, 8, 40).Draw(t, "x")
		if err := misrounded(k, x, c, sigma); err != nil {
			t.Fatal(err)
		}
	})
}

// misrounded compares both ways of rounding with rational arithmetic.
func misrounded(k int64, x []byte, c, sigma float64) error {
	want, word := roundedPoint(k, x, c, sigma), binary.BigEndian.Uint64(x)
	if got := script(x[8:], zeros).RoundProposal(k, word, c, sigma); got != want {
		return fmt.Errorf("%v + %v z for z = (%d+0x.%x)/64 is rounded to %d, want %d", c, sigma, k, x, got, want)
	}
	if got := script(x[8:], zeros).Certify().RoundProposal(k, word, c, sigma); got != want {
		return fmt.Errorf("%v + %v z for z = (%d+0x.%x)/64 is rounded to %d in integer arithmetic, want %d", c, sigma, k, x, got, want)
	}
	return nil
}

// TestRoundedNormalRoundsNearHalves has points at which the range of the first
// 64 digits, or the last place of c, makes the difference.
func TestRoundedNormalRoundsNearHalves(t *testing.T) {
	rest := bytes.Repeat([]byte{0xff}, 44)
	half := slices.Concat([]byte{0x7f}, rest)
	first := slices.Concat([]byte{0, 0, 0, 0, 0, 0, 0, 1}, rest) // almost 2/2^64
	for _, p := range []struct {
		k        int64
		x        []byte
		c, sigma float64
	}{
		{3, half, 0, 64},
		{3, half, 0x1p-300, 64},
		{3, half, -0x1p-300, -64},
		{3, half, 0x1p-400, 64},
		{0, first, 0, 0.9 * 0x1p69},
		{0, first, 0, -0.9 * 0x1p69},
		{0, first, 0x1p-30, 0.9 * 0x1p69},
	} {
		if err := misrounded(p.k, p.x, p.c, p.sigma); err != nil {
			t.Error(err)
		}
	}
}

// TestRoundedNormalRoundsNotice shows that a half decided in float64 is seen.
func TestRoundedNormalRoundsNotice(t *testing.T) {
	x := append(bytes.Repeat([]byte{0xff}, 20), 0xfe) // just below 1
	for _, c := range []float64{0.5, -7.5, 1<<40 + 0.5} {
		naive := int64(math.Floor(c + 0.5 + 3 + float64(binary.BigEndian.Uint64(x))*0x1p-64))
		if naive == roundedPoint(3, x, c, 64) {
			t.Errorf("c = %v: rounding in float64 not noticed", c)
		}
	}
}

func TestRoundedNormalSaturates(t *testing.T) {
	s := exact.NewSource(pseudorandom(1))
	for range 20 {
		if k := s.RoundedNormal(math.MaxFloat64, 1e300); k != math.MaxInt64 {
			t.Errorf("far above: %d", k)
		}
		if k := s.RoundedNormal(-math.MaxFloat64, 1e300); k != math.MinInt64 {
			t.Errorf("far below: %d", k)
		}
		// P(|Z| < 2^-60) < 10^-18.
		if k := s.RoundedNormal(0, math.MaxFloat64); k != math.MaxInt64 && k != math.MinInt64 {
			t.Errorf("sigma huge: %d", k)
		}
		if k := s.RoundedNormal(7, math.SmallestNonzeroFloat64); k != 7 {
			t.Errorf("sigma tiny: %d", k)
		}
	}
}

// TestRoundedNormalKeepsDigits has an acceptance test which reads digits of x
// beyond the first 64 and a result which is made of these very digits.
func TestRoundedNormalKeepsDigits(t *testing.T) {
	const digits = 0x0123_4567_89ab_cdef
	x := binary.BigEndian.AppendUint64(make([]byte, 8), digits)
	u := leadingBits(oracleExp(normalExponent(0, x)), 128)
	u.Sub(u, big.NewInt(1)) // 64 bits leave the answer open, 128 accept
	tape := slices.Concat(
		[]byte{0xff, 0xff, 0, 0}, // k = 0
		x[:8],
		interleave(u.FillBytes(make([]byte, 16)), x[8:]),
		make([]byte, 8), // the sign
	)
	if k := script(tape, pseudorandom(1)).RoundedNormal(0, 0x1p134); k != digits {
		t.Errorf("got %#x, want %#x", k, digits)
	}
}

// phi is the distribution function of the standard normal law.
func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// normalPvalue is pairPvalue for the rounded normal law, cut around c and at
// several scales out to tails of half a per cent.
func normalPvalue(c, sigma float64, draw func() int64) float64 {
	var cuts []int64
	for _, z := range []float64{-2.5, -1.5, -0.7, -0.2, 0, 0.2, 0.7, 1.5, 2.5} {
		cut := int64(math.Round(c + z*sigma))
		cuts = append(cuts, cut)
		if sigma < 3 {
			cuts = append(cuts, cut+1)
		}
	}
	return pairPvalue(cuts, func(k int64) float64 { return phi((float64(k) - 0.5 - c) / sigma) }, draw)
}

func TestRoundedNormalFits(t *testing.T) {
	s := exact.NewSource(nil)
	for _, law := range trials.Some(t, 3, []struct{ c, sigma float64 }{
		{0, 0.5}, {0.5, 0x1p-20}, {0.3, 0.1}, {-2.5, 1}, {-1e6 - 0.25, 7}, {1 << 40, 100.5}, {0.5, 1 << 40},
	}...) {
		if p := normalPvalue(law.c, law.sigma, func() int64 { return s.RoundedNormal(law.c, law.sigma) }); p < falseAlarm {
			t.Errorf("%+v: p-value %g", law, p)
		}
	}
}

// TestRoundedNormalMisfits plants errors which the check above has to see.
func TestRoundedNormalMisfits(t *testing.T) {
	s := exact.NewSource(nil)
	for _, law := range []struct{ c, sigma float64 }{{0.3, 0.5}, {0.3, 10}} {
		c, sigma := law.c, law.sigma
		honest := func() int64 { return s.RoundedNormal(c, sigma) }
		edge := math.Ceil(2 * sigma)
		planted := map[string]func() int64{
			"sigma 5% off": func() int64 { return s.RoundedNormal(c, 1.05*sigma) },
			"rounded down": func() int64 { return s.RoundedNormal(c-0.5, sigma) },
			"clamped tail": func() int64 { return min(int64(c+edge), max(int64(c-edge), honest())) },
			"Karney's, the square of x missing": func() int64 {
				return int64(math.Round(c + sigma*karneyWithoutSquare(s)))
			},
			"noise used twice": twice(honest),
		}
		if sigma < 1 {
			planted["rounded before"] = func() int64 { return int64(math.Round(c)) + s.RoundedNormal(0, sigma) }
			planted["discrete Gaussian"] = func() int64 { return discreteGaussian(s, c, sigma) }
		}
		for _, name := range trials.Some(t, 2, slices.Sorted(maps.Keys(planted))...) {
			if p := normalPvalue(c, sigma, planted[name]); p >= falseAlarm {
				t.Errorf("%+v: %s not noticed, p-value %g", law, name, p)
			}
		}
	}
}

// karneyWithoutSquare is the algorithm of Karney (2016), in float64, where x is
// accepted with probability e^(-kx) instead of e^(-x(2k+x)/2).
func karneyWithoutSquare(s *exact.Source) float64 {
	uniform := func() float64 { return (float64(s.Uint64()>>11) + 0.5) * 0x1p-53 }
	for {
		k := math.Floor(-2 * math.Log(uniform()))
		x := uniform()
		if uniform() < math.Exp(-k*(k-1)/2) && uniform() < math.Exp(-k*x) {
			if s.Bool() {
				return -k - x
			}
			return k + x
		}
	}
}

// discreteGaussian draws k in proportion to e^(-(k-c)^2/2 sigma^2) from within
// 10 of c, by rejection in float64.
func discreteGaussian(s *exact.Source, c, sigma float64) int64 {
	for {
		k := int64(s.Below(21)) - 10 + int64(math.Round(c))
		z := (float64(k) - c) / sigma
		if (float64(s.Uint64())+0.5)*0x1p-64 < math.Exp(-z*z/2) {
			return k
		}
	}
}

// misfitMoments draws 500,000 standard normal variates and reports a wrong
// mean, mean square or distribution function. A correct sampler fails
// with a probability below 1e-10:
//
//   - the mean times sqrt(n) is normal, and beyond 7 with 3e-12;
//   - for the sum S of squares, P(S >= n + 2 sqrt(nx) + 2x) and
//     P(S <= n - 2 sqrt(nx)) are at most e^-x (Laurent, Massart 2000), x = 25;
//   - the distance D of the distribution functions has P(D > d) <= 2 e^(-2nd^2)
//     (Dvoretzky, Kiefer, Wolfowitz 1956, with the constant of Massart 1990),
//     here with 2nd^2 = 25.
//
// A mean that is off by 0.02 is missed with probability 1e-12.
func misfitMoments(draw func() float64) string {
	const n, x = 500_000, 25
	z := make([]float64, n)
	sum, squares := 0.0, 0.0
	for i := range z {
		z[i] = draw()
		sum += z[i]
		squares += z[i] * z[i]
	}
	slices.Sort(z)
	distance := 0.0
	for i, v := range z {
		distance = max(distance, phi(v)-float64(i)/n, float64(i+1)/n-phi(v))
	}
	root := 2 * math.Sqrt(n*x)
	switch {
	case math.Abs(sum) > 7*math.Sqrt(n):
		return "mean"
	case squares > n+root+2*x || squares < n-root:
		return "mean square"
	case distance > math.Sqrt(float64(x)/(2*n)):
		return "distribution function"
	}
	return ""
}

func TestRoundedNormalMoments(t *testing.T) {
	s := exact.NewSource(nil)
	// The lattice moves a variate by 10^-12 at most, far below any threshold.
	const c, sigma = 12345.5, 1e12
	honest := func() float64 { return (float64(s.RoundedNormal(c, sigma)) - c) / sigma }
	if wrong := misfitMoments(honest); wrong != "" {
		t.Errorf("the %s is off", wrong)
	}
	planted := map[string]func() float64{
		"mean":        func() float64 { return honest() + 0.02 },
		"mean square": func() float64 { return honest() * 1.02 },
		"distribution function": func() float64 { // uniform of the same moments
			return (float64(s.Uint64())*0x1p-63 - 1) * math.Sqrt(3)
		},
	}
	for what, draw := range planted {
		if got := misfitMoments(draw); got != what {
			t.Errorf("%s not noticed, but %q", what, got)
		}
	}
}

func TestRoundedNormalAllocates(t *testing.T) {
	for _, sigma := range []float64{0x1p-20, 0.5, 100, 1e6} {
		s := exact.NewSource(nil)
		if n := testing.AllocsPerRun(10_000, func() { s.RoundedNormal(1e6+0.25, sigma) }); n != 0 {
			t.Errorf("sigma %g: %v allocations per draw", sigma, n)
		}
	}
}
