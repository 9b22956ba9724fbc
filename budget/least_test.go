package budget

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestLeastEpsilon(t *testing.T) {
	for _, c := range []struct{ bound, want string }{
		{"0.1", "0.1"}, {"0.10000001", "0.100001"}, {"0.099999", "0.099999"}, {"0.0999991", "0.0999991"}, {"0.09999911", "0.0999992"},
		{"1/3", "0.333334"}, {"1234567", "1234570"}, {"9000000", "9000000"}, {"8999999", "9000000"},
		{"0", "1e-12"}, {"1e-12", "1e-12"}, {"1.000001e-12", "1.00001e-12"}, {"999999.1", "1000000"},
	} {
		got, ok := LeastEpsilon(func(eps *big.Rat) bool { return eps.Cmp(rat(c.bound)) >= 0 })
		if !ok || got.Cmp(rat(c.want)) != 0 {
			t.Errorf("the least from %s on is %v, %v; want %s", c.bound, got, ok, c.want)
		}
	}
	if got, ok := LeastEpsilon(func(eps *big.Rat) bool { return eps.Cmp(rat("9000000.1")) >= 0 }); ok {
		t.Errorf("%v is enough", got)
	}
}

// The result is a decimal that people can write, and it can be charged.
func TestLeastEpsilonIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := new(big.Rat).SetFloat64(rapid.Float64Range(1e-12, 9e6).Draw(t, "bound"))
		got, ok := LeastEpsilon(func(eps *big.Rat) bool { return eps.Cmp(bound) >= 0 })
		if !ok || got.Cmp(bound) < 0 || new(big.Rat).Mul(bound, rat("1.00001")).Cmp(got) < 0 {
			t.Fatalf("%v, %v", got, ok)
		}
		x, _ := got.Float64()
		if Decimal(x).Cmp(got) != 0 {
			t.Fatalf("%v is written as %v", got, x)
		}
		if _, err := Cost(got); err != nil {
			t.Fatal(err)
		}
	})
}
