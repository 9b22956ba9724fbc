package scalar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// spends returns the most that noise loses between two answers so many steps apart, exactly: for a staircase its rate for each
// width that is begun.
func (n noise) spends(steps *big.Int) *big.Rat {
	if n.stairs != nil {
		width := big.NewInt(n.stairs.width)
		steps = new(big.Int).Add(steps, new(big.Int).Sub(width, big.NewInt(1)))
		steps.Div(steps, width)
	}
	spent := new(big.Rat).SetInt(steps)
	return spent.Mul(spent, new(big.Rat).SetFloat64(n.rate))
}

// mass is P(N = k), and tail P(N >= k), k > 0, by the definition.
func (n noise) mass(k int64) float64 {
	s := n.stairs
	if s == nil {
		return geometricMass(n.rate, k)
	}
	k = max(k, -k)
	p := math.Exp(-n.rate * float64(k/s.width))
	if k%s.width >= s.inner {
		p *= math.Exp(-n.rate)
	}
	stair := float64(s.inner) + math.Exp(-n.rate)*float64(s.width-s.inner)
	return p / (2*stair/(1-math.Exp(-n.rate)) - 1)
}

func (n noise) tail(k int64) float64 {
	s := n.stairs
	if s == nil {
		return geometricTail(n.rate, k)
	}
	sum := 0.
	for ; k%s.width != 0; k++ {
		sum += n.mass(k)
	}
	stair := float64(s.inner) + math.Exp(-n.rate)*float64(s.width-s.inner)
	return sum + n.mass(k)*stair/(1-math.Exp(-n.rate))
}

