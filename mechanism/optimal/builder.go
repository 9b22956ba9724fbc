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

// Errors of [Builder.Add] and [Builder.AddOutput].
var (
	ErrPlaceTwice  = errors.New("is already a place")
	ErrManyPlaces  = fmt.Errorf("is beyond the %d places of a mechanism", MaxPlaces)
	ErrWeights     = errors.New("has a weight that makes the sum of all weights overflow")
	ErrOutputTwice = errors.New("is already an output")
	ErrManyOutputs = fmt.Errorf("is beyond the %d outputs of a mechanism", MaxOutputs)
)

// A Builder collects the places of a [PlaceMechanism] and its outputs, in any order, and
// builds it. Its places, outputs, weights, distances and losses become public. It is not
// safe for concurrent use.
type Builder struct {
	domain    *planar.Domain
	metric    Metric
	quality   Quality
	weights   map[planar.Cell]float64
	sum       float64
	outputs   map[planar.Cell]bool
	distances given
	losses    given
}

// NewBuilder returns a Builder of mechanisms on lattice points of a domain. They are
// private by the metric, and optimal by the quality.
func NewBuilder(d *planar.Domain, m Metric, q Quality) *Builder {
	return &Builder{
		domain: d, metric: m, quality: q,
		weights: make(map[planar.Cell]float64), outputs: make(map[planar.Cell]bool),
		distances: newGivenDistances(), losses: newGivenLosses(),
	}
}

// Domain returns the domain that the places are in.
func (b *Builder) Domain() *planar.Domain { return b.domain }

// Metric returns the metric that the mechanism will have.
func (b *Builder) Metric() Metric { return b.metric }

// Quality returns the quality by which the mechanism will be optimal.
func (b *Builder) Quality() Quality { return b.quality }

// Len returns how many places there are.
func (b *Builder) Len() int { return len(b.weights) }

// Outputs returns how many outputs there are.
func (b *Builder) Outputs() int { return len(b.outputs) }

// Add adds a place, one of the secrets: the lattice point of a location, in degrees. Its
// weight in the prior must be finite and not negative. The error is [ErrPlaceTwice], [ErrManyPlaces] or
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

// AddOutput adds an output: the lattice point of a location, in degrees. It may be a place,
// too. The error is [ErrOutputTwice] or [ErrManyOutputs].
func (b *Builder) AddOutput(lat, lon float64) error {
	cell := b.domain.Cell(lat, lon)
	if b.outputs[cell] {
		return ErrOutputTwice
	}
	if len(b.outputs) == MaxOutputs {
		return ErrManyOutputs
	}
	b.outputs[cell] = true
	return nil
}

// AddDistances adds the distances from the place at a location, in degrees, to other
// places, for the metric [Given]. The text is a JSON array with [lat, lon, metres] of each;
// distances are above 0 and at most 1e9 metres, or 0 for the place itself. All distances,
// each given at least once and the same both ways, must form a metric, see
// [Builder.Build].
func (b *Builder) AddDistances(lat, lon float64, text []byte) error {
	return b.distances.add(b.domain, b.domain.Cell(lat, lon), text)
}

// AddLosses adds the losses of outputs for the place at a location, in degrees, for
// [QualityGiven]. The text is a JSON array with [lat, lon, loss] of each output; losses are
// 0 to 1e18. Without any, the losses are those of [Builder.AddDistances], and the outputs
// have to be the places.
func (b *Builder) AddLosses(lat, lon float64, text []byte) error {
	return b.losses.add(b.domain, b.domain.Cell(lat, lon), text)
}

// Build returns the mechanism with the least average loss that keeps epsilon
// per metre of the metric, by [Solve] with a dilation of at least 1. Epsilon is taken as
// the decimal that it prints as, and is never exceeded. The order in which places and
// outputs were added makes no difference.
//
// An error names a place or output outside the domain's region, says why the distances are
// not a metric on the places or which loss is missing, or is one of [budget.Cost], [Solve] or [New].
func (b *Builder) Build(ctx context.Context, epsilon, dilation float64) (*PlaceMechanism, error) {
	cost, err := budget.Cost(budget.Decimal(epsilon))
	if err != nil {
		return nil, err
	}
	m := &PlaceMechanism{
		places: sortedPlaces(b.domain, b.weights), outputs: sortedPlaces(b.domain, b.outputs),
		metric: b.metric, quality: b.quality, epsilon: epsilon, dilation: dilation, cost: cost,
	}
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

// sortedPlaces returns the keys of a map in the order of places.
func sortedPlaces[V any](d *planar.Domain, cells map[planar.Cell]V) places {
	return places{d, slices.SortedFunc(maps.Keys(cells), compareCells)}
}

// solve sets the losses, the certified mechanism and the solver's report of m.
func (b *Builder) solve(ctx context.Context, m *PlaceMechanism) error {
	rate, err := exact.RateFloor(budget.Decimal(m.epsilon))
	if err != nil {
		return err
	}
	privacy, err := b.privacy(m.places)
	if err != nil {
		return err
	}
	if m.losses, err = b.lossMatrix(m.places, m.outputs, privacy); err != nil {
		return err
	}
	began := time.Now()
	problem := Problem{Prior: m.weights, Quality: m.losses, Privacy: privacy, Epsilon: rate}
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

// privacy returns the distances that epsilon is per.
func (b *Builder) privacy(p places) (Matrix, error) {
	switch b.metric {
	case Manhattan:
		return p.manhattan(), nil
	case Given:
		return b.distances.metric(p)
	default:
		return p.privacy(), nil
	}
}

var errNoLosses = errors.New("quality must be given, since the metric's distances lead to places and not to all outputs")

// lossMatrix returns the losses of reporting outputs for places that are the given
// distances apart.
func (b *Builder) lossMatrix(p, outputs places, distances Matrix) (Matrix, error) {
	switch {
	case b.quality != QualityGiven:
		return b.quality.losses(p, outputs), nil
	case len(b.losses.numbers) > 0:
		return b.losses.matrix(p, outputs)
	case slices.Equal(p.cells, outputs.cells):
		return distances, nil
	default:
		return nil, errNoLosses
	}
}
