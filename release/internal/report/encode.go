package report

import (
	"encoding/binary"
	"errors"
	"math"
)

var errEncoded = errors.New("report: counts of another map or histogram")

// MarshalBinary returns the counts, without the box.
func (g *Grid) MarshalBinary() ([]byte, error) { return appendCounts(nil, g.counts), nil }

// UnmarshalBinary sets the counts to those of a map of the same box.
func (g *Grid) UnmarshalBinary(text []byte) error { return readCounts(text, g.counts) }

// MarshalBinary returns the counts and the sum of the distances.
func (m *Moves) MarshalBinary() ([]byte, error) {
	sum := binary.BigEndian.AppendUint64(nil, math.Float64bits(m.sum))
	return appendCounts(sum, m.counts[:]), nil
}

// UnmarshalBinary sets the counts and the sum to those of a histogram for the same noise.
func (m *Moves) UnmarshalBinary(text []byte) error {
	if len(text) < 8 {
		return errEncoded
	}
	m.sum = math.Float64frombits(binary.BigEndian.Uint64(text))
	return readCounts(text[8:], m.counts[:])
}

// appendCounts appends counts. A run of zeros is a zero and its length.
func appendCounts(to []byte, counts []int64) []byte {
	for i := 0; i < len(counts); i++ {
		to = binary.AppendUvarint(to, uint64(counts[i]))
		if counts[i] != 0 {
			continue
		}
		from := i
		for i+1 < len(counts) && counts[i+1] == 0 {
			i++
		}
		to = binary.AppendUvarint(to, uint64(i-from+1))
	}
	return to
}

// readCounts reads exactly as many counts as there are.
func readCounts(text []byte, counts []int64) error {
	for i := 0; i < len(counts); i++ {
		n, size := binary.Uvarint(text)
		if size <= 0 || n > math.MaxInt64 {
			return errEncoded
		}
		text, counts[i] = text[size:], int64(n)
		if n > 0 {
			continue
		}
		run, size := binary.Uvarint(text)
		if size <= 0 || run == 0 || run > uint64(len(counts)-i) {
			return errEncoded
		}
		text = text[size:]
		clear(counts[i : i+int(run)])
		i += int(run) - 1
	}
	if len(text) > 0 {
		return errEncoded
	}
	return nil
}
