package optimal

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/study/studytest"
)

// TestOptimum compares with the optima of other people's solvers (HiGHS, and GLPK by
// way of libqif; R22, R24, R30).
func TestOptimum(t *testing.T) {
	for _, c := range []struct {
		name    string
		places  []Place
		epsilon float64
		loss    float64
	}{
		{"R22 3x3", square(3, uniform), ln2, 1.021871205},
		{"R22 3x3 ln 4", square(3, uniform), 2 * ln2, 0.660153893},
		{"R24 5x5", square(5, uniform), ln2, 1.453531706},
		{"R30 3x3 skewed", square(3, ramp), ln2, 0.911912699},
		{"R30 5x5 skewed", square(5, ramp), ln2, 1.383037624},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rowsOf(t, newStudy(t, c.places, c.epsilon, 1e-6, 1))[0]
			near(t, "loss", r.Loss, c.loss, 2e-6)
			// Theorem 6.2 of the thesis (R31).
			near(t, "adversary's error", r.AdversaryError, c.loss, 2e-6)
			near(t, "remapped loss", r.RemappedLoss, c.loss, 2e-6)
			if r.CertifiedEpsilon != c.epsilon || r.Solved.Gap > 1e-6 {
				t.Errorf("%+v %+v", r, *r.Solved)
			}
		})
	}
}

// TestDilations compares with R27, which has constraints with epsilon over the dilation asked for: at the epsilon that
// makes up for it, losses agree.
func TestDilations(t *testing.T) {
	for _, c := range []struct {
		dilation, trueDilation float64
		edges                  int
		loss                   float64
	}{
		{1, 1, 200, 1.453531706},
		{1.05, 1.0274, 120, 1.476719584},
		{1.1, 1.0797, 72, 1.492789179},
		{1.2, 0, 72, 1.537236685},
		{1.5, math.Sqrt2, 40, 1.567582969},
		{2, 0, 40, 1.693383417},
	} {
		r := rowsOf(t, newStudy(t, square(5, uniform), ln2, 1e-5, c.dilation))[0]
		if r.Solved.Edges != c.edges || r.Solved.Constraints != 50*c.edges+25 || r.Loss > c.loss*(1+2e-5) {
			t.Errorf("dilation %v: %+v %+v", c.dilation, r, *r.Solved)
		}
		if c.trueDilation > 0 {
			near(t, "true dilation", r.Solved.TrueDilation, c.trueDilation, 1e-4)
		}
		same := rowsOf(t, newStudy(t, square(5, uniform), ln2*r.Solved.TrueDilation/c.dilation, 1e-5, c.dilation))[0]
		near(t, "loss", same.Loss, c.loss, 2e-5)
	}
}

// TestOthers compares with R26, R30 and, for places that are shifted off the lattice,
// with the continuous mechanism of R14.
func TestOthers(t *testing.T) {
	scattered := square(5, uniform)
	scattered[7].X += 1e-7
	for _, c := range []struct {
		places         []Place
		name           string
		loss, remapped float64
		realised       float64
	}{
		{square(5, uniform), PlanarGeometric, 1.692327817, 1.518439572, 0},
		{scattered, PlanarGeometric, 1.728103968, 1.535953039, 0.691334349},
		{square(5, uniform), Exponential, 2.063059777, 1.815014829, 0},
	} {
		rows := rowsOf(t, newStudy(t, c.places, ln2, 1e-2, 2))
		at := slices.IndexFunc(rows, func(r Row) bool { return r.Mechanism == c.name })
		if at < 0 {
			t.Fatalf("no row %s", c.name)
		}
		r := rows[at]
		near(t, c.name+" loss", r.Loss, c.loss, 2e-6)
		near(t, c.name+" remapped loss", r.RemappedLoss, c.remapped, 2e-6)
		near(t, c.name+" adversary's error", r.AdversaryError, c.remapped, 2e-6)
		if c.realised > 0 {
			near(t, c.name+" certified epsilon", r.CertifiedEpsilon, c.realised, 1e-8)
		}
		if r.CertifiedEpsilon > ln2 || r.Solved != nil {
			t.Errorf("%+v", r)
		}
	}
}

// TestExponentialEpsilon compares the epsilon that the exponential mechanism comes to
// with a constant of libqif (R17).
func TestExponentialEpsilon(t *testing.T) {
	places := square(3, uniform)
	for k := range places {
		places[k].X *= 1.1
		places[k].Y *= 1.1
	}
	rows := rowsOf(t, newStudy(t, places, 0.9, 1e-2, 2))
	near(t, "certified epsilon", rows[2].CertifiedEpsilon, 0.5894559152872625, 1e-9)
}

