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

// A Constructor returns the mechanism of a domain that spends eps per metre, above 0 and at
// most [budget.Max].
type Constructor func(d *Domain, eps *big.Rat) (Mechanism, error)

var constructors = map[string]Constructor{}

// register makes a mechanism known under the name that releases of data sets choose it by.
// The file that has the mechanism calls it in init.
func register(name string, c Constructor) { constructors[name] = c }

// Mechanisms returns the names of the mechanisms, in ascending order.
func Mechanisms() []string { return slices.Sorted(maps.Keys(constructors)) }

// Mechanism returns the mechanism of that name that spends eps per metre.
func (d *Domain) Mechanism(name string, eps *big.Rat) (Mechanism, error) {
	c := constructors[name]
	if c == nil {
		return nil, fmt.Errorf("mechanism %q is none of %s", name, strings.Join(Mechanisms(), ", "))
	}
	return c(d, eps)
}

// onLattice is what the mechanisms that draw on the lattice of a domain have in common.
type onLattice struct {
	domain  *Domain
	epsilon *big.Rat // per metre
	price   budget.Price
	law     *Law
}

func newOnLattice(d *Domain, eps *big.Rat, law *Law) (onLattice, error) {
	price, err := budget.NewPrice(budget.Metre, eps)
	return onLattice{d, eps, price, law}, err
}

// Price returns epsilon per metre.
func (m *onLattice) Price() budget.Price { return m.price }

// StandIn returns the middle of the domain's box.
func (m *onLattice) StandIn() (lat, lon float64) { return m.domain.Centre() }

// Domain returns the domain that the mechanism draws on.
func (m *onLattice) Domain() *Domain { return m.domain }

// Accuracy says how far a released location is from the secret one.
func (m *onLattice) Accuracy() Accuracy { return m.law.On(m.domain, m.epsilon) }
