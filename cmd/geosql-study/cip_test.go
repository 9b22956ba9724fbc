package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// cipOf runs the study of whole traces.
func cipOf(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"cip"}, args...)...))
}

// R45 and R46: figure 2 of the paper recomputed by another program, with the digits
// given. All is by default.
func TestStudyCIP(t *testing.T) {
	rows := cipOf(t)
	if len(rows) != 3*16 {
		t.Fatalf("%d rows", len(rows))
	}
	want := map[[2]string][2]float64{ // alpha and loss by length scale and variance
		{"1", "0.25"}: {2.614788, 33.07394}, {"1", "1"}: {.834090, 9.17045},
		{"1", "2"}: {.437226, 4.68613}, {"1", "4"}: {.224052, 2.37026},
		{"2", "0.25"}: {5.763284, 48.81642}, {"2", "1"}: {1.804318, 14.02159},
		{"2", "4"}: {.484884, 3.67442}, {"0.5", "1"}: {.034850, 5.17425},
	}
	compared := 0
	for _, r := range rows {
		if r["points"] != "10" || r["lambda"] != "2" || r["radius"] != "1" || r["family"] != "every-other" ||
			math.Abs(measure(t, r, "independent_loss")*measure(t, r, "sigma2")-5) > 1e-7 {
			t.Errorf("%v", r)
		}
		w, ok := want[[2]string{r["length_scale"], r["sigma2"]}]
		if !ok {
			continue
		}
		compared++
		if math.Abs(measure(t, r, "alpha")-w[0]) > 6e-7 || math.Abs(measure(t, r, "loss")-w[1]) > 6e-6 {
			t.Errorf("%v, not %v", r, w)
		}
	}
	if compared != len(want) {
		t.Errorf("%d rows compared", compared)
	}
}

// Settings are printed as they are given, in their order.
func TestStudyCIPRows(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		rows string // points, length scale, family, variance
	}{
		"families": {
			[]string{"-family", "singles,windows:2", "-length-scale=2,1", "-sigma2", "0.000001,1000000000000", "-points", "4"},
			`4 2 singles 0.000001
4 2 singles 1000000000000
4 1 singles 0.000001
4 1 singles 1000000000000
4 2 windows:2 0.000001
4 2 windows:2 1000000000000
4 1 windows:2 0.000001
4 1 windows:2 1000000000000`,
		},
		"list":        {[]string{"-family", "[[0,1],[2]]", "-length-scale", "1", "-sigma2", "1", "-times=9,-2.5,0"}, "3 1 [[0,1],[2]] 1"},
		"exponential": {[]string{"-kernel", "exponential", "-length-scale", "60", "-max", "-sigma2", "1"}, "10 60 every-other 1"},
		"periodic":    {[]string{"-kernel", "periodic", "-period", "24", "-length-scale", "1", "-sigma2", "1"}, "10 1 every-other 1"},
	} {
		var got []string
		for _, r := range cipOf(t, c.args...) {
			got = append(got, strings.Join([]string{r["points"], r["length_scale"], r["family"], r["sigma2"]}, " "))
			if measure(t, r, "loss") < measure(t, r, "independent_loss") {
				t.Errorf("%s: %v", name, r)
			}
		}
		if strings.Join(got, "\n") != c.rows {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// R49: the worst length scale is in between; -max finds it.
func TestStudyCIPMax(t *testing.T) {
	three := []string{"-points", "3", "-family", "[[0,2]]", "-sigma2", "1", "-length-scale", "1.5,1.6624,2"}
	for k, want := range [][]float64{{.590155339, .594700544, .585664271}, {.590155339, .594700544, .594700544}} {
		rows := cipOf(t, slices.Concat(three, [][]string{nil, {"-max"}}[k])...)
		if len(rows) != 3 {
			t.Fatalf("%v", rows)
		}
		for j, r := range rows {
			if got := measure(t, r, "alpha"); got < want[j]-1e-9 || got > want[j]+3e-6 {
				t.Errorf("%v, not %v", r, want[j])
			}
		}
	}
}

// A closed form, as in the tests of the mechanism: the first and the last of three points move
// alike, and the middle one by 2 rho/(1 + rho^4) of that.
func TestStudyCIPShift(t *testing.T) {
	rows := cipOf(t, "-points", "3", "-family", "[[0,2]]", "-sigma2", "1", "-length-scale", "1.5", "-radius", "100")
	if rows[0]["set"] != "[0,2]" || rows[0]["shift"] != "[100,113.4902,100]" {
		t.Errorf("%v", rows[0])
	}
}

func TestSignificant(t *testing.T) {
	for want, x := range map[string]float64{
		"0": math.SmallestNonzeroFloat64, "0.333333333": 1. / 3, "123456789000": 123456789012,
		"0.000000000000000000000123456789": 1.23456789012e-22, "1": 0.9999999999, "2.5": 2.5,
	} {
		if got := significant(x, 9); got != want {
			t.Errorf("%v: %s, not %s", x, got, want)
		}
	}
}

func TestStudyCIPFigure(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	wantFigures(t, clitest.Run(t, "", "cip", "-family", "every-other,singles", "-out", out), out, "loss", "hypothesis")
}

func TestStudyCIPErrors(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{"-points", "0"}, 2, "-points must be between 1 and 256"},
		{[]string{"-points", "257"}, 2, "-points must be between 1 and 256"},
		{[]string{"-points", "file.csv"}, 2, "-points"},
		{[]string{"-points", "3", "-times", "0,1"}, 2, "give either -times, or -points"},
		{[]string{"-times", "0,1,0"}, 2, "time 0 is there twice"},
		{[]string{"-times", "0,noon"}, 2, `"noon" is not a number`},
		{[]string{"-kernel", "cubic"}, 2, "kernel must be one of rbf, exponential, periodic"},
		{[]string{"-kernel", "periodic"}, 2, "period must be above 0"},
		{[]string{"-variance", "0"}, 2, "variance must be above 0, not 0"},
		{[]string{"-radius", "-1"}, 2, "radius must be above 0, not -1"},
		{[]string{"-lambda", "1"}, 2, "lambda must be above 1, not 1"},
		{[]string{"-length-scale", "1,-1"}, 2, "length_scale must be above 0, not -1"},
		{[]string{"-sigma2", "1,0"}, 2, "sigma2 must be above 0, not 0"},
		{[]string{"-family", "singles,"}, 2, "family must be"},
		{[]string{"-family", "every-third"}, 2, `not "every-third"`},
		{[]string{"-family", "[[0,1]"}, 2, `not "[[0,1]"`},
		{[]string{"-max=1"}, 2, "it takes no value"},
		{[]string{"-epsilon", "1"}, 2, "cip takes no flag -epsilon"},
		{[]string{"-family", "[[10]]"}, 1, "family has the index 10, but there are only 10 times"},
		{[]string{"-out", clitest.WriteFile(t, "")}, 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"cip"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyCIPInterrupted(t *testing.T) {
	interruptStudy(t, cipTable.head, "cip", "-points", "40", "-family", "windows:4", "-max", "-sigma2", "1"+strings.Repeat(",1", 2000))
}
