package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// unitGrid is a file of width x width places at step 1, of equal weights.
func unitGrid(t *testing.T, width int) string {
	t.Helper()
	lines := []string{"x,y,weight"}
	for k := range width * width {
		lines = append(lines, fmt.Sprintf("%d,%d,1", k%width, k/width))
	}
	return clitest.WriteFile(t, strings.Join(lines, "\n")+"\n")
}

// optimalOf runs the study of optimal mechanisms in the plane.
func optimalOf(t *testing.T, places string, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"optimal", "-places", places, "-columns", "x,y,weight", "-plane"}, args...)...))
}

const ln2Text = "0.6931471805599453"

// The losses are those of other people's solvers (R22, R24, R26, R27), to four
// digits. R27 divides epsilon by the dilation asked for; the epsilons here make up
// for it.
func TestStudyOptimal(t *testing.T) {
	for _, c := range []struct {
		width     int
		want      string
		mechanism string
		loss      float64
	}{
		{3, "1", "optimal", 1.021871205},
		{5, "1", "optimal", 1.453531706},
		{5, "1", "planar-geometric", 1.692327817},
		{5, "1", "exponential", 2.063059777},
	} {
		found := false
		for _, r := range optimalOf(t, unitGrid(t, c.width), "-epsilon", ln2Text, "-dilation", "1", "-gap", "1e-5") {
			if r["mechanism"] != c.mechanism {
				continue
			}
			found = true
			if got := measure(t, r, "quality_loss"); math.Abs(got-c.loss) > 5e-5 {
				t.Errorf("%s, %d: loss %v, not %v", c.mechanism, c.width, got, c.loss)
			}
			if certified := measure(t, r, "certified_epsilon"); certified > math.Ln2 {
				t.Errorf("%v", r)
			}
			if c.mechanism != "optimal" && r["dilation"]+r["true_dilation"]+r["edges"]+r["constraints"]+r["gap"] != "" {
				t.Errorf("%v", r)
			}
		}
		if !found {
			t.Errorf("no row of %s", c.mechanism)
		}
	}
}

func TestStudyOptimalDilations(t *testing.T) {
	places := unitGrid(t, 5)
	rows := optimalOf(t, places, "-epsilon", ln2Text, "-dilation", "1.05,1.5,2", "-gap", "1e-5")
	if len(rows) != 5 {
		t.Fatalf("%d rows", len(rows))
	}
	for k, want := range []struct {
		edges string
		loss  float64
	}{{"120", 1.476719584}, {"40", 1.567582969}, {"40", 1.693383417}} {
		r := rows[k]
		if r["edges"] != want.edges || measure(t, r, "quality_loss") > want.loss+5e-5 || measure(t, r, "gap") > 1e-5 {
			t.Errorf("%v", r)
		}
		epsilon := fmt.Sprint(math.Ln2 * measure(t, r, "true_dilation") / measure(t, r, "dilation"))
		same := optimalOf(t, places, "-epsilon", epsilon, "-dilation", r["dilation"], "-gap", "1e-5")[0]
		if got := measure(t, same, "quality_loss"); math.Abs(got-want.loss) > 5e-5 {
			t.Errorf("dilation %s: loss %v, not %v", r["dilation"], got, want.loss)
		}
	}
}

// Degrees and either unit give the same.
func TestStudyOptimalOnTheGlobe(t *testing.T) {
	places := clitest.WriteFile(t, "name;lat;lon;n\na;48.85;2.35;1\nb;48.86;2.35;2\nc;48.85;2.37;3\n")
	var losses []float64
	for _, args := range [][]string{{"-epsilon", "1"}, {"-epsilon", "0.001", "-unit", "m"}} {
		rows := csvRows(t, clitest.Query(t, append([]string{"optimal", "-places", places, "-columns", "lat,lon,n", "-dilation", "1"}, args...)...))
		if len(rows) != 3 || rows[0]["mechanism"] != "optimal" || rows[1]["mechanism"] != "planar-geometric" || rows[2]["mechanism"] != "exponential" {
			t.Fatalf("%v", rows)
		}
		losses = append(losses, measure(t, rows[1], "quality_loss"))
	}
	if math.Abs(losses[1]/losses[0]-1000) > 0.01 {
		t.Errorf("%v", losses)
	}
}

func TestStudyOptimalFigures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	args := []string{"optimal", "-places", unitGrid(t, 3), "-columns", "x,y,weight", "-plane", "-epsilon", "1", "-out", out}
	wantFigures(t, clitest.Run(t, "", args...), out, "spanner", "dilation", "epsilon")
}

