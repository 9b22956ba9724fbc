package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the table of growth into "+page)

// TestMain runs in the root of the repository, as the program does, and is the program for its processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "work" {
		main()
		return
	}
	err := os.Chdir("../..")
	if err == nil {
		built.folder, err = os.MkdirTemp("", "benchmarks")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	os.RemoveAll(built.folder)
	os.Exit(status)
}

// built is the command geosql, built once.
var built struct {
	folder string
	once   sync.Once
	err    error
}

// newTree returns a tree with this test as its program.
func newTree(t *testing.T) *tree {
	t.Helper()
	geosql := filepath.Join(built.folder, "geosql")
	built.once.Do(func() { built.err = buildProgram(t.Context(), "./cmd/geosql", geosql) })
	self, err := os.Executable()
	if err == nil {
		err = built.err
	}
	if err != nil {
		t.Fatal(err)
	}
	return &tree{program: self, geosql: geosql, data: t.TempDir()}
}

// All that is measured as it grows is measured, at sizes that take no time.
func TestGrowth(t *testing.T) {
	quick := slices.Clone(axes)
	for i, sizes := range [][]int{{1e3, 2e3}, {1, 10}, {10, 20}, {5, 10}} {
		quick[i].sizes = sizes
	}
	var log bytes.Buffer
	g := &grower{sizing{rows: 1000, accounts: 100}, newTree(t), &log}
	points, err := g.all(t.Context(), quick)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, a := range quick {
		want += len(a.sizes) * len(a.works)
	}
	if len(points) != want {
		t.Errorf("%d points are measured, want %d:\n%s", len(points), want, &log)
	}
	for _, p := range points {
		if p.seconds <= 0 || p.memory < 1<<20 || works[p.work] == "" {
			t.Errorf("%+v", p)
		}
	}
	if left, err := os.ReadDir(g.data); err != nil || len(left) > 0 {
		t.Errorf("data is left: %v %v", left, err)
	}
	file := filepath.Join(t.TempDir(), "growth.csv")
	if err := writePoints(file, points); err != nil {
		t.Fatal(err)
	}
	again, err := readPoints(file)
	if err != nil {
		t.Fatal(err)
	}
	if have, want := growthTables(again), growthTables(points); strings.Count(have, "\n") != strings.Count(want, "\n") {
		t.Errorf("read again it is\n%s\nwant\n%s", have, want)
	}
}

