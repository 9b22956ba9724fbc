package planar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/geosql/geosql/internal/varint"
)

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

// ParsePrior returns the prior with the binary form data. The function domain returns the
// domain of a name; its errors are returned unchanged. It accepts only the output of AppendBinary.
// It does not check who wrote the data.
func ParsePrior(data []byte, domain func(name string) (*Domain, error)) (*Prior, error) {
	r := varint.New(data)
	r.Require(r.Byte() == priorVersion)
	name, places := string(r.Bytes(r.Uvarint())), r.Uvarint()
	if r.Failed() || places > uint64(r.Len())/10 {
		return nil, errPriorForm
	}
	on, err := domain(name)
	if err != nil {
		return nil, err
	}
	p := &Prior{domain: on}
	var before Cell
	for k := range places {
		place := weighted{Cell{before.I + r.Varint(), before.J + r.Varint()}, r.Float64()}
		inOrder := k == 0 || compareCells(before, place.Cell) < 0
		if !(place.weight > 0) || !inOrder || min(place.I, place.J) < -maxCell || max(place.I, place.J) > maxCell {
			return nil, errPriorForm
		}
		p.places, before = append(p.places, place), place.Cell
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
