package accuracy

import (
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/scalar"
)

func TestSettings(t *testing.T) {
	wide, err := scalar.NewUniverse("wide", 0, 20_000, 0.001, "kWh")
	if err != nil {
		t.Fatal(err)
	}
	for text, spoil := range map[string]func(*Settings){
		"metric must be d1 or dh, not dinf":                       func(s *Settings) { s.Metric = "dinf" },
		`metric "d1/median" is not one of`:                        func(s *Settings) { s.Metric = "d1/median" },
		"epsilon must be given":                                   func(s *Settings) { s.Epsilons = nil },
		"epsilon must be above 0":                                 func(s *Settings) { s.Epsilons = []float64{0} },
		"draws must be at least 1, not 0":                         func(s *Settings) { s.Draws = 0 },
		"universe must have at most 10000000 steps, not 20000000": func(s *Settings) { s.Universe = wide },
	} {
		s := settings(t, budget.DH, 1, 1)
		spoil(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, not %s", err, text)
		}
	}
	if err := newStudy(t, settings(t, budget.D1, 1, 1)).Run(t.Context(), nil, nil); err == nil {
		t.Error("no readings are no error")
	}
}
