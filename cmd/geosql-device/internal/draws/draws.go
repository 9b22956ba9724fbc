// Package draws has the functions of the module draw.wasm, which package geosql-device for npm wraps: declarations,
// accuracies, the rules of a budget, and draws. It knows nothing of WebAssembly.
package draws

import (
	"context"
	"fmt"
	"io"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A Module holds declarations, mechanisms and steps of traces for JavaScript, which knows them by handles. It is not safe for
// concurrent use.
type Module struct {
	source    *exact.Source
	domains   handles[*planar.Domain]
	universes handles[*scalar.Universe]
	priors    handles[*planar.Prior]
	drawers   handles[drawer]
}

// A drawer draws for the secret x, y.
type drawer interface {
	draw(src *exact.Source, x, y float64) []float64
}

// New returns a module that draws from entropy.
func New(entropy io.Reader) *Module { return &Module{source: exact.NewSmallSource(entropy)} }

// Draw draws for a secret: a location in degrees, or a reading x. The caller has charged for it. No random bit is left for
// the next draw, which may be after a snapshot of the page. A draw that fails, as without entropy, is an error, and the module
// goes on.
func (m *Module) Draw(handle uint32, x, y float64) (numbers []float64, err error) {
	d, err := m.drawers.get(handle)
	if err != nil {
		return nil, err
	}
	defer m.source.Erase()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return d.draw(m.source, x, y), nil
}

// Drop forgets a mechanism that JavaScript does not hold any more.
func (m *Module) Drop(handle uint32) { m.drawers.drop(handle) }

// Domain declares a domain, with a region in WKT if that is not empty. Angles are degrees, the step metres.
func (m *Module) Domain(name string, south, west, north, east, step float64, region string) (handle uint32, d *planar.Domain, err error) {
	d, err = planar.NewDomain(name, south, west, north, east, step)
	if err == nil && region != "" {
		d, err = d.WithRegion(context.Background(), region)
	}
	if err != nil {
		return 0, nil, err
	}
	return m.domains.add(d), d, nil
}

// A Priced mechanism has the price of a draw.
type Priced struct {
	Handle uint32
	budget.Price
}

// A placed mechanism draws locations.
type placed struct{ planar.Mechanism }

func (p placed) draw(src *exact.Source, lat, lon float64) []float64 {
	lat, lon = p.Draw(src, lat, lon)
	return []float64{lat, lon}
}

// Mechanism returns the mechanism of a domain that has a name.
func (m *Module) Mechanism(domain uint32, name string, epsilon float64) (Priced, error) {
	d, err := m.domains.get(domain)
	if err != nil {
		return Priced{}, err
	}
	mechanism, err := d.Mechanism(name, budget.Decimal(epsilon))
	if err != nil {
		return Priced{}, err
	}
	return Priced{m.drawers.add(placed{mechanism}), mechanism.Price()}, nil
}

// of returns the drawer of a handle.
func of[T drawer](m *Module, handle uint32) (T, error) {
	d, err := m.drawers.get(handle)
	t, ok := d.(T)
	if err == nil && !ok {
		err = fmt.Errorf("handle %d is of another kind", handle)
	}
	return t, err
}

// Accuracy returns the accuracy of a mechanism of a domain.
func (m *Module) Accuracy(mechanism uint32) (planar.Accuracy, error) {
	p, err := of[placed](m, mechanism)
	if err != nil {
		return planar.Accuracy{}, err
	}
	return p.Accuracy(), nil
}

// Prior returns a prior over a domain from places, each its latitude, longitude and weight.
func (m *Module) Prior(domain uint32, places []float64) (uint32, error) {
	d, err := m.domains.get(domain)
	if err != nil {
		return 0, err
	}
	builder := planar.NewPriorBuilder(d)
	for ; len(places) >= 3; places = places[3:] {
		builder.Add(places[0], places[1], places[2])
	}
	prior, err := builder.Prior()
	if err != nil {
		return 0, err
	}
	return m.priors.add(prior), nil
}

// Remap returns the best guess of the true location for a draw of laplace at a location.
func (m *Module) Remap(prior uint32, epsilon, lat, lon float64) ([]float64, error) {
	p, err := m.priors.get(prior)
	if err != nil {
		return nil, err
	}
	lat, lon = p.Remap(epsilon, lat, lon)
	return []float64{lat, lon}, nil
}

// Universe declares a universe.
func (m *Module) Universe(name string, lo, hi, step float64, unit budget.Unit) (handle uint32, u *scalar.Universe, err error) {
	if u, err = scalar.NewUniverse(name, lo, hi, step, unit); err != nil {
		return 0, nil, err
	}
	return m.universes.add(u), u, nil
}

// A reading draws a single reading.
type reading struct {
	*scalar.Query
	one *scalar.Accumulator
}

func (r reading) draw(src *exact.Source, x, _ float64) []float64 {
	r.Reset(r.one)
	r.Add(r.one, x)
	defer r.Reset(r.one)
	return []float64{r.Draw(src, r.one)}
}

// Value returns the mechanism of single readings of a universe.
func (m *Module) Value(universe uint32, epsilon float64) (Priced, error) {
	u, err := m.universes.get(universe)
	if err != nil {
		return Priced{}, err
	}
	q, err := scalar.NewQuery(scalar.Value, u, budget.D1, budget.Decimal(epsilon))
	if err != nil {
		return Priced{}, err
	}
	return Priced{m.drawers.add(reading{q, new(scalar.Accumulator)}), q.Price()}, nil
}

// Within returns the radius around a drawn reading that holds the true one with probability p.
func (m *Module) Within(mechanism uint32, p float64) (float64, error) {
	q, err := of[reading](m, mechanism)
	if err != nil {
		return 0, err
	}
	return q.Radius(p, 1)
}
