package planar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
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
