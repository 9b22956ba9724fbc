package optimal

import (
	"math"
	"testing"

	"github.com/geosql/geosql/internal/study/studytest"
)

var ln2 = math.Log(2)

// square returns a grid of width x width places at step 1; weight is that of the
// k-th, counted from 0.
func square(width int, weight func(k int) float64) (places []Place) {
	for k := range width * width {
		places = append(places, Place{float64(k % width), float64(k / width), weight(k)})
	}
	return places
}

func uniform(int) float64 { return 1 }

func ramp(k int) float64 { return float64(k + 1) }

func newStudy(t *testing.T, places []Place, epsilon, gap float64, dilations ...float64) *Study {
	t.Helper()
	s, err := New(Settings{Epsilon: epsilon, Dilations: dilations, Gap: gap}, places)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rowsOf(t *testing.T, s *Study) []Row {
	t.Helper()
	return studytest.Rows(t, s.Run)
}

// near demands a number with a relative error.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*want) {
		t.Errorf("%s is %.9f, not %.9f", what, got, want)
	}
}
