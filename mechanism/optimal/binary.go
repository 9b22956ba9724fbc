package optimal

import (
	"encoding/binary"
	"errors"
	"math"
)

// formatVersion is the first byte of a mechanism's binary form.
const formatVersion = 2

// headerSize is the size of the version, the numbers of places and outputs, and epsilon.
const headerSize = 1 + 2 + 2 + 8

// AppendBinary appends the mechanism in binary form, from which [Parse] restores it.
// It never fails. The form, all numbers big-endian:
//
//	version    2, a byte
//	n          places, 2 bytes
//	outputs    2 bytes
//	epsilon    8 bytes, IEEE 754
//	distances  dX(x,x') for x < x', row by row, 8 bytes each, IEEE 754
//	weights    n rows, each of a number for each output, 8 bytes each
func (m *Mechanism) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, formatVersion)
	b = binary.BigEndian.AppendUint16(b, uint16(m.Len()))
	b = binary.BigEndian.AppendUint16(b, uint16(m.outputs))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.epsilon))
	for x, row := range m.privacy {
		for _, d := range row[x+1:] {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(d))
		}
	}
	for _, w := range m.weights {
		b = binary.BigEndian.AppendUint64(b, w)
	}
	return b, nil
}

var errForm = errors.New("not the binary form of an optimal mechanism")

// Parse returns the mechanism with the binary form data. It accepts only the output of AppendBinary,
// and certifies the weights again: whatever the origin of the data, the mechanism
// keeps its epsilon, although it may not be useful.
func Parse(data []byte) (*Mechanism, error) {
	if len(data) < headerSize || data[0] != formatVersion {
		return nil, errForm
	}
	n, outputs := int(binary.BigEndian.Uint16(data[1:])), int(binary.BigEndian.Uint16(data[3:]))
	if len(data) != headerSize+8*(n*(n-1)/2)+8*n*outputs {
		return nil, errForm
	}
	epsilon := math.Float64frombits(binary.BigEndian.Uint64(data[5:]))
	data = data[headerSize:]
	next := func() uint64 {
		v := binary.BigEndian.Uint64(data)
		data = data[8:]
		return v
	}
	privacy := NewMatrix(n, n)
	for x := range n {
		for z := x + 1; z < n; z++ {
			d := math.Float64frombits(next())
			privacy[x][z], privacy[z][x] = d, d
		}
	}
	if err := checkPrivacy(epsilon, privacy, n); err != nil {
		return nil, err
	}
	if err := checkOutputs(outputs); err != nil {
		return nil, err
	}
	weights := make([]uint64, n*outputs)
	for i := range weights {
		weights[i] = next()
	}
	return newCertified(newCertifier(epsilon, privacy), epsilon, privacy, weights)
}