// Each user has the rows of a study of the user's places alone, and those of other epsilons.
func TestStudyOptimalUsers(t *testing.T) {
	study := func(places string, more ...string) []map[string]string {
		args := []string{"optimal", "-places", places, "-plane", "-columns", "x,y,day", "-epsilon", "1", "-dilation", "1.5,1", "-gap", "1e-5"}
		return csvRows(t, clitest.Query(t, append(args, more...)...))
	}
	rows := study(twoUsers(t), "-user", "who")
	const perUser = 4 + 4*3 // two dilations and two others, then four epsilons
	if len(rows) != 2*perUser {
		t.Fatalf("%d rows", len(rows))
	}
	for k, r := range rows {
		user, epsilon := []string{"ana", "b, b"}[k/perUser], "1"
		if at := k % perUser; at >= 4 {
			epsilon = []string{"0.25", "0.5", "2", "4"}[(at-4)/3]
			if r["mechanism"] == "optimal" && r["dilation"] != "1.5" {
				t.Errorf("%v", r)
			}
		}
		if r["user"] != user || r["epsilon"] != epsilon {
			t.Errorf("row %d is %v", k, r)
		}
	}
	alone := study(clitest.WriteFile(t, "x,y,day\n0,0,4\n1,0,3\n0,1,2\n1,1,1\n"))
	for k, want := range alone {
		for column, cell := range want {
			if got := rows[perUser+k][column]; column != "seconds" && got != cell {
				t.Errorf("%s of row %d is %s, alone %s", column, k, got, cell)
			}
		}
	}
	if len(alone) != 4 {
		t.Errorf("%d rows of one user", len(alone))
	}
}

func TestStudyOptimalUsersFigures(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	args := []string{"optimal", "-places", twoUsers(t), "-columns", "x,y,day", "-plane", "-user", "who", "-epsilon", "1", "-out", out}
	wantFigures(t, clitest.Run(t, "", args...), out, "dilation", "epsilon")
}

func TestStudyOptimalErrors(t *testing.T) {
	good := unitGrid(t, 3)
	plane := []string{"-plane", "-columns", "x,y,weight", "-epsilon", "1"}
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{plane, 2, "no file of places"},
		{[]string{"-places", good}, 2, "-epsilon must be given"},
		{append([]string{"-places", good, "-unit", "mile"}, plane...), 2, "-unit must be m or km, not mile"},
		{append([]string{"-places", good, "-dilation", "0.9"}, plane...), 2, "dilation must be at least 1, not 0.9"},
		{append([]string{"-places", good, "-dilation", "one"}, plane...), 2, `"one" is not a number`},
		{append([]string{"-places", good, "-gap", "0"}, plane...), 2, "gap must be between 0 and 1"},
		{append([]string{"-places", good, "-points", good}, plane...), 2, "optimal takes no flag -points"},
		{[]string{"-places", good, "-columns", "x,y", "-epsilon", "1"}, 2, "-columns names"},
		{[]string{"-places", good, "-epsilon", "1"}, 1, "has no column lat: it has x, y, weight"},
		{append([]string{"-places", good + "x"}, plane...), 1, "no such file"},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n")}, plane...), 1, "2 to 1024 places, not 0"},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,1\n")}, plane...), 1, "2 to 1024 places, not 1"},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,0\n2,2,0\n")}, plane...), 1, "prior weights are all 0"},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,1\n2,2,-1\n")}, plane...), 1, "line 3: the weight must be 0 or more, not -1"},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,1\n2,2,much\n")}, plane...), 1, `line 3: "much" is not a number`},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,1\n2,,1\n")}, plane...), 1, `line 3: "" is not a number`},
		{append([]string{"-places", clitest.WriteFile(t, "x,y,weight\n1,2,1\n2,2,1\n1.0,2,5\n")}, plane...), 1, "line 4: the place of line 2 is given twice"},
		{[]string{"-epsilon", "1", "-places", clitest.WriteFile(t, "lat,lon,weight\n1,2,1\n91,2,1\n")}, 1, "line 3: latitude 91, longitude 2 is not a location"},
		{append([]string{"-places", good, "-out", good}, plane...), 1, "not a directory"},
		{append([]string{"-places", good, "-user", "who"}, plane...), 1, "has no column who"},
		{append([]string{"-user", "u", "-places", clitest.WriteFile(t, "u,x,y,weight\n")}, plane...), 1, "has no places"},
		{append([]string{"-user", "u", "-places", clitest.WriteFile(t, "u,x,y,weight\na,0,0,1\na,1,0,1\nb,1,1,1\n")}, plane...), 1,
			"user b: there must be 2 to 1024 places, not 1"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"optimal"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyOptimalInterrupted(t *testing.T) {
	interruptStudy(t, optimalTable.head, "optimal", "-places", unitGrid(t, 5), "-plane", "-columns", "x,y,weight", "-epsilon", "1", "-dilation", "2"+strings.Repeat(",2", 2000))
}
