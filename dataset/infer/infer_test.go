package infer

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
)

func TestColumn(t *testing.T) {
	for _, c := range []struct {
		cells string // separated by |
		want  dataset.Kind
	}{
		{"1|2|-3|0", dataset.Integer},
		{"9223372036854775807|-9223372036854775808", dataset.Integer},
		{"9223372036854775808", dataset.Text},
		{"-9223372036854775809|1", dataset.Text},
		{"007", dataset.Text},
		{"1|2|007", dataset.Text},
		{"-01", dataset.Text},
		{"00.5", dataset.Text},
		{"00", dataset.Text},
		{"0", dataset.Integer},
		{"-0", dataset.Real},
		{"0.5", dataset.Real},
		{"-0.5|.5|5.", dataset.Real},
		{"1|0.5|2", dataset.Real},
		{"1e5|1E-7|-2.5e+3", dataset.Real},
		{"1e400", dataset.Text},
		{strings.Repeat("9", 308) + ".5", dataset.Real},
		{strings.Repeat("9", 309) + ".5", dataset.Text},
		{"999999999999999999|-99999999999999999", dataset.Integer},
		{"9007199254740992|0.5", dataset.Real},
		{"9007199254740993|0.5", dataset.Text},
		{"0.5|-9007199254740993", dataset.Text},
		{"9007199254740993|1", dataset.Integer},
		{"20081024041230|20081024041235", dataset.Integer},
		{"+5", dataset.Text},
		{"NaN", dataset.Text},
		{"1.5|Inf", dataset.Text},
		{"-inf", dataset.Text},
		{"0x10", dataset.Text},
		{"0x1p4", dataset.Text},
		{"1_000", dataset.Text},
		{"1,5", dataset.Text},
		{"1.2.3", dataset.Text},
		{".", dataset.Text},
		{"-", dataset.Text},
		{"-.", dataset.Text},
		{".e5", dataset.Text},
		{"1e", dataset.Text},
		{"1e+", dataset.Text},
		{"1e5x", dataset.Text},
		{"2013-01-01T00:30", dataset.Text},
		{"\u00a01", dataset.Text},
		{"x|1", dataset.Text},
		{"1|", dataset.Text},
		{" 1", dataset.Text},
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
	if k := new(Column).Kind(); k != dataset.Text {
		t.Errorf("no cells are %v", k)
	}
}

// A number's kind agrees with the parser that fills the table: no
// digit of an integer is lost, no decimal is out of range.
func FuzzNumberKind(f *testing.F) {
	for _, cell := range []string{"", "0", "-0", "007", "12", "1.5", ".5", "1e5", "1e999", "-", "9223372036854775808", "Inf", "0x1"} {
		f.Add(cell)
	}
	f.Fuzz(func(t *testing.T, cell string) {
		switch numberKind(cell) {
		case dataset.Integer:
			if v, err := strconv.ParseInt(cell, 10, 64); err != nil || strconv.FormatInt(v, 10) != cell {
				t.Errorf("%q is no integer: %v, %v", cell, v, err)
			}
		case dataset.Real:
			if v, err := strconv.ParseFloat(cell, 64); err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
				t.Errorf("%q is no decimal: %v, %v", cell, v, err)
			}
			if strings.ContainsAny(cell, "xXpP_+ninN") && !strings.ContainsAny(cell, "eE") {
				t.Errorf("%q is no decimal", cell)
			}
		}
	})
}
