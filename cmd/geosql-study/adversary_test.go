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
		{with(clitest.WriteFile(t, "x,y,day\n0,0,1\n")), 1, "2 to 256 places, not 1"},
		{with(clitest.WriteFile(t, "u,x,y,day\na,0,0,1\na,1,0,1\nb,1,1,1\n"), "-user", "u"), 1, "user b: there must be 2 to 256 places, not 1"},
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
	interruptStudy(t, adversaryHead, "adversary", "-places", clitest.WriteFile(t, strings.Join(lines, "\n")+"\n"),
		"-plane", "-columns", "x,y,day", "-user", "who", "-epsilon", "1")
}

// cellsSQL is the script in docs/study-optimal.md that makes the table prior.
func cellsSQL(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/study-optimal.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(text), "\n    CREATE TABLE visit")
	script, _, ended := strings.Cut(script, "\n\n")
	if !found || !ended {
		t.Fatal("docs/study-optimal.md has no script")
	}
	return "CREATE TABLE visit" + script
}

// The tendency of figure 6.3 of the thesis, on three users of GeoLife and the cells that
// docs/study-optimal.md has: at the same loss the optimal mechanism is as private as
// the most private one under the prior that both were made for, and more so in the
// median under that of the morning.
func TestStudyAdversaryGeoLife(t *testing.T) {
	db := clitest.TempFile(t, "geolife.db")
	geosql(t, "", "import", db, "point", clitest.DataFile(t, "geolife/points.csv.gz"))
	geosql(t, cellsSQL(t), db)
	users := clitest.WriteFile(t, geosql(t, "", "-csv", db, `SELECT user, lat, lon, day + 0.01 AS day, morning FROM prior
		WHERE user IN (SELECT user FROM prior GROUP BY user HAVING min(sum(morning), sum(afternoon), sum(night)) >= 20
			ORDER BY sum(day) DESC LIMIT 3)`))
	rows := csvRows(t, clitest.Query(t, "adversary", "-places", users, "-columns", "lat,lon,day", "-user", "user",
		"-priors", "morning", "-epsilon", "1.07"))
	errors := map[string][]float64{}
	for _, r := range rows {
		key := r["mechanism"] + " " + r["prior"]
		errors[key] = append(errors[key], measure(t, r, "adv_error"))
	}
	median := func(key string) float64 {
		slices.Sort(errors[key])
		return errors[key][len(errors[key])/2]
	}
	if len(errors["optimal day"]) != 3 {
		t.Fatalf("%d users", len(errors["optimal day"]))
	}
	if best, most := median("optimal day"), median("most-private day"); math.Abs(best-most) > 3e-4 {
		t.Errorf("under the day: %v, %v", best, most)
	}
	if best, most, noise := median("optimal morning"), median("most-private morning"), median("planar-laplace morning"); best < most || best < 1.2*noise {
		t.Errorf("under the morning: %v, %v, %v", best, most, noise)
	}
}
