package optimal

import (
	"slices"
	"sync"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/planar"
)

// A PlaceMechanism is a [Mechanism] from places of a domain to outputs there, which mostly
// are the same places, with the prior and the losses for which it is optimal. All of it is
// public. [Builder.Build] and [ParsePlaceMechanism] return one. It
// is immutable and safe for concurrent use with a Source per goroutine.
type PlaceMechanism struct {
	places
	outputs   places
	metric    Metric
	quality   Quality
	losses    Matrix    // of reporting outputs for places
	weights   []float64 // of the prior
	epsilon   float64   // per metre, as requested
	dilation  float64   // as requested
	solved    solved
	cost      budget.Amount
	certified *Mechanism

	// Set by derive from the above.
	metres  bool         // the distances are lower bounds of geodesics
	points  [][2]float64 // lat, lon of the outputs as released
	guesses func() []int // the best guess for each output
}

// solved is the solver's report on its solution. No promise rests on it.
type solved struct {
	Edges    uint32 // of the spanner
	Dilation float64
	Gap      float64
	Seconds  float64
}

// derive computes the fields that follow from the certified mechanism.
func (m *PlaceMechanism) derive() {
	m.metres = m.belowGeodesics(m.certified.Privacy())
	m.points = make([][2]float64, len(m.outputs.cells))
	for output, cell := range m.outputs.cells {
		m.points[output][0], m.points[output][1] = m.domain.Location(cell)
	}
	m.guesses = sync.OnceValue(func() []int { return Remap(m.weights, m.certified.Matrix(), m.losses) })
}

// Domain returns the domain with the lattice points of places and outputs.
func (m *PlaceMechanism) Domain() *planar.Domain { return m.domain }

// Len returns the number of places.
func (m *PlaceMechanism) Len() int { return len(m.cells) }

// Snap returns the place that represents a location, in degrees: the nearest in the frame,
// whatever the metric, since distances between places say nothing about other locations.
func (m *PlaceMechanism) Snap(lat, lon float64) int { return m.nearest(m.domain.Cell(lat, lon)) }

// Middle returns the output nearest to the middle of the domain's box.
func (m *PlaceMechanism) Middle() int { return m.outputs.nearest(m.domain.Cell(m.domain.Centre())) }

// Location returns the released coordinates of an output, in degrees.
func (m *PlaceMechanism) Location(output int) (lat, lon float64) {
	return m.points[output][0], m.points[output][1]
}

// Output returns the output that is released with these coordinates, in degrees. It reports
// false if there is none.
func (m *PlaceMechanism) Output(lat, lon float64) (output int, released bool) {
	output = m.outputs.nearest(m.domain.Cell(lat, lon))
	return output, m.points[output] == [2]float64{lat, lon}
}

// Remap returns the output that loses least on average for a listener who has received an
// output and knows the prior, see the function of that name.
func (m *PlaceMechanism) Remap(output int) int { return m.guesses()[output] }

// Cost returns the cost of a draw, per [PlaceMechanism.Unit]: epsilon as requested, as a
// decimal.
func (m *PlaceMechanism) Cost() budget.Amount { return m.cost }

// Unit returns the unit in which draws of the mechanism are charged under the given name.
//
// # Privacy
//
// It is certified that an answer is at most e^(epsilon*d) times as likely from one place as
// from another at distance d, where d is one of the mechanism's own distances. If none of
// these is longer than the geodesic, that is at most epsilon per metre, and counts towards
// the budget of everything charged per metre. Otherwise places may be near each other and
// yet far apart by those distances: the bound is for another metric, says nothing in
// metres, and has a budget of its own. A mechanism never changes, so the unit has one
// meaning. (If a name is used again for another mechanism, the spent epsilon bounds the longer
// of both distances.)
//
// The unit follows from the certified weights and the domain alone, not from anything else
// in the stored form.
func (m *PlaceMechanism) Unit(name string) budget.Unit {
	if m.metres {
		return budget.Metre
	}
	return budget.Metre + ":" + budget.Unit(name)
}

// Loss returns the average loss, see the function of that name.
func (m *PlaceMechanism) Loss() float64 {
	return Loss(m.weights, m.certified.Matrix(), m.losses)
}

// LossUnit returns the unit of the losses: "m", "m2", or "" for numbers without one. The metres of losses that were not
// given are those of the domain's frame.
func (m *PlaceMechanism) LossUnit() string {
	switch {
	case m.quality == QualitySquared:
		return "m2"
	case m.quality == QualityBinary, m.quality == QualityGiven && !m.losses.equal(m.certified.privacy):
		return ""
	default:
		return "m"
	}
}

// SameRequest reports whether two mechanisms were built from the same domain, places,
// outputs, weights, distances, losses, epsilon and dilation. Their matrices may differ, for
// example by how a processor rounds.
func (m *PlaceMechanism) SameRequest(o *PlaceMechanism) bool {
	return m.domain == o.domain && m.epsilon == o.epsilon && m.dilation == o.dilation &&
		m.metric == o.metric && m.quality == o.quality &&
		slices.Equal(m.cells, o.cells) && slices.Equal(m.outputs.cells, o.outputs.cells) && slices.Equal(m.weights, o.weights) &&
		(m.metric != Given || m.certified.privacy.equal(o.certified.privacy)) &&
		(m.quality != QualityGiven || m.losses.equal(o.losses))
}

// checkAdmitted returns an error that names a place or an output outside the domain's
// region, if there is one.
func (m *PlaceMechanism) checkAdmitted() error {
	if err := m.places.checkAdmitted("place"); err != nil {
		return err
	}
	return m.outputs.checkAdmitted("output")
}

// Info describes a mechanism on places of a domain. Losses and errors are averages over
// the prior, in the unit of the quality.
type Info struct {
	Domain           string // name of the domain
	Places, Outputs  int
	Metric           Metric
	Quality          Quality
	Epsilon          float64 // per metre, as requested
	CertifiedEpsilon float64
	Dilation         float64 // of the spanner, as requested
	TrueDilation     float64 // actual dilation of the spanner
	Constraints      int64   // of the solver
	Gap              float64 // relative, to the least possible loss
	Loss             float64
	AdversaryError   float64 // the rest of the loss if outputs are remapped by the prior
	Farthest         float64 // metres from a location of the domain to its place, at most
	Seconds          float64 // duration of the solution
}

// Info returns the request and the result.
func (m *PlaceMechanism) Info() Info {
	return Info{
		Domain: m.domain.Name(), Places: m.Len(), Outputs: m.certified.Outputs(), Metric: m.metric, Quality: m.quality,
		Epsilon: m.epsilon, CertifiedEpsilon: m.certified.Epsilon(),
		Dilation: m.dilation, TrueDilation: m.solved.Dilation,
		// Two on each edge of the spanner, for each output.
		Constraints:    2 * int64(m.solved.Edges) * int64(m.certified.Outputs()),
		Gap:            m.solved.Gap,
		Loss:           m.Loss(),
		AdversaryError: AdversaryError(m.weights, m.certified.Matrix(), m.losses),
		Farthest:       m.farthest(),
		Seconds:        m.solved.Seconds,
	}
}
