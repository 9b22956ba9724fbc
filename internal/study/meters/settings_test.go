package meters

import (
	"strings"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"epsilon must be given":             func(s *Settings) { s.Epsilons = nil },
		"epsilon must be above 0":           func(s *Settings) { s.Epsilons = []float64{1, 0} },
		"epsilon is too small":              func(s *Settings) { s.Epsilons = []float64{1e-300} },
		"repeat must be at least 1, not 0":  func(s *Settings) { s.Repeat = 0 },
		"windows must be at least 1, not 0": func(s *Settings) { s.Windows = 0 },
		"at least a microsecond, not 0s":    func(s *Settings) { s.Period = 0 },
		"whole periods of 10s, not 25s":     func(s *Settings) { s.Window = 25 * time.Second },
		"whole periods of 10s, not 10s":     func(s *Settings) { s.Window = s.Period },
		"2 to 10000 whole periods":          func(s *Settings) { s.Window = 10_001 * s.Period },
	} {
		s := brief(t, 1)
		change(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, not %q", err, want)
		}
	}
	if _, err := New(brief(t, 1, 0.5)); err != nil {
		t.Error(err)
	}
}
