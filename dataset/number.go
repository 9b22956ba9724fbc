package dataset

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/internal/printable"
)

// appendReal appends the shortest decimal that float64 reads as v, which is also a
// number of JSON if v is finite.
func appendReal(out []byte, v float64, bits int) []byte {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(out, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(out, v, 'f', -1, bits)
}

// Integer is cell i of an Integer column, NULL if it is blank. It reports false for
// one that is none.
func (c *Column) Integer(i int) (v int64, null, ok bool) {
	text, null := c.number(i)
	if null {
		return 0, true, true
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	return v, false, err == nil
}

// Real is cell i of a Real column, NULL if it is blank. It reports false for one that
// is none.
func (c *Column) Real(i int) (v float64, null, ok bool) {
	text, null := c.number(i)
	if null {
		return 0, true, true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, false, err == nil && !bytes.ContainsAny(text, "xX_")
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// number is a cell without the blanks around it.
func (c *Column) number(i int) (text []byte, null bool) {
	text, null = c.At(i)
	text = bytes.Trim(text, " \t")
	return text, null || len(text) == 0
}

// misfit is the error about a cell that is not of its field's kind.
func misfit(rows *Rows, i int, field Field, column int) error {
	return fmt.Errorf("%s, column %s: %w", rows.Where(i), printable.Text(field.Name), Misfit(field.Kind, &rows.Columns[column], i))
}

// Misfit is the error about a cell that is not of a kind, without its place.
func Misfit(kind Kind, c *Column, i int) error {
	text, _ := c.At(i)
	what := "UTF-8 text"
	switch kind {
	case Integer:
		what = "integer of 64 bits"
	case Real:
		what = "number"
	}
	return fmt.Errorf("%.40q is no %s", text, what)
}
