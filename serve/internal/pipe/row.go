package pipe

import (
	"encoding/binary"
	"math"

	"github.com/geosql/geosql/serve/internal/wire"
)

// An Encoder writes the values of rows into a frame. It implements wire.Row.
type Encoder struct {
	Frame  []byte
	Values int // of the row
}

// Null implements wire.Row, as all methods do.
func (e *Encoder) Null() { e.add(kindNull) }

// Int writes a number.
func (e *Encoder) Int(v int64) {
	e.add(kindInt)
	e.Frame = binary.AppendVarint(e.Frame, v)
}

// Float writes a floating-point number.
func (e *Encoder) Float(v float64) {
	e.add(kindFloat)
	e.Frame = binary.BigEndian.AppendUint64(e.Frame, math.Float64bits(v))
}

// Bool writes a truth value.
func (e *Encoder) Bool(v bool) {
	if v {
		e.add(kindTrue)
	} else {
		e.add(kindFalse)
	}
}

// Text writes text.
func (e *Encoder) Text(v string) {
	e.add(kindText)
	e.Frame = AppendBytes(e.Frame, v)
}

// TextBytes writes text.
func (e *Encoder) TextBytes(v []byte) {
	e.add(kindText)
	e.Frame = AppendBytes(e.Frame, v)
}

// Bytes writes a bytea.
func (e *Encoder) Bytes(v []byte) {
	e.add(kindBytes)
	e.Frame = AppendBytes(e.Frame, v)
}

func (e *Encoder) add(kind byte) {
	e.Frame = append(e.Frame, kind)
	e.Values++
}

// Row reads a row of so many columns, and writes it to another.
func (r *Reader) Row(columns int, to wire.Row) {
	for range columns {
		switch kind := r.Byte(); kind {
		case kindNull:
			to.Null()
		case kindInt:
			to.Int(r.Varint())
		case kindFloat:
			to.Float(math.Float64frombits(r.Uint64()))
		case kindTrue:
			to.Bool(true)
		case kindFalse:
			to.Bool(false)
		case kindText:
			to.TextBytes(r.Bytes())
		case kindBytes:
			to.Bytes(r.Bytes())
		default:
			r.fail("a value has the kind %q", kind)
		}
		if r.err != nil {
			return
		}
	}
}
