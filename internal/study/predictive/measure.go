package predictive

import (
	"context"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// measure runs a mechanism on all samples of all subjects.
func (s *Study) measure(ctx context.Context, m *trace.Mechanism, jump float64) (Summary, error) {
	tallies := make([]tally, len(s.subjects))
	if err := s.Each(ctx, len(tallies), func(worker, k int) (err error) {
		tallies[k], err = s.measureSubject(m, s.Sources[worker], s.subjects[k], jump)
		return err
	}); err != nil {
		return Summary{}, err
	}
	return summaryOf(tallies, m.Policy().Epsilon), nil
}

// measureSubject runs a mechanism on all samples of a subject.
func (s *Study) measureSubject(m *trace.Mechanism, src *exact.Source, x subject, jump float64) (t tally, err error) {
	for repetition := range s.settings.Repeat {
		points := sample(x.slow, jump, randomOf(x.User, x.Name, repetition))
		if len(points) < MinPoints {
			continue
		}
		course := course{projection: s.projection}
		history, err := s.run(m, src, points, func(p trace.Plan, x track.Fix, q trace.Point) {
			lat, lon := s.plane.Location(q.Z)
			t.add(p, q, planar.Distance(x.Lat, x.Lon, lat, lon))
			course.add(x, q, lat, lon)
		})
		if err != nil {
			return t, err
		}
		t.endRun(history)
		if m.Policy().Mechanism == trace.Independent {
			t.smoothed(course.errors())
		}
	}
	return t, nil
}

// run reports query points until the mechanism stops. It calls each for every
// reported point.
func (s *Study) run(m *trace.Mechanism, src *exact.Source, points []track.Fix, each func(trace.Plan, track.Fix, trace.Point)) (budget.History, error) {
	var run trace.Run
	for _, x := range points {
		plan, err := m.Plan(&run, x.T)
		if err != nil {
			return run.History(), err
		}
		if plan.Action == trace.Stop {
			break
		}
		q := m.Draw(src, plan, s.plane.Cell(x.Lat, x.Lon))
		if err := m.Add(&run, q); err != nil {
			return run.History(), err
		}
		each(plan, x, q)
	}
	return run.History(), nil
}
