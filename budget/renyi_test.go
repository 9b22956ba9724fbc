package budget

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// The least delta in 60 digits, by a search over all orders.
func TestDelta(t *testing.T) {
	for _, c := range []struct{ rho, distance, epsilon, want float64 }{
		{0.01747, 1, 1, 1.2650339962768006558e-8},
		{1e-8, 1000, 1, 1.664113977387994537e-13},
		{0.5, 1, 3, 0.0051431840638621492912},
		{1e-6, 100, 0.1, 0.038593622766875611209},
		{2, 1, 1, 0.77052929513189361544},
		{0.001, 10, 10, 2.8399053527192456566e-109},
		{3, 1, 60, 9.5563868566957890521e-120},
	} {
		if got := Delta(c.rho, c.distance, c.epsilon); got < c.want || got > c.want*(1+1e-10) {
			t.Errorf("Delta(%v, %v, %v) = %v, want %v", c.rho, c.distance, c.epsilon, got, c.want)
		}
	}
}

// Numbers that are out of all proportion have a delta of 1, or one that is no less than the
// smallest number.
func TestDeltaOfExtremes(t *testing.T) {
	for _, c := range [][3]float64{
		{math.MaxFloat64, math.MaxFloat64, 1}, {1, math.MaxFloat64, math.MaxFloat64}, {1e308, 1, 5e-324}, {1, 1e6, 1},
	} {
		if got := Delta(c[0], c[1], c[2]); got != 1 {
			t.Errorf("Delta%v = %v", c, got)
		}
	}
	for _, c := range [][3]float64{{1e-12, 1, 0.001}, {5e-324, 5e-324, math.MaxFloat64}, {1, 1, math.MaxFloat64}, {5e-324, 5e-324, 1}} {
		if got := Delta(c[0], c[1], c[2]); !(got > 0 && got < 1e-300) {
			t.Errorf("Delta%v = %v", c, got)
		}
	}
}

// No order gives less, and delta never exceeds that of simpler formulas: the optimum over
// orders without the factor (1-1/a)^a/(a-1), and Bun and Steinke's epsilon of
// r + 2 sqrt(r ln(1/delta)).
func TestDeltaIsTheLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := math.Exp(rapid.Float64Range(-30, 3).Draw(t, "ln r"))
		epsilon := math.Exp(rapid.Float64Range(-7, 4).Draw(t, "ln epsilon"))
		a := 1 + math.Exp(rapid.Float64Range(-20, 30).Draw(t, "ln(a-1)"))
		got := Delta(r, 1, epsilon)
		one := math.Exp((a-1)*(a*r-epsilon)) / (a - 1) * math.Pow(1-1/a, a)
		if got > one*(1+1e-6)+1e-320 {
			t.Fatalf("order %v has %v, which is less than %v", a, one, got)
		}
		if got > 0 && got < 1 {
			if simple := r + 2*math.Sqrt(r*math.Log(1/got)); simple < epsilon*(1-1e-9) {
				t.Fatalf("delta %v of (%v, %v) is above that of epsilon %v", got, r, epsilon, simple)
			}
		}
		if more := Delta(r*1.001, 1, epsilon); more < got {
			t.Fatalf("a larger rho has less: %v, %v", more, got)
		}
	})
}

func TestLargestRho(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta, distance float64
		want                     string
	}{
		{1, 1e-6, 1, "0.0243559"}, // 0.02435597..
		{1, 1e-6, 500, "9.74238e-8"},
		{1, 1e-6, 1e-6, "9000000"},
	} {
		got, ok := LargestRho(c.epsilon, c.delta, c.distance)
		if !ok || got.Cmp(rat(c.want)) != 0 {
			t.Errorf("LargestRho(%v, %v, %v) = %v, %v, want %s", c.epsilon, c.delta, c.distance, got, ok, c.want)
		}
	}
	if got, ok := LargestRho(1, 1e-6, 200_000); ok { // 6.1e-13
		t.Errorf("%v is less than can be charged", got)
	}
}

