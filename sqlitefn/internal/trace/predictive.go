package trace

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// predictivePlan returns the plan for a policy of mechanism predictive or independent: for
// readings if it has a universe, and for locations otherwise.
func predictivePlan(s *frame.Session, d declaredTrace) (*tracePlan, error) {
	policy, err := trace.ParsePolicy(d.mechanism, []byte(d.settings))
	if err != nil {
		return nil, err
	}
	if policy.Universe != "" {
		return readingsPlan(s, d, policy)
	}
	domain, err := declared.ResolveDomain(s, policy.Domain)
	if err != nil {
		return nil, err
	}
	return tracePlans.Get(s, tracePlanKey{d.mechanism, d.settings, domain}, func() (*tracePlan, error) {
		space := plane{trace.NewPlane(domain), domain}
		return newPredictivePlan(space, policy, func(r predictiveRun) traceRun {
			return &predictiveLocations{r, space}
		})
	})
}

// readingsPlan returns the plan for a policy with a universe.
func readingsPlan(s *frame.Session, d declaredTrace, policy trace.Policy) (*tracePlan, error) {
	universe, err := declared.ResolveUniverse(s, policy.Universe)
	if err != nil {
		return nil, err
	}
	return tracePlans.Get(s, tracePlanKey{d.mechanism, d.settings, universe}, func() (*tracePlan, error) {
		space := line{trace.NewLine(universe)}
		plan, err := newPredictivePlan(space, policy, func(r predictiveRun) traceRun {
			return &predictiveReadings{r, space}
		})
		if err != nil {
			return nil, err
		}
		plan.readings = true
		return plan, nil
	})
}

// newPredictivePlan returns the plan for a policy over a space. The run of a step is made by
// newRun.
func newPredictivePlan(space reportSpace, policy trace.Policy, newRun func(predictiveRun) traceRun) (*tracePlan, error) {
	m, err := trace.New(space, policy)
	if err != nil {
		return nil, err
	}
	return &tracePlan{
		summary: summarise(policy, space),
		TraceTerms: frame.TraceTerms{
			Unit:    space.Unit(),
			Epsilon: policy.Epsilon,
			Varies:  true,
			Start: func(state []byte, lost budget.Amount) (frame.Run, error) {
				r := predictiveRun{mechanism: m, space: space}
				if len(state) > 0 {
					if err := r.run.UnmarshalBinary(state); err != nil {
						return nil, err
					}
				}
				r.run.CountLost(lost)
				return newRun(r), nil
			}},
	}, nil
}

// summarise describes a policy over a space on one line.
func summarise(p trace.Policy, space trace.Space) string {
	line := fmt.Sprintf("%s, %s, %s/%s for the whole trace", p.Mechanism, p.Manager, p.Epsilon, space.Unit())
	if p.Mechanism == trace.Predictive && p.Manager == trace.FixedUtility {
		line += "; alpha holds for the noise: more than a tenth of the reports may be further off"
	}
	return line
}

// A reportSpace is a space that reports cells.
type reportSpace interface {
	trace.Space

	// point returns the point that reports a cell, without the kind of the step and its cost.
	point(z trace.Cell) ledger.Point

	// standIn returns the public cell that dry runs report in place of noise.
	standIn() trace.Cell
}

// plane reports locations.
type plane struct {
	trace.Plane
	domain *planar.Domain
}

func (p plane) point(z trace.Cell) ledger.Point {
	lat, lon := p.Location(z)
	return ledger.Point{Lat: lat, Lon: lon}
}

func (p plane) standIn() trace.Cell { return p.Cell(p.domain.Centre()) }

// line reports readings.
type line struct{ trace.Line }

func (l line) point(z trace.Cell) ledger.Point { return ledger.Point{Reading: true, Value: l.Value(z)} }

// standIn is the lowest value, as it is that of dx_value.
func (l line) standIn() trace.Cell { return trace.Cell{} }

// predictiveRun is a run of the predictive or independent mechanism, without its secrets.
type predictiveRun struct {
	mechanism *trace.Mechanism
	space     reportSpace
	run       trace.Run
	next      trace.Plan
}

func (r *predictiveRun) plan(at int64) (cost budget.Amount, goesOn bool, err error) {
	r.next, err = r.mechanism.Plan(&r.run, at)
	return r.next.Cost(), r.next.Action != trace.Stop, err
}

func (r *predictiveRun) Remaining() budget.Amount {
	return r.mechanism.Policy().Epsilon - r.run.History().Spent
}

// guess assumes that every test fails, which costs the most.
func (r *predictiveRun) guess() (ledger.Point, error) {
	cost := r.next.Cost()
	z := r.next.Prediction
	if r.next.Action == trace.Noise {
		z = r.space.standIn()
	}
	return r.add(trace.Point{T: r.next.T, Z: z, Tested: r.next.Action == trace.Test, Hard: cost > 0, Spent: cost})
}

func (r *predictiveRun) add(q trace.Point) (ledger.Point, error) {
	if err := r.mechanism.Add(&r.run, q); err != nil {
		return ledger.Point{}, err
	}
	p := r.space.point(q.Z)
	p.Hard, p.Tested, p.Spent = q.Hard, q.Tested, q.Spent
	return p, nil
}

func (r *predictiveRun) State() []byte {
	state, _ := r.run.AppendBinary(nil) // never fails
	return state
}

// predictiveLocations is a run over locations.
type predictiveLocations struct {
	predictiveRun
	plane plane
}

func (r *predictiveLocations) draw(src *exact.Source, lat, lon float64) (ledger.Point, error) {
	return r.add(r.mechanism.Draw(src, r.next, r.plane.Cell(lat, lon)))
}

// predictiveReadings is a run over readings.
type predictiveReadings struct {
	predictiveRun
	line line
}

func (r *predictiveReadings) draw(src *exact.Source, x float64) (ledger.Point, error) {
	return r.add(r.mechanism.Draw(src, r.next, r.line.Cell(x)))
}
