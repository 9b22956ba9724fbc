package bound

import (
	"math/rand/v2"
	"testing"
)

func TestDependenceIsShown(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(r *rand.Rand) [2]Outcome
		want bool
	}{
		{"independent", func(r *rand.Rand) [2]Outcome {
			return [2]Outcome{integer(geometric(r, 0.1)), integer(geometric(r, 0.1))}
		}, false},
		{"independent points", func(r *rand.Rand) [2]Outcome {
			a, b := planarMechanism(3).draw(r, 0), planarMechanism(3).draw(r, 0)
			return [2]Outcome{a, b}
		}, false},
		{"independent of few answers", func(r *rand.Rand) [2]Outcome {
			return [2]Outcome{integer(r.Int64N(2)), integer(r.Int64N(2))}
		}, false},
		{"reused", func(r *rand.Rand) [2]Outcome {
			z := geometric(r, 0.1)
			return [2]Outcome{integer(z), integer(z)}
		}, true},
		{"reused around another centre", func(r *rand.Rand) [2]Outcome {
			z := geometric(r, 0.1)
			return [2]Outcome{integer(z), integer(z + 40)}
		}, true},
		{"reused at another scale", func(r *rand.Rand) [2]Outcome {
			u := r.ExpFloat64()
			return [2]Outcome{integer(int64(u * 20)), integer(int64(u * 33))}
		}, true},
		{"mirrored", func(r *rand.Rand) [2]Outcome {
			z := geometric(r, 0.1)
			return [2]Outcome{integer(z), integer(-z)}
		}, true},
		{"reused once in ten times", func(r *rand.Rand) [2]Outcome {
			z := geometric(r, 0.01)
			if r.IntN(10) > 0 {
				return [2]Outcome{integer(z), integer(geometric(r, 0.01))}
			}
			return [2]Outcome{integer(z), integer(z)}
		}, true},
		{"the same angle", func(r *rand.Rand) [2]Outcome {
			x, y := planar(r, 1)
			s := r.ExpFloat64()
			return [2]Outcome{{Values: []float64{x, y}}, {Values: []float64{s * x, s * y}}}
		}, true},
	} {
		r := rand.New(rand.NewPCG(7, 8))
		runs := make([][2]Outcome, 8000)
		for k := range runs {
			runs[k] = c.draw(r)
		}
		learning, counted := Halves(Dependence(runs, r))
		e := Learn(ByInput(learning), 1e-9)
		got := Measure(e, counted).Epsilon(e.Likelier, 1e-9)
		t.Logf("%s: %.3f by %s", c.name, got, e.Name)
		if got > 0 != c.want {
			t.Errorf("%s: %s shows %v", c.name, e.Name, got)
		}
	}
}

// With two answers of one bit each, the two inputs have the same law exactly if the bits are
// independent: the trials are made as the comment says.
func TestDependenceUsesEachAnswerOnce(t *testing.T) {
	runs := make([][2]Outcome, 1001)
	for k := range runs {
		runs[k] = [2]Outcome{{Values: []float64{float64(k)}}, {Values: []float64{float64(k)}}}
	}
	trials := Dependence(runs, rand.New(rand.NewPCG(1, 1)))
	if len(trials) != 500 {
		t.Fatalf("%d trials", len(trials))
	}
	for k, trial := range trials {
		a, b := trial.Outcome.Values[0], trial.Outcome.Values[1]
		if a != float64(2*k) || b != float64(2*k+trial.Input) {
			t.Errorf("trial %d with input %d has runs %v and %v", k, trial.Input, a, b)
		}
	}
}
