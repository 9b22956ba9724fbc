package census

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The radii of figure 5.13 are those of discs of 10 % and 100 % of the land of San
// Francisco, 46.87 square miles. The levels of part (b) are printed as logarithms too.
func TestPublished(t *testing.T) {
	if err := Check(Published); err != nil {
		t.Error(err)
	}
	for _, s := range Published {
		land := math.Pi * s.Radius * s.Radius / 46.87
		if math.Abs(land-0.1) > 0.001 && math.Abs(land-1) > 0.01 {
			t.Errorf("%+v: %v of the land", s, land)
		}
	}
	for k, factor := range []float64{9, 74, 5432} {
		if got := Published[3+k].Level; math.Abs(got/math.Log(factor)-1) > 0.025 {
			t.Errorf("%v, not ln %v", got, factor)
		}
	}
}

func TestEpsilon(t *testing.T) {
	for _, c := range []struct {
		Setting
		metres float64 // of the radius
	}{{Setting{math.Ln2, 1.22}, 1963.39968}, {Setting{8.6, 3.86}, 6212.06784}} {
		if got := c.Epsilon() * c.metres; math.Abs(got/c.Level-1) > 1e-12 {
			t.Errorf("%+v: a level of %v", c, got)
		}
	}
}

func TestEach(t *testing.T) {
	got := Each([]float64{2, 4}, []float64{3, 5})
	if !slices.Equal(got, []Setting{{2, 3}, {4, 3}, {2, 5}, {4, 5}}) {
		t.Errorf("%v", got)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		settings []Setting
		text     string
	}{
		{nil, "level and radius must be given"},
		{[]Setting{{2, 1}, {0, 1}}, "level must be above 0, not 0"},
		{[]Setting{{-1, 1}}, "level must be above 0, not -1"},
		{[]Setting{{math.NaN(), 1}}, "level must be above 0, not NaN"},
		{[]Setting{{math.Inf(1), 1}}, "level must be above 0, not +Inf"},
		{[]Setting{{2, 0}}, "radius must be above 0, not 0"},
		{[]Setting{{2, -1}}, "radius must be above 0, not -1"},
		{[]Setting{{2, math.Inf(1)}}, "radius must be above 0, not +Inf"},
		{[]Setting{{2, 1e7}}, "which must be between 1e-9 and 1000"},
		{[]Setting{{2, 1e-320}}, "which must be between 1e-9 and 1000"},
		{[]Setting{{1e-300, 1}}, "which must be between 1e-9 and 1000"},
	} {
		if err := Check(c.settings); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v: %v, not %s", c.settings, err, c.text)
		}
	}
}
