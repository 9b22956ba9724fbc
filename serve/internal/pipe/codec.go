package pipe

import (
	"encoding/binary"
	"math"

	"github.com/geosql/geosql/internal/sqlite"
)

// A Reader reads the contents of a frame. After the first error, every method returns zero and Err the error.
type Reader struct {
	b   []byte
	err error
}

// NewReader returns a reader of a frame.
func NewReader(frame []byte) *Reader { return &Reader{b: frame} }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// More reports whether anything is left to be read.
func (r *Reader) More() bool { return r.err == nil && len(r.b) > 0 }

// End returns the first error, or that something is left.
func (r *Reader) End() error {
	if r.err == nil && len(r.b) > 0 {
		r.fail("a frame has %d bytes too many", len(r.b))
	}
	return r.err
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = Violation(format, args...)
	}
	r.b = nil
}

// take returns the next n bytes, or nil if there are not as many.
func (r *Reader) take(n int) []byte {
	if n > len(r.b) {
		r.fail("a frame ends too early")
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads a number of 4 bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a number of 8 bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Varint reads the form of binary.AppendVarint.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail("a number is cut off")
		return 0
	}
	r.b = r.b[n:]
	return v
}

// Bytes reads a length and as many bytes, which are part of the frame.
func (r *Reader) Bytes() []byte {
	length, n := binary.Uvarint(r.b)
	if n <= 0 || length > uint64(len(r.b)-n) {
		r.fail("a value is cut off")
		return nil
	}
	r.b = r.b[n:]
	return r.take(int(length))
}

// Rest reads all that is left.
func (r *Reader) Rest() []byte { return r.take(len(r.b)) }

// AppendBytes appends a length and the bytes.
func AppendBytes[T string | []byte](buf []byte, b T) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(b))), b...)
}

// AppendUint32 appends a number of 4 bytes.
func AppendUint32(buf []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(buf, n) }

// Kinds of values.
const (
	kindSame  = '=' // an argument that equals that of the row before
	kindNull  = 'n'
	kindInt   = 'i'
	kindFloat = 'f'
	kindTrue  = 't'
	kindFalse = 'u'
	kindText  = 's'
	kindBytes = 'b'
)

// AppendArguments appends values that SQLite passes to a function.
func AppendArguments(buf []byte, args []sqlite.Value) []byte {
	for i := range args {
		buf = appendArgument(buf, &args[i])
	}
	return buf
}

func appendArgument(buf []byte, v *sqlite.Value) []byte {
	switch v.Type() {
	case sqlite.Integer:
		return binary.BigEndian.AppendUint64(append(buf, kindInt), uint64(v.Int()))
	case sqlite.Float:
		return binary.BigEndian.AppendUint64(append(buf, kindFloat), math.Float64bits(v.Float()))
	case sqlite.Text:
		return AppendBytes(append(buf, kindText), v.Bytes())
	case sqlite.Blob:
		return AppendBytes(append(buf, kindBytes), v.Bytes())
	}
	return append(buf, kindNull)
}

// Arguments reads arguments of a function into values, which point into the frame. Arguments equal to the ones of the row
// before stay as they are, which is allowed only if again is set.
func (r *Reader) Arguments(values []sqlite.Value, again bool) {
	for i := range values {
		switch kind := r.Byte(); kind {
		case kindSame:
			if !again {
				r.fail("the first row of a frame has an argument of the row before")
			}
		case kindNull:
			values[i].SetNull()
		case kindInt:
			values[i].SetInt(int64(r.Uint64()))
		case kindFloat:
			values[i].SetFloat(math.Float64frombits(r.Uint64()))
		case kindText:
			values[i].SetText(r.Bytes())
		case kindBytes:
			values[i].SetBlob(r.Bytes())
		default:
			r.fail("an argument has the kind %q", kind)
		}
		if r.err != nil {
			return
		}
	}
}

// AppendParameter appends a parameter of a statement: nil, an int64, a float64, a bool, a string or a []byte.
func AppendParameter(buf []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(buf, kindNull), nil
	case int64:
		return binary.BigEndian.AppendUint64(append(buf, kindInt), uint64(v)), nil
	case float64:
		return binary.BigEndian.AppendUint64(append(buf, kindFloat), math.Float64bits(v)), nil
	case bool:
		if v {
			return append(buf, kindTrue), nil
		}
		return append(buf, kindFalse), nil
	case string:
		return AppendBytes(append(buf, kindText), v), nil
	case []byte:
		return AppendBytes(append(buf, kindBytes), v), nil
	}
	return nil, Violation("a parameter has the type %T", v)
}

// Parameter reads a parameter.
func (r *Reader) Parameter() any {
	switch kind := r.Byte(); kind {
	case kindNull:
	case kindInt:
		return int64(r.Uint64())
	case kindFloat:
		return math.Float64frombits(r.Uint64())
	case kindTrue:
		return true
	case kindFalse:
		return false
	case kindText:
		return string(r.Bytes())
	case kindBytes:
		return append([]byte{}, r.Bytes()...)
	default:
		r.fail("a parameter has the kind %q", kind)
	}
	return nil
}
