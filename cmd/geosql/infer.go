package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// inferColumns reads a file to its end and finds the types of its columns.
func inferColumns(ctx context.Context, file string) ([]column, error) {
	f, err := openCSV(file)
	if err != nil {
		return nil, err
	}
	defer f.close()
	inferred := make([]inference, len(f.names))
	if _, err := f.each(ctx, "reading", func(cells []string) error {
		for i, cell := range cells {
			inferred[i].add(cell)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	columns := make([]column, len(f.names))
	for i, name := range f.names {
		columns[i] = column{name, inferred[i].kind()}
	}
	return columns, nil
}

// An inference finds the narrowest type that keeps every digit of a column's
// cells. The zero value has seen none.
type inference struct {
	integers bool // some cell is an integer
	reals    bool // some cell is a number that is no integer
	wide     bool // some integer is none of float64's
	text     bool // some cell is no number
}

func (f *inference) add(cell string) {
	if f.text {
		return
	}
	cell = trimBlanks(cell)
	if cell == "" {
		return
	}
	switch numberKind(cell) {
	case sqlite.Integer:
		f.integers = true
		f.wide = f.wide || isWide(cell)
	case sqlite.Float:
		f.reals = true
	default:
		f.text = true
	}
}

func (f *inference) kind() sqlite.Type {
	switch {
	case f.text, f.reals && f.wide:
		return sqlite.Text
	case f.reals:
		return sqlite.Float
	case f.integers:
		return sqlite.Integer
	default:
		return sqlite.Text
	}
}

// numberKind tells a decimal integer of 64 bits (Integer), another decimal
// number within float64's range (Float) and everything else (Text). Leading
// zeros and plus signs belong to codes, not to numbers: "007" is Text.
func numberKind(cell string) sqlite.Type {
	rest := strings.TrimPrefix(cell, "-")
	whole := digits(rest)
	if whole > 1 && rest[0] == '0' {
		return sqlite.Text
	}
	rest = rest[whole:]
	if whole > 0 && rest == "" {
		return integerKind(cell)
	}
	if strings.HasPrefix(rest, ".") {
		fraction := digits(rest[1:])
		if whole+fraction == 0 {
			return sqlite.Text
		}
		rest = rest[1+fraction:]
	} else if whole == 0 {
		return sqlite.Text
	}
	if !isExponent(rest) {
		return sqlite.Text
	}
	if rest == "" && len(cell) < 300 { // below 1e300
		return sqlite.Float
	}
	if _, err := strconv.ParseFloat(cell, 64); err != nil { // out of range
		return sqlite.Text
	}
	return sqlite.Float
}

// integerKind is the kind of an optional minus and digits. A negative zero is
// one of float64's only.
func integerKind(cell string) sqlite.Type {
	if cell == "-0" {
		return sqlite.Float
	}
	if len(cell) <= 18 { // below 1e18
		return sqlite.Integer
	}
	if _, err := strconv.ParseInt(cell, 10, 64); err != nil { // out of range
		return sqlite.Text
	}
	return sqlite.Integer
}

// isExponent accepts what may follow a number's digits, also nothing.
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

// isWide reports whether an integer is beyond those that float64 counts without
// gaps.
func isWide(integer string) bool {
	if len(integer) <= 15 { // below 1e15
		return false
	}
	v, _ := strconv.ParseInt(integer, 10, 64)
	return v > 1<<53 || v < -1<<53
}

// digits is the length of the run of digits that s starts with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// trimBlanks removes the blanks and tabs around a number.
func trimBlanks(s string) string { return strings.Trim(s, " \t") }
