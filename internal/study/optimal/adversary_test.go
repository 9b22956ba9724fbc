package optimal

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
	"github.com/geosql/geosql/mechanism/optimal"
)

// priorsOf returns the places' weights and priors that differ from them: no mechanism
// was made for these, and one knows the half where the secret is not.
func priorsOf(places []Place) []Prior {
	day, other, half := Prior{Name: "day"}, Prior{Name: "other"}, Prior{Name: "half"}
	for k, p := range places {
		day.Weights = append(day.Weights, p.Weight)
		other.Weights = append(other.Weights, float64(len(places)-k))
		half.Weights = append(half.Weights, float64(k%2))
	}
	return []Prior{day, other, half}
}

// All mechanisms lose the same under the prior that they were made for, where the
// optimal and the most private one have the same error, which nothing exceeds: theorem
// 6.2 of the thesis (R31).
func TestAdversary(t *testing.T) {
	for name, places := range map[string][]Place{"grid": square(4, ramp), "scattered": scattered(12)} {
		const gap = 1e-5
		rows, err := newStudy(t, places, ln2, gap, 1).Adversary(t.Context(), priorsOf(places))
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) != 9 {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		best := rows[0]
		for k, r := range rows {
			if r.Mechanism != []string{Optimal, MostPrivate, PlanarLaplace}[k/3] || r.Prior != []string{"day", "other", "half"}[k%3] {
				t.Errorf("%s: row %d is %+v", name, k, r)
			}
			if r.AdversaryError > r.Loss*(1+1e-9) {
				t.Errorf("%s: the adversary errs by more than the report: %+v", name, r)
			}
			if r.Prior == "day" {
				tolerance := map[string]float64{Optimal: 0, MostPrivate: 2 * gap, PlanarLaplace: 2 * lossTolerance}[r.Mechanism]
				near(t, name+" loss of "+r.Mechanism, r.Loss, best.Loss, tolerance)
				if r.AdversaryError > best.AdversaryError*(1+2*gap) {
					t.Errorf("%s: %+v is more private than %+v", name, r, best)
				}
			}
		}
		near(t, name+" error of "+Optimal, best.AdversaryError, best.Loss, 2*gap)
		near(t, name+" error of "+MostPrivate, rows[3].AdversaryError, best.Loss, 2*gap)
		if rows[0].RealisedEpsilon > ln2*(1+1e-9) || rows[3].RealisedEpsilon < 2*ln2 || !math.IsNaN(rows[3].Epsilon) {
			t.Errorf("%s: %+v, %+v", name, rows[0], rows[3])
		}
		if noise := rows[6]; noise.Epsilon <= ln2 || noise.RealisedEpsilon > noise.Epsilon*(1+1e-9) {
			t.Errorf("%s: %+v", name, noise)
		}
	}
}

// An epsilon is found again by its loss, wherever the search begins.
func TestLaplaceOfLoss(t *testing.T) {
	places := scattered(10)
	for _, want := range []float64{0.01, 0.3, 1, 20} {
		s := newStudy(t, places, 1, 1e-2, 2)
		k, err := PlanarLaplaceMatrix(t.Context(), want, places)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := s.LaplaceOfLoss(t.Context(), optimal.Loss(s.prior, k, s.d))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "epsilon", got, want, 1e-6)
	}
}

// No planar Laplace mechanism on two places loses more than half of their distance.
func TestLaplaceOfNoLoss(t *testing.T) {
	s := newStudy(t, []Place{{0, 0, 1}, {1, 0, 1}}, 1, 1e-2, 2)
	if _, _, err := s.LaplaceOfLoss(t.Context(), 0.51); err == nil || !strings.Contains(err.Error(), "no planar Laplace mechanism loses 0.51") {
		t.Error(err)
	}
}

func TestFalling(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"line":  func(x float64) float64 { return 3 - x },
		"cubic": func(x float64) float64 { return (3 - x) * (3 - x) * (3 - x) },
		"knee":  func(x float64) float64 { return math.Max(3-x, 1e3*(3-x)) },
		"jump":  func(x float64) float64 { return map[bool]float64{true: 1, false: -1}[x < 3] },
	} {
		for _, start := range []float64{-20, 3, 20} {
			calls, last := 0, 0.0
			x, err := findZero(func(x float64) (float64, error) { calls++; last = x; return f(x), nil }, start, 0.7, 40, 1e-12)
			if err != nil || math.Abs(x-3) > 1e-3 || x != last || calls > 120 {
				t.Errorf("%s from %v: %v after %d calls, %v", name, start, x, calls, err)
			}
		}
	}
	if x, err := findZero(func(float64) (float64, error) { return 1, nil }, 0, 1, 10, 0); err != nil || !math.IsNaN(x) {
		t.Errorf("%v, %v", x, err)
	}
	cause := errors.New("enough")
	if _, err := findZero(func(x float64) (float64, error) { return 1, cause }, 0, 1, 10, 0); err != cause {
		t.Error(err)
	}
}

func TestAdversaryEnds(t *testing.T) {
	places := square(3, uniform)
	cause := errors.New("enough")
	for _, mechanism := range []string{Optimal, MostPrivate, PlanarLaplace} {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := newStudy(t, places, ln2, 1e-4, 1)
		s.Progress = func(p Progress) {
			if p.Mechanism == mechanism {
				cancel(cause)
			}
		}
		if rows, err := s.Adversary(ctx, priorsOf(places)); err != cause || rows != nil {
			t.Errorf("%s: %v, %v", mechanism, rows, err)
		}
	}
}

func TestRefusedPriors(t *testing.T) {
	s := newStudy(t, square(3, uniform), ln2, 1e-2, 1)
	for _, c := range []struct {
		want  string
		spoil func(*Prior)
	}{
		{"prior night has 8 weights for 9 places", func(p *Prior) { p.Weights = p.Weights[1:] }},
		{"prior night: the weight of place 2 must be 0 or more, not -1", func(p *Prior) { p.Weights[1] = -1 }},
		{"prior night: the weight of place 9 must be 0 or more, not NaN", func(p *Prior) { p.Weights[8] = math.NaN() }},
		{"prior night: the weights add up to 0", func(p *Prior) { clear(p.Weights) }},
		{"prior night: the weights add up to +Inf", func(p *Prior) { p.Weights[0], p.Weights[1] = 1e308, 1e308 }},
	} {
		p := Prior{"night", slices.Repeat([]float64{1}, 9)}
		c.spoil(&p)
		if _, err := s.Adversary(t.Context(), []Prior{p}); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

func TestOverPriors(t *testing.T) {
	var rows []AdversaryRow
	for _, places := range [][]Place{square(2, ramp), square(3, ramp)} {
		found, err := newStudy(t, places, ln2, 1e-3, 1).Adversary(t.Context(), priorsOf(places))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, found...)
	}
	figure, err := OverPriors("km", rows)
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "error (km)", "day", "other", "half", Optimal, MostPrivate, PlanarLaplace)
}
