// Package infer finds the kinds of columns of text: the kinds in which the
// cells can be stored without losing a digit. A [Column] finds the kind alone; a [Survey]
// describes a data set, and explains why a column is text. It imports package dataset. Start at
// Column and Survey.
package infer

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/geosql/geosql/dataset"
)

// A Column finds the narrowest kind that keeps every digit of a column's cells. The kind of
// the zero value, without cells, is Text.
type Column struct {
	integers bool // some cell is an integer
	reals    bool // some cell is a number but not an integer
	wide     bool // some integer is not exact as float64
	text     bool // some cell is not a number
}

// Add adds a cell. A blank cell is text.
func (c *Column) Add(cell string) {
	if c.text {
		return
	}
	switch numberKind(cell) {
	case dataset.Integer:
		c.integers = true
		c.wide = c.wide || isWide(cell)
	case dataset.Real:
		c.reals = true
	default:
		c.text = true
	}
}

// Merge adds the cells of another column.
func (c *Column) Merge(other Column) {
	c.integers = c.integers || other.integers
	c.reals = c.reals || other.reals
	c.wide = c.wide || other.wide
	c.text = c.text || other.text
}

// MarshalText returns the state of the column.
func (c Column) MarshalText() ([]byte, error) {
	var text []byte
	for i, is := range []bool{c.integers, c.reals, c.wide, c.text} {
		if is {
			text = append(text, "irwt"[i])
		}
	}
	return text, nil
}

// UnmarshalText sets the state of the column.
func (c *Column) UnmarshalText(text []byte) error {
	has := func(b byte) bool { return bytes.IndexByte(text, b) >= 0 }
	*c = Column{has('i'), has('r'), has('w'), has('t')}
	return nil
}

// Kind returns the kind of the cells so far.
func (c *Column) Kind() dataset.Kind {
	switch {
	case c.text, c.reals && c.wide:
		return dataset.Text
	case c.reals:
		return dataset.Real
	case c.integers:
		return dataset.Integer
	default:
		return dataset.Text
	}
}

// numberKind returns Integer for a decimal integer of 64 bits, Real for another decimal
// number within float64's range, and Text for everything else. Leading zeros and plus
// signs belong to codes, not to numbers: "007" is Text.
func numberKind(cell string) dataset.Kind {
	rest := strings.TrimPrefix(cell, "-")
	whole := digits(rest)
	if whole > 1 && rest[0] == '0' {
		return dataset.Text
	}
	rest = rest[whole:]
	if whole > 0 && rest == "" {
		return integerKind(cell)
	}
	if strings.HasPrefix(rest, ".") {
		fraction := digits(rest[1:])
		if whole+fraction == 0 {
			return dataset.Text
		}
		rest = rest[1+fraction:]
	} else if whole == 0 {
		return dataset.Text
	}
	if !isExponent(rest) {
		return dataset.Text
	}
	if rest == "" && len(cell) < 300 { // below 1e300
		return dataset.Real
	}
	if _, err := strconv.ParseFloat(cell, 64); err != nil { // out of range
		return dataset.Text
	}
	return dataset.Real
}

// integerKind returns the kind of an optional minus followed by digits. Only float64 has a
// negative zero.
func integerKind(cell string) dataset.Kind {
	if cell == "-0" {
		return dataset.Real
	}
	if len(cell) <= 18 { // below 1e18
		return dataset.Integer
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err != nil { // out of range
		return dataset.Text
	}
	return dataset.Integer
}

// isExponent reports whether a text is an exponent or empty, and so may follow a number's
// digits.
func isExponent(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return s != "" && digits(s) == len(s)
}

// isWide reports whether an integer is beyond the range in which float64 holds all
// integers.
func isWide(integer string) bool {
	if len(integer) <= 15 { // below 1e15
		return false
	}
	v, _ := strconv.ParseInt(integer, 10, 64)
	return v > 1<<53 || v < -1<<53
}

// digits returns the length of the run of digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
