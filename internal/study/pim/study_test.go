package pim

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
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

// reference measures a mechanism as the package comment says, in one go.
func reference(t *testing.T, d *study, name string, p pim.Policy) (steps int, size, drift, metres, squares, estimate float64, recall []float64) {
	t.Helper()
	recall = make([]float64, len(d.settings.KNN))
	for _, x := range d.subjects {
		trainer := markov.NewTrainer(d.grid, d.settings.Period)
		for _, y := range d.tracks {
			if d.settings.Personal && y.User != x.user {
				continue
			}
			for _, f := range y.Fixes {
				trainer.Add(y.User+"/"+y.Name, f.T, f.Lat, f.Lon)
			}
		}
		model, err := trainer.Model()
		if err != nil {
			t.Fatal(err)
		}
		m, err := pim.New(model, name, p)
		if err != nil {
			t.Fatal(err)
		}
		for range d.settings.Repeat {
			run := m.Start()
			for _, f := range x.fixes {
				plan, err := run.Plan(f.T)
				if err != nil {
					t.Fatal(err)
				}
				cell := d.grid.Index(f.Lat, f.Lon)
				z := plan.Draw(d.Sources[0], cell)
				steps++
				size += float64(len(plan.Set()))
				if !slices.Contains(plan.Set(), cell) {
					drift++
				}
				run.Add(plan, z)
				lat, lon := d.grid.Domain().Location(z)
				e := planar.Distance(f.Lat, f.Lon, lat, lon)
				metres += e
				squares += e * e
				for n, q := range d.settings.KNN {
					wanted := d.places.nearest(f.Lat, f.Lon, q.K, nil)
					for _, id := range d.places.nearest(lat, lon, q.Returned, nil) {
						if slices.Contains(wanted, id) {
							recall[n] += 1 / float64(q.K)
						}
					}
				}
				lat, lon = run.Mean()
				estimate += planar.Distance(f.Lat, f.Lon, lat, lon)
			}
		}
	}
	return steps, size, drift, metres, squares, estimate, recall
}

// A study with its tracks.
type study struct {
	*Study
	tracks []track.Track
}

// With the same entropy a study finds the same as running its mechanisms one after the other and counting naively.
func TestRunAgainstReference(t *testing.T) {
	for name, personal := range map[string]bool{"popular": false, "personal": true} {
		t.Run(name, func(t *testing.T) {
			settings := brief()
			settings.Personal, settings.Repeat = personal, 2
			settings.Epsilons, settings.Deltas = []float64{1, 2}, []float64{0.01, 0.1, 0.3}
			s := &study{newStudy(t, settings, corners()), append(walks(3, 300), walks(1, 20)...)}
			s.repeatable()
			got := rowsOf(t, s.Study, s.tracks)
			s.repeatable()
			if len(got) != 12 || len(s.subjects) != 6 {
				t.Fatalf("%d rows of %d trajectories", len(got), len(s.subjects))
			}
			for k, r := range got {
				under := []setting{{1, 0.01, s.sweep[0].policy}, {2, 0.01, s.sweep[1].policy}, {1, 0.1, s.sweep[2].policy}, {1, 0.3, s.sweep[3].policy}}[k/3]
				if r.Mechanism != mechanisms[k%3] || r.Epsilon != under.epsilon || r.Delta != under.delta {
					t.Errorf("row %d is of %s, epsilon %v, delta %v", k, r.Mechanism, r.Epsilon, r.Delta)
				}
				steps, size, drift, metres, squares, estimate, recall := reference(t, s, r.Mechanism, under.policy)
				n := float64(steps)
				near := func(what string, got, want float64) {
					if math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
						t.Errorf("row %d: %s %v, not %v", k, what, got, want)
					}
				}
				near("steps", float64(r.Steps), n)
				near("set size", r.SetSize, size/n)
				near("drift ratio", r.DriftRatio, drift/n)
				near("distance", r.Distance, metres/n)
				near("rmse", r.RMSE, math.Sqrt(squares/n))
				near("estimate", r.Estimate, estimate/n)
				for q, pair := range settings.KNN {
					near("recall", r.Recall[q], recall[q]/n)
					near("precision", r.Precision[q], recall[q]/n*float64(pair.K)/float64(pair.Returned))
				}
				if r.StepTime <= 0 {
					t.Errorf("row %d: %v for a step", k, r.StepTime)
				}
			}
		})
	}
}

// A known start makes smaller sets: those of the first steps, next to it, have 3x3 cells and the cells of the model's
// uniform part.
func TestKnownStart(t *testing.T) {
	settings := brief()
	settings.KnownStart, settings.Deltas = true, []float64{0.1}
	study := newStudy(t, settings, nil)
	e, err := study.Example(t.Context(), walks(2, 300))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Truth) != settings.Steps-1 {
		t.Errorf("%d steps are reported", len(e.Truth))
	}
	for _, s := range e.Series {
		if first := s.Steps[0]; first.SetSize > 9 || first.DriftRatio > 0 {
			t.Errorf("%s: first set of %v cells, drift ratio %v", s.Mechanism, first.SetSize, first.DriftRatio)
		}
	}
	for _, r := range rowsOf(t, study, walks(2, 300)) {
		if r.Steps != 4*(settings.Steps-1) {
			t.Errorf("%s: %d steps", r.Mechanism, r.Steps)
		}
	}
}

