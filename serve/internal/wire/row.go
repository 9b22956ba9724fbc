package wire

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Row takes the values of one row, in order. TextBytes and Bytes do not keep the slice.
type Row interface {
	Null()
	Int(v int64) // a column of floating-point numbers or booleans takes it too
	Float(v float64)
	Bool(v bool)
	Text(v string) // or the text form of a value whose type has no other method
	TextBytes(v []byte)
	Bytes(v []byte) // a bytea
}

// A rowEncoder encodes the values of a row into the connection's buffer for the type of the column and in the format that
// the client has chosen. It implements [Row].
type rowEncoder struct {
	columns []rowColumn
	next    int // the column that the next value is for
	err     error

	buf   []byte
	start int // of the row's message in buf
	copy  *Copy
	text  []byte // of a value that COPY has to escape
}

type rowColumn struct {
	name   string
	kind   kind
	oid    uint32
	binary bool
}

func newRow(columns []Column, formats []int16) *rowEncoder {
	r := &rowEncoder{columns: make([]rowColumn, len(columns))}
	for i, c := range columns {
		r.columns[i] = rowColumn{name: c.Name, kind: kindOf(c.OID), oid: c.OID, binary: formats != nil && formats[i] == 1}
	}
	return r
}

// begin begins a message at the end of buf.
func (r *rowEncoder) begin(buf []byte) {
	r.start, r.next, r.err = len(buf), 0, nil
	if r.copy != nil {
		r.buf = append(buf, 'd', 0, 0, 0, 0)
		return
	}
	r.buf = append(buf, 'D', 0, 0, 0, 0, 0, 0)
	binary.BigEndian.PutUint16(r.buf[r.start+5:], uint16(len(r.columns)))
}

// end completes the message and returns buf with it.
func (r *rowEncoder) end() ([]byte, error) {
	if r.err == nil && r.next != len(r.columns) {
		r.err = fmt.Errorf("a row has %d values for %d columns", r.next, len(r.columns))
	}
	if r.err == nil && r.copy != nil {
		r.buf = append(r.buf, '\n')
	}
	if r.err == nil && len(r.buf)-r.start > maxRow {
		r.err = newError("54000", "a row is larger than 1 GB")
	}
	if r.err != nil {
		return r.buf[:r.start], r.err
	}
	binary.BigEndian.PutUint32(r.buf[r.start+1:], uint32(len(r.buf)-r.start-1))
	return r.buf, nil
}

// maxRow is the size of a message that clients take.
const maxRow = 1 << 30

// column returns the column that the next value is for.
func (r *rowEncoder) column() *rowColumn {
	if r.next == len(r.columns) {
		if r.err == nil {
			r.err = fmt.Errorf("a row has more than %d values", len(r.columns))
		}
		return &rowColumn{kind: kindOther}
	}
	c := &r.columns[r.next]
	if r.copy != nil && r.next > 0 {
		r.buf = append(r.buf, r.copy.delimiter())
	}
	r.next++
	return c
}

// mismatch notes that a value is not of its column's type.
func (r *rowEncoder) mismatch(c *rowColumn, value string) {
	if r.err == nil {
		r.err = newError("42804", fmt.Sprintf("column %q has %s, which is not of its type", c.name, value))
	}
}

// open leaves room for the length of a value and returns where it is. close puts it there.
func (r *rowEncoder) open() int {
	if r.copy != nil {
		r.text = r.text[:0]
		r.buf, r.text = r.text, r.buf // values are written to buf, and then escaped
		return 0
	}
	r.buf = append(r.buf, 0, 0, 0, 0)
	return len(r.buf)
}

func (r *rowEncoder) close(at int) {
	if r.copy != nil {
		r.buf, r.text = r.text, r.buf
		r.buf = r.copy.appendValue(r.buf, r.text, len(r.columns) == 1)
		return
	}
	binary.BigEndian.PutUint32(r.buf[at-4:], uint32(len(r.buf)-at))
}

// Null implements Row.
func (r *rowEncoder) Null() {
	r.column()
	if r.copy != nil {
		r.buf = append(r.buf, r.copy.null()...)
		return
	}
	r.buf = append(r.buf, 0xff, 0xff, 0xff, 0xff)
}

// Int implements Row.
func (r *rowEncoder) Int(v int64) {
	c := r.column()
	switch c.kind {
	case kindFloat4, kindFloat8:
		r.float(c, float64(v))
		return
	case kindBool:
		r.bool(c, v != 0)
		return
	case kindBytea, kindArray:
		r.mismatch(c, "a number")
	}
	if !c.kind.fits(v) {
		r.mismatch(c, strconv.FormatInt(v, 10))
	}
	at := r.open()
	switch {
	case !c.binary || c.kind == kindText:
		r.buf = strconv.AppendInt(r.buf, v, 10)
	case c.kind == kindNumeric:
		r.buf, _ = appendNumeric(r.buf, strconv.FormatInt(v, 10))
	default:
		r.buf = appendInt(r.buf, c.kind, v)
	}
	r.close(at)
}

// Float writes a floating-point number.
func (r *rowEncoder) Float(v float64) {
	r.float(r.column(), v)
}

func (r *rowEncoder) float(c *rowColumn, v float64) {
	bits := 64
	switch c.kind {
	case kindFloat4:
		bits = 32
	case kindFloat8, kindText, kindOther, kindNumeric:
	default:
		r.mismatch(c, strconv.FormatFloat(v, 'g', -1, 64))
	}
	at := r.open()
	switch {
	case !c.binary || c.kind == kindText:
		r.buf = appendFloat(r.buf, v, bits)
	case c.kind == kindNumeric:
		r.buf, _ = appendNumeric(r.buf, strconv.FormatFloat(v, 'f', -1, 64))
	default:
		r.buf = appendBits(r.buf, c.kind, v)
	}
	r.close(at)
}

