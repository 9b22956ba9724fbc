package planar

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism"
)

// A Mechanism releases locations of a domain as points of its lattice, with noise of its
// own law.
type Mechanism interface {
	mechanism.Location

	// Domain returns the domain that the mechanism draws on.
	Domain() *Domain

	// Accuracy says how far a released location is from the secret one.
	Accuracy() Accuracy
}

// A Constructor returns the mechanism of a domain that spends eps per unit of its [Law],
// above 0 and at most [budget.Max].
type Constructor func(d *Domain, eps *big.Rat) (Mechanism, error)

// A family of mechanisms has one for every domain and epsilon.
type family struct {
	law *Law
	new Constructor
}

var families = map[string]family{}

// register makes mechanisms known under a name. The file that has them calls it in init.
func register(name string, law *Law, c Constructor) { families[name] = family{law, c} }

// Mechanisms returns the names of the mechanisms, in ascending order.
func Mechanisms() []string { return slices.Sorted(maps.Keys(families)) }

func familyOf(name string) (family, error) {
	f, known := families[name]
	if !known {
		return f, fmt.Errorf("must be one of %s", strings.Join(Mechanisms(), ", "))
	}
	return f, nil
}

// LawOf returns the law of the mechanism of that name. Its error lists the names.
func LawOf(name string) (*Law, error) {
	f, err := familyOf(name)
	return f.law, err
}

// Mechanism returns the mechanism of that name that spends eps per unit of its [Law].
func (d *Domain) Mechanism(name string, eps *big.Rat) (Mechanism, error) {
	f, err := familyOf(name)
	if err != nil {
		return nil, fmt.Errorf("mechanism %w", err)
	}
	return f.new(d, eps)
}

// onLattice is the common part of the mechanisms that draw on the lattice of a domain.
type onLattice struct {
	domain  *Domain
	epsilon *big.Rat // per unit of the law
	price   budget.Price
	law     *Law
}

func newOnLattice(d *Domain, eps *big.Rat, law *Law) (onLattice, error) {
	price, err := budget.NewPrice(law.unit, eps)
	return onLattice{d, eps, price, law}, err
}

// Price returns epsilon per unit of the law.
func (m *onLattice) Price() budget.Price { return m.price }

// StandIn returns the middle of the domain's box.
func (m *onLattice) StandIn() (lat, lon float64) { return m.domain.Centre() }

// Domain returns the domain that the mechanism draws on.
func (m *onLattice) Domain() *Domain { return m.domain }

// Accuracy says how far a released location is from the secret one.
func (m *onLattice) Accuracy() Accuracy { return m.law.On(m.domain, m.epsilon) }
