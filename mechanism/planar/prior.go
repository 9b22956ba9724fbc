package planar

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxPriorPlaces is how many places a [Prior] may have.
const MaxPriorPlaces = 1 << 20

// A Prior is a public belief about where people are: lattice points of a domain with
// weights, of which only ratios matter. It is immutable and safe for concurrent use.
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
// taken for the one that was drawn. Remapping only sees what was released: it costs nothing,
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

// A point is a position in the frame, in steps of the lattice.
type point struct{ x, y float64 }

func (a point) distance(b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// A mass is a point with a weight.
type mass struct {
	point
	weight float64
}

// negligible is how much less likely than the likeliest place, in natural logarithms, a place
// may be before it is left out. A million of them weigh less than 1e-9.
const negligible = 35

// posterior returns the places that count for a report, with weights of at most 1.
func (p *Prior) posterior(rate float64, z point) []mass {
	logs := make([]float64, len(p.places))
	likeliest := math.Inf(-1)
	for i, place := range p.places {
		logs[i] = math.Log(place.weight) - rate*z.distance(point{float64(place.I), float64(place.J)})
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

// medianOf returns a point whose weighted sum of distances to the masses is the least, to
// within a hundredth of a step: Weiszfeld's iteration with the step of Vardi and Zhang (The
// multivariate L1-median and associated data depth, 2000) at a mass, which never gets stuck.
func medianOf(masses []mass) point {
	at := meanOf(masses)
	for range 1000 {
		next := weiszfeld(masses, at)
		if next.distance(at) < 1e-4 {
			return next
		}
		at = next
	}
	return at
}

func meanOf(masses []mass) point {
	var sum point
	total := 0.0
	for _, m := range masses {
		sum.x, sum.y, total = sum.x+m.weight*m.x, sum.y+m.weight*m.y, total+m.weight
	}
	return point{sum.x / total, sum.y / total}
}

// weiszfeld returns the next point of the iteration.
func weiszfeld(masses []mass, at point) point {
	var sum, pull point // of masses over their distances, and of unit vectors
	total, here := 0.0, 0.0
	for _, m := range masses {
		distance := m.distance(at)
		if distance < 1e-9 {
			here += m.weight
			continue
		}
		w := m.weight / distance
		sum.x, sum.y, total = sum.x+w*m.x, sum.y+w*m.y, total+w
		pull.x, pull.y = pull.x+w*(m.x-at.x), pull.y+w*(m.y-at.y)
	}
	strength := math.Hypot(pull.x, pull.y)
	if total == 0 || strength <= here {
		return at // a mass outweighs all others
	}
	stay := here / strength
	return point{(1-stay)*sum.x/total + stay*at.x, (1-stay)*sum.y/total + stay*at.y}
}

// priorVersion is the first byte of a prior's binary form.
const priorVersion = 1

// AppendBinary appends the prior in binary form, from which [ParsePrior] restores it. It never
// fails. The form, varints being those of encoding/binary:
//
//	version      1, a byte
//	length name  of the domain: a varint, bytes
//	places       their number, a varint, then for each in the order of cells
//	  I J        zigzag varints, each less that of the place before
//	  weight     8 bytes, IEEE 754 big-endian
func (p *Prior) AppendBinary(b []byte) ([]byte, error) {
	name := p.domain.Name()
	b = append(b, priorVersion)
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.AppendUvarint(b, uint64(len(p.places)))
	var before Cell
	for _, place := range p.places {
		b = binary.AppendVarint(b, place.I-before.I)
		b = binary.AppendVarint(b, place.J-before.J)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(place.weight))
		before = place.Cell
	}
	return b, nil
}

var errPriorForm = errors.New("not the binary form of a prior")

// ParsePrior returns the prior whose binary form is data. The function domain returns the
// domain of a name; its errors are returned unchanged. It accepts only what AppendBinary
// writes. It does not check who wrote the data.
func ParsePrior(data []byte, domain func(name string) (*Domain, error)) (*Prior, error) {
	r := bytes.NewReader(data)
	name, places, err := readPriorHeader(r)
	if err != nil {
		return nil, errPriorForm
	}
	on, err := domain(name)
	if err != nil {
		return nil, err
	}
	p := &Prior{domain: on}
	var at Cell
	for range places {
		place, err := readPlace(r, at)
		if err != nil || len(p.places) > 0 && compareCells(at, place.Cell) >= 0 {
			return nil, errPriorForm
		}
		p.places, at = append(p.places, place), place.Cell
	}
	if p.check() != nil {
		return nil, errPriorForm
	}
	// A prior has one form: no number is longer than necessary, and nothing follows.
	if again, _ := p.AppendBinary(nil); !bytes.Equal(again, data) {
		return nil, errPriorForm
	}
	return p, nil
}

func readPriorHeader(r *bytes.Reader) (name string, places uint64, err error) {
	version, err := r.ReadByte()
	if err != nil || version != priorVersion {
		return "", 0, errPriorForm
	}
	length, err := binary.ReadUvarint(r)
	if err != nil || length > uint64(r.Len()) {
		return "", 0, errPriorForm
	}
	text := make([]byte, length)
	_, _ = r.Read(text)
	places, err = binary.ReadUvarint(r)
	if err != nil || places > uint64(r.Len())/10 {
		return "", 0, errPriorForm
	}
	return string(text), places, nil
}

// readPlace reads a place, given the lattice point of the one before.
func readPlace(r *bytes.Reader, before Cell) (place weighted, err error) {
	i, err := binary.ReadVarint(r)
	if err != nil {
		return weighted{}, err
	}
	j, err := binary.ReadVarint(r)
	if err != nil {
		return weighted{}, err
	}
	var bits [8]byte
	if n, _ := r.Read(bits[:]); n < len(bits) {
		return weighted{}, errPriorForm
	}
	place = weighted{Cell{before.I + i, before.J + j}, math.Float64frombits(binary.BigEndian.Uint64(bits[:]))}
	if !(place.weight > 0) || min(place.I, place.J) < -maxCell || max(place.I, place.J) > maxCell {
		return weighted{}, errPriorForm
	}
	return place, nil
}
