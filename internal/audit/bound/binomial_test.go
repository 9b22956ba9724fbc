package bound

import (
	"math"
	"math/big"
	"testing"
)

// bigTail returns the probability of x or more successes in n trials, to many digits.
func bigTail(x, n int, p *big.Float) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	odds := new(big.Float).Quo(p, new(big.Float).Sub(number(1), p))
	term := number(1) // (1-p)^n
	q := new(big.Float).Sub(number(1), p)
	for range n {
		term.Mul(term, q)
	}
	sum := number(0)
	for k := range n + 1 {
		if k >= x {
			sum.Add(sum, term)
		}
		term.Mul(term, odds)
		term.Mul(term, number(float64(n-k)))
		term.Quo(term, number(float64(k+1)))
	}
	return sum
}

// logBig returns the logarithm of a positive number however small.
func logBig(f *big.Float) float64 {
	m := new(big.Float)
	e := f.MantExp(m)
	v, _ := m.Float64()
	return math.Log(v) + float64(e)*math.Ln2
}

func bigLogistic(t float64) *big.Float {
	// The test needs the same probability in both, not the exact exponential.
	e := new(big.Float).SetPrec(300).SetFloat64(math.Exp(t))
	return new(big.Float).Quo(e, new(big.Float).Add(e, big.NewFloat(1)))
}

func TestTailIsThatOfExactSums(t *testing.T) {
	worst := 0.0
	for _, n := range []int{2, 3, 5, 12, 17, 40, 200, 2000} {
		for _, t0 := range []float64{-20, -5, -2, -0.1, 0, 0.3, 3, 8, 15} {
			mean := float64(n) / (1 + math.Exp(-t0))
			sd := math.Sqrt(mean / (1 + math.Exp(t0)))
			for _, z := range []float64{0, 1, 3, 6, 9, 20} {
				x := int(math.Ceil(mean + z*sd))
				if x < 1 || x >= n {
					continue
				}
				want := logBig(bigTail(x, n, bigLogistic(t0)))
				d := math.Abs(logTail(x, n, t0) - want)
				if d > slack/4 {
					t.Errorf("%d of %d at %v: %v, want %v", x, n, t0, logTail(x, n, t0), want)
				}
				worst = max(worst, d)
			}
		}
	}
	// As many as an audit counts, once.
	if want, got := logBig(bigTail(50_900, 100_000, bigLogistic(0))), logTail(50_900, 100_000, 0); math.Abs(got-want) > slack/4 {
		t.Errorf("of 100000: %v, want %v", got, want)
	}
	t.Logf("largest difference of logarithms: %.2g", worst)
}

// The bound is where the tail is alpha: not above, and not far below.
func TestLowerBoundIsTheRoot(t *testing.T) {
	for _, alpha := range []float64{0.5, 0.05, 1e-6, 1e-14} {
		for _, n := range []int{1, 2, 7, 50, 500} {
			for _, x := range []int{1, 2, n / 3, n / 2, n - 1, n} {
				if x < 1 || x > n {
					continue
				}
				bound := logitBelow(x, n, alpha)
				if tail := logBig(bigTail(x, n, bigLogistic(bound))); tail > math.Log(alpha) {
					t.Errorf("%d of %d at %v: the tail at the bound %v is e^%v", x, n, alpha, bound, tail)
				}
				over := bound + 1e-6
				if float64(x)/float64(n) <= 1/(1+math.Exp(-over)) {
					continue // from the estimate on the bound does not rise, whatever alpha is
				}
				if tail := logBig(bigTail(x, n, bigLogistic(over))); tail < math.Log(alpha) {
					t.Errorf("%d of %d at %v: the bound %v is too low", x, n, alpha, bound)
				}
			}
		}
	}
}

// mass returns the probability of x successes in n trials.
func mass(x, n int, p float64) float64 {
	switch {
	case p == 0 && x == 0 || p == 1 && x == n:
		return 1
	case p == 0 || p == 1:
		return 0
	case x == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case x == n:
		return math.Pow(p, float64(n))
	}
	return math.Exp(logMass(x, n, logit(p)))
}

