package postgres

import (
	"encoding/binary"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// A statement is SQL with its arguments: int64, string, []byte, slices of these and of places and hashes, columns, nil.
type statement struct {
	sql  string
	args []any
}

// queue adds a statement to a batch. Its arguments go in binary form, but for texts, which may
// stand for values of any type.
func (s *statement) queue(b *pgconn.Batch) {
	values := make([][]byte, len(s.args))
	formats := make([]int16, len(s.args))
	for i, arg := range s.args {
		values[i], formats[i] = encode(arg)
	}
	b.ExecParams(s.sql, values, nil, formats, binaryResults)
}

const (
	textFormat   = 0
	binaryFormat = 1
)

var binaryResults = []int16{binaryFormat}

// OIDs of the elements of arrays.
const (
	byteaOID = 17
	int8OID  = 20
	textOID  = 25
	tidOID   = 27
)

// column goes to the server as one element if all are equal.
type column[E int64 | string] []E

// short returns the elements that are sent.
func (c column[E]) short() []E {
	for _, v := range c {
		if v != c[0] {
			return c
		}
	}
	return c[:min(1, len(c))]
}

// A place is where a row is in its table, the tid of the server.
type place [6]byte

// encode returns an argument as it goes to the server.
func encode(arg any) (value []byte, format int16) {
	switch v := arg.(type) {
	case nil:
		return nil, binaryFormat
	case string:
		return notNil([]byte(v)), textFormat
	case []byte:
		return notNil(v), binaryFormat
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), binaryFormat
	case bool:
		return []byte{boolByte(v)}, binaryFormat
	case column[int64]:
		return encode(v.short())
	case column[string]:
		return encode(v.short())
	case []int64:
		b := appendArray(make([]byte, 0, 20+12*len(v)), int8OID, len(v))
		for _, n := range v {
			b = binary.BigEndian.AppendUint32(b, 8)
			b = binary.BigEndian.AppendUint64(b, uint64(n))
		}
		return b, binaryFormat
	case []string:
		size := 20
		for _, s := range v {
			size += 4 + len(s)
		}
		b := appendArray(make([]byte, 0, size), textOID, len(v))
		for _, s := range v {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
			b = append(b, s...)
		}
		return b, binaryFormat
	case [][32]byte:
		b := appendArray(make([]byte, 0, 20+36*len(v)), byteaOID, len(v))
		for i := range v {
			b = binary.BigEndian.AppendUint32(b, 32)
			b = append(b, v[i][:]...)
		}
		return b, binaryFormat
	case []place:
		b := appendArray(make([]byte, 0, 20+10*len(v)), tidOID, len(v))
		for i := range v {
			b = binary.BigEndian.AppendUint32(b, uint32(len(v[i])))
			b = append(b, v[i][:]...)
		}
		return b, binaryFormat
	}
	panic(fmt.Sprintf("postgres: an argument is a %T", arg))
}

// notNil returns an empty value in place of nil, which stands for NULL.
func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// appendArray appends the head of an array of n elements that are not NULL.
func appendArray(b []byte, element uint32, n int) []byte {
	if n == 0 {
		b = binary.BigEndian.AppendUint32(b, 0)
		b = binary.BigEndian.AppendUint32(b, 0)
		return binary.BigEndian.AppendUint32(b, element)
	}
	for _, v := range [...]uint32{1, 0, element, uint32(n), 1} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// decodeInts reads a bigint[] of any dimensions, without NULL, as one slice.
func decodeInts(b []byte) ([]int64, error) {
	b, err := elements(b, int8OID, 8)
	if err != nil {
		return nil, err
	}
	numbers := make([]int64, len(b)/12)
	for i := range numbers {
		numbers[i] = int64(binary.BigEndian.Uint64(b[12*i+4:]))
	}
	return numbers, nil
}

// decodePlaces reads a tid[] without NULL.
func decodePlaces(b []byte) ([]place, error) {
	b, err := elements(b, tidOID, len(place{}))
	if err != nil {
		return nil, err
	}
	places := make([]place, len(b)/10)
	for i := range places {
		copy(places[i][:], b[10*i+4:])
	}
	return places, nil
}

// elements returns the elements of an array, each behind its size, which all have.
func elements(b []byte, element uint32, size int) ([]byte, error) {
	const head = 12
	if len(b) < head || binary.BigEndian.Uint32(b[8:]) != element {
		return nil, errAnswer
	}
	dimensions := binary.BigEndian.Uint32(b)
	if dimensions > 6 || len(b) < head+8*int(dimensions) {
		return nil, errAnswer
	}
	b = b[head+8*dimensions:]
	if len(b)%(4+size) != 0 {
		return nil, errAnswer
	}
	for i := 0; i < len(b); i += 4 + size {
		if binary.BigEndian.Uint32(b[i:]) != uint32(size) {
			return nil, errAnswer
		}
	}
	return b, nil
}

// decodeInt reads a bigint.
func decodeInt(b []byte) (int64, error) {
	if len(b) != 8 {
		return 0, errAnswer
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}
