package pim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/geosql/geosql/mechanism/markov"
)

// The laws that a location is reported with; what differs is what they take for the
// sensitivity of a set of locations.
const (
	PIM          = "pim"           // the sensitivity hull (section 5.2)
	Laplace      = "laplace"       // the sum of the extents along both axes (algorithm 3)
	LaplaceTight = "laplace_tight" // the largest l1 distance of two locations
)

// A Mechanism is a policy at work on a model. It is made by [New], immutable, and
// safe for concurrent use with a Source and a Run per goroutine.
type Mechanism struct {
	model  *markov.Model
	law    string
	policy Policy
}

// New returns the mechanism of a policy, as [ParsePolicy] returns it, on a model,
// with one of the laws. The caller sees to it that the model is the policy's.
//
// The model's domain must have no region: beliefs are updated by the probability of
// what is reported, and that of all points which would be moved to one is not at
// hand. Errors name the key at fault.
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
	return &Mechanism{m, law, p}, nil
}

// Policy returns the policy of m.
func (m *Mechanism) Policy() Policy { return m.policy }

// Model returns the model of m.
func (m *Mechanism) Model() *markov.Model { return m.model }
