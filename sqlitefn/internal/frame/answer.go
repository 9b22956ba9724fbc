package frame

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/geosql/geosql/internal/sqlite"
)

// Released is a released answer, as a ledger remembers it and as it travels between processes: a byte for its
// type, and the value. Nil is NULL.
//
//	f and 8 bytes   a number, IEEE 754, big endian
//	i and 8 bytes   a whole number, big endian
//	t and text      a text
//	p and 16 bytes  a location: latitude and longitude in degrees, as two f
type Released []byte

// An Answer is the result of a release, which may travel between processes. The zero answer is NULL.
type Answer struct {
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

// Encode returns the answer as bytes.
func (a Answer) Encode() Released {
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

// ParseAnswer returns the answer that was released.
func ParseAnswer(r Released) (a Answer, err error) {
	if len(r) == 0 {
		return Answer{}, nil
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
		return Answer{}, errReleased
	}
	return a, nil
}

// LocationAnswer returns an answer that is a location.
func LocationAnswer(lat, lon float64) Answer {
	return Answer{kind: ofLocation, place: [2]float64{lat, lon}}
}

// NumberAnswer returns an answer that is a number.
func NumberAnswer(x float64) Answer { return Answer{kind: ofNumber, number: x} }

// WholeAnswer returns an answer that is a whole number.
func WholeAnswer(n int64) Answer { return Answer{kind: ofWhole, whole: n} }

// TextAnswer returns an answer that is a text.
func TextAnswer(b []byte) Answer { return Answer{kind: ofText, text: b} }

// Number returns the number that the answer is, and false if it is something else.
func (a Answer) Number() (x float64, is bool) {
	switch a.kind {
	case ofNumber:
		return a.number, true
	case ofWhole:
		return float64(a.whole), true
	}
	return 0, false
}

// Complete gives a function that has an answer its scalar form, and a table-valued one if it has columns, which are
// those of a location.
func (f *Function) Complete() {
	if f.Answer == nil {
		return
	}
	f.Scalar = f.answerScalar
	if f.Columns != nil {
		f.Table = func(*Session) Cursor { return locationCursor{f.Answer} }
	}
}

// answerScalar sets the result of a scalar form to the answer.
func (f *Function) answerScalar(c Call) error {
	return c.Result(f.Answer(c))
}

// LocationColumns lists the columns of the table-valued form of a function that answers a location.
var LocationColumns = []string{"lat REAL", "lon REAL", "wkt TEXT"}

// locationCursor is the table-valued form of such a function: one row per call, of NULLs where there is no answer.
type locationCursor struct {
	answer func(Call) (Answer, error)
}

func (l locationCursor) Filter(c Call, used uint) (sqlite.Rows, error) {
	a, err := l.answer(c)
	if err != nil {
		return sqlite.NoRow, err
	}
	if a.kind != ofLocation {
		return sqlite.LastRow, nil
	}
	c.ResultFloat(0, a.place[0])
	c.ResultFloat(1, a.place[1])
	if used&(1<<2) != 0 {
		c.ResultPoint(2, a.place[0], a.place[1])
	}
	return sqlite.LastRow, nil
}

func (locationCursor) Next(Call) (sqlite.Rows, error) { return sqlite.NoRow, nil }
func (locationCursor) Close()                         {}

// Result sets the result of a call to an answer, unless there is an error, which it returns. A location is WKT.
func (c Call) Result(a Answer, err error) error {
	if err != nil {
		return err
	}
	switch a.kind {
	case ofNumber:
		c.ResultFloat(0, a.number)
	case ofWhole:
		c.ResultInt(0, a.whole)
	case ofText:
		c.ResultText(0, a.text)
	case ofLocation:
		c.ResultPoint(0, a.place[0], a.place[1])
	}
	return nil
}
