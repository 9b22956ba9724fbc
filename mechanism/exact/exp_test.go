package exact_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic(s)
	}
	return r
}

// powerOfTwo is 2^-n.
func powerOfTwo(n uint) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), n))
}

// checkBounds checks everything ExpBounds promises against want = e^-x, which
// is known to within slack.
func checkBounds(x, want, slack *big.Rat, prec uint) error {
	lo, hi := exact.ExpBounds(x, prec)
	switch {
	case lo.Sign() < 0 || hi.Cmp(big.NewRat(1, 1)) > 0:
		return fmt.Errorf("bounds outside [0,1]")
	case new(big.Rat).Sub(hi, lo).Cmp(powerOfTwo(prec)) > 0:
		return fmt.Errorf("bounds wider than 2^-%d", prec)
	case lo.Cmp(new(big.Rat).Add(want, slack)) > 0:
		return fmt.Errorf("lower bound %s is too high", lo.FloatString(60))
	case hi.Cmp(new(big.Rat).Sub(want, slack)) < 0:
		return fmt.Errorf("upper bound %s is too low", hi.FloatString(60))
	}
	return nil
}

func TestExpBoundsKnown(t *testing.T) {
	// 70 decimals each.
	const inverseE = "0.3678794411714423215955237701614608674458111310317678345078368016974614"
	const ln2 = "0.6931471805599453094172321214581765680755001343602552541206800094933936"
	slack := rat("1e-69")
	for _, prec := range []uint{0, 1, 2, 7, 64, 128, 220} {
		for _, c := range []struct {
			name    string
			x, want *big.Rat
		}{
			{"0", new(big.Rat), big.NewRat(1, 1)},
			{"1", big.NewRat(1, 1), rat(inverseE)},
			{"ln 2", rat(ln2), big.NewRat(1, 2)},
			{"10 ln 2", new(big.Rat).Mul(rat(ln2), big.NewRat(10, 1)), big.NewRat(1, 1024)},
			{"1e-80", rat("1e-80"), big.NewRat(1, 1)},
			{"1e30", rat("1e30"), new(big.Rat)},
		} {
			if err := checkBounds(c.x, c.want, slack, prec); err != nil {
				t.Errorf("x = %s, precision %d: %v", c.name, prec, err)
			}
		}
	}
}

func TestExpBoundsOracle(t *testing.T) {
	// Twice the oracle's error.
	slack := powerOfTwo(2500)
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 1e9).Draw(t, "numerator"), rapid.Int64Range(1, 1e9).Draw(t, "denominator"))
		if x.Cmp(big.NewRat(1000, 1)) > 0 {
			x.Inv(x)
		}
		want, _ := oracleExp(x).Rat(nil)
		if err := checkBounds(x, want, slack, rapid.UintRange(0, 2400).Draw(t, "precision")); err != nil {
			t.Fatalf("x = %s: %v", x, err)
		}
	})
}

// TestExpBoundsNotice demands that the check above sees a bound which is wrong
// in the last bit it promises.
func TestExpBoundsNotice(t *testing.T) {
	x := big.NewRat(22, 7)
	want, _ := oracleExp(x).Rat(nil)
	off := new(big.Rat).Add(want, powerOfTwo(199))
	if checkBounds(x, off, powerOfTwo(2500), 200) == nil {
		t.Error("a value 2^-199 off is taken for e^-x")
	}
}

func TestExpBoundsNegative(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a negative exponent was accepted")
		}
	}()
	exact.ExpBounds(big.NewRat(-1, 3), 64)
}

func ExampleExpBounds() {
	lo, hi := exact.ExpBounds(big.NewRat(1, 1), 100)
	fmt.Println(lo.FloatString(29))
	fmt.Println(hi.FloatString(29))
	// Output:
	// 0.36787944117144232159552377016
	// 0.36787944117144232159552377016
}