// The rho that is told keeps delta, and the next decimal does not.
func TestLargestRhoRoundsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epsilon := math.Exp(rapid.Float64Range(-4, 4).Draw(t, "ln epsilon"))
		delta := math.Exp(rapid.Float64Range(-40, -0.1).Draw(t, "ln delta"))
		distance := math.Exp(rapid.Float64Range(-3, 9).Draw(t, "ln distance"))
		rho, ok := LargestRho(epsilon, delta, distance)
		if !ok {
			if Delta(1e-12, distance, epsilon) <= delta {
				t.Fatal("1e-12 is small enough")
			}
			return
		}
		x, _ := rho.Float64()
		if Decimal(x).Cmp(rho) != 0 {
			t.Fatalf("%v is written as %v", rho, x)
		}
		if got := Delta(x, distance, epsilon); got > delta {
			t.Fatalf("rho %v has delta %v, above %v", x, got, delta)
		}
		more, _ := new(big.Rat).Mul(rho, rat("1.00001")).Float64()
		if rho.Cmp(maxEpsilon) < 0 && Delta(more, distance, epsilon) <= delta {
			t.Fatalf("rho %v is not the largest", x)
		}
	})
}

// A year of daily sums at (1, 1e-6): by the conversion of Bun and Steinke, who have
// epsilon = r + 2 sqrt(r ln(1/delta)), concentrated noise has a 5.05th of the deviation of
// Laplace noise at epsilon 1/365 each, which is sqrt 2 * 365. In thirty days it has a 1.45th.
// The rho that is told allows a sixth more than that.
func TestConcentratedNoiseIsLess(t *testing.T) {
	told, ok := LargestRho(1, 1e-6, 1)
	if !ok {
		t.Fatal("no rho")
	}
	rho, _ := told.Float64()
	simple := math.Pow(math.Sqrt(1+math.Log(1e6))-math.Sqrt(math.Log(1e6)), 2)
	for _, c := range []struct{ sums, simple, told float64 }{{365, 5.05, 5.96}, {30, 1.45, 1.71}} {
		for total, want := range map[float64]float64{simple: c.simple, rho: c.told} {
			if times := math.Sqrt2 * c.sums / math.Sqrt(c.sums/(2*total)); math.Abs(times-want) > 0.005 {
				t.Errorf("rho %v: %v sums have %v times less deviation, want %v", total, c.sums, times, want)
			}
		}
	}
}

// The factor is at least that of exact arithmetic, and hardly more.
func TestFactor(t *testing.T) {
	for _, c := range []struct {
		epsilon, distance string
		want              float64
	}{{"0.005", "0", 1}, {"1", "710", math.Inf(1)}, {"1e308", "1e308", math.Inf(1)}} {
		e, _ := new(big.Rat).SetString(c.epsilon)
		d, _ := new(big.Rat).SetString(c.distance)
		if got := Factor(e, d); got != c.want {
			t.Errorf("Factor(%s, %s) = %v, want %v", c.epsilon, c.distance, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		epsilon := big.NewRat(rapid.Int64Range(1, 1e9).Draw(t, "epsilon"), rapid.SampledFrom([]int64{1e3, 1e9, 1e12}).Draw(t, "of"))
		distance := big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, "distance"), 1000)
		exponent := new(big.Rat).Mul(epsilon, distance)
		if exponent.Cmp(big.NewRat(700, 1)) > 0 {
			return
		}
		got, want := new(big.Float).SetFloat64(Factor(epsilon, distance)), exponential(exponent)
		slack := new(big.Float).Mul(want, big.NewFloat(1+1e-12)) // of an exponent of up to 700 that is rounded
		if got.Cmp(want) < 0 || got.Cmp(slack) > 0 {
			t.Fatalf("Factor(%v, %v) = %v, want %v", epsilon, distance, got, want)
		}
	})
}

// exponential returns e^x, for x from 0, in 400 bits, by the series at x/1024.
func exponential(x *big.Rat) *big.Float {
	const bits = 400
	part := new(big.Float).SetPrec(bits).SetRat(new(big.Rat).Quo(x, big.NewRat(1024, 1)))
	sum, term := new(big.Float).SetPrec(bits).SetInt64(1), new(big.Float).SetPrec(bits).SetInt64(1)
	for k := int64(1); k < 120; k++ {
		term.Mul(term, part)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range 10 {
		sum.Mul(sum, sum)
	}
	return sum
}
