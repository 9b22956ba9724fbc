package pim

import (
	"context"
	"time"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
)

// A step is a report and its measures.
type step struct {
	report  track.Fix
	setSize int
	drift   bool // the true cell was not in the set
	metres  float64

	// estimateMetres is how far the mean of the belief is from the truth, after the report.
	estimateMetres float64

	took time.Duration
}

// run reports a trajectory until its end or that of ctx, and calls each for every step.
func (s *Study) run(ctx context.Context, m *pim.Mechanism, src *exact.Source, x *trajectory, each func(k int, made step)) error {
	run := m.Start()
	if x.start != nil {
		run = m.StartIn(s.grid.Index(x.start.Lat, x.start.Lon), x.start.T)
	}
	domain := s.grid.Domain()
	for k, truth := range x.fixes {
		if ctx.Err() != nil {
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
		made.metres = planar.Distance(truth.Lat, truth.Lon, made.report.Lat, made.report.Lon)
		lat, lon := run.Mean()
		made.estimateMetres = planar.Distance(truth.Lat, truth.Lon, lat, lon)
		each(k, made)
	}
	return nil
}
