package infer

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/release/table"
)

func TestColumn(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by |
		want  table.Kind
	}{
		{"1|2|-3|0", table.Integer},
		{"9223372036854775807|-9223372036854775808", table.Integer},
		{"9223372036854775808", table.Text},
		{"-9223372036854775809|1", table.Text},
		{"007", table.Text},
		{"1|2|007", table.Text},
		{"-01", table.Text},
		{"00.5", table.Text},
		{"00", table.Text},
		{"0", table.Integer},
		{"-0", table.Real},
		{"0.5", table.Real},
		{"-0.5|.5|5.", table.Real},
		{"1|0.5|2", table.Real},
		{"1e5|1E-7|-2.5e+3", table.Real},
		{"1e400", table.Text},
		{strings.Repeat("9", 308) + ".5", table.Real},
		{strings.Repeat("9", 309) + ".5", table.Text},
		{"999999999999999999|-99999999999999999", table.Integer},
		{"9007199254740992|0.5", table.Real},
		{"9007199254740993|0.5", table.Text},
		{"0.5|-9007199254740993", table.Text},
		{"9007199254740993|1", table.Integer},
		{"20081024041230|20081024041235", table.Integer},
		{"+5", table.Text},
		{"NaN", table.Text},
		{"1.5|Inf", table.Text},
		{"-inf", table.Text},
		{"0x10", table.Text},
		{"0x1p4", table.Text},
		{"1_000", table.Text},
		{"1,5", table.Text},
		{"1.2.3", table.Text},
		{".", table.Text},
		{"-", table.Text},
		{"-.", table.Text},
		{".e5", table.Text},
		{"1e", table.Text},
		{"1e+", table.Text},
		{"1e5x", table.Text},
		{"2013-01-01T00:30", table.Text},
		{"\u00a01", table.Text},
		{"x|1", table.Text},
		{"1|", table.Text},
		{" 1", table.Text},
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
	if k := new(Column).Kind(); k != table.Text {
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
		case table.Integer:
			if v, err := strconv.ParseInt(cell, 10, 64); err != nil || strconv.FormatInt(v, 10) != cell {
				t.Errorf("%q is no integer: %v, %v", cell, v, err)
			}
		case table.Real:
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
				t.Errorf("%q is no decimal: %v, %v", cell, v, err)
			}
			if strings.ContainsAny(cell, "xXpP_+ninN") && !strings.ContainsAny(cell, "eE") {
				t.Errorf("%q is no decimal", cell)
			}
		}
	})
}
