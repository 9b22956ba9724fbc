package dataset

import (
	"io"
	"slices"
)

// MostRepeats is the largest number of times that [Repeat] reads a row.
const MostRepeats = 1_000_000

// Repeat returns a reader of the same data set that reads each row as often as its cell in a column says, from 0 to
// [MostRepeats], each time with 1 in that column, as if the data set had so many rows. A row with another cell there is read once, as
// it is. The column must be among the columns that are read.
func Repeat(r Reader, column int) Reader { return &repeated{Reader: r, column: column} }

type repeated struct {
	Reader
	column int // in the data set
	at     int // among the columns that are read
	read   int64

	rows Rows  // of the data set
	next int   // row of them
	left int64 // how often the row before it is still to be read
	one  bool  // whether that row has 1 in place of its cell
}

// Start implements [Reader].
func (r *repeated) Start(columns []int) error {
	r.at, r.read, r.next, r.left = slices.Index(columns, r.column), 0, 0, 0
	r.rows.Reset(0, 0)
	return r.Reader.Start(columns)
}

// Read implements [Reader].
func (r *repeated) Read(rows *Rows, max int) error {
	r.rows.Secret = rows.Secret
	err := r.advance(max)
	rows.Reset(r.read, len(r.rows.Columns))
	for c := range rows.Columns {
		rows.Columns[c].Reset(r.rows.Columns[c].Kind())
	}
	for ; err == nil && rows.Len() < max && !rows.Full(); err = r.advance(max) {
		r.append(rows)
		r.left--
		r.read++
	}
	if err == io.EOF && rows.Len() > 0 {
		return nil
	}
	return err
}

// advance goes to the row that is to be read next.
func (r *repeated) advance(max int) error {
	for r.left == 0 {
		if r.next >= r.rows.Len() {
			if err := r.Reader.Read(&r.rows, max); err != nil {
				return err
			}
			r.next = 0
		}
		times, null, ok := r.rows.Columns[r.at].Integer(r.next)
		if r.one = ok && !null && times >= 0 && times <= MostRepeats; r.one {
			r.left = times
		} else {
			r.left = 1
		}
		r.next++
	}
	return nil
}

// append adds the row to the batch.
func (r *repeated) append(rows *Rows) {
	i := r.next - 1
	for c := range rows.Columns {
		to := &rows.Columns[c]
		switch {
		case c != r.at || !r.one:
			to.AppendCell(&r.rows.Columns[c], i)
		case to.Kind() == Real:
			to.AppendReal(1)
		default:
			to.AppendInteger(1)
		}
	}
	if len(r.rows.lines) > 0 {
		rows.lines = append(rows.lines, r.rows.lines[i])
	} else {
		rows.numbers = append(rows.numbers, r.rows.First+int64(i)+1)
	}
}
