package infer

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestColumn(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by |
		want  Kind
	}{
		{"1|2|-3|0", Integer},
		{"9223372036854775807|-9223372036854775808", Integer},
		{"9223372036854775808", Text},
		{"-9223372036854775809|1", Text},
		{"007", Text},
		{"1|2|007", Text},
		{"-01", Text},
		{"00.5", Text},
		{"00", Text},
		{"0", Integer},
		{"-0", Real},
		{"0.5", Real},
		{"-0.5|.5|5.", Real},
		{"1|0.5|2", Real},
		{"1e5|1E-7|-2.5e+3", Real},
		{"1e400", Text},
		{strings.Repeat("9", 308) + ".5", Real},
		{strings.Repeat("9", 309) + ".5", Text},
		{"999999999999999999|-99999999999999999", Integer},
		{"9007199254740992|0.5", Real},
		{"9007199254740993|0.5", Text},
		{"0.5|-9007199254740993", Text},
		{"9007199254740993|1", Integer},
		{"20081024041230|20081024041235", Integer},
		{"+5", Text},
		{"NaN", Text},
		{"1.5|Inf", Text},
		{"-inf", Text},
		{"0x10", Text},
		{"0x1p4", Text},
		{"1_000", Text},
		{"1,5", Text},
		{"1.2.3", Text},
		{".", Text},
		{"-", Text},
		{"-.", Text},
		{".e5", Text},
		{"1e", Text},
		{"1e+", Text},
		{"1e5x", Text},
		{"2013-01-01T00:30", Text},
		{"\u00a01", Text},
		{"x|1", Text},
		{"1|", Text},
		{" 1", Text},
	} {
		var whole, merged Column
		for _, cell := range strings.Split(c.cells, "|") {
			whole.Add(cell)
			var part Column
			part.Add(cell)
			merged.Merge(part)
		}
		if got := whole.Kind(); got != c.want || merged.Kind() != got {
			t.Errorf("cells %q are %v, want %v; merged %v", c.cells, got, c.want, merged.Kind())
		}
	}
	if k := new(Column).Kind(); k != Text {
		t.Errorf("no cells are %v", k)
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
		case Integer:
			if v, err := strconv.ParseInt(cell, 10, 64); err != nil || strconv.FormatInt(v, 10) != cell {
				t.Errorf("%q is no integer: %v, %v", cell, v, err)
			}
		case Real:
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
				t.Errorf("%q is no decimal: %v, %v", cell, v, err)
			}
			if strings.ContainsAny(cell, "xXpP_+ninN") && !strings.ContainsAny(cell, "eE") {
				t.Errorf("%q is no decimal", cell)
			}
		}
	})
}
