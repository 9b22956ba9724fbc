package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/internal/decimal"
)

// A Column holds the cells of one column of a batch. The zero value is empty.
// Copies share the cells. All text together is below 2 GiB.
type Column struct {
	text []byte
	ends []uint32 // for each cell: its end in text, doubled, plus 1 if it is NULL
}

// short is the length of cells that are copied in one piece.
const short = 16

// Append adds a cell. NULL is not the empty text.
func (c *Column) Append(text []byte) {
	if n := len(c.text); len(text) <= short && cap(text) >= short && cap(c.text)-n >= short {
		// To copy a fixed number of bytes takes half as long. What is too much is overwritten.
		*(*[short]byte)(c.text[n : n+short]) = [short]byte(text[:short])
		c.text = c.text[:n+len(text)]
	} else {
		c.text = append(c.text, text...)
	}
	c.end()
}

// AppendFunc adds a cell. The function add appends its text to the given text.
func (c *Column) AppendFunc(add func(text []byte) []byte) {
	c.text = add(c.text)
	c.end()
}

// AppendInteger adds a cell with a decimal integer.
func (c *Column) AppendInteger(v int64) {
	c.text = strconv.AppendInt(c.text, v, 10)
	c.end()
}

// AppendReal adds a cell with the shortest decimal that parses as v.
func (c *Column) AppendReal(v float64) {
	c.text = appendReal(c.text, v, 64)
	c.end()
}

// end makes a cell of the text after the last cell.
func (c *Column) end() { c.ends = append(c.ends, uint32(len(c.text))<<1) }

// AppendNull adds a cell that is NULL.
func (c *Column) AppendNull() { c.ends = append(c.ends, uint32(len(c.text))<<1|1) }

// At returns cell i. Its text is valid until the next Reset and must not be changed.
func (c *Column) At(i int) (text []byte, null bool) {
	start, end := uint32(0), c.ends[i]
	if i > 0 {
		start = c.ends[i-1] >> 1
	}
	return c.text[start : end>>1 : end>>1], end&1 != 0
}

// Text returns the concatenated text of all cells. It is valid until the next Reset and must
// not be changed.
func (c *Column) Text() []byte { return c.text }

// AppendSizes appends a varint for each cell: 0 for NULL, otherwise the length of its text
// plus one. The sizes and Text together determine the column.
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

// size returns the length of the text of cell i.
func (c *Column) size(i int) int {
	start := uint32(0)
	if i > 0 {
		start = c.ends[i-1] >> 1
	}
	return int(c.ends[i]>>1 - start)
}

// Len returns the number of cells.
func (c *Column) Len() int { return len(c.ends) }

// Reset empties the column and keeps its memory.
func (c *Column) Reset() { c.text, c.ends = c.text[:0], c.ends[:0] }

// Integer returns cell i of an Integer column. A blank cell is NULL. It reports false for a
// cell that is not an integer.
func (c *Column) Integer(i int) (v int64, null, ok bool) {
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
