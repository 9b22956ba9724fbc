package dataset

import (
	"encoding/binary"
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

// AppendFunc adds a cell: the text that add appends to what it is given.
func (c *Column) AppendFunc(add func(text []byte) []byte) {
	c.text = add(c.text)
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

// Text is that of all cells, one after the other, valid as that of one is.
func (c *Column) Text() []byte { return c.text }

// AppendSizes appends a varint for each cell, 0 for NULL and else one more than the
// length of its text. With Text they are all that a column holds.
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

// size is the length of the text of cell i.
func (c *Column) size(i int) int {
	start := uint32(0)
	if i > 0 {
		start = c.ends[i-1] >> 1
	}
	return int(c.ends[i]>>1 - start)
}

// Len is the number of cells.
func (c *Column) Len() int { return len(c.ends) }

// Reset empties the column and keeps its memory.
func (c *Column) Reset() { c.text, c.ends = c.text[:0], c.ends[:0] }

// Rows is a batch of rows.
type Rows struct {
	First   int64    // number of its first row in the data set, from 0
	Columns []Column // all of the same length
	// Secret says of which columns the length of the text must not show in where a batch
	// ends, unless a cell has more than LongestSecret bytes. Reset keeps it; nil is none.
	Secret []bool

	places []int64 // of the rows that do not stand at their number
	lines  bool    // places are lines of a file

	weighed int // rows whose text is in weight
	weight  int // bytes of text that end a batch
}

// LongestSecret is how long a cell of a secret column may be that does not count. It
// bounds their memory.
const LongestSecret = 64

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
	r.weighed, r.weight = 0, 0
}

// text is the length of the text of all cells.
func (r *Rows) text() (length int) {
	for c := range r.Columns {
		length += len(r.Columns[c].text)
	}
	return length
}

// full reports whether the rows have as much text as a batch may have. Only when all of
// it is as much the rows are weighed one by one.
func (r *Rows) full() bool {
	if r.text() < maxText {
		return false
	}
	for ; r.weighed < r.Len(); r.weighed++ {
		for c := range r.Columns {
			size := r.Columns[c].size(r.weighed)
			if c < len(r.Secret) && r.Secret[c] && size <= LongestSecret {
				continue
			}
			r.weight += size
		}
	}
	return r.weight >= maxText
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
