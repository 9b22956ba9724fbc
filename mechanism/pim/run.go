package pim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

// A Run is the public history of a trace, as far as its next step depends on it: what an
// observer who knows the model believes about where the secret is. It is not safe for
// concurrent use.
type Run struct {
	mechanism *Mechanism
	begun     bool      // whether there is a report, or a public start
	last      int64     // time of the last one, microseconds
	clock     int64     // time that belief is about
	belief    []float64 // probability of each cell, after the last report
	spare     []float64
	plan      Plan
}

// Start returns a run without points. Its belief before the first report is the share of
// each cell in the model's visits.
func (m *Mechanism) Start() *Run {
	n := m.model.Grid().Len()
	r := &Run{mechanism: m, belief: m.model.Start(), spare: make([]float64, n)}
	width, height := m.model.Grid().Size()
	r.plan = Plan{mechanism: m, prior: make([]float64, n), surrogacy: surrogacy{width: width, height: height}}
	return r
}

// StartIn returns a run that begins in a cell at a time in microseconds, both public, such
// as where a vehicle's shift starts.
func (m *Mechanism) StartIn(cell int, t int64) *Run {
	r := m.Start()
	clear(r.belief)
	r.belief[cell] = 1
	r.begun, r.last, r.clock = true, t, t
	return r
}

// Plan returns what the next step will do at time t, in microseconds, which must be later
// than the last report. The plan depends only on public data: the policy, the model, the
// earlier reports, and t.
//
// The belief advances by the number of the model's periods that have passed since the
// first report, less those that it has advanced already.
func (r *Run) Plan(t int64) (*Plan, error) {
	p := &r.plan
	p.t, p.clock = t, t
	transitions := uint64(0)
	if r.begun {
		if t <= r.last {
			return nil, fmt.Errorf("time %d is not after %d, the time of the run's last point", t, r.last)
		}
		period := uint64(r.mechanism.model.Period().Microseconds())
		passed := (uint64(t) - uint64(r.clock)) / period
		p.clock = int64(uint64(r.clock) + passed*period)
		transitions = passed
	}
	r.advance(transitions)
	p.chooseSet()
	return p, nil
}

// settled is the change of a belief in one transition, summed over the cells, below which
// further transitions are left out: no transition changes it by more than the one before.
const settled = 1e-9

// advance sets the plan's prior to the belief after a number of transitions.
func (r *Run) advance(transitions uint64) {
	p := &r.plan
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

// Add extends the run by a step. z is what the plan's Draw returned.
func (r *Run) Add(p *Plan, z planar.Cell) {
	p.posterior(r.belief, z)
	r.begun, r.last, r.clock = true, p.t, p.clock
}

// stateVersion is the first byte of a run's binary form.
const stateVersion = 1

// AppendBinary appends the state of a run: a version, the time of the last report and
// that of the belief (varints), and eight bytes for each cell of the grid. It appends
// nothing for a run as Start returns it.
func (r *Run) AppendBinary(b []byte) []byte {
	if !r.begun {
		return b
	}
	b = append(b, stateVersion)
	b = binary.AppendVarint(b, r.last)
	b = binary.AppendVarint(b, r.clock)
	for _, p := range r.belief {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p))
	}
	return b
}

var errState = errors.New("not the state of a run of this model")

// Resume returns the run whose state AppendBinary wrote, for the same model.
func (m *Mechanism) Resume(state []byte) (*Run, error) {
	r := m.Start()
	if len(state) == 0 {
		return r, nil
	}
	last, n := binary.Varint(state[1:])
	if state[0] != stateVersion || n <= 0 {
		return nil, errState
	}
	rest := state[1+n:]
	clock, n := binary.Varint(rest)
	if n <= 0 || clock > last || len(rest[n:]) != 8*len(r.belief) {
		return nil, errState
	}
	r.begun, r.last, r.clock = true, last, clock
	return r, r.readBelief(rest[n:])
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
