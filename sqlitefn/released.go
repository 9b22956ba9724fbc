package sqlitefn

import (
	"encoding/binary"
	"errors"
	"math"
)

// Released is a released answer, as a ledger remembers it and as it travels between processes: a byte that says what
// it is, and the value. Nil is NULL.
//
//	f and 8 bytes   a number, IEEE 754, big endian
//	i and 8 bytes   a whole number, big endian
//	t and text      a text
//	p and 16 bytes  a location: latitude and longitude in degrees, as two f
type Released []byte

// An answer is what a function over sealed values answers. The zero answer is NULL.
type answer struct {
	kind   answerKind
	number float64
	whole  int64
	text   []byte
	place  [2]float64 // latitude and longitude
}

// An answerKind is the first byte of a Released.
type answerKind byte

const (
	nothing    answerKind = 0
	ofNumber   answerKind = 'f'
	ofWhole    answerKind = 'i'
	ofText     answerKind = 't'
	ofLocation answerKind = 'p'
)

// released returns the answer as bytes.
func (a answer) released() Released {
	b := []byte{byte(a.kind)}
	switch a.kind {
	case ofNumber:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(a.number))
	case ofWhole:
		return binary.BigEndian.AppendUint64(b, uint64(a.whole))
	case ofText:
		return append(b, a.text...)
	case ofLocation:
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(a.place[0]))
		return binary.BigEndian.AppendUint64(b, math.Float64bits(a.place[1]))
	}
	return nil
}

var errReleased = errors.New("an answer was remembered, or sent, in a form that is not known")

// answer returns the answer that was released.
func (r Released) answer() (a answer, err error) {
	if len(r) == 0 {
		return answer{}, nil
	}
	a.kind = answerKind(r[0])
	r = r[1:]
	switch {
	case a.kind == ofNumber && len(r) == 8:
		a.number = math.Float64frombits(binary.BigEndian.Uint64(r))
	case a.kind == ofWhole && len(r) == 8:
		a.whole = int64(binary.BigEndian.Uint64(r))
	case a.kind == ofText:
		a.text = r
	case a.kind == ofLocation && len(r) == 16:
		a.place[0] = math.Float64frombits(binary.BigEndian.Uint64(r))
		a.place[1] = math.Float64frombits(binary.BigEndian.Uint64(r[8:]))
	default:
		return answer{}, errReleased
	}
	return a, nil
}

// answerScalar sets the result of a scalar form to its answer.
func (f *function) answerScalar(c call) error {
	a, err := f.answer(c)
	if err == nil {
		c.result(a)
	}
	return err
}

// result sets the result of a call to an answer. A location is WKT.
func (c call) result(a answer) {
	switch a.kind {
	case ofNumber:
		c.ResultFloat(0, a.number)
	case ofWhole:
		c.ResultInt(0, a.whole)
	case ofText:
		c.ResultText(0, a.text)
	case ofLocation:
		c.resultPoint(0, a.place[0], a.place[1])
	}
}
