// Package draws has the functions of the module draw.wasm, which package geosql-device for npm wraps: declarations,
// accuracies, the rules of a budget, and draws. It knows nothing of WebAssembly.
package draws

import (
	"context"
	"fmt"
	"io"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/cmd/geosql-device/internal/bridge"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A Module holds declarations, mechanisms and steps of traces for JavaScript. It is not safe for concurrent use.
type Module struct {
	source    *exact.Source
	domains   bridge.Handles[*planar.Domain]
	universes bridge.Handles[*scalar.Universe]
	priors    bridge.Handles[*planar.Prior]
	drawers   bridge.Handles[drawer]
}

// A drawer draws for the secret x, y.
type drawer interface {
	draw(src *exact.Source, x, y float64) []float64
}

// New returns a module that draws from entropy.
func New(entropy io.Reader) *Module { return &Module{source: exact.NewSmallSource(entropy)} }

// Draw draws for a secret: a location in degrees, or a reading x. The caller has charged for it. No random bit is left for
// the next draw, which may be after a snapshot of the page.
func (m *Module) Draw(handle uint32, x, y float64) ([]float64, error) {
	d, err := m.drawers.Get(handle)
	if err != nil {
		return nil, err
	}
	defer m.source.Erase()
	return d.draw(m.source, x, y), nil
}

// Functions returns the functions that JavaScript calls.
func (m *Module) Functions() bridge.Functions {
	return bridge.Functions{
		"domain":     bridge.Function(m.domain),
		"mechanism":  bridge.Function(m.mechanism),
		"radius":     bridge.Function(m.radius),
		"confidence": bridge.Function(m.confidence),
		"retrieval":  bridge.Function(m.retrieval),
		"prior":      bridge.Function(m.prior),
		"remap":      bridge.Function(m.remap),
		"smooth":     bridge.Function(m.smooth),
		"universe":   bridge.Function(m.universe),
		"value":      bridge.Function(m.value),
		"within":     bridge.Function(m.within),
		"limit":      bridge.Function(limit),
		"charge":     bridge.Function(charge),
		"balance":    bridge.Function(balance),
		"trace":      bridge.Function(m.trace),
		"begin":      bridge.Function(m.begin),
		"end":        bridge.Function(m.end),
		"run":        bridge.Function(run),
		"drop":       bridge.Function(m.drop),
	}
}

// domain declares a domain, with a region if it is not empty.
func (m *Module) domain(a struct {
	Name                     string
	South, West, North, East float64
	StepM                    float64
	Region                   string
}) (any, error) {
	d, err := planar.NewDomain(a.Name, a.South, a.West, a.North, a.East, a.StepM)
	if err == nil && a.Region != "" {
		d, err = d.WithRegion(context.Background(), a.Region)
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": m.domains.Add(d), "kappa": d.Kappa(), "text": d.String()}, nil
}

// A priced answer has the handle of a mechanism and the price of a draw.
func priced(handle uint32, p budget.Price) any {
	return map[string]any{"handle": handle, "unit": p.Unit, "amount": p.Amount.String(), "quanta": quanta(p.Amount)}
}

// A placed mechanism draws locations.
type placed struct{ planar.Mechanism }

func (p placed) draw(src *exact.Source, lat, lon float64) []float64 {
	lat, lon = p.Draw(src, lat, lon)
	return []float64{lat, lon}
}

func (m *Module) mechanism(a struct {
	Domain  uint32
	Name    string
	Epsilon float64
}) (any, error) {
	d, err := m.domains.Get(a.Domain)
	if err != nil {
		return nil, err
	}
	mechanism, err := d.Mechanism(a.Name, budget.Decimal(a.Epsilon))
	if err != nil {
		return nil, err
	}
	return priced(m.drawers.Add(placed{mechanism}), mechanism.Price()), nil
}

// of returns the drawer of a handle.
func of[T drawer](m *Module, handle uint32) (T, error) {
	d, err := m.drawers.Get(handle)
	t, ok := d.(T)
	if err == nil && !ok {
		err = fmt.Errorf("handle %d is of another kind", handle)
	}
	return t, err
}

type accuracyArguments struct {
	Mechanism uint32
	P         float64
	Metres    float64
}

func (m *Module) radius(a accuracyArguments) (any, error) {
	mechanism, err := of[placed](m, a.Mechanism)
	if err != nil {
		return nil, err
	}
	return mechanism.Accuracy().Radius(a.P)
}

func (m *Module) confidence(a accuracyArguments) (any, error) {
	mechanism, err := of[placed](m, a.Mechanism)
	if err != nil {
		return nil, err
	}
	return mechanism.Accuracy().Confidence(a.Metres), nil
}

func (m *Module) retrieval(a accuracyArguments) (any, error) {
	mechanism, err := of[placed](m, a.Mechanism)
	if err != nil {
		return nil, err
	}
	return mechanism.Accuracy().RetrievalRadius(a.P, a.Metres)
}

// A point is a location in degrees.
type point struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

func (m *Module) prior(a struct {
	Domain uint32
	Places []struct {
		point
		Weight float64
	}
}) (any, error) {
	d, err := m.domains.Get(a.Domain)
	if err != nil {
		return nil, err
	}
	builder := planar.NewPriorBuilder(d)
	for _, p := range a.Places {
		builder.Add(p.Lat, p.Lon, p.Weight)
	}
	prior, err := builder.Prior()
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": m.priors.Add(prior)}, nil
}

// remap returns the best guess of the true location for a draw of laplace.
func (m *Module) remap(a struct {
	point
	Prior   uint32
	Epsilon float64
}) (any, error) {
	prior, err := m.priors.Get(a.Prior)
	if err != nil {
		return nil, err
	}
	lat, lon := prior.Remap(a.Epsilon, a.Lat, a.Lon)
	return point{lat, lon}, nil
}

// universe declares a universe.
func (m *Module) universe(a struct {
	Name         string
	Lo, Hi, Step float64
	Unit         budget.Unit
}) (any, error) {
	u, err := scalar.NewUniverse(a.Name, a.Lo, a.Hi, a.Step, a.Unit)
	if err != nil {
		return nil, err
	}
	return map[string]any{"handle": m.universes.Add(u), "text": u.String()}, nil
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

func (m *Module) value(a struct {
	Universe uint32
	Epsilon  float64
}) (any, error) {
	u, err := m.universes.Get(a.Universe)
	if err != nil {
		return nil, err
	}
	q, err := scalar.NewQuery(scalar.Value, u, budget.D1, budget.Decimal(a.Epsilon))
	if err != nil {
		return nil, err
	}
	return priced(m.drawers.Add(reading{q, new(scalar.Accumulator)}), q.Price()), nil
}

// within returns the radius of a reading.
func (m *Module) within(a accuracyArguments) (any, error) {
	q, err := of[reading](m, a.Mechanism)
	if err != nil {
		return nil, err
	}
	return q.Radius(a.P, 1)
}

// drop forgets a mechanism that JavaScript does not hold any more.
func (m *Module) drop(a struct{ Handle uint32 }) (any, error) {
	m.drawers.Drop(a.Handle)
	return nil, nil
}
