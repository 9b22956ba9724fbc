package pim

import (
	"time"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/study/track"
)

// A step is a report and what can be said about it.
type step struct {
	report  track.Fix
	setSize int
	drift   bool // the true cell was not in the set
	metres  float64
	took    time.Duration
}

// How a first cell is made known: by reports of its very centre, with the largest
// epsilon there is and from the set of all cells, until hardly a doubt is left.
const (
	openEpsilon = 100
	openReports = 30
)

// stateAt returns the state of runs for which it is public that they began in the
// cell of a fix.
func (s *Study) stateAt(model *markov.Model, x track.Fix) ([]byte, error) {
	policy, err := s.settings.policy(openEpsilon, 0)
	if err != nil {
		return nil, err
	}
	m, err := pim.New(model, pim.PIM, policy)
	if err != nil {
		return nil, err
	}
	run := m.Start()
	for k := range int64(openReports) { // within a moment: belief does not advance
		plan, err := run.Plan(x.T - openReports + 1 + k)
		if err != nil {
			return nil, err
		}
		run.Add(plan, s.grid.Centre(s.grid.Index(x.Lat, x.Lon)))
	}
	return run.AppendBinary(nil), nil
}

// play reports a trajectory, unless stop says otherwise, and calls each for every
// step.
func (s *Study) play(m *pim.Mechanism, src *exact.Source, x *trajectory, stop func() bool, each func(k int, made step)) error {
	run, err := m.Resume(x.start)
	if err != nil {
		return err
	}
	domain := s.grid.Domain()
	for k, truth := range x.fixes {
		if stop() {
			return nil
		}
		begin := time.Now()
		plan, err := run.Plan(truth.T)
		if err != nil {
			return err
		}
		z := plan.Draw(src, x.cells[k])
		made := step{setSize: len(plan.Set()), drift: !plan.Contains(x.cells[k])}
		run.Add(plan, z)
		made.took = time.Since(begin)
		made.report.T = truth.T
		made.report.Lat, made.report.Lon = domain.Location(z)
		made.metres = track.Distance(truth.Lat, truth.Lon, made.report.Lat, made.report.Lon)
		each(k, made)
	}
	return nil
}
