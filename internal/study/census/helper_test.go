package census

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/studytest"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// newDomain returns a domain around Detroit, 220 km across, of this step in metres.
func newDomain(t testing.TB, step float64) *planar.Domain {
	t.Helper()
	d, err := planar.NewDomain("detroit", 41.5, -84.5, 43.5, -82, step)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

var downtown = Place{42.33, -83.05}

// north returns the point so many miles to the north.
func (p Place) north(miles float64) Place {
	const metresPerDegree = 111_080.0 // at 42.4 degrees
	return Place{p.Lat + miles*MetresPerMile/metresPerDegree, p.Lon}
}

func newStudy(t testing.TB, d *planar.Domain, settings []Setting, commutes ...Commute) *Study {
	t.Helper()
	study, err := New(d, settings, commutes)
	if err != nil {
		t.Fatal(err)
	}
	return study
}

func rowsOf(t *testing.T, s *Study) []Row {
	t.Helper()
	return studytest.Rows(t, s.Run)
}

// releasing makes a study use another mechanism, at epsilon per metre.
func (s *Study) releasing(m func(d *planar.Domain, epsilon float64) studytest.Drawer) {
	s.mechanism = func(d *planar.Domain, epsilon float64) (noise.Drawer, error) { return m(d, epsilon), nil }
}

// always is a mechanism that reports the result of f.
func always(f func(home Place) Place) func(*planar.Domain, float64) studytest.Drawer {
	return func(*planar.Domain, float64) studytest.Drawer {
		return func(_ *exact.Source, lat, lon float64) (float64, float64) {
			z := f(Place{lat, lon})
			return z.Lat, z.Lon
		}
	}
}

// believable reports whether so many of n independent trials are believable if each
// succeeds with a probability within slack of p: by the bound of Chernoff, counts that
// are not have a probability of at most 2e-11.
func believable(hits, n int64, p, slack float64) bool {
	share := float64(hits) / float64(n)
	p = min(max(share, p-slack, 0), p+slack, 1)
	term := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b) // +Inf where b is 0
	}
	return float64(n)*(term(share, p)+term(1-share, 1-p)) <= 11*math.Ln10
}

func TestBelievable(t *testing.T) {
	for _, c := range []struct {
		hits, n  int64
		p, slack float64
		want     bool
	}{
		{500, 1000, 0.5, 0, true}, {390, 1000, 0.5, 0, true}, {380, 1000, 0.5, 0, false}, {620, 1000, 0.5, 0, false},
		{620, 1000, 0.5, 0.05, true}, {0, 1000, 0, 0, true}, {1, 1000, 0, 0, false}, {999, 1000, 1, 0, false}, {1000, 1000, 1, 0, true},
		{0, 1000, 0.02, 0, true}, {0, 1000, 0.03, 0, false}, {7, 1000, 0.005, 0.01, true}, {1000, 1000, 0.999, 0.01, true},
	} {
		if got := believable(c.hits, c.n, c.p, c.slack); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

var errEnough = errors.New("enough")

// endingAt returns a mechanism that reports the home and ends a context with errEnough at
// its n-th draw, and the number of draws.
func endingAt(n int, end context.CancelCauseFunc) (m func(*planar.Domain, float64) studytest.Drawer, drawn *int) {
	drawn = new(int)
	return always(func(home Place) Place {
		if *drawn++; *drawn == n {
			end(errEnough)
		}
		return home
	}), drawn
}