func recordNoise(t fataler, rate string, width int64) noise {
	t.Helper()
	n, err := setting{metric: budget.DH}.newRecordNoise(rational(rate), width)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Between all answers that are up to three widths apart, a staircase spends its rate for each width that is begun, and not
// less, by enumeration; its probabilities add up to 1.
func TestStaircaseKeepsItsRate(t *testing.T) {
	for _, width := range []int64{2, 3, 7, 20} {
		for _, rate := range trials.Some(t, 2, "1", "1.7", "3", "6", "12") {
			n := recordNoise(t, rate, width)
			if n.stairs == nil {
				t.Fatalf("%d at %s: no staircase", width, rate)
			}
			total := 2*n.tail(1) + n.mass(0)
			if math.Abs(total-1) > 1e-12 {
				t.Errorf("%d at %s: %v in all", width, rate, total)
			}
			for apart := int64(1); apart <= 3*width; apart++ {
				worst := 0.
				for z := -5 * width; z <= 5*width; z++ {
					worst = max(worst, math.Log(n.mass(z)/n.mass(z+apart)))
				}
				want, _ := n.spends(big.NewInt(apart)).Float64()
				if math.Abs(worst-want) > 1e-9 {
					t.Errorf("%d at %s: answers %d apart lose %v, not %v", width, rate, apart, worst, want)
				}
			}
		}
	}
	for _, c := range []struct {
		rate  string
		width int64
	}{{"0.999", 20}, {"7", 1}} {
		if recordNoise(t, c.rate, c.width).stairs != nil {
			t.Errorf("%d at %s has a staircase", c.width, c.rate)
		}
	}
}

// Its mean error is that of the enumeration, the least among all numbers of inner places, and below that of Laplace noise by
// the factor of Geng and Viswanath.
func TestStaircaseHasTheLeastError(t *testing.T) {
	for _, c := range []struct {
		width  int64
		rate   string
		factor float64 // of Laplace noise, for fine steps
	}{{2, "1", 0}, {3, "2", 0}, {10, "3", 0}, {50, "1", 0}, {1000, "1", 1.04}, {1000, "2", 1.17}, {1000, "5", 2.42}} {
		n := recordNoise(t, c.rate, c.width)
		mean := 0.
		for k := int64(1); k < int64(40/n.rate+2)*c.width; k++ {
			mean += 2 * float64(k) * n.mass(k)
		}
		if math.Abs(n.stairs.mean-mean) > 1e-9*mean {
			t.Errorf("%d at %s: the mean is %v, not %v", c.width, c.rate, n.stairs.mean, mean)
		}
		for inner := int64(1); inner < c.width; inner++ {
			if other := newStaircase(n.rate, c.width, inner); other.mean < n.stairs.mean*(1-1e-12) {
				t.Errorf("%d at %s: %d inner places have the mean %v, and %d have %v", c.width, c.rate, inner, other.mean, n.stairs.inner, n.stairs.mean)
			}
		}
		laplace := 1 / math.Sinh(n.rate/float64(c.width))
		if n.stairs.mean > laplace || c.factor > 0 && math.Abs(laplace/n.stairs.mean-c.factor) > 0.01 {
			t.Errorf("%d at %s: Laplace noise has %v times the error, not %v", c.width, c.rate, laplace/n.stairs.mean, c.factor)
		}
	}
}

// Probabilities and quantiles are those of the enumeration.
func TestStaircaseRadius(t *testing.T) {
	for _, c := range []struct {
		width int64
		rate  string
	}{{2, "1"}, {7, "2"}, {80, "2"}, {1000, "1.3"}, {100, "8"}} {
		n := recordNoise(t, c.rate, c.width)
		for _, k := range []int64{1, 2, c.width - 1, c.width, c.width + 1, 2*c.width + 1, 5*c.width - 1} {
			if got, want := n.atLeast(float64(k)), n.tail(k); math.Abs(got-want) > 1e-13 {
				t.Errorf("%d at %s: P(N >= %d) = %v, want %v", c.width, c.rate, k, got, want)
			}
			if got, want := n.between(float64(-k), float64(k)), 1-2*n.tail(k+1); math.Abs(got-want) > 1e-13 {
				t.Errorf("%d at %s: P(|N| <= %d) = %v, want %v", c.width, c.rate, k, got, want)
			}
			if got, want := n.between(float64(k), float64(k+1)), n.mass(k)+n.mass(k+1); math.Abs(got-want) > 1e-13 {
				t.Errorf("%d at %s: P(%d <= N <= %d) = %v, want %v", c.width, c.rate, k, k+1, got, want)
			}
		}
		for _, p := range []float64{1e-9, 0.5, 0.9, 0.95, 0.999, 1 - 1e-9} {
			within, want := n.mass(0), int64(0)
			for within < p-1e-15 {
				want++
				within += 2 * n.mass(want)
			}
			if got := n.quantile(p); got != float64(want) {
				t.Errorf("%d at %s: quantile %v is %v, want %d", c.width, c.rate, p, got, want)
			}
		}
	}
}

// Draws follow the law, 100,000 a case, with a false alarm below 1e-10 (Chernoff). Two samplers that are wrong are caught: one
// that keeps -0, and one with a place fewer among the inner ones.
func TestStaircaseFollowsItsLaw(t *testing.T) {
	const draws = 100_000
	src := exact.NewSource(nil)
	for _, c := range []struct {
		width int64
		rate  string
	}{{2, "1"}, {9, "1"}, {30, "3"}, {8, "2.5"}} {
		n := recordNoise(t, c.rate, c.width)
		law := map[int64]float64{}
		for k := -20 * c.width; k <= 20*c.width; k++ {
			law[k] = n.mass(k)
		}
		sample := func(n noise, keep bool) error {
			got := map[int64]int{}
			for range draws {
				k, _ := n.add(src, int128{}).int64()
				got[k]++
				if keep && k == 0 && src.Bool() {
					got[k]++
				}
			}
			return fits(got, law, draws, 1e-10)
		}
		if err := sample(n, false); err != nil {
			t.Errorf("%d at %s: %v", c.width, c.rate, err)
		}
		wrong := n
		wrong.stairs = newStaircase(n.rate, c.width, n.stairs.inner%(c.width-1)+1)
		if c.width > 2 && sample(wrong, false) == nil || sample(n, true) == nil {
			t.Errorf("%d at %s: a wrong sampler is not caught", c.width, c.rate)
		}
	}
}

// The chance of an inner place lies between its bounds, which are as near as they say, and float64 knows it to 1e-13.
func TestChanceOfInnerPlaces(t *testing.T) {
	for _, width := range []int64{2, 1000, 1 << 50} {
		for _, rate := range []string{"1", "2.5", "30", "700", "9000000"} {
			n := recordNoise(t, rate, width)
			for _, prec := range []uint{20, 64, 200} {
				lo, hi := n.stairs.chance.Bounds(prec)
				unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), prec))
				if lo.Sign() <= 0 || hi.Cmp(big.NewRat(1, 1)) > 0 || lo.Cmp(hi) > 0 || new(big.Rat).Sub(hi, lo).Cmp(unit) > 0 {
					t.Errorf("%d at %s: bounds %v and %v to %d bits", width, rate, lo, hi, prec)
				}
				if p, _ := lo.Float64(); prec == 200 && math.Abs(p-float64(n.stairs.inner)/n.stairs.weight) > 1e-13/2 {
					t.Errorf("%d at %s: %v in float64, not %v", width, rate, float64(n.stairs.inner)/n.stairs.weight, p)
				}
			}
		}
	}
}

// A record that moves by a step costs epsilon under nd1 only for a whole width: sums and averages have no staircase there, and
// would be caught.
func TestNoStaircaseUnderND1(t *testing.T) {
	u, eps := universe(t, 0, 3, 1), rational("3")
	dbs := databases(u)
	for _, m := range []budget.Metric{budget.ND1, budget.DH} {
		q := query(t, Sum, u, m, eps)
		if stairs := q.noised().noise.stairs != nil; stairs != (m == budget.DH) {
			t.Errorf("%v: a staircase is %v", m, stairs)
		}
	}
	r := released(query(t, Sum, u, budget.ND1, eps))
	r.noise = recordNoise(t, "3", 3)
	pairs := r.closest(dbs, distanceOf(u, tinyCase{agg: Sum, metric: budget.ND1}))
	if worst := loss(r, pairs, eps); worst < 2.9 || overspent(r, pairs, eps) == nil {
		t.Errorf("a staircase under nd1 is not caught: %v of epsilon", worst)
	}
}
