package lbs

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/study/chart/charttest"
)

// R9, theorem 5.3 solved by another program, for epsilons of ln 2 and ln 4 within 200 m.
func TestPrecision(t *testing.T) {
	rows, err := Precision(published())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 9 {
		t.Fatalf("%d rows", len(rows))
	}
	least := []float64{4e-8, 0.4000000053, 40.005334613699} // per km
	for k, want := range []float64{
		1000*math.Ln2/200 - 4.00e-8, 3.064508213969, math.NaN(),
		6.931471765, 6.528851715710, math.NaN(),
	} {
		r := rows[k]
		if r.Digits != []int{16, 9, 7}[k%3] || r.Level != published().Levels[k/3] || r.Epsilon != r.Level/200 {
			t.Errorf("row %d is %+v", k, r)
		}
		if !same(1000*r.NoiseEpsilon, want, 5e-10) || !same(1000*r.LeastEpsilon, least[k%3], 1e-10) {
			t.Errorf("%+v, not %v per km", r, want)
		}
	}
}

// The epsilon of the noise solves the theorem's inequality with equality, and there is one
// where the least epsilon is exceeded.
func TestPrecisionSolvesTheTheorem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Beyond 5 per metre little more noise is possible, and rounding decides its promise.
		epsilon := math.Exp(rapid.Float64Range(math.Log(1e-9), math.Log(5)).Draw(t, "ln epsilon"))
		digits := rapid.SampledFrom(precisions).Draw(t, "digits")
		q := gridUnit / (precisionRange * math.Pow(10, -float64(digits)))
		r := precisionRow(0, epsilon, digits)
		if math.IsNaN(r.NoiseEpsilon) != (epsilon <= r.LeastEpsilon) {
			t.Fatalf("%+v", r)
		}
		if math.IsNaN(r.NoiseEpsilon) {
			return
		}
		x := math.Exp(r.NoiseEpsilon * gridUnit)
		promised := r.NoiseEpsilon + (math.Log1p(2*x/q)-math.Log1p(-2*x/q))/gridUnit
		if r.NoiseEpsilon < 0 || !(math.Abs(promised-epsilon) <= 1e-14+1e-12*epsilon) {
			t.Fatalf("%+v promises %v", r, promised)
		}
	})
}

func TestPrecisionOfRefusedSettings(t *testing.T) {
	s := published()
	s.Levels = nil
	if _, err := Precision(s); err == nil || err.Error() != "level must be given" {
		t.Error(err)
	}
}

// There is a line for each precision, and none for one at which there is no noise.
func TestPrecisionFigure(t *testing.T) {
	for level, lines := range map[float64]int{math.Log(4): 0, 10: 1} {
		s := published()
		s.Levels = append(s.Levels, level)
		rows, err := Precision(s)
		if err != nil {
			t.Fatal(err)
		}
		figure, err := PrecisionFigure(rows)
		if err != nil {
			t.Fatal(err)
		}
		charttest.Check(t, figure)
		texts := charttest.Texts(t, figure)
		charttest.Hold(t, texts, 1, "epsilon (1/km)", "epsilon of the noise (1/km)", "16 digits", "9 digits")
		charttest.Hold(t, texts, lines, "7 digits")
	}
}
