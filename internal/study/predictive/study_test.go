package predictive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// rowsOf runs a study to its end.
func rowsOf(t *testing.T, s *Study, tracks []track.Track) (rows []Row) {
	t.Helper()
	if err := s.Run(t.Context(), tracks, func(r Row) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// With the same entropy a study finds the same as running its mechanisms one after the other and counting naively.
func TestRunAgainstReference(t *testing.T) {
	settings := published()
	settings.Jumps = []float64{0, 0.3}
	settings.Predictors = []string{trace.Linear, trace.Mixture}
	settings.Repeat = 3
	tracks := append(walks(5, 900), walks(1, MinPoints-1)...)
	study := newStudy(t, settings)
	study.repeatable()
	got := rowsOf(t, study, tracks)

	var want []Row
	src := repeatableSource()
	naive := func(m *trace.Mechanism, jump float64) Summary {
		var runs [][]measured
		for _, subject := range tracks {
			for repetition := range settings.Repeat {
				points := sample(slow(subject.Fixes), jump, randomOf(subject.User, subject.Name, repetition))
				if len(points) < MinPoints {
					continue
				}
				var run trace.Run
				var ms []measured
				for _, x := range points {
					plan, err := m.Plan(&run, x.T)
					if err != nil {
						t.Fatal(err)
					}
					if plan.Action == trace.Stop {
						break
					}
					q := m.Draw(src, plan, study.plane.Cell(x.Lat, x.Lon))
					if err := m.Add(&run, q); err != nil {
						t.Fatal(err)
					}
					lat, lon := study.plane.Location(q.Z)
					ms = append(ms, measured{plan, q, planar.Distance(x.Lat, x.Lon, lat, lon)})
				}
				runs = append(runs, ms)
			}
		}
		return reference(runs, float64(m.Policy().Epsilon))
	}
	for _, v := range study.variants {
		independent := map[float64]Summary{}
		for _, m := range v.predictive {
			for _, jump := range settings.Jumps {
				if _, ok := independent[jump]; !ok {
					independent[jump] = naive(v.independent, jump)
				}
				p := m.Policy()
				want = append(want, Row{v.manager, p.SkipSpeed, p.Predictor, jump, naive(m, jump), independent[jump]})
			}
		}
	}
	order := ""
	for k := range got {
		order += fmt.Sprintf("%s %.1f %s %v\n", got[k].Manager, got[k].SkipSpeed, got[k].Predictor, got[k].Jump)
		if !alike(got[k], want[k]) {
			t.Errorf("row %d:\n%+v\n%+v", k, got[k], want[k])
		}
	}
	if len(got) != 16 || !strings.HasPrefix(order, "fixed-rate 0.0 linear 0\nfixed-rate 0.0 linear 0.3\n"+
		"fixed-rate 0.0 mixture 0\nfixed-rate 0.0 mixture 0.3\nfixed-rate 8.3 linear 0\n") {
		t.Errorf("rows are in the order\n%s", order)
	}
}

// alike compares rows but for the last digits of their numbers, their spreads, and the errors of estimates (TestEstimates).
func alike(a, b Row) bool {
	same := true
	for _, pair := range [][2]Summary{{a.Predictive, b.Predictive}, {a.Independent, b.Independent}} {
		x, y := reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1])
		for k := range x.NumField() {
			if slices.Contains([]string{"Traces", "FilterError", "SmoothError"}, x.Type().Field(k).Name) {
				continue
			}
			if x.Field(k).CanFloat() {
				p, q := x.Field(k).Float(), y.Field(k).Float()
				same = same && (math.Abs(p-q) <= 1e-9*max(p, q) || math.IsNaN(p) && math.IsNaN(q))
			} else {
				same = same && x.Field(k).Int() == y.Field(k).Int()
			}
		}
	}
	a.Predictive, a.Independent, b.Predictive, b.Independent = Summary{}, Summary{}, Summary{}, Summary{}
	return same && reflect.DeepEqual(a, b)
}

// Estimates from the reports up to a point are better than reports of walkers, and those from all reports better still. Runs
// with predictions have none.
func TestEstimates(t *testing.T) {
	settings := published()
	settings.Managers, settings.SkipSpeeds, settings.Predictors, settings.Jumps = []string{trace.FixedRate}, []float64{0}, []string{trace.Parrot}, []float64{0}
	study := newStudy(t, settings)
	study.repeatable()
	for _, row := range rowsOf(t, study, walks(5, 3000)) {
		im := row.Independent
		t.Logf("reports %.0f m, filtered %.0f m, smoothed %.0f m", im.AverageError, im.FilterError, im.SmoothError)
		if !(im.SmoothError < 0.8*im.FilterError && im.FilterError < 0.6*im.AverageError) {
			t.Errorf("reports %v m, filtered %v m, smoothed %v m", im.AverageError, im.FilterError, im.SmoothError)
		}
		if p := row.Predictive; !math.IsNaN(p.FilterError) || !math.IsNaN(p.SmoothError) {
			t.Errorf("predictive: filtered %v m, smoothed %v m", p.FilterError, p.SmoothError)
		}
	}
}

