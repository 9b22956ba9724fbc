package bound

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Mechanisms published as broken, and likely mistakes, are found without a hint: each
// leak has a loss far above the claim of its mechanism.
func TestLeaksAreFound(t *testing.T) {
	laplace := func(r *rand.Rand) float64 { return (r.ExpFloat64() - r.ExpFloat64()) * 2 }
	real := func(vs ...float64) Outcome {
		var text []string
		for _, v := range vs {
			text = append(text, "REAL "+strconv.FormatFloat(v, 'g', -1, 64))
		}
		return Outcome{strings.Join(text, ","), vs}
	}
	for _, c := range []struct {
		name  string
		claim float64
		draw  func(r *rand.Rand, input int) Outcome
	}{
		{"the low bits of a floating-point sum (Mironov 2012)", 0.5, func(r *rand.Rand, input int) Outcome {
			return real(float64(input) + laplace(r))
		}},
		{"the low bits of one coordinate of a planar Laplace", 0.5, func(r *rand.Rand, input int) Outcome {
			x, y := planar(r, 0.05)
			return real(10*float64(input)+x, y)
		}},
		{"printed digits", 0.5, func(r *rand.Rand, input int) Outcome {
			v := math.Round(laplace(r) * 1000)
			if input == 1 && r.IntN(10) == 0 {
				v = v / 8
			}
			return real(v)
		}},
		{"a parity", 0.5, func(r *rand.Rand, input int) Outcome {
			v := geometric(r, 0.001)
			if r.IntN(3) > 0 {
				v = v/2*2 + int64(input)
			}
			return integer(v)
		}},
		{"a rare answer", 0.5, func(r *rand.Rand, input int) Outcome {
			if input == 1 && r.IntN(50) == 0 {
				return integer(77)
			}
			return integer(r.Int64N(1000))
		}},
		{"a type", 0.1, func(r *rand.Rand, input int) Outcome {
			v := float64(r.IntN(1000))
			if input == 1 && r.IntN(20) == 0 {
				return real(v)
			}
			return integer(int64(v))
		}},
		{"an error", 0.1, func(r *rand.Rand, input int) Outcome {
			if input == 1 && r.IntN(50) == 0 {
				return Outcome{Text: "error: out of range"}
			}
			return real(laplace(r))
		}},
		{"noise used twice in a row", 1, func(r *rand.Rand, input int) Outcome {
			z := math.Round(laplace(r) * 100)
			return real(z, z+float64(input))
		}},
		{"an order", 0.1, func(r *rand.Rand, input int) Outcome {
			vs := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			if input == 1 && r.IntN(3) == 0 {
				slices.Sort(vs)
			}
			return real(vs...)
		}},
		{"the place of the largest of many", 0.1, func(r *rand.Rand, input int) Outcome {
			vs := make([]float64, 30)
			for j := range vs {
				vs[j] = r.NormFloat64()
			}
			if r.IntN(2) == 0 {
				k := 7 + input
				m := 0
				for j := range vs {
					if vs[j] > vs[m] {
						m = j
					}
				}
				vs[k], vs[m] = vs[m], vs[k]
			}
			return real(vs...)
		}},
		{"a missing number", 0.1, func(r *rand.Rand, input int) Outcome {
			if input == 0 && r.IntN(20) == 0 {
				return real(laplace(r))
			}
			return real(laplace(r), laplace(r))
		}},
		{"a little in each of many numbers", 2, func(r *rand.Rand, input int) Outcome {
			vs := make([]float64, 40)
			for j := range vs {
				vs[j] = float64(geometric(r, 0.1)) + 5*float64(input)
			}
			return real(vs...)
		}},
		{"a scale", 0.1, func(r *rand.Rand, input int) Outcome {
			return integer(geometric(r, 0.02*(1+0.5*float64(input))))
		}},
		{"NaN and infinity", 0.5, func(r *rand.Rand, input int) Outcome {
			switch r.IntN(20) {
			case 0:
				return real(math.Inf(1 - 2*input))
			case 1:
				return real(math.NaN())
			}
			return real(laplace(r))
		}},
	} {
		m := mechanism{name: c.name, draw: c.draw}
		r := rand.New(rand.NewPCG(3, 4))
		learning, counted := m.trials(r, 8000, 0.5), m.trials(r, 20_000, 0.5)
		e := Learn(ByInput(learning), 1e-9)
		got := Measure(e, counted).Epsilon(e.Likelier, 1e-9)
		t.Logf("%s: %.3f by %s", c.name, got, e.Name)
		if got <= c.claim {
			t.Errorf("%s: %s shows %v, want more than %v", c.name, e.Name, got, c.claim)
		}
	}
}

// Where one input has far more draws than the other, the rest is still learned.
func TestLearnTakesGroupsOfAnySize(t *testing.T) {
	m := geometricMechanism(3)
	for _, coin := range []float64{0.1, 0.9} {
		r := rand.New(rand.NewPCG(5, 6))
		e := Learn(ByInput(m.trials(r, 8000, coin)), 1e-9)
		if got := Measure(e, m.trials(r, 40_000, 0.5)).Epsilon(e.Likelier, 1e-9); got < 2 || got > 3 {
			t.Errorf("learned with a coin of %v: %s shows %v of 3", coin, e.Name, got)
		}
	}
	for _, draws := range [][2][]Outcome{
		{{integer(1)}, {integer(2)}},
		{{integer(1), integer(1)}, {integer(1), integer(1)}},
		{{{}, {}}, {{}, {}}},
		{{integer(1), {}, integer(3)}, {{}, integer(2)}},
	} {
		Learn(draws, 1e-9).Contains(Outcome{})
		LearnWitness(draws, 1e-9).Level(Outcome{})
	}
}

// Few counts of three levels, all of them: the mean that a witness bounds is not less than its
// bound more often than alpha says.
func TestMeansHoldByEnumeration(t *testing.T) {
	const n = 30
	const alpha = 0.05
	x := []float64{-1, 0.5, 4}
	for _, p := range [][]float64{{0.3, 0.5, 0.2}, {0.01, 0.98, 0.01}, {0.96, 0, 0.04}, {0.5, 0, 0.5}} {
		want := mean(x, p)
		for _, variance := range []float64{0.01, 1, mean(squares(x, want), p), 100} {
			over := 0.0
			for a := range n + 1 {
				for b := range n + 1 - a {
					if meanAbove(x, []int{a, b, n - a - b}, variance, alpha) > want {
						over += mass(a, n, p[0]) * mass(b, n-a, p[1]/(1-p[0]))
					}
				}
			}
			if over > alpha {
				t.Errorf("%v with the variance %v: above with probability %v", p, variance, over)
			}
		}
	}
}
