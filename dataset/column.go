package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/geosql/geosql/internal/decimal"
)

// A Column holds the cells of one column of a batch: texts, or numbers if the format has them. The
// zero value is empty, for texts. Copies share the cells. All text together is below 2 GiB.
type Column struct {
	kind Kind

	text []byte   // of Text
	ends []uint32 // for each cell: its end in text, doubled, plus 1 if it is NULL

	integers []int64   // of Integer
	reals    []float64 // of Real
	null     []bool    // for each number

	printed []byte // the number that At has printed
}

// Kind is the type of the cells. Texts may spell numbers: the meaning of a column of a data set is
// in its [Field].
func (c *Column) Kind() Kind { return c.kind }

// short is the length of cells that are copied in one piece.
const short = 16

// Append adds a cell to a column of texts. NULL is not the empty text.
func (c *Column) Append(text []byte) {
	if n := len(c.text); len(text) <= short && cap(text) >= short && cap(c.text)-n >= short {
		// To copy a fixed number of bytes takes half as long. Excess bytes are overwritten.
		*(*[short]byte)(c.text[n : n+short]) = [short]byte(text[:short])
		c.text = c.text[:n+len(text)]
	} else {
		c.text = append(c.text, text...)
	}
	c.end()
}

// AppendFunc adds a cell to a column of texts. The function add appends its text to the given
// text.
func (c *Column) AppendFunc(add func(text []byte) []byte) {
	c.text = add(c.text)
	c.end()
}

// AppendInteger adds a cell with an integer, to a column of integers or as a text.
func (c *Column) AppendInteger(v int64) {
	if c.kind == Integer {
		c.integers, c.null = append(c.integers, v), append(c.null, false)
		return
	}
	c.text = strconv.AppendInt(c.text, v, 10)
	c.end()
}

// AppendReal adds a cell with a number, to a column of reals or as a text, which is the shortest
// decimal that parses as v.
func (c *Column) AppendReal(v float64) {
	if c.kind == Real {
		c.reals, c.null = append(c.reals, v), append(c.null, false)
		return
	}
	c.text = appendReal(c.text, v, 64)
	c.end()
}

// end makes a cell of the text after the last cell.
func (c *Column) end() { c.ends = append(c.ends, uint32(len(c.text))<<1) }

// AppendNull adds a cell that is NULL.
func (c *Column) AppendNull() {
	switch c.kind {
	case Integer:
		c.integers, c.null = append(c.integers, 0), append(c.null, true)
	case Real:
		c.reals, c.null = append(c.reals, 0), append(c.null, true)
	default:
		c.ends = append(c.ends, uint32(len(c.text))<<1|1)
	}
}

// AppendCell adds cell i of a column of the same kind, or of any kind to a column of texts.
func (c *Column) AppendCell(from *Column, i int) {
	switch {
	case from.Null(i):
		c.AppendNull()
	case c.kind == Integer:
		c.AppendInteger(from.integers[i])
	case c.kind == Real:
		c.AppendReal(from.reals[i])
	default:
		text, _ := from.At(i)
		c.Append(text)
	}
}

// At returns the text of cell i. It is valid until the next Reset, that of a number only until the
// next At, and must not be changed.
func (c *Column) At(i int) (text []byte, null bool) {
	if c.kind != Text {
		return c.print(i), c.null[i]
	}
	return c.textAt(i)
}

// textAt returns cell i of a column of texts. Unlike At it is inlined.
func (c *Column) textAt(i int) (text []byte, null bool) {
	start, end := uint32(0), c.ends[i]
	if i > 0 {
		start = c.ends[i-1] >> 1
	}
	return c.text[start : end>>1 : end>>1], end&1 != 0
}

// Null reports whether cell i is NULL.
func (c *Column) Null(i int) bool {
	if c.kind != Text {
		return c.null[i]
	}
	return c.ends[i]&1 != 0
}

// print returns the text of the number in cell i.
func (c *Column) print(i int) []byte {
	c.printed = c.printed[:0]
	if !c.null[i] {
		c.printed = c.appendNumber(c.printed, i)
	}
	return c.printed
}

// appendNumber appends the text of the number in cell i.
func (c *Column) appendNumber(text []byte, i int) []byte {
	if c.kind == Integer {
		return strconv.AppendInt(text, c.integers[i], 10)
	}
	return appendReal(text, c.reals[i], 64)
}

// Texts returns a column with the text of each cell: the column itself, or to, filled with the
// numbers' texts.
func (c *Column) Texts(to *Column) *Column {
	if c.kind == Text {
		return c
	}
	to.Reset(Text)
	text, ends := to.text, slices.Grow(to.ends, len(c.null))
	for i, null := range c.null {
		if null {
			ends = append(ends, uint32(len(text))<<1|1)
			continue
		}
		text = c.appendNumber(text, i)
		ends = append(ends, uint32(len(text))<<1)
	}
	to.text, to.ends = text, ends
	return to
}

