package planar

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxPriorPlaces is how many places a [Prior] may have.
const MaxPriorPlaces = 1 << 20

// A Prior is a public belief about where people are: lattice points of a domain with
// weights; only the ratios of these matter. It is immutable and safe for concurrent use.
type Prior struct {
	domain *Domain
	places []weighted // in the order of cells
}

// weighted is a lattice point with a weight above 0.
type weighted struct {
	Cell
	weight float64
}

func compareCells(a, b Cell) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) }

// A PriorBuilder collects the places of a prior.
type PriorBuilder struct {
	domain *Domain
	places []weighted
}

// NewPriorBuilder returns a builder of priors on a domain.
func NewPriorBuilder(d *Domain) *PriorBuilder { return &PriorBuilder{domain: d} }

// Add adds a place, in degrees, with a weight above 0. Places with the same lattice point are
// one, and their weights add up.
func (b *PriorBuilder) Add(lat, lon, weight float64) {
	b.places = append(b.places, weighted{b.domain.Cell(lat, lon), weight})
}

// Prior returns the prior of the places, whatever the order in which they were added. There
// must be one at least, and at most [MaxPriorPlaces].
func (b *PriorBuilder) Prior() (*Prior, error) {
	slices.SortFunc(b.places, func(a, b weighted) int {
		return cmp.Or(compareCells(a.Cell, b.Cell), cmp.Compare(a.weight, b.weight))
	})
	p := &Prior{domain: b.domain}
	for _, place := range b.places {
		if n := len(p.places); n > 0 && p.places[n-1].Cell == place.Cell {
			p.places[n-1].weight += place.weight
		} else {
			p.places = append(p.places, place)
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Prior) check() error {
	if n := len(p.places); n == 0 || n > MaxPriorPlaces {
		return fmt.Errorf("a prior has 1 to %d places, not %d", MaxPriorPlaces, n)
	}
	total := 0.0
	for _, place := range p.places {
		total += place.weight
	}
	if math.IsInf(total, 1) {
		return errors.New("the weights are too large")
	}
	return nil
}

// Domain returns the prior's domain.
func (p *Prior) Domain() *Domain { return p.domain }

// Len returns the number of places.
func (p *Prior) Len() int { return len(p.places) }

// Remap returns the best guess of the true location for a report of [Laplace] that spent eps
// per metre: the point of least expected distance, in metres in the frame, under the
// posterior of the prior. lat and lon are those of the report, in degrees; the guess is a
// lattice point, moved to the nearest admissible one.
//
// A place x has the posterior weight w*exp(-rate*|z-x|) for the report z: the normaliser
// of the noise is the same for all x ([Laplace.Draw]). A report that the region has moved is
// taken for the drawn one. Remapping only sees the released location: it costs nothing,
// and an inaccuracy of it harms nobody's privacy (thesis, section 3.2; Chatzikokolakis,
// ElSalamouny and Palamidessi, Efficient Utility Improvement for Location Privacy, 2017).
func (p *Prior) Remap(eps, lat, lon float64) (guessLat, guessLon float64) {
	d := p.domain
	rate := eps * d.step / (1 + d.kappa)
	x, y := d.grid.project(lat, d.frame.offset(lon))
	near := p.posterior(rate, point{x, y})
	guess := medianOf(near)
	return d.Location(d.Admissible(Cell{int64(math.RoundToEven(guess.x)), int64(math.RoundToEven(guess.y))}))
}

// negligible is how much less likely than the likeliest place, in natural logarithms, a place
// may be before it is left out. A million of them weigh less than 1e-9.
const negligible = 35

// posterior returns the places that count for a report, with weights of at most 1.
func (p *Prior) posterior(rate float64, z point) []mass {
	logs := make([]float64, len(p.places))
	likeliest := math.Inf(-1)
	for i, place := range p.places {
		logs[i] = math.Log(place.weight) - float64(rate*z.distance(point{float64(place.I), float64(place.J)}))
		likeliest = max(likeliest, logs[i])
	}
	var near []mass
	for i, place := range p.places {
		if l := logs[i] - likeliest; l > -negligible {
			near = append(near, mass{point{float64(place.I), float64(place.J)}, math.Exp(l)})
		}
	}
	return near
}
