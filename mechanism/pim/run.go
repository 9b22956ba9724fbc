package pim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/varint"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Run is the public history of a trace, as far as its next step depends on it: the belief about
// the secret of an observer who knows the model. It is not safe for
// concurrent use.
type Run struct {
	mechanism *Mechanism
	begun     bool      // whether there is a report, or a public start
	last      int64     // time of the last one, microseconds
	clock     int64     // time that belief is about
	belief    []float64 // probability of each cell, after the last report
	spare     []float64
	plan      *Plan // nil before the first report

	// The reports since [Mechanism.Start], while they are few. They determine the belief.
	short   bool
	reports []reported
}

// reported is a report and its time.
type reported struct {
	t int64
	z planar.Cell
}

// fewReports bounds the reports that stand for a belief in a state. To restore it takes as many
// steps, but no draws; a belief takes the space of thousands of reports.
const fewReports = 4

// Start returns a run without points. Its belief before the first report is the share of
// each cell in the model's visits.
func (m *Mechanism) Start() *Run {
	return &Run{mechanism: m, belief: slices.Clone(m.opening().prior), short: true}
}

// StartIn returns a run that begins in a cell at a time in microseconds, both public, such
// as where a vehicle's shift starts.
func (m *Mechanism) StartIn(cell int, t int64) *Run {
	r := m.Start()
	clear(r.belief)
	r.belief[cell] = 1
	r.begun, r.last, r.clock, r.short = true, t, t, false
	return r
}

// Plan returns the next step at time t, in microseconds, which must be later
// than the last report. The plan depends only on public data: the policy, the model, the
// earlier reports, and t.
//
// The belief advances by the number of the model's periods that have passed since the
// first report, less the periods that it has advanced already.
func (r *Run) Plan(t int64) (*Plan, error) {
	if !r.begun {
		first := *r.mechanism.opening()
		first.t, first.clock = t, t
		return &first, nil
	}
	if t <= r.last {
		return nil, fmt.Errorf("time %d is not after %d, the time of the run's last point", t, r.last)
	}
	if r.plan == nil {
		r.plan = r.mechanism.newPlan()
		r.plan.prior, r.spare = make([]float64, len(r.belief)), make([]float64, len(r.belief))
	}
	p := r.plan
	period := uint64(r.mechanism.model.Period().Microseconds())
	passed := (uint64(t) - uint64(r.clock)) / period
	p.t, p.clock = t, int64(uint64(r.clock)+passed*period)
	r.advance(passed)
	p.chooseSet()
	return p, nil
}

// settled is the change of a belief in one transition, summed over the cells, below which
// further transitions are left out: no transition changes it by more than the one before.
const settled = 1e-9

// advance sets the plan's prior to the belief after a number of transitions.
func (r *Run) advance(transitions uint64) {
	p := r.plan
	if transitions == 0 {
		copy(p.prior, r.belief)
		return
	}
	r.mechanism.model.Advance(p.prior, r.belief)
	for before := r.belief; transitions > 1 && !isSettled(p.prior, before); transitions-- {
		r.mechanism.model.Advance(r.spare, p.prior)
		p.prior, r.spare = r.spare, p.prior
		before = r.spare
	}
}

// isSettled reports whether the last transition has changed too little for another.
func isSettled(prior, before []float64) bool {
	var change float64
	for cell, q := range prior {
		change += abs(q - before[cell])
	}
	return change < settled
}

// Add extends the run by a step. z is the result of the plan's Draw.
func (r *Run) Add(p *Plan, z planar.Cell) {
	p.posterior(r.belief, z)
	r.begun, r.last, r.clock = true, p.t, p.clock
	if r.short = r.short && len(r.reports) < fewReports; r.short {
		r.reports = append(r.reports, reported{p.t, z})
	} else {
		r.reports = nil
	}
}

// The first byte of a run's binary form says whether it has the belief, or the few reports that have led
// to it.
const (
	beliefVersion  = 1
	reportsVersion = 2
)