// isUTF8 reports whether all cells of a column of texts are UTF-8: all of them together are, and none
// begins within a character. That takes a fraction of the time of a look at each.
func (c *Column) isUTF8() bool {
	if !utf8.Valid(c.text) {
		return false
	}
	for _, end := range c.ends {
		if next := int(end >> 1); next < len(c.text) && !utf8.RuneStart(c.text[next]) {
			return false
		}
	}
	return true
}

// Text returns the concatenated text of all cells of a column of texts. It is valid until the next
// Reset and must not be changed.
func (c *Column) Text() []byte { return c.text }

// AppendSizes appends a varint for each cell of a column of texts: 0 for NULL, otherwise the length
// of its text plus one. The sizes and Text together determine the column.
func (c *Column) AppendSizes(to []byte) []byte {
	start := uint32(0)
	for _, end := range c.ends {
		size := end>>1 - start + 1
		if end&1 != 0 {
			size = 0
		}
		to = binary.AppendUvarint(to, uint64(size))
		start = end >> 1
	}
	return to
}

// AppendBinary appends the cells in a form that tells columns apart which differ in a cell, or in the kind
// of their cells. It is not kept: other versions may have another.
func (c *Column) AppendBinary(to []byte) []byte {
	to = slices.Grow(to, 1+len(c.text)+4*len(c.ends)+9*len(c.null))
	to = append(to, byte(c.kind))
	for _, end := range c.ends {
		to = binary.LittleEndian.AppendUint32(to, end)
	}
	to = append(to, c.text...)
	for _, v := range c.integers {
		to = binary.LittleEndian.AppendUint64(to, uint64(v))
	}
	for _, v := range c.reals {
		to = binary.LittleEndian.AppendUint64(to, math.Float64bits(v))
	}
	for _, null := range c.null {
		bit := byte(0)
		if null {
			bit = 1
		}
		to = append(to, bit)
	}
	return to
}

// longestNumber is the length of the longest text of a number.
const longestNumber = 25 // such as -0.0000012345678901234567

// most returns a length that the text of all cells does not exceed.
func (c *Column) most() int { return len(c.text) + longestNumber*len(c.null) }

// size returns the length of the text of cell i.
func (c *Column) size(i int) int {
	text, _ := c.At(i)
	return len(text)
}

// Len returns the number of cells.
func (c *Column) Len() int { return len(c.ends) + len(c.null) }

// Reset empties the column, sets the kind of its next cells, and keeps its memory.
func (c *Column) Reset(kind Kind) {
	c.kind = kind
	c.text, c.ends = c.text[:0], c.ends[:0]
	c.integers, c.reals, c.null = c.integers[:0], c.reals[:0], c.null[:0]
}

// Integer returns cell i of an Integer column. A blank cell is NULL. It reports false for a
// cell that is not an integer.
func (c *Column) Integer(i int) (v int64, null, ok bool) {
	if c.kind == Integer {
		return c.integers[i], c.null[i], true
	}
	text, null := c.At(i)
	if v, ok := decimal.Integer(text); ok {
		return v, false, true
	}
	if text = bytes.Trim(text, " \t"); null || len(text) == 0 {
		return 0, true, true
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	return v, false, err == nil
}

// Real returns cell i of a Real column. A blank cell is NULL. It reports false for a cell
// that is not a number.
func (c *Column) Real(i int) (v float64, null, ok bool) {
	if c.kind == Real {
		return c.reals[i], c.null[i], true
	}
	text, null := c.At(i)
	if v, ok := decimal.Real(text); ok {
		return v, false, true
	}
	if text = bytes.Trim(text, " \t"); null || len(text) == 0 {
		return 0, true, true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, false, err == nil && !bytes.ContainsAny(text, "xX_")
}

// MisfitError returns the error that cell i is not of a kind, without the place of the cell.
func (c *Column) MisfitError(i int, kind Kind) error {
	text, _ := c.At(i)
	what := "UTF-8 text"
	switch kind {
	case Integer:
		what = "a 64-bit integer"
	case Real:
		what = "a number"
	}
	return fmt.Errorf("%.40q is not %s", text, what)
}

// appendReal appends the shortest decimal that parses as v. If v is finite, it is also a
// valid number in JSON.
func appendReal(out []byte, v float64, bits int) []byte {
	if bits == 64 {
		if out, ok := decimal.AppendReal(out, v); ok {
			return out
		}
	}
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(out, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(out, v, 'f', -1, bits)
}
