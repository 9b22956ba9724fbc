package table

import (
	"fmt"
	"slices"
)

// A Column holds the cells of one column of a batch. The zero value is empty.
// Copies share the cells. All text together is below 2 GiB.
type Column struct {
	text []byte
	ends []uint32 // of each cell: where it ends in text, doubled, plus 1 if it is NULL
}

// Append adds a cell. NULL is not the empty text.
func (c *Column) Append(text []byte) {
	c.text = append(c.text, text...)
	c.end()
}

// end makes a cell of the text behind the last one.
func (c *Column) end() { c.ends = append(c.ends, uint32(len(c.text))<<1) }

// AppendNull adds a cell that is NULL.
func (c *Column) AppendNull() { c.ends = append(c.ends, uint32(len(c.text))<<1|1) }

// At is cell i. Its text is valid until the next Reset and must not be changed.
func (c *Column) At(i int) (text []byte, null bool) {
	start, end := uint32(0), c.ends[i]
	if i > 0 {
		start = c.ends[i-1] >> 1
	}
	return c.text[start : end>>1 : end>>1], end&1 != 0
}

// Len is the number of cells.
func (c *Column) Len() int { return len(c.ends) }

// Reset empties the column and keeps its memory.
func (c *Column) Reset() { c.text, c.ends = c.text[:0], c.ends[:0] }

// Rows is a batch of rows.
type Rows struct {
	First   int64    // number of its first row in the data set, from 0
	Columns []Column // all of the same length

	places []int64 // of the rows that do not stand at their number
	lines  bool    // places are lines of a file
}

// Len is the number of rows.
func (r *Rows) Len() int {
	if len(r.Columns) == 0 {
		return 0
	}
	return r.Columns[0].Len()
}

// Reset empties the batch, gives it a number of columns and keeps their memory.
func (r *Rows) Reset(first int64, columns int) {
	r.First = first
	r.Columns = slices.Grow(r.Columns[:0], columns)[:columns]
	for i := range r.Columns {
		r.Columns[i].Reset()
	}
	r.places, r.lines = r.places[:0], false
}

// Place says that the next row, for which that was not said yet, stands where row i
// of another batch does. Without it a row stands at its number.
func (r *Rows) Place(from *Rows, i int) {
	r.places, r.lines = append(r.places, from.place(i)), from.lines
}

func (r *Rows) place(i int) int64 {
	if i < len(r.places) {
		return r.places[i]
	}
	return r.First + int64(i) + 1
}

// Where tells people where row i stands: "line 17" of a CSV file, where a row may
// have several lines, otherwise "row 16", counted from 1.
func (r *Rows) Where(i int) string {
	if r.lines {
		return fmt.Sprintf("line %d", r.place(i))
	}
	return fmt.Sprintf("row %d", r.place(i))
}
