package scalar

import (
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"pgregory.net/rapid"
)

func TestUniverseErrorsNameTheArgument(t *testing.T) {
	for _, c := range []struct {
		lo, hi, step float64
		unit         budget.Unit
		want         string
	}{
		{math.NaN(), 1, 1, "kWh", "lo is not finite"},
		{0, math.Inf(1), 1, "kWh", "hi is not finite"},
		{0, 1, math.Inf(-1), "kWh", "step is not finite"},
		{0, 1, 0, "kWh", "step 0 is not above 0"},
		{0, 1, -0.5, "kWh", "step -0.5 is not above 0"},
		{1, 1, 1, "kWh", "hi 1 is not above lo 1"},
		{0, 10, 0.003, "kWh", "step 0.003 does not divide"},
		{0, 1, 3, "kWh", "step 3 does not divide"},
		{0, 1e7, 1e-6, "kWh", "step 1e-06 is too fine"},
		{0, 1 << 40, 1, "kWh", "step 1 is too fine"},
		{0, 1e-22, 1e-23, "kWh", "more than 22 decimals"},
		{0, 1e15, 1e14, "kWh", "need more than 15 digits"},
		{1e-9, 1e9 + 1e-9, 1e9, "kWh", "does not divide"}, // hi reads back as 1e9
		{1e6 + 1e-9, 2e6 + 1e-9, 1e6, "kWh", "need more than 15 digits"},
		{0, 1, 1, "m", `unit "m" is reserved`},
		{0, 1, 1, "", "unit is empty"},
	} {
		_, err := NewUniverse("u", c.lo, c.hi, c.step, c.unit)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("universe %v..%v step %v %q: %v, want %q", c.lo, c.hi, c.step, c.unit, err, c.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("error of several lines: %q", err)
		}
	}
}

func TestUniverseLimitsAreReached(t *testing.T) {
	for _, c := range []struct{ lo, hi, step float64 }{
		{0, 1<<40 - 1, 1},
		{0, 1e-21, 1e-22},
		{-999999999999999, 999999999999999, 999999999999999},
		{99999999999999.8, 99999999999999.9, 0.1},
	} {
		if _, err := NewUniverse("u", c.lo, c.hi, c.step, "kWh"); err != nil {
			t.Errorf("universe %v..%v step %v: %v", c.lo, c.hi, c.step, err)
		}
	}
}

func TestUniverseString(t *testing.T) {
	for _, c := range []struct {
		lo, hi, step float64
		want         string
	}{
		{0, 10, 0.001, "u: 0 to 10 in steps of 0.001 kWh, 10001 values"},
		{math.Copysign(0, -1), 1e-9, 1e-10, "u: 0 to 0.000000001 in steps of 0.0000000001 kWh, 11 values"},
		{-40, 60, 0.5, "u: -40 to 60 in steps of 0.5 kWh, 201 values"},
	} {
		u := universe(t, c.lo, c.hi, c.step)
		if got := u.String(); got != c.want || u.Name() != "u" || u.Unit() != "kWh" {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestIndexExamples(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	for _, c := range []struct {
		x    float64
		want int64
	}{
		{0.035, 35}, {4.217, 4217}, {0, 0}, {10, 10000}, {-1, 0}, {11, 10000},
		{math.Inf(1), 10000}, {math.Inf(-1), 0}, {0.1 + 0.2, 300}, {9.9996, 10000}, {9.9994, 9999},
		// Halfway goes up, although the nearest float64s lie on either side.
		{0.0005, 1}, {0.0015, 2}, {0.0025, 3}, {0.0035, 4}, {0.0045, 5}, {1.0005, 1001}, {9.9995, 10000},
		{math.Nextafter(0.0045, 0), 4},
	} {
		if got := u.Index(c.x); got != c.want {
			t.Errorf("Index(%v) = %d, want %d", c.x, got, c.want)
		}
	}
	if u.Outside(0) || u.Outside(10) || !u.Outside(-1e-300) || !u.Outside(10.000000000000002) {
		t.Error("Outside is wrong at the ends")
	}
}

func TestValuesRoundTripAndPrint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		k := rapid.Int64Range(0, d.u.last).Draw(t, "k")
		want := d.decimal(k)
		got := d.u.Value(k)
		if nearest, _ := want.Float64(); got != nearest {
			t.Fatalf("%v: Value(%d) = %v, want %v", d.u, k, got, nearest)
		}
		if budget.Decimal(got).Cmp(want) != 0 {
			t.Fatalf("%v: Value(%d) prints %v, which is not its decimal", d.u, k, got)
		}
		if parsed, _ := strconv.ParseFloat(strconv.FormatFloat(got, 'g', 15, 64), 64); parsed != got {
			t.Fatalf("%v: Value(%d) = %v is lost in 15 digits", d.u, k, got)
		}
		if back := d.u.Index(got); back != k {
			t.Fatalf("%v: Index(Value(%d)) = %d", d.u, k, back)
		}
	})
}

