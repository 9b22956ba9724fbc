package trace

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// pimPlan returns the plan for a policy of mechanism pim.
func pimPlan(s *frame.Session, d declaredTrace) (*tracePlan, error) {
	policy, err := pim.ParsePolicy([]byte(d.settings))
	if err != nil {
		return nil, err
	}
	model, err := declared.Model(s, policy.Model)
	if err != nil {
		return nil, err
	}
	return tracePlans.Get(s, tracePlanKey{d.mechanism, d.settings, model}, func() (*tracePlan, error) {
		m, err := pim.New(model, pim.PIM, policy)
		if err != nil {
			return nil, err
		}
		return &tracePlan{
			summary: fmt.Sprintf("%s, model %s, %s/%s a step, delta %s, sets of at least %d cells",
				d.mechanism, frame.Quoted(policy.Model), policy.Epsilon, budget.Set, policy.Delta, policy.MinSet),
			TraceTerms: frame.TraceTerms{
				Unit:    budget.Set,
				Epsilon: policy.Epsilon,
				Start: func(state []byte, _ budget.Amount) (frame.Run, error) {
					// The amount spent on points that a crash has lost does not matter here, since
					// each step has an epsilon of its own. The belief lacks these points, so later
					// sets differ, but the protection of a step does not depend on its set.
					run, err := m.Resume(state)
					return &pimRun{mechanism: m, run: run}, err
				}},
		}, nil
	})
}

// pimRun is a run of the planar isotropic mechanism.
type pimRun struct {
	mechanism *pim.Mechanism
	run       *pim.Run
	next      *pim.Plan
	guessed   bool
	at        int64 // time of the last step
}

var errNotLater = errors.New("not later than the last point")

// plan of a guessed run, which is that of a dry run, only checks the order of times: its
// belief does not change, and no set is needed.
func (r *pimRun) plan(at int64) (cost budget.Amount, goesOn bool, err error) {
	if !r.guessed {
		r.next, err = r.run.Plan(at)
	} else if at <= r.at {
		err = errNotLater
	}
	r.at = at
	return r.mechanism.Policy().Epsilon, true, err
}

// Remaining returns no bound of its own: steps go on as long as the account can pay.
func (r *pimRun) Remaining() budget.Amount { return budget.Max }

func (r *pimRun) draw(src *exact.Source, lat, lon float64) (ledger.Point, error) {
	grid := r.mechanism.Model().Grid()
	z := r.next.Draw(src, grid.Index(lat, lon))
	set := len(r.next.Set())
	r.run.Add(r.next, z)
	lat, lon = grid.Domain().Location(z)
	return ledger.Point{Lat: lat, Lon: lon, Hard: true, Spent: r.mechanism.Policy().Epsilon, SetSize: set}, nil
}

func (r *pimRun) guess() (ledger.Point, error) {
	r.guessed = true
	lat, lon := r.mechanism.Model().Grid().Domain().Centre()
	return ledger.Point{Lat: lat, Lon: lon, Hard: true, Spent: r.mechanism.Policy().Epsilon}, nil
}

func (r *pimRun) State() []byte { return r.run.AppendBinary(nil) }
