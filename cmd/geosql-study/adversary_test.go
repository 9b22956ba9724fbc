package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// adversaryOf runs the study of adversaries in the plane.
func adversaryOf(t *testing.T, places string, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"adversary", "-places", places, "-columns", "x,y,day", "-plane"}, args...)...))
}

// twoUsers is a file of two users' places, the rows of one between those of the other;
// night is 0 somewhere.
func twoUsers(t *testing.T) string {
	t.Helper()
	lines := []string{"who,x,y,day,night"}
	for k := range 9 {
		lines = append(lines, fmt.Sprintf("ana,%d,%d,%d,%d", k%3, k/3, k+1, k%2))
		if k < 4 {
			lines = append(lines, fmt.Sprintf(`"b, b",%d,%d,%d,%d`, k%2, k/2, 4-k, k))
		}
	}
	return clitest.WriteFile(t, strings.Join(lines, "\n")+"\n")
}

// ana's is the grid of R30, of 3 x 3 places and skewed weights. By theorem 6.2 of the
// thesis the least loss is the greatest error of the adversary.
func TestStudyAdversary(t *testing.T) {
	rows := adversaryOf(t, twoUsers(t), "-user", "who", "-priors", "night", "-epsilon", ln2Text, "-dilation", "1", "-gap", "1e-5")
	var got []string
	for _, r := range rows {
		got = append(got, r["user"]+" "+r["mechanism"]+" "+r["prior"])
		if (r["epsilon"] == "") != (r["mechanism"] == "most-private") || measure(t, r, "realised_epsilon") <= 0 {
			t.Errorf("%v", r)
		}
		if r["user"] != "ana" || r["prior"] != "day" {
			continue
		}
		const least = 0.911912699
		if loss := measure(t, r, "quality_loss"); math.Abs(loss-least) > 5e-5 {
			t.Errorf("%v: loss %v", r, loss)
		}
		if e := measure(t, r, "adv_error"); e > least+5e-5 || r["mechanism"] != "planar-laplace" && e < least-5e-5 {
			t.Errorf("%v: error %v", r, e)
		}
	}
	var want []string
	for _, user := range []string{"ana", "b, b"} {
		for _, mechanism := range []string{"optimal", "most-private", "planar-laplace"} {
			want = append(want, user+" "+mechanism+" day", user+" "+mechanism+" night")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

// Without a column of users all rows are one user's; without priors the weight is the
// only one.
func TestStudyAdversaryOfOne(t *testing.T) {
	places := clitest.WriteFile(t, "x,y,day\n0,0,1\n1,0,2\n0,1,3\n")
	rows := adversaryOf(t, places, "-epsilon", "1")
	if len(rows) != 3 || rows[0]["user"] != "" || rows[0]["prior"] != "day" {
		t.Errorf("%v", rows)
	}
}

func TestStudyAdversaryFigure(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	args := []string{"adversary", "-places", twoUsers(t), "-columns", "x,y,day", "-plane", "-user", "who", "-priors", "night", "-epsilon", "1", "-out", out}
	wantFigures(t, clitest.Run(t, "", args...), out, "priors")
}

func TestStudyAdversaryErrors(t *testing.T) {
	good := twoUsers(t)
	plane := []string{"-plane", "-columns", "x,y,day", "-epsilon", "1"}
	with := func(places string, args ...string) []string {
		return append([]string{"-places", places}, append(args, plane...)...)
	}
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{plane, 2, "no file of places"},
		{[]string{"-places", good}, 2, "-epsilon must be given"},
		{with(good, "-dilation", "1,2"), 2, `"1,2" is not a number`},
		{with(good, "-dilation", "0.5"), 2, "dilation must be at least 1"},
		{with(good, "-gap", "1"), 2, "gap must be between 0 and 1"},
		{with(good, "-priors", "night,"), 2, "a name is empty"},
		{with(good, "-priors", "night,day"), 2, "-priors names day twice"},
		{with(good, "-priors", "morning"), 1, "has no column morning: it has who, x, y, day, night"},
		{with(good, "-user", "name"), 1, "has no column name"},
		{with(good), 1, "line 3: the place of line 2 is given twice"},
		{with(clitest.WriteFile(t, "x,y,day\n")), 1, "has no places"},
		{with(clitest.WriteFile(t, "x,y,day\n0,0,1\n")), 1, "2 to 1024 places, not 1"},
		{with(clitest.WriteFile(t, "u,x,y,day\na,0,0,1\na,1,0,1\nb,1,1,1\n"), "-user", "u"), 1, "user b: there must be 2 to 1024 places, not 1"},
		{with(clitest.WriteFile(t, "x,y,day\n0,0,1\n1,0,-2\n")), 1, "line 3: the weight must be 0 or more, not -2"},
		{with(clitest.WriteFile(t, "x,y,day,night\n0,0,1,1\n1,0,1,-1\n"), "-priors", "night"), 1, "line 3: night must be 0 or more, not -1"},
		{with(clitest.WriteFile(t, "x,y,day,night\n0,0,1,1\n1,0,1,\n"), "-priors", "night"), 1, `line 3: "" is not a number`},
		{with(clitest.WriteFile(t, "u,x,y,day,night\na,0,0,1,0\na,1,0,1,0\n"), "-priors", "night", "-user", "u"), 1,
			"user a: prior night: the weights add up to 0"},
		{with(good, "-user", "who", "-out", good), 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"adversary"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyAdversaryInterrupted(t *testing.T) {
	lines := []string{"who,x,y,day"}
	for k := range 9 * 3000 {
		lines = append(lines, fmt.Sprintf("%d,%d,%d,1", k/9, k%3, k/3%3))
	}
	interruptStudy(t, adversaryTable.head, "adversary", "-places", clitest.WriteFile(t, strings.Join(lines, "\n")+"\n"),
		"-plane", "-columns", "x,y,day", "-user", "who", "-epsilon", "1")
}

// docScript returns the script in docs/study-optimal.md that begins with some words.
func docScript(t *testing.T, words string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/study-optimal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "\n    "+words)
	script, _, ended := strings.Cut(script, "\n\n")
	if !found || !ended {
		t.Fatalf("docs/study-optimal.md has no script %s", words)
	}
	return words + script
}

// priorsOf returns a file with the rows of a query of the tables that docs/study-optimal.md has
// for a data set. Its script for visits begins with some words.
func priorsOf(t *testing.T, data, visits, query string) string {
	t.Helper()
	db := clitest.TempFile(t, "visits.db")
	geosql(t, "", "import", db, "point", realData(t, data))
	geosql(t, docScript(t, visits)+docScript(t, "CREATE TABLE place"), db)
	return clitest.WriteFile(t, geosql(t, "", "-csv", db, query))
}

// mediansOf returns a function that returns the median of the adversary's error over the three
// users of rows, given the mechanism and the prior.
func mediansOf(t *testing.T, rows []map[string]string) func(mechanism, prior string) float64 {
	return func(mechanism, prior string) float64 {
		t.Helper()
		const users = 3
		var values []float64
		for _, r := range rows {
			if r["mechanism"] == mechanism && r["prior"] == prior {
				values = append(values, measure(t, r, "adv_error"))
			}
		}
		if len(values) != users {
			t.Fatalf("%d users", len(values))
		}
		slices.Sort(values)
		return values[users/2]
	}
}

// The tendency of figure 6.3 of the thesis, on three users of GeoLife and the cells that
// docs/study-optimal.md has: at the same loss the optimal mechanism is as private as
// the most private one under the prior that both were made for, and more so in the
// median under that of the morning.
func TestStudyAdversaryGeoLife(t *testing.T) {
	users := priorsOf(t, "geolife/points.csv.gz", "CREATE TABLE visit AS\n      SELECT DISTINCT user",
		`SELECT user, lat, lon, day + 0.01 AS day, morning FROM prior
		WHERE user IN (SELECT user FROM prior GROUP BY user HAVING min(sum(morning), sum(afternoon), sum(night)) >= 20
			ORDER BY sum(day) DESC LIMIT 3)`)
	rows := csvRows(t, clitest.Query(t, "adversary", "-places", users, "-columns", "lat,lon,day", "-user", "user",
		"-priors", "morning", "-epsilon", "1.07"))
	median := mediansOf(t, rows)
	if best, most := median("optimal", "day"), median("most-private", "day"); math.Abs(best-most) > 3e-4 {
		t.Errorf("under the day: %v, %v", best, most)
	}
	if best, most, noise := median("optimal", "morning"), median("most-private", "morning"), median("planar-laplace", "morning"); best < most || best < 1.2*noise {
		t.Errorf("under the morning: %v, %v, %v", best, most, noise)
	}
}

// Figures 6.6 and 6.7 of the thesis, on three taxis of San Francisco: the optimal mechanism is as
// private as the most private one under the prior that both were made for, more so at night, less
// so in the morning, and more private than planar Laplace under any prior. It loses less than
// planar Laplace at every epsilon.
func TestStudyTaxis(t *testing.T) {
	cabs := priorsOf(t, "cabspotting/points.csv.gz", "CREATE TABLE visit AS\n      SELECT DISTINCT cab",
		`SELECT user, lat, lon, day, morning, night FROM prior
		WHERE user IN (SELECT user FROM prior GROUP BY user ORDER BY sum(day) DESC LIMIT 3)`)
	args := []string{"-places", cabs, "-columns", "lat,lon,day", "-user", "user", "-epsilon", "1.07", "-dilation", "1.05"}

	rows := csvRows(t, clitest.Query(t, append([]string{"adversary", "-priors", "morning,night"}, args...)...))
	median := mediansOf(t, rows)
	if best, most := median("optimal", "day"), median("most-private", "day"); math.Abs(best-most) > 3e-4 {
		t.Errorf("under the day: %v, %v", best, most)
	}
	if best, most := median("optimal", "morning"), median("most-private", "morning"); best > most {
		t.Errorf("under the morning: %v, %v", best, most)
	}
	if best, most := median("optimal", "night"), median("most-private", "night"); best < most {
		t.Errorf("under the night: %v, %v", best, most)
	}
	for _, prior := range []string{"day", "morning", "night"} {
		if best, noise := median("optimal", prior), median("planar-laplace", prior); best < 1.03*noise {
			t.Errorf("under the %s: %v, %v", prior, best, noise)
		}
	}

	compared, best := 0, 0.0
	for _, r := range csvRows(t, clitest.Query(t, append([]string{"optimal"}, args...)...)) {
		switch loss := measure(t, r, "quality_loss"); r["mechanism"] {
		case "optimal":
			best = loss
		case "planar-geometric":
			compared++
			if best > 0.85*loss {
				t.Errorf("user %s, epsilon %s: %v, %v", r["user"], r["epsilon"], best, loss)
			}
		}
	}
	if compared != 3*5 {
		t.Errorf("%d losses of planar Laplace", compared)
	}
}