func TestStepAndLast(t *testing.T) {
	for _, c := range []struct {
		lo, hi, step float64
		last         int64
		want         string
	}{{0, 10, 0.001, 10_000, "1/1000"}, {-4, 5, 3, 3, "3"}, {0.5, 2.5, 0.25, 8, "1/4"}} {
		u := universe(t, c.lo, c.hi, c.step)
		if u.Last() != c.last || u.Step().Cmp(rational(c.want)) != 0 {
			t.Errorf("%v: last %d, step %v", u, u.Last(), u.Step())
		}
	}
}

func TestIndexMatchesItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		x := d.drawReading(t)
		if got, want := d.u.Index(x), d.index(x); got != want {
			t.Fatalf("%v: Index(%v) = %d, want %d", d.u, x, got, want)
		}
	})
}

// The float64 path of Index must be tried near midpoints, where it is settled by the
// definition, and the settled result must not depend on how bad the guess was.
func TestSettleCorrectsAnyGuess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		x := d.drawReading(t)
		want := d.u.Index(x)
		if got := d.u.steps().Index(x); got != want {
			t.Fatalf("%v: %v is %d by the definition, not %d", d.u, x, got, want)
		}
		if d.u.Outside(x) {
			return
		}
		guess := min(d.u.last+2, max(0, want+rapid.Int64Range(-3, 3).Draw(t, "off")))
		if got := d.u.steps().IndexFrom(x, guess); got != want {
			t.Fatalf("%v: settle(%v, %d) = %d, want %d", d.u, x, guess, got, want)
		}
	})
}

func TestIndexIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		x := d.drawReading(t)
		y := rapid.OneOf(rapid.Just(math.Nextafter(x, math.Inf(1))), rapid.Float64()).Draw(t, "y")
		if x > y {
			x, y = y, x
		}
		if i, j := d.u.Index(x), d.u.Index(y); i > j || i < 0 || j > d.u.last {
			t.Fatalf("%v: Index(%v) = %d, Index(%v) = %d", d.u, x, i, y, j)
		}
	})
}

// A decimal goes to the nearest value, the higher when halfway, judged as a decimal.
func TestIndexRoundsDecimalsHalfUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawUniverse(t)
		if d.u.reach() > 1e12 {
			return // the decimals below need digits to spare
		}
		tenths := rapid.Int64Range(0, 10*d.u.width()).Draw(t, "tenths of a quantum")
		r := big.NewRat(10*d.u.first+tenths, 10)
		r.Quo(r, new(big.Rat).SetInt(integer(d.u.scale)))
		x, _ := r.Float64()
		want := new(big.Rat).Quo(new(big.Rat).Sub(r, d.decimal(0)), d.step)
		want.Add(want, big.NewRat(1, 2))
		if got := d.u.Index(x); got != new(big.Int).Quo(want.Num(), want.Denom()).Int64() {
			t.Fatalf("%v: Index(%v) = %d, want floor(%v)", d.u, x, got, want)
		}
	})
}

