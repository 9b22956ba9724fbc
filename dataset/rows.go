package dataset

import (
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/printable"
)

// Rows is a batch of rows.
type Rows struct {
	First   int64    // number of its first row in the data set, from 0
	Columns []Column // all of the same length
	// Secret says of which columns the length of the text must not show in where a batch
	// ends, unless a cell has more than LongestSecret bytes. Reset keeps it; nil is none.
	Secret []bool

	lines []int64 // of a file that the rows stand at; empty if their numbers say where

	weighed int // rows whose text is in weight
	weight  int // bytes of text that end a batch
}

// LongestSecret is how many bytes a cell of a secret column may have that does not count.
// It bounds their memory.
const LongestSecret = 64

// Len returns the number of rows.
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
	r.lines = r.lines[:0]
	r.weighed, r.weight = 0, 0
}

// text returns the length of the text of all cells.
func (r *Rows) text() (length int) {
	for c := range r.Columns {
		length += len(r.Columns[c].text)
	}
	return length
}

// Full reports whether the rows have as much text as a batch may have. The cells of secret
// columns do not count, but for those that are too long.
func (r *Rows) Full() bool {
	if r.text() < maxText {
		return false
	}
	// Only rows whose text is as much with the secret cells are weighed one by one.
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

// Where returns what tells people where row i stands: "line 17" of a CSV file, where a row
// may have several lines, otherwise "row 16", counted from 1.
func (r *Rows) Where(i int) string {
	if len(r.lines) > 0 {
		return fmt.Sprintf("line %d", r.lines[i])
	}
	return fmt.Sprintf("row %d", r.First+int64(i)+1)
}

// MisfitError returns the error about a cell of row i that is not of its field's kind.
func (r *Rows) MisfitError(i, column int, field Field) error {
	return fmt.Errorf("%s, column %s: %w", r.Where(i), printable.Text(field.Name), r.Columns[column].MisfitError(i, field.Kind))
}
