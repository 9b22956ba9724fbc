package varint

import (
	"encoding/binary"
	"math"
	"testing"
)

// What was appended is read, and whatever is cut off the end, the reader fails and reads zeros from then on.
func TestReader(t *testing.T) {
	data := binary.AppendUvarint([]byte{7}, 300)
	data = binary.AppendVarint(data, -5)
	data = append(data, "text"...)
	data = binary.BigEndian.AppendUint64(data, math.Float64bits(0.1))
	for n := range len(data) + 1 {
		r := New(data[:n])
		first, limited, signed, text, real := r.Byte(), r.Below(301), r.Varint(), string(r.Bytes(4)), r.Float64()
		whole := first == 7 && limited == 300 && signed == -5 && text == "text" && real == 0.1
		if r.Failed() != (n < len(data)) || whole != (n == len(data)) || r.Len() != 0 {
			t.Errorf("%d bytes: %v %v %v %q %v, failed %v", n, first, limited, signed, text, real, r.Failed())
		}
		if r.Failed() && (r.Uvarint() != 0 || r.Float64() != 0) {
			t.Errorf("%d bytes: after a failure it reads on", n)
		}
	}
}

// A requirement that is not met is a failure, and so is a number that reaches its limit, or has too many bytes.
func TestReaderFails(t *testing.T) {
	for name, read := range map[string]func(r *Reader){
		"requirement": func(r *Reader) { r.Require(false) },
		"limit":       func(r *Reader) { r.Below(200) },
		"overflow":    func(r *Reader) { r.Byte(); r.Byte(); r.Uvarint() },
	} {
		r := New(append([]byte{200, 1}, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1))
		if read(r); !r.Failed() || r.Len() != 0 {
			t.Errorf("%s is no failure", name)
		}
	}
}
