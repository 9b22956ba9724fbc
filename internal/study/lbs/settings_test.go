package lbs

import (
	"math"
	"strings"
	"testing"
)

func TestSettingsCheck(t *testing.T) {
	good := published()
	if err := good.Check(); err != nil {
		t.Errorf("%v", err)
	}
	for _, c := range []struct {
		spoil func(*Settings)
		text  string
	}{
		{func(s *Settings) { s.PrivacyRadius = 0 }, "radius must be above 0, not 0"},
		{func(s *Settings) { s.InterestRadius = math.NaN() }, "interest must be above 0, not NaN"},
		{func(s *Settings) { s.RowKB = math.Inf(1) }, "row-kb must be above 0, not +Inf"},
		{func(s *Settings) { s.Reports = 0 }, "reports must be at least 1, not 0"},
		{func(s *Settings) { s.Levels = nil }, "level must be given"},
		{func(s *Settings) { s.Levels = []float64{2, 0} }, "level must be above 0, not 0"},
		{func(s *Settings) { s.Levels = []float64{-1} }, "level must be above 0, not -1"},
		{func(s *Settings) { s.Levels = []float64{math.NaN()} }, "level must be above 0, not NaN"},
		{func(s *Settings) { s.Levels = []float64{math.Inf(1)} }, "level must be above 0, not +Inf"},
		{func(s *Settings) { s.Levels = []float64{1e-7} }, "level 1e-07 within 200 m is an epsilon of 5e-10 per metre, which must be between 1e-9 and 1000"},
		{func(s *Settings) { s.Levels = []float64{math.MaxFloat64} }, "must be between 1e-9 and 1000"},
		{func(s *Settings) { s.PrivacyRadius = math.MaxFloat64 }, "must be between 1e-9 and 1000"},
		{func(s *Settings) { s.PrivacyRadius = 1e-320 }, "must be between 1e-9 and 1000"},
		{func(s *Settings) { s.Confidences = nil }, "confidence must be given"},
		{func(s *Settings) { s.Confidences = []float64{1} }, "confidence must be at least 0 and less than 1, not 1"},
		{func(s *Settings) { s.Confidences = []float64{-0.1} }, "not -0.1"},
	} {
		s := published()
		c.spoil(&s)
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, not %s", err, c.text)
		}
	}
}