func TestRunWithoutPlaces(t *testing.T) {
	for _, r := range rowsOf(t, newStudy(t, brief(), nil), walks(2, 150)) {
		if r.Precision != nil || r.Recall != nil || r.Steps != 100 {
			t.Errorf("%+v", r)
		}
	}
}

func TestExample(t *testing.T) {
	study := newStudy(t, brief(), nil)
	tracks := walks(2, 300)
	e, err := study.Example(t.Context(), tracks)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Truth) != 50 || len(e.Series) != len(mechanisms) {
		t.Fatalf("%d steps, %d series", len(e.Truth), len(e.Series))
	}
	for k, s := range e.Series {
		if s.Mechanism != mechanisms[k] || len(s.Steps) != 50 || len(s.Reports) != 50 {
			t.Errorf("series %d of %s has %d and %d values", k, s.Mechanism, len(s.Steps), len(s.Reports))
		}
		for n, step := range s.Steps {
			if twentieths := step.DriftRatio * ExampleRuns; step.SetSize < 1 || twentieths != math.Round(twentieths) || len(step.Runs) != ExampleRuns {
				t.Errorf("%s, step %d: %v cells, drift ratio %v", s.Mechanism, n, step.SetSize, step.DriftRatio)
			}
		}
	}
}

// By hand: two runs of two steps.
func TestMeanOf(t *testing.T) {
	first, second := track.Fix{Lat: 1}, track.Fix{Lat: 2}
	s := meanOf([][]step{
		{{report: first, setSize: 1, drift: true, metres: 10}, {report: second, setSize: 3, metres: 20}},
		{{setSize: 2, metres: 30}, {setSize: 3, metres: 60}},
	})
	if len(s.Steps) != 2 || !slices.Equal(s.Reports, []track.Fix{first, second}) {
		t.Fatalf("%+v", s)
	}
	for n, want := range [][]spreadOf{
		{{1.5, stats.Quartiles{Low: 1, High: 2}}, {50, stats.Quartiles{Low: 0, High: 100}}, {0.02, stats.Quartiles{Low: 0.01, High: 0.03}}},
		{{3, stats.Quartiles{Low: 3, High: 3}}, {0, stats.Quartiles{}}, {0.04, stats.Quartiles{Low: 0.02, High: 0.06}}},
	} {
		if got := spreadsOf(s.Steps[n]); !slices.Equal(got, want) {
			t.Errorf("step %d: %+v, not %+v", n, got, want)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	rows := 0
	study := newStudy(t, brief(), nil)
	err := study.Run(ctx, walks(3, 300), func(Row) error {
		rows++
		cancel(cause)
		return nil
	})
	if err != cause || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
	if _, err := study.Example(ctx, walks(3, 300)); err != cause {
		t.Errorf("the example ends with %v", err)
	}
}

func TestRunEndsWithTheErrorOfRow(t *testing.T) {
	full := errors.New("disk full")
	rows := 0
	err := newStudy(t, brief(), nil).Run(t.Context(), walks(3, 300), func(Row) error {
		rows++
		return full
	})
	if err != full || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

func TestProgress(t *testing.T) {
	settings := brief()
	settings.Repeat, settings.Deltas = 2, []float64{0.01, 0.1}
	study := newStudy(t, settings, nil)
	last := 0
	study.Progress = func(done, total int) {
		if last++; done != last || total != 2*3*3*2 { // settings, mechanisms, trajectories, runs
			t.Errorf("%d of %d", done, total)
		}
	}
	rowsOf(t, study, walks(3, 150))
	if last != 36 {
		t.Errorf("ended at %d", last)
	}
}

func TestNoTrajectory(t *testing.T) {
	for name, tracks := range map[string][]track.Track{
		"none": nil, "no fix": walks(1, 0), "too short": walks(2, 3*(MinSteps-1)),
	} {
		err := newStudy(t, brief(), nil).Run(t.Context(), tracks, func(Row) error { return nil })
		if err != errNoSubject {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSettings(t *testing.T) {
	for want, change := range map[string]func(s *Settings){
		"epsilon and delta":        func(s *Settings) { s.Deltas = nil },
		"traces must be":           func(s *Settings) { s.Traces = 0 },
		"steps must be at least":   func(s *Settings) { s.Steps = MinSteps - 1 },
		"repeat must be":           func(s *Settings) { s.Repeat = 0 },
		"period must be":           func(s *Settings) { s.Period = 0 },
		"period must be a pos":     func(s *Settings) { s.Period = time.Nanosecond },
		"break must be at least":   func(s *Settings) { s.Break = s.Period - time.Microsecond },
		"cell_m":                   func(s *Settings) { s.CellMetres = 30 },
		"epsilon":                  func(s *Settings) { s.Epsilons = []float64{1, 0} },
		"unsupported value":        func(s *Settings) { s.Epsilons = []float64{math.Inf(1)} },
		"delta":                    func(s *Settings) { s.Deltas = []float64{0.01, 1} },
		"min_set":                  func(s *Settings) { s.MinSet = 0 },
		"not 5/4":                  func(s *Settings) { s.KNN = []KNN{{5, 4}} },
		"not 0/4":                  func(s *Settings) { s.KNN = []KNN{{0, 4}} },
		"more than the 100 places": func(s *Settings) { s.KNN = []KNN{{1, 101}} },
	} {
		s := brief()
		change(&s)
		if _, err := New(town(t), s, corners()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