// exceeds returns the exact probability that a bound from n trials is above the loss of an
// event, by all the counts that there can be.
func exceeds(n int, coin float64, p [2]float64, over func(Counts) bool) float64 {
	sum := 0.0
	for of := range n + 1 {
		c := Counts{Of: [2]int{n - of, of}}
		coins := mass(of, n, coin)
		for c.In[0] = 0; c.In[0] <= c.Of[0]; c.In[0]++ {
			first := coins * mass(c.In[0], c.Of[0], p[0])
			for c.In[1] = 0; c.In[1] <= c.Of[1]; c.In[1]++ {
				if over(c) {
					sum += first * mass(c.In[1], c.Of[1], p[1])
				}
			}
		}
	}
	return sum
}

// By enumeration, the bound exceeds the true value no more often than alpha says.
func TestCoverageIsExact(t *testing.T) {
	const n = 22
	worst := 0.0
	for _, alpha := range []float64{0.05, 0.01, 1e-4} {
		for _, p := range [][2]float64{{0.5, 0.5}, {0.02, 0.02}, {0.9, 0.9}, {0.6, 0.2}, {1, 0.3}, {0.3, 0.05}, {0.2, 0.6}} {
			loss := math.Log(p[0] / p[1])
			got := exceeds(n, 0.5, p, func(c Counts) bool { return c.Epsilon(0, alpha) > max(0, loss) })
			if got > alpha*(1+1e-9) {
				t.Errorf("the bound at %v, %v: above with probability %v", alpha, p, got)
			}
			worst = max(worst, got/alpha)
		}
	}
	if worst < 0.3 {
		t.Errorf("Epsilon is above in at most %v of what is allowed: it could be sharper", worst)
	}
}

// The same enumeration notices an estimate that is taken for the bound, and an unfair coin.
func TestEnumerationNoticesPlantedBounds(t *testing.T) {
	const alpha = 0.01
	p := [2]float64{0.6, 0.2}
	loss := math.Log(p[0] / p[1])
	if got := exceeds(36, 0.5, p, func(c Counts) bool { return c.In[0] > 3*c.In[1] }); got < 0.3 {
		t.Errorf("the estimate is above with probability %v", got)
	}
	if got := exceeds(60, 0.3, p, func(c Counts) bool { return c.Epsilon(0, alpha) > loss }); got < 5*alpha {
		t.Errorf("with an unfair coin the bound is above with probability %v", got)
	}
}

// The divergence of two coins is that of its definition.
func TestDivergence(t *testing.T) {
	for _, c := range [][2]float64{{0.5, 0.4}, {0.9, 0.1}, {0.99, 0.5}, {0.3, 1e-6}, {1, 0.5}, {1 - 1e-9, 1e-9}} {
		p, q := c[0], c[1]
		for a := 1.001; a < 30; a *= 1.05 {
			want := math.Log(math.Pow(p, a)*math.Pow(q, 1-a)+math.Pow(1-p, a)*math.Pow(1-q, 1-a)) / (a - 1)
			if got := divergence(p, q, a); math.Abs(got-want) > 1e-6*want {
				t.Errorf("divergence(%v, %v, %v) = %v, want %v", p, q, a, got, want)
			}
		}
	}
}

// No trials say nothing.
func TestNothingIsShownByNoTrials(t *testing.T) {
	var c Counts
	if e := c.Epsilon(0, 0.01); e != 0 {
		t.Errorf("%v of nothing", e)
	}
	e := Learn([2][]Outcome{}, 0.01)
	if e.Contains(Outcome{}) {
		t.Error("an event that was learned from nothing contains something")
	}
	w := LearnWitness([2][]Outcome{}, 0.01).Tally()
	w.Add(0, Outcome{})
	if got := w.Renyi(0.01); got != 0 {
		t.Errorf("a witness that was learned from nothing shows %v", got)
	}
}