// The figures known in closed form, at the published settings (oracles R35 and R36,
// computed from them). The mean of n planar Laplace radii is off by a share s with
// probability at most 2*exp(-2n*(s - ln(1+s))), below 1e-11 for n = 30,600 and s =
// 0.03. At 1.06 times the radius that holds 0.9 of the law it holds 0.917, at 0.94
// times 0.880; that the measured radius is beyond has probability at most exp(-n*KL)
// by Chernoff, with KL > 0.0017: below 1e-15. The lattice and its frame add less
// than 0.001.
func TestIndependentOracles(t *testing.T) {
	settings := published()
	settings.SkipSpeeds, settings.Jumps, settings.Repeat = []float64{0}, []float64{0}, 60
	rows := rowsOf(t, newStudy(t, settings), walks(30, 300))
	for k, c := range []struct {
		points             int
		rate, average, p90 float64
	}{
		{1800 * 30, 1.0 / 30, 2605.77, 5067.85},                     // R36
		{1800 * 17, 0.056309, 2 * 3000 / 3.889720169867429, 3000.0}, // R35: 17.759 points
	} {
		im := rows[k].Independent
		if im.Runs != 1800 || im.Points != c.points {
			t.Errorf("%s: %d runs, %d points", rows[k].Manager, im.Runs, im.Points)
		}
		if math.Abs(im.Rate-c.rate) > 1e-6 {
			t.Errorf("%s: rate %v", rows[k].Manager, im.Rate)
		}
		if math.Abs(im.AverageError/c.average-1) > 0.031 || math.Abs(im.P90Error/c.p90-1) > 0.061 {
			t.Errorf("%s: errors %v and %v, expected %v and %v", rows[k].Manager, im.AverageError, im.P90Error, c.average, c.p90)
		}
		if im.PredictionRate == im.PredictionRate || im.Skipped != 0 || im.TestShare != 0 {
			t.Errorf("%s: %+v", rows[k].Manager, im)
		}
	}
}

// No mechanism spends more than its epsilon, and the samples are the same for all.
func TestRowsAreComparable(t *testing.T) {
	settings := published()
	settings.Jumps = []float64{0, 1}
	settings.Predictors = []string{trace.Parrot, trace.Linear, trace.Mixture}
	runs := map[float64]int{}
	for _, r := range rowsOf(t, newStudy(t, settings), walks(4, 4000)) {
		if r.Predictive.MaxSpentShare > 1 || r.Independent.MaxSpentShare > 1 {
			t.Errorf("%+v spends more than there is", r)
		}
		if runs[r.Jump] == 0 {
			runs[r.Jump] = r.Predictive.Runs
		}
		if r.Predictive.Runs != runs[r.Jump] || r.Independent.Runs != runs[r.Jump] {
			t.Errorf("%+v has %d and %d runs, others %d", r, r.Predictive.Runs, r.Independent.Runs, runs[r.Jump])
		}
		if r.SkipSpeed == 0 && r.Predictive.Skipped != 0 {
			t.Errorf("%+v skips", r)
		}
	}
	if runs[0] != 4 || runs[1] != 4 {
		t.Errorf("runs by jump: %v", runs)
	}
}

// A jump that leaves no track long enough has a row without measurements.
func TestRowOfNothing(t *testing.T) {
	settings := published()
	settings.Jumps = []float64{1}
	for _, r := range rowsOf(t, newStudy(t, settings), walks(1, 1000)) {
		p := r.Predictive
		if p.Runs != 0 || p.Points != 0 || !math.IsNaN(p.AverageError) || !math.IsNaN(p.P90Error) || !math.IsNaN(p.Rate) {
			t.Errorf("%+v", p)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	settings := published()
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	rows := 0
	err := newStudy(t, settings).Run(ctx, walks(3, 900), func(Row) error {
		rows++
		cancel(cause)
		return nil
	})
	if err != cause || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

func TestRunEndsWithTheErrorOfRow(t *testing.T) {
	full := errors.New("disk full")
	rows := 0
	err := newStudy(t, published()).Run(t.Context(), walks(3, 900), func(Row) error {
		rows++
		return full
	})
	if err != full || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

func TestProgress(t *testing.T) {
	study := newStudy(t, published())
	last := 0
	study.Progress = func(done, total int) {
		if last++; done != last || total != 2*3*3 { // managers, mechanisms, tracks
			t.Errorf("%d of %d", done, total)
		}
	}
	rowsOf(t, study, walks(3, 900))
	if last != 18 {
		t.Errorf("ended at %d", last)
	}
}

func TestNoTracks(t *testing.T) {
	for name, tracks := range map[string][]track.Track{
		"none": nil, "one fix": walks(1, 1), "too short": walks(2, MinPoints-1),
	} {
		err := newStudy(t, published()).Run(t.Context(), tracks, func(Row) error { return nil })
		if err != errNoSubject {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	for want, change := range map[string]func(s *Settings){
		"repeat must be":                 func(s *Settings) { s.Repeat = 0 },
		"jump must be between 0 and 1":   func(s *Settings) { s.Jumps = []float64{0.5, 1.1} },
		"jump must be between 0 and 1, ": func(s *Settings) { s.Jumps = []float64{math.NaN()} },
		"manager must be one of":         func(s *Settings) { s.Managers = []string{"fixed"} },
		"predictor must be one of":       func(s *Settings) { s.Predictors = []string{"owl"} },
		"steps must be":                  func(s *Settings) { s.Steps = 0 },
		"alpha must be above 0":          func(s *Settings) { s.Alpha = -1 },
		"alpha 1 costs more":             func(s *Settings) { s.Alpha = 1 },
		"epsilon must be":                func(s *Settings) { s.Epsilon = 0 },
		"skip_speed must not be below 0": func(s *Settings) { s.SkipSpeeds = []float64{-1} },
		"unsupported value":              func(s *Settings) { s.Epsilon = math.Inf(1) },
	} {
		s := published()
		change(&s)
		if _, err := New(city(t), s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
