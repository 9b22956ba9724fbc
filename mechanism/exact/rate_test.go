package exact_test

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

func TestRateFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := big.NewRat(rapid.Int64Range(1, math.MaxInt64).Draw(t, "numerator"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "denominator"))
		rate, err := exact.RateFloor(r)
		if err != nil {
			t.Fatal(err)
		}
		above := math.Nextafter(rate, math.Inf(1))
		if new(big.Rat).SetFloat64(rate).Cmp(r) > 0 || new(big.Rat).SetFloat64(above).Cmp(r) <= 0 {
			t.Fatalf("%v is not the floor of %s", rate, r)
		}
	})
}

func TestRateFloorLimits(t *testing.T) {
	tiny := new(big.Rat).SetFloat64(math.SmallestNonzeroFloat64)
	for _, c := range []struct {
		rate *big.Rat
		want float64
	}{
		{rat("0.1"), math.Nextafter(0.1, 0)}, // the float64 0.1 is above 1/10
		{rat("0.5"), 0.5},
		{rat("1e400"), math.MaxFloat64},
		{tiny, math.SmallestNonzeroFloat64},
		{new(big.Rat).Mul(tiny, rat("1.9")), math.SmallestNonzeroFloat64},
	} {
		if got, err := exact.RateFloor(c.rate); err != nil || got != c.want {
			t.Errorf("RateFloor(%s) = %v, %v, want %v", c.rate.FloatString(5), got, err, c.want)
		}
	}
	for _, r := range []*big.Rat{new(big.Rat), rat("-0.1"), new(big.Rat).Mul(tiny, rat("0.9")), rat("1e-400")} {
		if got, err := exact.RateFloor(r); err == nil {
			t.Errorf("RateFloor of a rate too small = %v", got)
		}
	}
}

func ExampleRateFloor() {
	rate, err := exact.RateFloor(big.NewRat(1, 10))
	fmt.Println(rate, err)
	// Output: 0.09999999999999999 <nil>
}

func TestRateTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.Float64Range(1e-300, 1e280).Draw(t, "rate")
		n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "n")
		product := new(big.Rat).Mul(new(big.Rat).SetFloat64(rate), new(big.Rat).SetInt64(n))
		got := new(big.Rat).SetFloat64(exact.RateTimes(rate, n))
		least := new(big.Rat).Mul(product, new(big.Rat).Sub(big.NewRat(1, 1), powerOfTwo(50)))
		if got.Cmp(product) > 0 || got.Cmp(least) < 0 {
			t.Fatalf("%d times %v is given as %v", n, rate, got.FloatString(20))
		}
	})
}
