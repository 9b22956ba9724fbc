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
	// Secret marks the columns with lengths of text that must not influence where a batch ends,
	// except by cells of more than LongestSecret bytes. Reset keeps it. nil marks none.
	Secret []bool

	lines   []int64 // the lines of the rows in the file; empty if their numbers tell the place
	numbers []int64 // the numbers of the rows in the data set, from 1; empty if they are those from First on

	weighed int // number of rows with text that is in weight
	weight  int // bytes of text, without secrets
}

// LongestSecret is the maximum number of bytes of a secret cell that does not count. It bounds
// the memory of such cells.
const LongestSecret = 64

// Len returns the number of rows.
func (r *Rows) Len() int {
	if len(r.Columns) == 0 {
		return 0
	}
	return r.Columns[0].Len()
}

// Reset empties the batch and sets its number of columns, which are of texts until they are reset
// themselves. It keeps their memory.
func (r *Rows) Reset(first int64, columns int) {
	r.First = first
	r.Columns = slices.Grow(r.Columns[:0], columns)[:columns]
	for i := range r.Columns {
		r.Columns[i].Reset(Text)
	}
	r.lines, r.numbers = r.lines[:0], r.numbers[:0]
	r.weighed, r.weight = 0, 0
}

// most returns a length that the text of all cells does not exceed.
func (r *Rows) most() (length int) {
	for c := range r.Columns {
		length += r.Columns[c].most()
	}
	return length
}

// Full reports whether the rows have as much text as a batch may have. A number counts as its text.
// The cells of secret columns do not count unless they are too long.
func (r *Rows) Full() bool {
	if r.most() < maxText {
		return false
	}
	// Rows are weighed one by one only if they may have enough text with the secret cells.
	for ; r.weighed < r.Len(); r.weighed++ {
		for c := range r.Columns {
			secret := c < len(r.Secret) && r.Secret[c]
			if secret && r.Columns[c].kind != Text { // no number is too long
				continue
			}
			if size := r.Columns[c].size(r.weighed); !secret || size > LongestSecret {
				r.weight += size
			}
		}
	}
	return r.weight >= maxText
}

// Where returns the place of row i for messages: "line 17" for a CSV file, in which a row
// may have several lines, otherwise "row 16". Both count from 1.
func (r *Rows) Where(i int) string {
	switch {
	case len(r.lines) > 0:
		return fmt.Sprintf("line %d", r.lines[i])
	case len(r.numbers) > 0:
		return fmt.Sprintf("row %d", r.numbers[i])
	}
	return fmt.Sprintf("row %d", r.First+int64(i)+1)
}

// MisfitError returns the error that a cell of row i is not of its field's kind.
func (r *Rows) MisfitError(i, column int, field Field) error {
	return fmt.Errorf("%s, column %s: %w", r.Where(i), printable.Text(field.Name), r.Columns[column].MisfitError(i, field.Kind))
}
