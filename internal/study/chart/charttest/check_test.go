package charttest

import (
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/geosql/geosql/internal/study/chart"
)

// example returns a figure as text.
func example(t *testing.T, panel chart.Panel) string {
	t.Helper()
	page, err := chart.Page([][]chart.Panel{{panel}})
	if err != nil {
		t.Fatal(err)
	}
	return svg(t, page)
}

// Check finds each thing that makes a figure unfit, and nothing in one that is fit.
func TestCheck(t *testing.T) {
	line := func(name string, style chart.Style, top float64) chart.Curve {
		return chart.Curve{Name: name, Style: style, Points: plotter.XYs{{X: 0, Y: 1}, {X: 1, Y: top}}}
	}
	panel := chart.Panel{
		Title: "title", X: chart.Axis{Name: "time", Unit: "s"}, Y: chart.Axis{Name: "length", Unit: "m"},
		Curves: []chart.Curve{line("first", chart.Blue, 2.5), line("second", chart.Red, 2)},
	}
	good := example(t, panel)
	bare, shared, tall := panel, panel, panel
	bare.X.Unit = ""
	shared.Curves = []chart.Curve{line("first", chart.Blue, 2), line("second", chart.Red, 2.5)}
	other := panel
	other.Curves = []chart.Curve{line("first", chart.Blue, 9)}
	lines := [][]chart.Panel{{tall}, {other}}
	chart.SameScale(lines...)
	percent := panel
	percent.Y.Unit = chart.Percent
	percent.Curves = []chart.Curve{line("first", chart.Blue, 130)}
	for _, c := range []struct {
		name, figure, want string
	}{
		{"good", good, ""},
		{"other curves", example(t, shared), ""},
		{"small text", strings.Replace(good, "font-size:8px", "font-size:6px", 1), "has the size 6"},
		{"thick stroke", strings.Replace(good, "stroke-width:0.75", "stroke-width:2", 1), "a stroke has the width 2"},
		{"legend over data", moved(t, good, "second", 40), `"second" lies on a panel`},
		{"text on text", strings.Replace(good, ">first<", ">first and foremost<", 1), `"second" lies on "first and foremost"`},
		{"text off the page", strings.Replace(good, ">title<", ">"+strings.Repeat("title ", 30)+"<", 1), "not all on the page"},
		{"same dashes", strings.ReplaceAll(good, ";stroke-dasharray:5,2", ""), "have the same dashes"},
		{"no unit", example(t, bare), `the axis of "time" has no unit`},
		{"headroom", example(t, lines[0][0]), "nothing reaches the top"},
		{"beyond 100 %", example(t, percent), "goes to 120 %"},
		{"decimals", strings.Replace(good, ">2.0<", ">2<", 1), "decimals"},
		{"nothing", "<svg viewBox='0 0 10 10'/>", "there is no panel"},
	} {
		f, err := parse(c.figure)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		problems := strings.Join(f.problems(), "; ")
		if c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
			t.Errorf("%s: %q, not %q", c.name, problems, c.want)
		}
	}
}

// moved returns a figure in which a text stands lower.
func moved(t *testing.T, figure, text string, by float64) string {
	t.Helper()
	before, after, ok := strings.Cut(figure, ">"+text+"<")
	at := strings.LastIndex(before, ` y="-`)
	if !ok || at < 0 {
		t.Fatalf("%q is not there", text)
	}
	end := at + 5 + strings.Index(before[at+5:], `"`)
	y := floats(before[at+4 : end])[0]
	return before[:at] + ` y="` + format(y+by) + before[end:] + ">" + text + "<" + after
}