// The order of the places of a grid does not matter, nor where its origin is.
func TestGridInAnyOrder(t *testing.T) {
	places := square(4, ramp)
	want := rowsOf(t, newStudy(t, places, ln2, 1e-2, 2))[1]
	slices.Reverse(places)
	for k := range places {
		places[k].X += 1e4
		places[k].Y = 7 - places[k].Y
	}
	got := rowsOf(t, newStudy(t, places, ln2, 1e-2, 2))[1]
	if got.Mechanism != PlanarGeometric || math.Abs(got.Loss-want.Loss) > 1e-9 || math.Abs(got.RemappedLoss-want.RemappedLoss) > 1e-9 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Places off a square grid, or on one too fine for the lattice, get the continuous mechanism.
func TestNoGrid(t *testing.T) {
	for name, spoil := range map[string]func([]Place) []Place{
		"missing":     func(p []Place) []Place { return p[1:] },
		"oblong":      func(p []Place) []Place { return stretched(p, 1, 1.2) },
		"uneven":      func(p []Place) []Place { p[0].X, p[3].X, p[6].X = -1, -1, -1; return p },
		"fine":        func(p []Place) []Place { return stretched(p, 1e-3, 1e-3) },
		"interchange": func(p []Place) []Place { p[4].X, p[4].Y = 0, 0.5; return p },
	} {
		places := spoil(square(3, uniform))
		k, err := newStudy(t, places, ln2, 1e-2, 2).planar(t.Context(), ln2)
		if err != nil {
			t.Fatal(err)
		}
		continuous, err := PlanarLaplaceMatrix(t.Context(), ln2, places)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(k, continuous, slices.Equal) {
			t.Errorf("%s: %v, not %v", name, k, continuous)
		}
	}
}

func stretched(places []Place, east, north float64) []Place {
	for k := range places {
		places[k].X *= east
		places[k].Y *= north
	}
	return places
}

// The optimal mechanism loses least at every epsilon, and everything loses less at a greater one.
func TestSweep(t *testing.T) {
	study := newStudy(t, square(4, ramp), ln2, 1e-3, 1, 1.5)
	rows := studytest.Rows(t, study.Sweep)
	var epsilons []float64
	for k, r := range rows {
		best := rows[k-k%3]
		if best.Mechanism != Optimal || best.Solved.Dilation != 1 || best.Epsilon != r.Epsilon || best.Loss > r.RemappedLoss*(1+1e-3) || r.RemappedLoss > r.Loss*(1+1e-9) {
			t.Errorf("%+v beside %+v", r, best)
		}
		if k >= 3 && r.Loss > rows[k-3].Loss {
			t.Errorf("%s loses %v at %v, less at a smaller epsilon", r.Mechanism, r.Loss, r.Epsilon)
		}
		if r.Mechanism == Exponential {
			epsilons = append(epsilons, r.Epsilon/ln2)
		}
	}
	if !slices.Equal(epsilons, []float64{0.25, 0.5, 2, 4}) || len(rows) != 3*len(epsilons) {
		t.Errorf("%d rows, at %v", len(rows), epsilons)
	}
}

func TestRunEnds(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := newStudy(t, square(4, uniform), ln2, 1e-4, 1.5, 1)
	s.Progress = func(p Progress) {
		if p.Dilation == 1 && p.Share > 0.3 {
			cancel(cause)
		}
	}
	rows := 0
	if err := s.Run(ctx, func(Row) error { rows++; return nil }); err != cause || rows != 1 {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := s.Run(t.Context(), func(Row) error { return cause }); err != cause {
		t.Error(err)
	}
	if _, err := PlanarLaplaceMatrix(ctx, 1, s.places); err != cause {
		t.Error(err)
	}
	if err := s.Sweep(ctx, func(Row) error { return nil }); err != cause {
		t.Error(err)
	}
	if err := s.Sweep(t.Context(), func(Row) error { return cause }); err != cause {
		t.Error(err)
	}
}

func TestRefused(t *testing.T) {
	good := Settings{Epsilon: 1, Dilations: []float64{1}, Gap: 1e-4}
	for _, c := range []struct {
		want  string
		spoil func(s *Settings, p []Place) []Place
	}{
		{"epsilon must be above 0, not 0", func(s *Settings, p []Place) []Place { s.Epsilon = 0; return p }},
		{"epsilon must be above 0, not NaN", func(s *Settings, p []Place) []Place { s.Epsilon = math.NaN(); return p }},
		{"gap must be between 0 and 1, not 1", func(s *Settings, p []Place) []Place { s.Gap = 1; return p }},
		{"dilation must be given", func(s *Settings, p []Place) []Place { s.Dilations = nil; return p }},
		{"dilation must be at least 1, not 0.9", func(s *Settings, p []Place) []Place { s.Dilations = []float64{2, 0.9}; return p }},
		{"2 to 1024 places, not 1", func(_ *Settings, p []Place) []Place { return p[:1] }},
		{"2 to 1024 places, not 1089", func(_ *Settings, p []Place) []Place { return square(33, uniform) }},
		{"weight of place 3 must be 0 or more, not -1", func(_ *Settings, p []Place) []Place { p[2].Weight = -1; return p }},
		{"weight of place 3 must be 0 or more, not +Inf", func(_ *Settings, p []Place) []Place { p[2].Weight = math.Inf(1); return p }},
		{"places 2 and 4 are the same", func(_ *Settings, p []Place) []Place { p[3] = p[1]; return p }},
		{"places 1 and 4 are too far", func(_ *Settings, p []Place) []Place { p[0].X, p[3].X = -1e308, 1e308; return p }},
	} {
		s := good
		places := c.spoil(&s, square(3, uniform))
		if _, err := New(s, places); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
