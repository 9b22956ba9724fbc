package sqlitefn

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// Positions of predictive_step's arguments.
const (
	stepTrace = iota
	stepTime
	stepLat
	stepLon
)

// everyTrace is the trace whose policy holds for those that have none.
const everyTrace = "*"

// declaredTrace is what stands in geosql_trace.
type declaredTrace struct{ account, mechanism, settings string }

// tracePlan is a policy at work on its domain.
type tracePlan struct {
	mechanism *trace.Mechanism
	plane     trace.Plane
	domain    *planar.Domain
}

type tracePlanKey struct {
	mechanism, settings string
	domain              *planar.Domain
}

// tracePolicy declares what the steps of a trace do.
func tracePolicy(s *session, c call) error {
	name, err := c.limitedAccount(0)
	if err != nil {
		return err
	}
	d := declaredTrace{}
	if d.account, err = c.limitedAccount(1); err != nil {
		return err
	}
	if d.account == everyTrace && name != everyTrace {
		return c.bad(1, "'*' is only for the policy of all traces, where every trace is an account")
	}
	for i, into := range []*string{&d.mechanism, &d.settings} {
		text, err := c.text(2 + i)
		if err != nil {
			return err
		}
		*into = string(text)
	}
	plan, err := s.tracePlan(d)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	earlier, found, err := s.readTrace(name)
	if err != nil {
		return err
	}
	if found && d != earlier {
		return fmt.Errorf("trace %s has a policy already and it cannot change; take another name", quoted([]byte(name)))
	}
	if !found {
		if err := s.write(`INSERT INTO main.geosql_trace(trace, account, mechanism, settings) VALUES(?,?,?,?)`,
			name, d.account, d.mechanism, d.settings); err != nil {
			return err
		}
	}
	c.ResultString(0, plan.describe(name, d.account))
	return nil
}

// describe is the line that answers a declaration.
func (p *tracePlan) describe(name, account string) string {
	who := "trace " + quoted([]byte(name))
	switch {
	case name == everyTrace && account == everyTrace:
		who = "every trace without a policy of its own, each an account of its name"
	case name == everyTrace:
		who = "every trace without a policy of its own, charged to account " + quoted([]byte(account))
	default:
		who += ", charged to account " + quoted([]byte(account))
	}
	policy := p.mechanism.Policy()
	return fmt.Sprintf("%s: %s, %s, %s/m for the whole trace", who, policy.Mechanism, policy.Manager, policy.Epsilon)
}

// tracePlan is the mechanism that a declaration stands for. Errors name the key of
// the settings at fault.
func (s *session) tracePlan(d declaredTrace) (*tracePlan, error) {
	policy, err := trace.ParsePolicy(d.mechanism, []byte(d.settings))
	if err != nil {
		return nil, err
	}
	domain, err := s.policyDomain(policy.Domain)
	if err != nil {
		return nil, err
	}
	key := tracePlanKey{d.mechanism, d.settings, domain}
	if p := s.traces[key]; p != nil {
		return p, nil
	}
	plane := trace.NewPlane(domain)
	m, err := trace.New(plane, policy)
	if err != nil {
		return nil, err
	}
	p := &tracePlan{m, plane, domain}
	remember(s.traces, key, p)
	return p, nil
}

// policyDomain is the domain of that name, or the only one for none.
func (s *session) policyDomain(name string) (*planar.Domain, error) {
	if name == "" {
		return s.onlyDomain()
	}
	domain, err := s.domainNamed([]byte(name))
	if err == nil && domain == nil {
		err = fmt.Errorf("domain %s is not declared", quoted([]byte(name)))
	}
	return domain, err
}

func (s *session) readTrace(name string) (d declaredTrace, found bool, err error) {
	err = s.read(`SELECT account, mechanism, settings FROM main.geosql_trace WHERE trace = ?`, func(st *sqlite.Stmt) {
		found = true
		d = declaredTrace{columnText(st, 0), columnText(st, 1), columnText(st, 2)}
	}, name)
	return d, found, err
}

// tracePolicyOf is the policy that holds for a trace.
func (s *session) tracePolicyOf(name string) (d declaredTrace, err error) {
	d, found, err := s.readTrace(name)
	if err == nil && !found {
		d, found, err = s.readTrace(everyTrace)
		if d.account == everyTrace {
			d.account = name
		}
	}
	if err == nil && !found {
		err = fmt.Errorf("trace %s has no policy; declare one: SELECT trace_policy(%[1]s, ACCOUNT, 'predictive', JSON)", quoted([]byte(name)))
	}
	return d, err
}

// stepPartition reports the steps of one trace, in the order of their time.
type stepPartition struct {
	session *session
	plan    *tracePlan
	name    string // "" before the first row
	account string
	run     trace.Run
	book    *ledger.Trace // nil within a dry run
}

func newStepPartition(s *session, _ *function) partition { return &stepPartition{session: s} }

