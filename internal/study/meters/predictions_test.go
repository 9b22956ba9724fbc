package meters

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/study/chart/charttest"
)

// predicting are settings of predictions.
func predicting(t testing.TB, etas []float64, alphas ...float64) Settings {
	t.Helper()
	s := brief(t, 1)
	s.Universe, s.Etas, s.Alphas = universe(t, 0, 10, 1), etas, alphas
	return s
}

// predictionsOf runs that part of a study.
func predictionsOf(t *testing.T, s *Study, meters ...Meter) (rows []PredictionRow) {
	t.Helper()
	if err := s.Predictions(t.Context(), meters, func(r PredictionRow) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// With noise too weak to leave a step, a meter that stays where it is passes a test with
// probability 1 - e^-(ln 5/gamma)/2 each, and one that changes by the whole universe passes
// none. The spending follows from the share that passed: ln 10/alpha for noise and 0.7863 of it
// for a test at eta 1/2. n = 20,000; the false-alarm probability is falseAlarm for each meter.
func TestPredictions(t *testing.T) {
	const n = 20_000
	still, jumping := make([]float64, n), make([]float64, n)
	for k := range n {
		still[k], jumping[k] = 3, float64(10*(k%2))
	}
	passes := 1 - math.Exp(-math.Log(5)/0.8)/2
	for _, c := range []struct {
		name   string
		values []float64
		passed float64
	}{{"still", still, passes}, {"jumping", jumping, 0}} {
		rows := predictionsOf(t, newStudy(t, predicting(t, []float64{0.5}, 0.05)), meter(c.name, c.values...))
		if len(rows) != 1 {
			t.Fatalf("%d rows", len(rows))
		}
		r := rows[0]
		if math.Abs(r.PredictionRate-c.passed) > hoeffding(1, n-1) {
			t.Errorf("%s: %v passed, not %v", c.name, r.PredictionRate, c.passed)
		}
		noise := math.Ln10 / 0.05
		test := noise * 0.5 * math.Log(5) / math.Ln10 * 2.25
		want := (noise + (n-1)*(test+(1-r.PredictionRate)*noise)) / n
		if math.Abs(r.Epsilon-want) > 1e-6 {
			t.Errorf("%s: %v spent per reading, not %v", c.name, r.Epsilon, want)
		}
		if r.Alpha != 0.05 || r.Eta != 0.5 || r.Meters != 1 || r.Readings != n || r.MeanError != 0 || r.P95Error != 0 || r.Saving != 0 || !math.IsNaN(r.SameError) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A meter that stays where it is saves at every setting, one that jumps never does, and the spending falls with alpha.
// Independent noise is as far off at the one epsilon as the other says.
func TestPredictionsSave(t *testing.T) {
	still, jumping := make([]float64, 2000), make([]float64, 2000)
	for k := range still {
		still[k], jumping[k] = 5, float64(10*(k%2))
	}
	s := newStudy(t, predicting(t, []float64{0.25, 0.5}, 2, 4))
	rows := predictionsOf(t, s, meter("still", still...), meter("jumping", jumping...), meter("again", append(still[:1:1], still[0])...))
	var settings []float64
	for _, r := range rows {
		settings = append(settings, r.Eta, r.Alpha)
		// The still meter spends less than the jumping one; the other has no error.
		if !(0 < r.Shares.Low && r.Shares.Low < 1 && r.Shares.High > r.Shares.Low) {
			t.Errorf("the meters spread over %v", r.Shares)
		}
		if r.Saving < 1 || r.Saving > 2 || r.Meters != 3 || r.Readings != 4002 {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(settings, []float64{0.25, 2, 0.25, 4, 0.5, 2, 0.5, 4}) {
		t.Errorf("%v", settings)
	}
	if rows[0].Epsilon < rows[1].Epsilon || rows[2].Epsilon < rows[3].Epsilon || rows[2].Epsilon < rows[0].Epsilon {
		t.Errorf("%+v", rows)
	}
}

// The error of independent noise is that of its law, and the epsilon for an error has it.
func TestIndependentNoise(t *testing.T) {
	u := universe(t, -1, 2, 0.5)
	readings := map[int64]int{0: 3, 2: 1, 5: 4, 6: 2}
	noise := newIndependentNoise(u, readings)
	for _, epsilon := range []float64{0.01, 0.5, 2, 9, 40} {
		want := 0.0
		for x, n := range readings {
			for y, p := range law(epsilon*0.5, int(x), 6) {
				want += float64(n) / 10 * p * 0.5 * math.Abs(float64(y)-float64(x))
			}
		}
		got := noise.meanError(epsilon)
		if math.Abs(got-want) > 1e-12*want+1e-15 {
			t.Errorf("epsilon %v: %v, not %v", epsilon, got, want)
		}
		if back := noise.epsilonFor(got); math.Abs(back-epsilon) > 1e-6*epsilon {
			t.Errorf("an error of %v is that of epsilon %v, not %v", got, back, epsilon)
		}
	}
	if e := noise.epsilonFor(100); e != 0 {
		t.Errorf("epsilon %v for an error that no noise has", e)
	}
}

// Of readings of the same time the first is reported, and each as often as the settings say.
func TestPredictionsRepeat(t *testing.T) {
	s := predicting(t, []float64{0.5}, 0.05)
	s.Repeat = 3
	twice := Meter{"twice", []Reading{{0, 4}, {0, 5}, {second, 5}}}
	if r := predictionsOf(t, newStudy(t, s), twice)[0]; r.Readings != 6 || r.MeanError != 0 {
		t.Errorf("%+v", r)
	}
}

func TestPredictionsErrors(t *testing.T) {
	for _, c := range []struct {
		eta, alpha float64
		about      string
	}{{1, 1, "eta 1 and gamma 0.8"}, {0.5, 0, "alpha must be"}} {
		if _, err := New(predicting(t, []float64{c.eta}, c.alpha)); err == nil || !strings.HasPrefix(err.Error(), c.about) {
			t.Errorf("%v", err)
		}
	}
	s := newStudy(t, predicting(t, []float64{0.5}, 1e-6))
	if err := s.Predictions(t.Context(), []Meter{meter("a", 0, 10, 0, 10)}, nil); err == nil || !strings.Contains(err.Error(), "too small") {
		t.Errorf("%v", err)
	}
	if err := s.Predictions(t.Context(), nil, nil); err == nil {
		t.Error("there is nothing to report")
	}
}

func TestPredicted(t *testing.T) {
	figure, err := Predicted(predictionsOf(t, newStudy(t, predicting(t, []float64{0.25, 0.5}, 2, 4)), meter("a", 5, 5, 5, 0, 5, 5, 1, 9)))
	if err != nil {
		t.Fatal(err)
	}
	charttest.Check(t, figure)
	charttest.Hold(t, charttest.Texts(t, figure), 1, "Spent, with predictions", "alpha (units of the reading)", "eta 0.25", "eta 0.5", "2", "4")
}
