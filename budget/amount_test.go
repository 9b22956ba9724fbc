package budget

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCostRoundsUp(t *testing.T) {
	for _, c := range []struct {
		eps  string
		want Amount
	}{
		{"1", One},
		{"0.1", One / 10},
		{"1e-12", 1},
		{"1e-13", 1},
		{"1e-400", 1},
		{"0.0000000000011", 2},
		{"1/3", 333_333_333_334},
		{"9000000", Max},
		{"8999999.9999999999999", Max},
	} {
		got, err := Cost(rat(c.eps))
		if err != nil || got != c.want {
			t.Errorf("Cost(%s) = %d, %v; want %d", c.eps, got, err, c.want)
		}
	}
}

func TestCostRefuses(t *testing.T) {
	for _, eps := range []string{"0", "-1e-300", "-1", "9000000.0000000000001", "1e400"} {
		if got, err := Cost(rat(eps)); err == nil {
			t.Errorf("Cost(%s) = %v, want an error", eps, got)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("Cost(%s): error of several lines: %q", eps, err)
		}
	}
}

func TestTenTenthsAreOne(t *testing.T) {
	tenth, err := Cost(Decimal(0.1))
	if err != nil {
		t.Fatal(err)
	}
	if ten, ok := tenth.Times(10); !ok || ten.String() != "1" {
		t.Errorf("ten charges of 0.1 are %v, %v", ten, ok)
	}
}

func TestAmountString(t *testing.T) {
	for a, want := range map[Amount]string{
		0:              "0",
		1:              "0.000000000001",
		2_100_000_000:  "0.0021",
		One:            "1",
		23_000_000_000: "0.023",
		Max:            "9000000",
		Max - 1:        "8999999.999999999999",
		-6_900_000_000: "-0.0069",
		-10 * One:      "-10",
		math.MinInt64:  "-9223372.036854775808",
		100*One + 1000: "100.000000001",
	} {
		if got := a.String(); got != want {
			t.Errorf("Amount(%d) prints %q, want %q", int64(a), got, want)
		}
	}
}

func TestAmountStringIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Amount(rapid.Int64().Draw(t, "a"))
		s := a.String()
		if rat(s).Cmp(a.Rat()) != 0 || a.Rat().Cmp(big.NewRat(int64(a), int64(One))) != 0 {
			t.Fatalf("Amount(%d) prints %q", int64(a), s)
		}
		if strings.ContainsAny(s, "eE") || strings.Contains(s, ".") && strings.HasSuffix(s, "0") {
			t.Fatalf("Amount(%d) prints %q", int64(a), s)
		}
		if want, _ := rat(s).Float64(); a.Float64() != want {
			t.Fatalf("Amount(%d).Float64() = %v, want %v", int64(a), a.Float64(), want)
		}
	})
}

func TestTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Amount(rapid.Int64Range(-2, int64(Max)).Draw(t, "a"))
		n := rapid.OneOf(rapid.Int64Range(-2, 1000), rapid.Int64()).Draw(t, "n")
		product := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(n))
		want := a >= 0 && n >= 0 && product.Cmp(big.NewInt(int64(Max))) <= 0
		got, ok := a.Times(n)
		if ok != want || ok && product.Cmp(big.NewInt(int64(got))) != 0 {
			t.Fatalf("%d times %d = %d, %v", int64(a), n, int64(got), ok)
		}
	})
}

func TestDecimalIsWhatPeopleWrote(t *testing.T) {
	for _, s := range []string{"0.1", "0.001", "1e-12", "-0.035", "3", "1e300", "5e-324", "0"} {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := Decimal(x); got.Cmp(rat(s)) != 0 {
			t.Errorf("Decimal(%s) = %v", s, got)
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := Decimal(x); got != nil {
			t.Errorf("Decimal(%v) = %v, want nil", x, got)
		}
	}
}

func TestDecimalReadsBackAndIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		if got, _ := Decimal(x).Float64(); got != x {
			t.Fatalf("Decimal(%v) reads back as %v", x, got)
		}
		next := math.Nextafter(x, math.Inf(1))
		if !math.IsInf(next, 0) && Decimal(x).Cmp(Decimal(next)) > 0 {
			t.Fatalf("Decimal(%v) > Decimal(%v)", x, next)
		}
	})
}

// FuzzCost checks that a cost is the smallest multiple of 1e-12 that is not below
// its epsilon, whatever float64 is passed.
func FuzzCost(f *testing.F) {
	for _, x := range []float64{0.1, 1e-12, 9e6, 0.6931471805599453, 5e-324, 1e300, -1} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		eps := Decimal(x)
		if eps == nil {
			return
		}
		a, err := Cost(eps)
		if refused := eps.Sign() <= 0 || eps.Cmp(big.NewRat(9_000_000, 1)) > 0; refused != (err != nil) {
			t.Fatalf("Cost(%v): %v", x, err)
		}
		if err != nil {
			return
		}
		if big.NewRat(int64(a), int64(One)).Cmp(eps) < 0 || big.NewRat(int64(a)-1, int64(One)).Cmp(eps) >= 0 {
			t.Fatalf("Cost(%v) = %v", x, a)
		}
	})
}

func rat(s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		panic("bad rational in a test: " + s)
	}
	return r
}
