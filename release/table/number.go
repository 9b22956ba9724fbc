package table

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// appendReal appends the shortest decimal that float64 reads as v, which is also a
// number of JSON if v is finite.
func appendReal(out []byte, v float64, bits int) []byte {
	if size := math.Abs(v); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(out, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(out, v, 'f', -1, bits)
}

// integer is a cell of an Integer column; a blank one is NULL.
func integer(column *Column, i int) (v int64, null, ok bool) {
	text, null := number(column, i)
	if null {
		return 0, true, true
	}
	v, err := strconv.ParseInt(string(text), 10, 64)
	return v, false, err == nil
}

// real is a cell of a Real column; a blank one is NULL.
func real(column *Column, i int) (v float64, null, ok bool) {
	text, null := number(column, i)
	if null {
		return 0, true, true
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return v, false, err == nil && !bytes.ContainsAny(text, "xX_")
}

func finite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// number is a cell without the blanks around it.
func number(column *Column, i int) (text []byte, null bool) {
	text, null = column.At(i)
	text = bytes.Trim(text, " \t")
	return text, null || len(text) == 0
}

// misfit is the error about a cell that is not of its field's kind.
func misfit(rows *Rows, i int, field Field, column int) error {
	text, _ := rows.Columns[column].At(i)
	what := "UTF-8 text"
	switch field.Kind {
	case Integer:
		what = "integer of 64 bits"
	case Real:
		what = "number"
	}
	return fmt.Errorf("%s, column %s: %.40q is no %s", rows.Where(i), shown(field.Name), text, what)
}
