package main

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
)

func TestInference(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by |
		want  sqlite.Type
	}{
		{"1|2|-3|0", sqlite.Integer},
		{"1||2", sqlite.Integer},
		{" 1 |\t2", sqlite.Integer},
		{"9223372036854775807|-9223372036854775808", sqlite.Integer},
		{"9223372036854775808", sqlite.Text},
		{"-9223372036854775809|1", sqlite.Text},
		{"007", sqlite.Text},
		{"1|2|007", sqlite.Text},
		{"-01", sqlite.Text},
		{"00.5", sqlite.Text},
		{"00", sqlite.Text},
		{"0", sqlite.Integer},
		{"-0", sqlite.Float},
		{"0.5", sqlite.Float},
		{"-0.5|.5|5.", sqlite.Float},
		{"1|0.5|2", sqlite.Float},
		{"1e5|1E-7|-2.5e+3", sqlite.Float},
		{"1e400", sqlite.Text},
		{strings.Repeat("9", 308) + ".5", sqlite.Float},
		{strings.Repeat("9", 309) + ".5", sqlite.Text},
		{"999999999999999999|-99999999999999999", sqlite.Integer},
		{"9007199254740992|0.5", sqlite.Float},
		{"9007199254740993|0.5", sqlite.Text},
		{"0.5|-9007199254740993", sqlite.Text},
		{"9007199254740993|1", sqlite.Integer},
		{"20081024041230|20081024041235", sqlite.Integer},
		{"+5", sqlite.Text},
		{"NaN", sqlite.Text},
		{"1.5|Inf", sqlite.Text},
		{"-inf", sqlite.Text},
		{"0x10", sqlite.Text},
		{"0x1p4", sqlite.Text},
		{"1_000", sqlite.Text},
		{"1,5", sqlite.Text},
		{"1.2.3", sqlite.Text},
		{".", sqlite.Text},
		{"-", sqlite.Text},
		{"-.", sqlite.Text},
		{".e5", sqlite.Text},
		{"1e", sqlite.Text},
		{"1e+", sqlite.Text},
		{"1e5x", sqlite.Text},
		{"2013-01-01T00:30", sqlite.Text},
		{"\u00a01", sqlite.Text},
		{"", sqlite.Text},
		{"| |", sqlite.Text},
		{"x|1", sqlite.Text},
	} {
		var f inference
		for _, cell := range strings.Split(c.cells, "|") {
			f.add(cell)
		}
		if got := f.kind(); got != c.want {
			t.Errorf("cells %q are %v, want %v", c.cells, got, c.want)
		}
	}
}

// A number's kind says what the parser that fills the table does with it: no
// digit of an integer is lost, no decimal is out of range.
func FuzzNumberKind(f *testing.F) {
	for _, cell := range []string{"", "0", "-0", "007", "12", "1.5", ".5", "1e5", "1e999", "-", "9223372036854775808", "Inf", "0x1"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		switch numberKind(cell) {
		case sqlite.Integer:
			if v, err := strconv.ParseInt(cell, 10, 64); err != nil || strconv.FormatInt(v, 10) != cell {
				t.Errorf("%q is no integer: %v, %v", cell, v, err)
			}
		case sqlite.Float:
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
				t.Errorf("%q is no decimal: %v, %v", cell, v, err)
			}
			if strings.ContainsAny(cell, "xXpP_+ninN") && !strings.ContainsAny(cell, "eE") {
				t.Errorf("%q is no decimal", cell)
			}
		}
	})
}
