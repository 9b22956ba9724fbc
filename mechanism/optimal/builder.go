package optimal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// Errors of [Builder.Add].
var (
	ErrPlaceTwice = errors.New("is already a place")
	ErrManyPlaces = fmt.Errorf("is beyond the %d places of a mechanism", MaxPlaces)
	ErrWeights    = errors.New("has a weight that makes the sum of all weights overflow")
)

// A Builder collects the places of a [PlaceMechanism], in any order, and builds it. Its
// places, weights and distances become public. It is not safe for concurrent use.
type Builder struct {
	domain  *planar.Domain
	metric  Metric
	weights map[planar.Cell]float64
	sum     float64
	given   givenDistances
}

// NewBuilder returns a Builder of mechanisms on lattice points of a domain.
func NewBuilder(d *planar.Domain, m Metric) *Builder {
	return &Builder{domain: d, metric: m, weights: make(map[planar.Cell]float64), given: make(givenDistances)}
}

// Domain returns the domain that the places are in.
func (b *Builder) Domain() *planar.Domain { return b.domain }

// Metric returns the metric that the mechanism will have.
func (b *Builder) Metric() Metric { return b.metric }

// Len returns how many places there are.
func (b *Builder) Len() int { return len(b.weights) }

// Add adds a place: the lattice point of a location, in degrees. Its weight in the prior
// must be finite and above 0. The error is [ErrPlaceTwice], [ErrManyPlaces] or
// [ErrWeights].
func (b *Builder) Add(lat, lon, weight float64) error {
	cell := b.domain.Cell(lat, lon)
	if _, twice := b.weights[cell]; twice {
		return ErrPlaceTwice
	}
	if len(b.weights) == MaxPlaces {
		return ErrManyPlaces
	}
	if math.IsInf(b.sum+weight, 0) {
		return ErrWeights
	}
	b.sum += weight
	b.weights[cell] = weight
	return nil
}

// AddDistances adds the distances from the place at a location, in degrees, to other
// places, for the metric [Given]. The text is a JSON array with [lat, lon, metres] of each;
// distances are above 0 and at most 1e9 metres, or 0 for the place itself. All distances,
// each given at least once and the same both ways, must form a metric, see
// [Builder.Build].
func (b *Builder) AddDistances(lat, lon float64, text []byte) error {
	return b.given.add(b.domain, b.domain.Cell(lat, lon), text)
}

// Build returns the mechanism that loses least on average among those that keep epsilon
// per metre of the metric, by [Solve] with a dilation of at least 1. Epsilon is taken as
// the decimal that it prints as, and is never exceeded. The order in which the places were
// added makes no difference.
//
// An error names a place outside the domain's region, says why the distances are not a
// metric on the places, or is one of [budget.Cost], [Solve] or [New].
func (b *Builder) Build(ctx context.Context, epsilon, dilation float64) (*PlaceMechanism, error) {
	cost, err := budget.Cost(budget.Decimal(epsilon))
	if err != nil {
		return nil, err
	}
	m := &PlaceMechanism{places: b.places(), metric: b.metric, epsilon: epsilon, dilation: dilation, cost: cost}
	if err := m.checkAdmitted(); err != nil {
		return nil, err
	}
	for _, cell := range m.cells {
		m.weights = append(m.weights, b.weights[cell])
	}
	if err := b.solve(ctx, m); err != nil {
		return nil, err
	}
	m.derive()
	return m, nil
}

// places returns the places in order.
func (b *Builder) places() places {
	return places{b.domain, slices.SortedFunc(maps.Keys(b.weights), compareCells)}
}

// solve sets the certified mechanism of m, and what the solver says about it.
func (b *Builder) solve(ctx context.Context, m *PlaceMechanism) error {
	rate, err := exact.RateFloor(budget.Decimal(m.epsilon))
	if err != nil {
		return err
	}
	privacy, quality, err := b.distances(m.places)
	if err != nil {
		return err
	}
	began := time.Now()
	problem := Problem{Prior: m.weights, Quality: quality, Privacy: privacy, Epsilon: rate}
	solution, err := Solve(ctx, problem, Options{Dilation: m.dilation})
	if err != nil {
		return err
	}
	if m.certified, err = New(rate, privacy, solution.Matrix); err != nil {
		return err
	}
	m.solved = solved{
		Edges: uint32(solution.Edges), Dilation: solution.Dilation, Gap: solution.Gap(), Seconds: time.Since(began).Seconds(),
	}
	return nil
}

// distances returns the distances that epsilon is per, and the losses.
func (b *Builder) distances(p places) (privacy, quality Matrix, err error) {
	switch b.metric {
	case Manhattan:
		privacy = p.manhattan()
	case Given:
		privacy, err = b.given.matrix(p)
	default:
		return p.privacy(), p.quality(), nil
	}
	return privacy, privacy, err
}