// row reports one step. What it may cost is on disk before anything is drawn;
// what it did not cost goes back to what the trace has reserved, since the outcome
// of a test is public. Which rows there are, their times, and that the secret is
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
	plan, err := p.plan.mechanism.Plan(&p.run, at.UnixMicro())
	if err != nil {
		return c.bad(stepTime, "must be later than the last one of trace %s", quoted([]byte(p.name)))
	}
	if plan.Action == trace.Stop {
		return nil
	}
	point, err := p.draw(c, plan, lat, lon)
	if err != nil {
		return err
	}
	lat, lon = p.plan.plane.Location(point.Z)
	if err := p.add(point, lat, lon); err != nil {
		return err
	}
	var room [64]byte
	c.ResultText(0, appendPoint(room[:0], lat, lon))
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
	declared, err := p.session.tracePolicyOf(string(name))
	if err != nil {
		return err
	}
	plan, err := p.session.tracePlan(declared)
	if err != nil {
		return err
	}
	p.name, p.account = string(name), declared.account
	if err := p.openBook(c.f, plan); err != nil {
		return err
	}
	p.plan = plan
	return nil
}

func (p *stepPartition) openBook(f *function, plan *tracePlan) error {
	s := p.session
	if s.dry != nil {
		s.dry.varies = true // what a step costs depends on the outcome of its test
	}
	book, err := s.ledger()
	if errors.Is(err, errNoLedger) && s.dry != nil {
		return nil
	}
	if err != nil {
		return s.spendError(err, p.account, budget.Metre, plan.mechanism.Policy().Epsilon)
	}
	t, state, lost, err := book.OpenTrace(p.name, p.account, budget.Metre, f.name)
	if err != nil {
		return err
	}
	if len(state) > 0 {
		err = p.run.UnmarshalBinary(state)
	}
	p.run.Lose(lost)
	if err != nil || s.dry != nil {
		closing := t.Close(nil) // nothing was done: nothing is saved
		return cmp.Or(err, closing)
	}
	p.book = t
	return nil
}

// draw takes the step. A dry run takes every test for failed, and answers what the
// public knew before.
func (p *stepPartition) draw(c call, plan trace.Plan, lat, lon float64) (trace.Point, error) {
	cost := plan.Cost()
	if d := p.session.dry; d != nil {
		if cost > 0 {
			d.count(c.f, []byte(p.account), budget.Metre, cost, 1)
		}
		z := plan.Prediction
		if plan.Action == trace.Noise {
			z = p.plan.plane.Cell(p.plan.domain.Centre())
		}
		return trace.Point{T: plan.T, Z: z, Tested: plan.Action == trace.Test, Hard: cost > 0, Spent: cost}, nil
	}
	if cost > 0 {
		left := p.plan.mechanism.Policy().Epsilon - p.run.History().Spent
		if err := p.book.Reserve(cost, left); err != nil {
			return trace.Point{}, err
		}
	}
	return p.plan.mechanism.Draw(p.session.source, plan, p.plan.plane.Cell(lat, lon)), nil
}

// add adds a point to the run, and saves a block of them.
func (p *stepPartition) add(q trace.Point, lat, lon float64) error {
	if err := p.plan.mechanism.Add(&p.run, q); err != nil {
		return err
	}
	if p.book == nil {
		return nil
	}
	p.book.Add(ledger.Point{
		Time: time.UnixMicro(q.T).UTC(), Lat: lat, Lon: lon,
		Hard: q.Hard, Tested: q.Tested, Spent: q.Spent,
	})
	if !p.book.Full() {
		return nil
	}
	return p.book.Save(p.state())
}

func (p *stepPartition) state() []byte {
	state, _ := p.run.AppendBinary(nil) // never fails
	return state
}

// end saves the run. Where that fails the trace stays taken, with all that was
// reserved: its next step says so.
func (p *stepPartition) end() {
	if p.book != nil {
		_ = p.book.Close(p.state())
		p.book = nil
	}
}

var runColumns = []string{"t TEXT", "lat REAL", "lon REAL", "hard INTEGER", "tested INTEGER", "epsilon REAL"}

// runCursor runs through the run of a trace.
type runCursor struct {
	rowsCursor[ledger.Point]
	session *session
}

func newRunCursor(s *session, _ *function) cursor {
	return &runCursor{rowsCursor[ledger.Point]{show: showPoint}, s}
}

func (r *runCursor) filter(c call, _ uint) (sqlite.Rows, error) {
	var room [20]byte
	name, err := c.account(0, &room)
	if err != nil {
		return sqlite.NoRow, err
	}
	book, err := r.session.ledger()
	if err != nil {
		return sqlite.NoRow, ignoreNoLedger(err)
	}
	if r.rows, err = book.TraceRun(string(name)); err != nil {
		return sqlite.NoRow, err
	}
	return r.next(c)
}

func showPoint(c call, p ledger.Point) {
	c.ResultFloat(5, p.Spent.Float64())
	if p.Gap {
		for i := range 5 {
			c.ResultNull(i)
		}
		return
	}
	c.ResultString(0, p.Time.UTC().Format(time.RFC3339Nano))
	c.ResultFloat(1, p.Lat)
	c.ResultFloat(2, p.Lon)
	c.ResultInt(3, number(p.Hard))
	c.ResultInt(4, number(p.Tested))
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// traceRestart lets a trace go on that a crash has left.
func traceRestart(s *session, c call) error {
	var room [20]byte
	name, err := c.account(0, &room)
	if err != nil {
		return err
	}
	book, err := s.ledger()
	if err != nil {
		return err
	}
	restarted, err := book.RestartTrace(string(name))
	if err != nil {
		return err
	}
	said := "was not left by a crash"
	if restarted {
		said = "goes on after a gap; what was reserved is spent"
	}
	c.ResultString(0, fmt.Sprintf("trace %s %s", quoted(name), said))
	return nil
}