// appendInt appends the binary form of a whole number of a kind.
func appendInt(buf []byte, k kind, v int64) []byte {
	switch k {
	case kindInt2:
		return binary.BigEndian.AppendUint16(buf, uint16(v))
	case kindInt8:
		return binary.BigEndian.AppendUint64(buf, uint64(v))
	}
	return binary.BigEndian.AppendUint32(buf, uint32(v)) // int4 and oid
}

// appendBits appends the binary form of a floating-point number of a kind.
func appendBits(buf []byte, k kind, v float64) []byte {
	if k == kindFloat4 {
		return binary.BigEndian.AppendUint32(buf, math.Float32bits(float32(v)))
	}
	return binary.BigEndian.AppendUint64(buf, math.Float64bits(v))
}

// appendFloat writes a number as PostgreSQL does: the shortest digits that say it, with an exponent below 1e-4 and
// from 1e15 on (1e6 for float4).
func appendFloat(buf []byte, v float64, bits int) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(buf, "Infinity"...)
	case math.IsInf(v, -1):
		return append(buf, "-Infinity"...)
	}
	large := 1e15
	if bits == 32 {
		large = 1e6
	}
	if abs := math.Abs(v); abs != 0 && (abs < 1e-4 || abs >= large) {
		return strconv.AppendFloat(buf, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(buf, v, 'f', -1, bits)
}

// appendNumeric writes a decimal number as the protocol has numerics in binary: groups of four digits, the
// weight of the first, a sign, and the number of digits behind the point. It reports false if the text is none.
func appendNumeric(buf []byte, text string) ([]byte, bool) {
	const positive, negative, nan, infinity, minusInfinity = 0x0000, 0x4000, 0xC000, 0xD000, 0xF000
	header := func(groups, weight, sign, scale int) {
		for _, v := range []int{groups, weight, sign, scale} {
			buf = binary.BigEndian.AppendUint16(buf, uint16(v))
		}
	}
	switch text {
	case "NaN":
		header(0, 0, nan, 0)
		return buf, true
	case "+Inf":
		header(0, 0, infinity, 0)
		return buf, true
	case "-Inf":
		header(0, 0, minusInfinity, 0)
		return buf, true
	}
	sign := positive
	digits, minus := strings.CutPrefix(text, "-")
	if minus {
		sign = negative
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole+fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" || len(digits) > 1000 {
		return buf, false
	}
	scale := len(fraction)
	whole = strings.TrimLeft(whole, "0")
	whole = strings.Repeat("0", (4-len(whole)%4)%4) + whole
	fraction += strings.Repeat("0", (4-len(fraction)%4)%4)
	weight, all := len(whole)/4-1, whole+fraction
	for strings.HasPrefix(all, "0000") {
		all, weight = all[4:], weight-1
	}
	for strings.HasSuffix(all, "0000") {
		all = all[:len(all)-4]
	}
	if all == "" {
		weight, sign = 0, positive
	}
	header(len(all)/4, weight, sign, scale)
	for ; all != ""; all = all[4:] {
		group, _ := strconv.Atoi(all[:4])
		buf = binary.BigEndian.AppendUint16(buf, uint16(group))
	}
	return buf, true
}

// Bool writes a truth value.
func (r *rowEncoder) Bool(v bool) {
	r.bool(r.column(), v)
}

func (r *rowEncoder) bool(c *rowColumn, v bool) {
	switch c.kind {
	case kindBool, kindText, kindOther:
	default:
		r.mismatch(c, "a truth value")
	}
	at := r.open()
	switch {
	case c.binary && c.kind == kindBool && v:
		r.buf = append(r.buf, 1)
	case c.binary && c.kind == kindBool:
		r.buf = append(r.buf, 0)
	case v:
		r.buf = append(r.buf, 't')
	default:
		r.buf = append(r.buf, 'f')
	}
	r.close(at)
}

// Text writes text, or the text form of a value if its type has no other method.
func (r *rowEncoder) Text(v string) {
	writeText(r, v, strings.IndexByte(v, 0) < 0 && utf8.ValidString(v))
}

// TextBytes is Text of bytes. It does not keep v.
func (r *rowEncoder) TextBytes(v []byte) {
	writeText(r, v, validText(v))
}

func writeText[T string | []byte](r *rowEncoder, v T, valid bool) {
	c := r.column()
	if c.kind != kindText && c.kind != kindOther && c.kind != kindArray && (c.kind != kindNumeric || c.binary) {
		r.mismatch(c, "text")
	}
	if !valid && r.err == nil {
		r.err = newError("22021", fmt.Sprintf("column %q has text that is not UTF-8, or holds a zero byte", c.name))
	}
	at := r.open()
	if c.binary && c.kind == kindArray {
		var ok bool
		if r.buf, ok = appendArray(r.buf, string(v), elements[c.oid]); !ok {
			r.mismatch(c, "the text "+strconv.Quote(string(v)))
		}
	} else {
		r.buf = append(r.buf, v...)
	}
	r.close(at)
}

// Bytes writes a bytea. It does not keep v.
func (r *rowEncoder) Bytes(v []byte) {
	c := r.column()
	switch c.kind {
	case kindBytea, kindText, kindOther:
	default:
		r.mismatch(c, "a blob")
	}
	at := r.open()
	if c.binary && c.kind == kindBytea {
		r.buf = append(r.buf, v...)
	} else {
		r.buf = append(r.buf, `\x`...)
		r.buf = hex.AppendEncode(r.buf, v)
	}
	r.close(at)
}
