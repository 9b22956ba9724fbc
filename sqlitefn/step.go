package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
)

// Positions of the arguments of predictive_step and pim_step.
const (
	stepTrace = iota
	stepTime
	stepLat
	stepLon
)

// A tracePlan is the policy of a trace at work.
type tracePlan struct {
	says   string        // what the policy is, on one line
	unit   budget.Unit   // of what steps cost
	asks   budget.Amount // what a refusal for want of a ledger says was asked
	varies bool          // what a step costs depends on a draw

	// start starts a run from its state, empty for a new one, and what was spent
	// on points that the state does not know.
	start func(state []byte, lost budget.Amount) (traceRun, error)
}

// A traceRun is a trace between its steps. It is public: what it is told, but for
// the location that draw gets, is so too.
type traceRun interface {
	// plan plans a step at a time in microseconds, later than those of all points.
	// It tells the most that the step may spend, and reports false if the run has
	// come to its end.
	plan(at int64) (cost budget.Amount, goesOn bool, err error)

	// left is the most that the run may still spend.
	left() budget.Amount

	// draw takes the step that was planned. Only it sees the secret.
	draw(src *exact.Source, lat, lon float64) (ledger.Point, error)

	// guess is draw in a dry run: it answers what the public knew before.
	guess() (ledger.Point, error)

	// state is what start needs to go on.
	state() []byte
}

// stepPartition reports the steps of one trace, in the order of their time.
type stepPartition struct {
	session *session
	name    string // "" before the first row
	plan    *tracePlan
	run     traceRun
	payer   stepPayer // nil before the first row
}

func newStepPartition(s *session, _ *function) partition { return &stepPartition{session: s} }

// row reports one step. What it may cost is on disk before anything is drawn;
// what it did not cost goes back to what the trace has reserved, since what a step
// has spent is public. Which rows there are, their times, and that the secret is
// NULL are public too.
func (p *stepPartition) row(c call) error {
	if err := p.open(c); err != nil {
		return err
	}
	at, err := c.time(stepTime)
	if err != nil {
		return err
	}
	lat, lon, null, err := c.location(stepLat)
	if err != nil || null {
		return err
	}
	cost, goesOn, err := p.run.plan(at.UnixMicro())
	if err != nil {
		return c.bad(stepTime, "must be later than the last one of trace %s", quoted([]byte(p.name)))
	}
	if !goesOn {
		return nil
	}
	point, err := p.payer.take(p.run, cost, lat, lon)
	if err != nil {
		return err
	}
	point.Time = at
	if err := p.payer.add(p.run, point); err != nil {
		return err
	}
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], point.Lat, point.Lon))
	return nil
}

// open reads the trace's policy and state at the first row.
func (p *stepPartition) open(c call) error {
	var room [20]byte
	name, err := c.account(stepTrace, &room)
	if err != nil {
		return err
	}
	if p.plan != nil {
		if string(name) != p.name {
			return c.bad(stepTrace, "changes within a partition; write OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)")
		}
		return nil
	}
	plan, account, err := p.session.planOf(string(name), c.f)
	if err != nil {
		return err
	}
	p.name = string(name)
	payer, run, err := p.session.payer.steps(c.f, p.name, account, plan)
	if err != nil {
		return err
	}
	p.plan, p.payer, p.run = plan, payer, run
	return nil
}

// planOf is the policy that holds for a trace whose steps f takes, and the account
// that pays.
func (s *session) planOf(name string, f *function) (plan *tracePlan, account string, err error) {
	declared, found, err := s.tracePolicyOf(name)
	if err != nil {
		return nil, "", err
	}
	if !found {
		return nil, "", fmt.Errorf("trace %s has no policy; declare one: SELECT trace_policy(%[1]s, ACCOUNT, '%s', JSON)",
			quoted([]byte(name)), mechanismOf(f))
	}
	m, err := mechanismNamed(declared.mechanism)
	if err != nil {
		return nil, "", err
	}
	if m.step != f.name {
		return nil, "", fmt.Errorf("trace %s has a policy of mechanism '%s'; its steps are taken by %s(trace, t, lat, lon)",
			quoted([]byte(name)), m.name, m.step)
	}
	plan, err = m.plan(s, declared)
	return plan, declared.account, err
}

// end closes the run.
func (p *stepPartition) end() {
	if p.payer != nil {
		p.payer.close(p.run)
		p.payer = nil
	}
}
