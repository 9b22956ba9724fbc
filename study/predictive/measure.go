package predictive

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/trace"
)

// measure runs a mechanism on all samples of all subjects.
func (s *Study) measure(ctx context.Context, m *trace.Mechanism, jump float64) (Summary, error) {
	tallies := make([]tally, len(s.subjects))
	finished := make(chan struct{})
	var next atomic.Int64
	var workers sync.WaitGroup
	for _, src := range s.sources {
		workers.Go(func() {
			for ctx.Err() == nil {
				k := int(next.Add(1)) - 1
				if k >= len(tallies) {
					return
				}
				tallies[k] = s.measureSubject(m, src, s.subjects[k], jump)
				finished <- struct{}{}
			}
		})
	}
	go func() {
		workers.Wait()
		close(finished)
	}()
	for range finished {
		s.advance()
	}
	if ctx.Err() != nil {
		return Summary{}, context.Cause(ctx)
	}
	var all tally
	for k := range tallies { // in the order of the tracks, not of the workers
		all.merge(&tallies[k])
	}
	return all.summary(m.Policy().Epsilon), all.err
}

// advance counts a subject as measured.
func (s *Study) advance() {
	s.done++
	if s.Progress != nil {
		s.Progress(s.done, s.total)
	}
}

// measureSubject runs a mechanism on all samples of a subject.
func (s *Study) measureSubject(m *trace.Mechanism, src *exact.Source, x subject, jump float64) (t tally) {
	for repetition := range s.settings.Repeat {
		points := sample(x.slow, jump, randomOf(x.User, x.Name, repetition))
		if len(points) < MinPoints {
			continue
		}
		history, err := s.run(m, src, points, func(p trace.Plan, x Fix, q trace.Point) {
			t.add(p, q, s.errorOf(x, q))
		})
		if err != nil {
			return tally{err: err}
		}
		t.endRun(history)
	}
	return t
}

// run reports query points until the mechanism stops. It calls each for every
// reported point.
func (s *Study) run(m *trace.Mechanism, src *exact.Source, points []Fix, each func(trace.Plan, Fix, trace.Point)) (budget.History, error) {
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

// errorOf returns how far a report is from the truth, in metres.
func (s *Study) errorOf(x Fix, q trace.Point) float64 {
	lat, lon := s.plane.Location(q.Z)
	return distance(x.Lat, x.Lon, lat, lon)
}
