package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// predictivePlan returns the plan for a policy of mechanism predictive or independent.
func (s *session) predictivePlan(d declaredTrace) (*tracePlan, error) {
	policy, err := trace.ParsePolicy(d.mechanism, []byte(d.settings))
	if err != nil {
		return nil, err
	}
	domain, err := s.resolveDomain(policy.Domain)
	if err != nil {
		return nil, err
	}
	return tracePlans.get(s, tracePlanKey{d.mechanism, d.settings, domain}, func() (*tracePlan, error) {
		plane := trace.NewPlane(domain)
		m, err := trace.New(plane, policy)
		if err != nil {
			return nil, err
		}
		return &tracePlan{
			summary: fmt.Sprintf("%s, %s, %s/m for the whole trace", policy.Mechanism, policy.Manager, policy.Epsilon),
			unit:    budget.Metre,
			epsilon: policy.Epsilon,
			varies:  true,
			start: func(state []byte, lost budget.Amount) (traceRun, error) {
				return startPredictive(m, plane, domain, state, lost)
			},
		}, nil
	})
}

// predictiveRun is a run of the predictive or independent mechanism.
type predictiveRun struct {
	mechanism *trace.Mechanism
	plane     trace.Plane
	domain    *planar.Domain
	run       trace.Run
	next      trace.Plan
}

// startPredictive restores a run, or starts a new one without a state.
func startPredictive(m *trace.Mechanism, plane trace.Plane, domain *planar.Domain, state []byte, lost budget.Amount) (*predictiveRun, error) {
	r := &predictiveRun{mechanism: m, plane: plane, domain: domain}
	if len(state) > 0 {
		if err := r.run.UnmarshalBinary(state); err != nil {
			return nil, err
		}
	}
	r.run.CountLost(lost)
	return r, nil
}

func (r *predictiveRun) plan(at int64) (cost budget.Amount, goesOn bool, err error) {
	r.next, err = r.mechanism.Plan(&r.run, at)
	return r.next.Cost(), r.next.Action != trace.Stop, err
}

func (r *predictiveRun) remaining() budget.Amount {
	return r.mechanism.Policy().Epsilon - r.run.History().Spent
}

func (r *predictiveRun) draw(src *exact.Source, lat, lon float64) (ledger.Point, error) {
	return r.add(r.mechanism.Draw(src, r.next, r.plane.Cell(lat, lon)))
}

// guess assumes that every test fails, which costs the most.
func (r *predictiveRun) guess() (ledger.Point, error) {
	cost := r.next.Cost()
	z := r.next.Prediction
	if r.next.Action == trace.Noise {
		z = r.plane.Cell(r.domain.Centre())
	}
	return r.add(trace.Point{T: r.next.T, Z: z, Tested: r.next.Action == trace.Test, Hard: cost > 0, Spent: cost})
}

func (r *predictiveRun) add(q trace.Point) (ledger.Point, error) {
	if err := r.mechanism.Add(&r.run, q); err != nil {
		return ledger.Point{}, err
	}
	lat, lon := r.plane.Location(q.Z)
	return ledger.Point{Lat: lat, Lon: lon, Hard: q.Hard, Tested: q.Tested, Spent: q.Spent}, nil
}

func (r *predictiveRun) state() []byte {
	state, _ := r.run.AppendBinary(nil) // never fails
	return state
}
