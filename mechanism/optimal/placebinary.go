package optimal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// placeVersion is the first byte of the binary form of a PlaceMechanism.
const placeVersion = 2

// placeHeader is the beginning of the binary form.
type placeHeader struct {
	Version    uint8
	Metric     Metric
	NameLength uint16
	Places     uint16
	Outputs    uint16
	Quality    Quality
	// The origin of the domain's lattice, in degrees, and its step, in metres, so that a
	// different domain of the same name is noticed.
	OriginLat, OriginLon, Step float64
	Epsilon, Dilation          float64
	Solved                     solved
}

// AppendBinary appends the mechanism in binary form, from which [ParsePlaceMechanism]
// restores it. It fails only for a domain with a name of more than 65,535 bytes. The form,
// with big-endian numbers, those of 8 bytes in IEEE 754 except for the cells:
//
//	version    2, a byte
//	metric     a byte
//	name       its length, 2 bytes
//	n          places, 2 bytes
//	outputs    2 bytes
//	quality    a byte
//	lattice    latitude and longitude of its origin, and its step, 8 bytes each
//	request    epsilon and dilation, 8 bytes each
//	solution   edges of the spanner, 4 bytes; its dilation, the gap, seconds, 8 bytes each
//	name       of the domain
//	cells      i and j of each place, 8 bytes each, two's complement
//	outputs    i and j of each, likewise
//	weights    8 bytes each
//	losses     if given: n rows of a number for each output, 8 bytes each
//	mechanism  as [Mechanism.AppendBinary] writes it
func (m *PlaceMechanism) AppendBinary(b []byte) ([]byte, error) {
	name := m.domain.Name()
	if len(name) > math.MaxUint16 {
		return nil, errors.New("domain has too long a name")
	}
	lat, lon := m.domain.Location(planar.Cell{})
	header := placeHeader{
		Version: placeVersion, Metric: m.metric, NameLength: uint16(len(name)), Places: uint16(m.Len()),
		Outputs: uint16(len(m.outputs.cells)), Quality: m.quality,
		OriginLat: lat, OriginLon: lon, Step: m.domain.Step(), Epsilon: m.epsilon, Dilation: m.dilation, Solved: m.solved,
	}
	parts := []any{header, []byte(name), m.cells, m.outputs.cells, m.weights}
	if m.quality == QualityGiven {
		for _, row := range m.losses {
			parts = append(parts, row)
		}
	}
	for _, part := range parts {
		var err error
		if b, err = binary.Append(b, binary.BigEndian, part); err != nil {
			return nil, err
		}
	}
	return m.certified.AppendBinary(b)
}

// ErrPlaceForm is the error for data that are not the binary form of a [PlaceMechanism].
var ErrPlaceForm = errors.New("not the binary form of a mechanism on places")

// ParsePlaceMechanism returns the mechanism with the binary form data. The function domain
// returns the domain of a name. Whatever the data, the mechanism is certified anew, and the
// unit of its charges follows from its distances alone, see [PlaceMechanism.Unit].
//
// The error is [ErrPlaceForm], one of domain or of [Parse], or says that the mechanism was
// made for another domain or for places outside its region.
func ParsePlaceMechanism(data []byte, domain func(name string) (*planar.Domain, error)) (*PlaceMechanism, error) {
	var header placeHeader
	n, err := binary.Decode(data, binary.BigEndian, &header)
	if err != nil || header.Version != placeVersion || header.Places > MaxPlaces || header.Outputs > MaxOutputs {
		return nil, ErrPlaceForm
	}
	data = data[n:]
	if len(data) < int(header.NameLength) {
		return nil, ErrPlaceForm
	}
	d, err := domain(string(data[:header.NameLength]))
	if err != nil {
		return nil, err
	}
	m := &PlaceMechanism{
		places:  places{d, make([]planar.Cell, header.Places)},
		outputs: places{d, make([]planar.Cell, header.Outputs)},
		metric:  header.Metric,
		quality: header.Quality,
		weights: make([]float64, header.Places),
		epsilon: header.Epsilon, dilation: header.Dilation, solved: header.Solved,
	}
	if err := m.parseBody(data[header.NameLength:]); err != nil {
		return nil, err
	}
	if err := m.check(header); err != nil {
		return nil, err
	}
	if m.quality != QualityGiven {
		m.losses = m.quality.losses(m.places, m.outputs)
	}
	if m.cost, err = budget.Cost(budget.Decimal(m.epsilon)); err != nil {
		return nil, err
	}
	m.derive()
	return m, nil
}

// parseBody parses the part after the domain's name.
func (m *PlaceMechanism) parseBody(data []byte) (err error) {
	parts := []any{m.cells, m.outputs.cells, m.weights}
	if m.quality == QualityGiven {
		m.losses = NewMatrix(len(m.cells), len(m.outputs.cells))
		for _, row := range m.losses {
			parts = append(parts, row)
		}
	}
	for _, part := range parts {
		n, err := binary.Decode(data, binary.BigEndian, part)
		if err != nil {
			return ErrPlaceForm
		}
		data = data[n:]
	}
	m.certified, err = Parse(data)
	return err
}

// check returns an error if a parsed mechanism, which is certified for its own epsilon and
// distances, is charged for others, or was made for another domain.
func (m *PlaceMechanism) check(header placeHeader) error {
	if m.metric > Given || m.quality > QualityGiven || !m.solved.finite() || !(m.dilation >= 1 && m.dilation <= math.MaxFloat64) || checkPrior(m.weights) != nil {
		return ErrPlaceForm
	}
	if !(m.epsilon > 0 && m.epsilon <= math.MaxFloat64) {
		return ErrPlaceForm
	}
	rate, err := exact.RateFloor(budget.Decimal(m.epsilon))
	if err != nil || m.certified.Epsilon() != rate || m.certified.Len() != m.Len() || m.certified.Outputs() != len(m.outputs.cells) {
		return ErrPlaceForm
	}
	if m.quality == QualityGiven && !m.losses.within(maxLoss) {
		return ErrPlaceForm
	}
	if !header.matches(m.domain) || !m.inOrder() || !m.outputs.inOrder() || !m.metric.fits(m.places, m.certified.Privacy()) {
		return fmt.Errorf("its distances are not those of places in this domain '%s'", m.domain.Name())
	}
	return m.checkAdmitted()
}

// matches reports whether the header's lattice is that of the domain.
func (h placeHeader) matches(d *planar.Domain) bool {
	const rounding = 2e-7 // degrees
	lat, lon := d.Location(planar.Cell{})
	return math.Abs(lat-h.OriginLat) <= rounding && math.Abs(lon-h.OriginLon) <= rounding && d.Step() == h.Step
}

// finite reports whether all numbers are finite.
func (s solved) finite() bool {
	for _, x := range []float64{s.Dilation, s.Gap, s.Seconds} {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}
