package pim

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/geosql/geosql/mechanism/markov"
)

// The laws of the noise. They differ in the sensitivity that they use for a set of
// locations.
const (
	PIM          = "pim"           // the sensitivity hull (section 5.2)
	Laplace      = "laplace"       // the sum of the extents along both axes (algorithm 3)
	LaplaceTight = "laplace_tight" // the largest l1 distance of two locations
)

// A Mechanism applies a policy to a model. [New] returns one. It is immutable, and safe
// for concurrent use with a Source and a Run per goroutine.
type Mechanism struct {
	model  *markov.Model
	law    string
	policy Policy

	opening func() *Plan // of every run that has no report: computed once, then only read
}

// New returns the mechanism of a policy, as [ParsePolicy] returns it, on the policy's
// model, with one of the laws.
//
// The model's domain must have no region: beliefs are updated by the probability of a
// report, which would have to include all points that are moved to it. Errors name the
// key at fault.
func New(m *markov.Model, law string, p Policy) (*Mechanism, error) {
	if !slices.Contains([]string{PIM, Laplace, LaplaceTight}, law) {
		return nil, fmt.Errorf("law must be one of %s, %s, %s, not %q", PIM, Laplace, LaplaceTight, law)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if m.Grid().Domain().HasRegion() {
		return nil, errors.New("model: its domain has a region, but reports on location sets are never moved; train it on a domain without one")
	}
	return newMechanism(m, law, p), nil
}

func newMechanism(model *markov.Model, law string, p Policy) *Mechanism {
	m := &Mechanism{model: model, law: law, policy: p}
	m.opening = sync.OnceValue(func() *Plan {
		first := m.newPlan()
		first.prior = model.Start()
		first.chooseSet()
		return first
	})
	return m
}

// newPlan returns a plan without a prior.
func (m *Mechanism) newPlan() *Plan {
	width, height := m.model.Grid().Size()
	return &Plan{mechanism: m, surrogacy: surrogacy{width: width, height: height}}
}

// Policy returns the policy of m.
func (m *Mechanism) Policy() Policy { return m.policy }

// Model returns the model of m.
func (m *Mechanism) Model() *markov.Model { return m.model }