// AppendBinary appends the state of a run: a version, the time of the last report and
// that of the belief (varints), and eight bytes for each cell of the grid. If there are few
// reports it appends, after a version, the number of cells, the epsilon, delta and least set of the
// policy that they were made under, and for each the time and both coordinates (varints). It appends
// nothing for a run as Start returns it.
func (r *Run) AppendBinary(b []byte) []byte {
	if !r.begun {
		return b
	}
	if r.short {
		return r.appendReports(append(b, reportsVersion))
	}
	b = append(b, beliefVersion)
	b = binary.AppendVarint(b, r.last)
	b = binary.AppendVarint(b, r.clock)
	for _, p := range r.belief {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p))
	}
	return b
}

func (r *Run) appendReports(b []byte) []byte {
	p := &r.mechanism.policy
	for _, v := range []int64{int64(len(r.belief)), int64(p.Epsilon), int64(p.Delta), int64(p.MinSet)} {
		b = binary.AppendVarint(b, v)
	}
	for _, q := range r.reports {
		for _, v := range []int64{q.t, q.z.I, q.z.J} {
			b = binary.AppendVarint(b, v)
		}
	}
	return b
}

var errState = errors.New("not the state of a run of this model")

// Resume returns the run with the state that AppendBinary wrote, for the same model.
func (m *Mechanism) Resume(state []byte) (*Run, error) {
	if len(state) == 0 {
		return m.Start(), nil
	}
	switch state[0] {
	case beliefVersion:
		return m.resumeBelief(state[1:])
	case reportsVersion:
		return m.resumeReports(state[1:])
	}
	return nil, errState
}

// resumeReports returns the run of few reports. If they were made under another policy, the run goes on
// from the belief that they have led to.
func (m *Mechanism) resumeReports(state []byte) (*Run, error) {
	var numbers []int64
	s := varint.New(state)
	for s.Len() > 0 && len(numbers) < 4+3*fewReports {
		numbers = append(numbers, s.Varint())
	}
	if s.Failed() || s.Len() > 0 || len(numbers) < 7 || len(numbers)%3 != 1 || numbers[0] != int64(m.model.Grid().Len()) {
		return nil, errState
	}
	numbers = numbers[1:]
	of, policy := m, m.policy
	policy.Epsilon, policy.Delta, policy.MinSet = budget.Amount(numbers[0]), budget.Amount(numbers[1]), int(numbers[2])
	if policy != m.policy {
		if policy.check() != nil {
			return nil, errState
		}
		of = newMechanism(m.model, m.law, policy)
	}
	r := of.Start()
	for numbers = numbers[3:]; len(numbers) > 0; numbers = numbers[3:] {
		z := planar.Cell{I: numbers[1], J: numbers[2]}
		plan, err := r.Plan(numbers[0])
		if err != nil || saturated(z.I) != z.I || saturated(z.J) != z.J {
			return nil, errState
		}
		r.Add(plan, z)
	}
	if of != m {
		r.mechanism, r.plan, r.short, r.reports = m, nil, false, nil
	}
	return r, nil
}

func (m *Mechanism) resumeBelief(state []byte) (*Run, error) {
	r := m.Start()
	s := varint.New(state)
	last, clock := s.Varint(), s.Varint()
	if s.Failed() || clock > last || s.Len() != 8*len(r.belief) {
		return nil, errState
	}
	r.begun, r.last, r.clock, r.short = true, last, clock, false
	return r, r.readBelief(s.Bytes(uint64(s.Len())))
}

func (r *Run) readBelief(bytes []byte) error {
	var sum float64
	for cell := range r.belief {
		p := math.Float64frombits(binary.LittleEndian.Uint64(bytes[8*cell:]))
		if !(0 <= p && p <= 1) {
			return errState
		}
		r.belief[cell] = p
		sum += p
	}
	if !(abs(sum-1) < 1e-6) {
		return errState
	}
	return nil
}