// A point that would try one's patience is left out, and points above the limit of the solver.
func TestSkip(t *testing.T) {
	rows := axis{name: "rows", steep: 1}
	squares := []point{{size: 10, seconds: 0.1}, {size: 100, seconds: 10}}
	for _, c := range []struct {
		axis    axis
		size    int
		earlier []point
		want    string
	}{
		{rows, 1e6, nil, ""},
		{rows, 60, []point{{size: 1, seconds: 1}}, ""},
		{rows, 61, []point{{size: 1, seconds: 1}}, "left out: it would take some 61 s, more than 1m0s"},
		{rows, 200, squares, ""},
		{rows, 1000, squares, "left out: it would take some 17 min, more than 1m0s"},
		{axis{name: "places"}, 1 << 30, nil, "left out: at most "},
	} {
		if have := skip(c.axis, c.size, c.earlier); !strings.HasPrefix(have, c.want) || (have == "") != (c.want == "") {
			t.Errorf("%s %d after %v: %q, want %q", c.axis.name, c.size, c.earlier, have, c.want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, k := range []float64{-0.5, 0, 1, 2.5} {
		var points []point
		for _, n := range []int{1, 10, 200, 1e6} {
			points = append(points, point{size: n, seconds: 3 * math.Pow(float64(n), k)})
		}
		if have := fit(points); math.Abs(have-k) > 1e-9 {
			t.Errorf("the exponent is %v, want %v", have, k)
		}
	}
	// By hand: through (1,1), (e,e), (e^2,1) the line that fits the logarithms 0, 1, 0 is flat.
	if have := fit([]point{{size: 1, seconds: 1}, {size: 10, seconds: 10}, {size: 100, seconds: 1}}); math.Abs(have) > 1e-9 {
		t.Errorf("the exponent is %v, want 0", have)
	}
}

func TestGrowthTables(t *testing.T) {
	const want = `| rows | 10 | 1,000 | over all |
|---|---|---|---|
| ` + "`dx_sum`" + ` | 1 ms; 20 MB | 100 ms (1.00); 21 MB | 1.00 |
| ` + "`geosql release`, CSV" + ` | | 2 s; 22 MB | |

| places | 25 | over all |
|---|---|---|
| optimal mechanism | 2.5 min; 9 MB | |

`
	have := growthTables([]point{{"rows", "dx_sum", 10, 1e-3, 0, 20e6}, {"rows", "dx_sum", 1000, 0.1, 0, 21e6},
		{"rows", "release", 1000, 2, 0, 22e6}, {"places", "optimal", 25, 150, 0, 9e6}})
	if have != want {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

// The tables of the page are those of the raw numbers.
func TestPageIsCurrent(t *testing.T) {
	points, err := readPoints(rawGrowth)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filled(string(have), "growth", growthTables(points))
	switch {
	case err != nil:
		t.Fatal(err)
	case string(have) != want && *update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	case string(have) != want:
		t.Errorf("%s has another table than %s; -update writes it", page, rawGrowth)
	}
	for _, name := range []string{"beside", "bounds"} {
		if _, err := filled(string(have), name, ""); err != nil {
			t.Error(err)
		}
	}
}

func TestMerged(t *testing.T) {
	old := []point{{axis: "rows", size: 1}, {axis: "traces", size: 2}, {axis: "places", size: 3}}
	have := merged(old, []point{{axis: "traces", size: 4}, {axis: "traces", size: 5}})
	if want := []point{old[0], {axis: "traces", size: 4}, {axis: "traces", size: 5}, old[2]}; !slices.Equal(have, want) {
		t.Errorf("have %v, want %v", have, want)
	}
}

func TestFilled(t *testing.T) {
	begin, end := marks("x")
	have, err := filled("a\n"+begin+"old\n"+end+"b\n", "x", "new\n\n")
	if want := "a\n" + begin + "\nnew\n\n" + end + "b\n"; err != nil || have != want {
		t.Errorf("have %q, want %q: %v", have, want, err)
	}
	if _, err := filled("a\n"+begin, "x", ""); err == nil {
		t.Error("a page without the end is filled")
	}
}

func TestNamed(t *testing.T) {
	name := func(a axis) string { return a.name }
	if some, err := named(axes, "traces,rows", "axis", name); err != nil || len(some) != 2 || some[0].name != "traces" || some[1].name != "rows" {
		t.Errorf("%+v, %v", some, err)
	}
	const want = `-only: there is no axis "columns"; there are rows, accounts, traces, places`
	if _, err := named(axes, "rows,columns", "axis", name); err == nil || err.Error() != want {
		t.Errorf("%v, not %s", err, want)
	}
}

// All have a turn, whatever is installed.
func TestBeside(t *testing.T) {
	s := sides{newTree(t), 2000, 1} // of 1,000 accounts
	var text strings.Builder
	for _, compare := range []func(context.Context, *strings.Builder) error{s.aggregates, s.releases} {
		if err := compare(t.Context(), &text); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a loop in Go", "geosql's SQL, charged to one account", "`geosql release`, an account in every row"} {
		if !strings.Contains(text.String(), "| "+name) {
			t.Errorf("there is no row %q:\n%s", name, &text)
		}
	}
}

// Every kind of bound is measured, with less to do.
func TestBounds(t *testing.T) {
	sources := newTree(t)
	for name, measure := range map[string]func(context.Context, *tree) (timing, error){
		"laplace-wkt":     overPoints("make-points", "laplace-wkt", 1000, 10),
		"groups":          overPoints("make-shuffled", "groups", 1000, 100),
		"predictive":      overTraces("predictive", 10),
		"pim":             overTraces("pim", 10),
		"pim-cells":       alone("pim-cells", 3),
		"release-parquet": releaseRate(1000, 10, "parquet"),
		"optimal":         alone("optimal-pairs", 10),
		"sealed":          sealedRow(1000),
		"served-values":   served("served-values", 1000, 100),
		"served-again":    served("served-again", 1000, 2),
		"served-charges":  served("served-charges", 1000, 2),
	} {
		if took, err := measure(t.Context(), sources); err != nil || took.Seconds <= 0 {
			t.Errorf("%s: %v %v", name, took, err)
		}
	}
}

func TestMet(t *testing.T) {
	for _, c := range []struct {
		unit     string
		limit, x float64
		want     bool
	}{{"times", 6, 5.9, true}, {"times", 6, 6, true}, {"times", 6, 6.1, false}, {"rows/s", 100, 101, true}, {"rows/s", 100, 100, true}, {"rows/s", 100, 99, false}, {"part", 0.5, 0.6, true}, {"part", 0.5, 0.4, false}} {
		if (bound{limit: c.limit, unit: c.unit}).met(c.x) != c.want {
			t.Errorf("%+v", c)
		}
	}
	for _, b := range bounded {
		if _, err := chosenBounds(b.name); err != nil {
			t.Error(err)
		}
	}
	for unit, want := range map[string]float64{"times": 0.5, "rows/s": 4, "s": 0.25, "ms": 250, "ns": 0.25e9, "part": 2} {
		if have := (bound{unit: unit}).figure(timing{0.25, 0.5}); have != want {
			t.Errorf("0.25 s of 0.5 s is %v %s, want %v", have, unit, want)
		}
	}
	b := bound{name: "x", work: "work", limit: 6, unit: "times"}
	for page, want := range map[string]string{
		"":                       "| work | 6 times |  | x |",
		"| work | 1 | 2 | x |\n": "| work | 1 | 2 | x |",
		"| work | 1 | 2 | y |\n": "| work | 6 times |  | x |",
	} {
		if have := b.rowOf(page); have != want {
			t.Errorf("the row is %q, want %q", have, want)
		}
	}
	if have, want := b.row(7), "| work | 6 times | 7.0, **not met** | x |"; have != want {
		t.Errorf("the row is %q, want %q", have, want)
	}
	if _, err := chosenBounds("laplace"); err == nil || !strings.Contains(err.Error(), "there are laplace-1, ") {
		t.Error(err)
	}
}

// By hand: 1 (3 s) -> 3 (1 s) -> 4 (1 s) -> 0 takes longer than 1 -> 2 (0.5 s) -> 4 -> 0, and 5 waits for nobody.
func TestLongest(t *testing.T) {
	chain, took := longest([]action{
		{ID: 0, Deps: []int{4}},
		{ID: 1, CmdUser: 3 * time.Second}, {ID: 2, CmdUser: time.Second / 2, Deps: []int{1}},
		{ID: 3, CmdSys: time.Second, Deps: []int{1}}, {ID: 4, CmdUser: time.Second, Deps: []int{2, 3}},
		{ID: 5, CmdUser: 4 * time.Second},
	})
	have := ""
	for _, a := range chain {
		have += fmt.Sprint(a.ID)
	}
	if have != "1340" || took != 5*time.Second {
		t.Errorf("%s takes %v, want 1340 and 5s", have, took)
	}
}