// FuzzNewUniverse checks that any universe that is accepted keeps its promises.
func FuzzNewUniverse(f *testing.F) {
	f.Add(0.0, 10.0, 0.001, 0.035)
	f.Add(-40.0, 60.0, 0.5, 0.25)
	f.Add(99999999999999.8, 99999999999999.9, 0.1, 99999999999999.85)
	f.Add(0.0, 5e-324, 1e308, 1.0)
	f.Fuzz(func(t *testing.T, lo, hi, step, x float64) {
		u, err := NewUniverse("u", lo, hi, step, "kWh")
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("error of several lines: %q", err)
			}
			return
		}
		d := declared{u, budget.Decimal(lo), budget.Decimal(step)}
		if d.decimal(u.last).Cmp(budget.Decimal(hi)) != 0 {
			t.Fatalf("%v does not end at %v", u, hi)
		}
		if math.IsNaN(x) {
			return
		}
		k := u.Index(x)
		if k != d.index(x) {
			t.Fatalf("%v: Index(%v) = %d, want %d", u, x, k, d.index(x))
		}
		if u.Index(u.Value(k)) != k || budget.Decimal(u.Value(k)).Cmp(d.decimal(k)) != 0 {
			t.Fatalf("%v: value %d is %v of index %d", u, k, u.Value(k), u.Index(u.Value(k)))
		}
	})
}

// declared is a universe with the decimals it was declared by.
type declared struct {
	u        *Universe
	lo, step *big.Rat
}

func (d declared) decimal(k int64) *big.Rat {
	v := new(big.Rat).Mul(d.step, new(big.Rat).SetInt64(k))
	return v.Add(v, d.lo)
}

// index is Index by its definition, in rationals.
func (d declared) index(x float64) int64 {
	half := big.NewRat(1, 2)
	return int64(sort.Search(int(d.u.last), func(i int) bool {
		midpoint := new(big.Rat).Mul(d.step, new(big.Rat).Add(half, new(big.Rat).SetInt64(int64(i))))
		nearest, _ := midpoint.Add(midpoint, d.lo).Float64()
		return x < nearest
	}))
}

// drawUniverse draws a universe of any size, position and number of decimals that
// NewUniverse accepts, the extremes among them.
func drawUniverse(t *rapid.T) declared {
	decimals := rapid.IntRange(0, 22).Draw(t, "decimals")
	quantum := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
	digits := rapid.IntRange(1, 15).Draw(t, "digits")
	limit := int64(math.Pow10(digits)) - 1
	stride := rapid.Int64Range(1, limit).Draw(t, "stride")
	n := rapid.Int64Range(1, max(1, min(maxValues-1, 2*limit/stride-1))).Draw(t, "n")
	if n*stride > 2*limit {
		n, stride = 1, limit
	}
	first := rapid.Int64Range(-limit, limit-n*stride).Draw(t, "first")
	at := func(q int64) (*big.Rat, float64) {
		r := new(big.Rat).Mul(quantum, new(big.Rat).SetInt64(q))
		f, _ := r.Float64()
		return r, f
	}
	lo, loFloat := at(first)
	_, hiFloat := at(first + n*stride)
	step, stepFloat := at(stride)
	u, err := NewUniverse("u", loFloat, hiFloat, stepFloat, "kWh")
	if err != nil {
		t.Fatalf("universe %v..%v step %v: %v", loFloat, hiFloat, stepFloat, err)
	}
	return declared{u, lo, step}
}

// drawReading draws a reading: on the grid, at a midpoint, next to either, inside or
// anywhere.
func (d declared) drawReading(t *rapid.T) float64 {
	k := rapid.Int64Range(0, d.u.last).Draw(t, "near")
	var x float64
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		x = d.u.Value(k)
	case 1:
		x = d.u.steps().Midpoint(k)
	case 2:
		x = rapid.Float64Range(d.u.lo, d.u.hi).Draw(t, "inside")
	default:
		x = rapid.Float64().Draw(t, "anywhere")
	}
	for n := rapid.IntRange(0, 2).Draw(t, "ulps"); n > 0; n-- {
		x = math.Nextafter(x, rapid.SampledFrom([]float64{math.Inf(-1), math.Inf(1)}).Draw(t, "towards"))
	}
	return x
}

func universe(t fataler, lo, hi, step float64) *Universe {
	t.Helper()
	u, err := NewUniverse("u", lo, hi, step, "kWh")
	if err != nil {
		t.Fatal(err)
	}
	return u
}
