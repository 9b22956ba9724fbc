package optimal

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism"
	"github.com/geosql/geosql/mechanism/exact"
)

// Named is a [PlaceMechanism] under a name, which may be part of its unit, see
// [PlaceMechanism.Unit]. It is a [mechanism.Location].
type Named struct {
	*PlaceMechanism
	price  budget.Price
	middle int
}

var _ mechanism.Location = Named{}

// Named returns the mechanism under a name.
func (m *PlaceMechanism) Named(name string) Named {
	return Named{m, budget.Price{Unit: m.Unit(name), Amount: m.cost}, m.Middle()}
}

// Price returns epsilon, per metre or per unit of the mechanism's own distances.
func (n Named) Price() budget.Price { return n.price }

// Draw returns the place that is reported for a location, as [mechanism.Location] says.
//
// # Privacy
//
// The location only decides which place represents it. From there on the mechanism's
// certificate holds, per metre of the unit's distances, see [PlaceMechanism.Unit].
func (n Named) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	return n.Location(n.certified.Draw(src, n.Snap(lat, lon)))
}

// StandIn returns the place nearest to the middle of the domain's box.
func (n Named) StandIn() (lat, lon float64) { return n.Location(n.middle) }
