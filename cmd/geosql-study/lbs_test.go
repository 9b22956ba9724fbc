package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// lbsOf runs the study of location services.
func lbsOf(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"lbs"}, args...)...))
}

// keepsPromise reports whether so many of n independent trials are believable if each
// succeeds with the probability promised, or more: where they are fewer, by the bound of
// Chernoff they have a probability of 1e-11 or more.
func keepsPromise(share, n, promised float64) bool {
	divergence := share*math.Log(share/promised) + (1-share)*math.Log((1-share)/(1-promised))
	return share >= promised || n*divergence <= 11*math.Ln10
}

func TestStudyLBS(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		reports string
		levels  []string
	}{
		"pois":    {nil, "350", []string{"0.693147181", "1.386294361", "1.791759469"}},
		"sampled": {[]string{"-users", "8", "-level=1.5"}, "112", []string{"1.5"}},
		"grid":    {[]string{"-at", "grid", "-users", "100", "-level= ln 4", "-domain", "48.83,2.33,48.87,2.37,1"}, "", []string{"1.386294361"}},
		"part":    {[]string{"-part=measured", "-domain", "48.83,2.33,48.847,2.37,1", "-level=2,ln4"}, "140", []string{"2", "1.386294361"}},
	} {
		rows := lbsOf(t, append([]string{"-pois", somePlaces(t), "-confidence", "0.9,0.95", "-reports", "14"}, c.args...)...)
		if len(rows) != 4*len(c.levels) {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		for k, r := range rows {
			got := []string{r["level"], r["confidence"], r["radius"]}
			want := []string{c.levels[k/4], []string{"0.9", "0.95"}[k/2%2], []string{"continuous", "lattice"}[k%2]}
			if !slices.Equal(got, want) || c.reports != "" && r["reports"] != c.reports {
				t.Errorf("%s, row %d: %v", name, k, r)
			}
			promised, share := measure(t, r, "confidence"), measure(t, r, "contained")
			if !keepsPromise(share, measure(t, r, "reports"), promised) || measure(t, r, "contained_low") > share || measure(t, r, "contained_high") < share {
				t.Errorf("%s: %v", name, r)
			}
			interest, fetched := measure(t, r, "interest_rows"), measure(t, r, "fetched_rows")
			if math.Abs(measure(t, r, "extra_kb")-0.84*(fetched-interest)) > 0.06 || math.Abs(measure(t, r, "overhead")*interest-fetched) > 0.02 {
				t.Errorf("%s: %v", name, r)
			}
			epsilon := printedLevels[r["level"]] / 200
			if r["epsilon"] != decimal(epsilon, 9) || r["radius"] == "continuous" && r["radius_m"] != decimal(300+unitRadius[promised]/epsilon, 3) {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}

// printedLevels are levels as they are printed.
var printedLevels = map[string]float64{
	"0.693147181": math.Ln2, "1.386294361": math.Log(4), "1.791759469": math.Log(6), "1.5": 1.5, "2": 2,
}

// unitRadius holds so much of the noise at an epsilon of 1 per metre (R1).
var unitRadius = map[float64]float64{0.9: 3.889720169867, 0.95: 4.743864518391}

// R7 and R8, table 5.1 of the thesis computed by another program.
func TestStudyLBSTable(t *testing.T) {
	rows := lbsOf(t, "-part", "table")
	if len(rows) != 18 {
		t.Fatalf("%d rows", len(rows))
	}
	if r := rows[2]; r["city"] != "Paris" || r["area_ratio"] != "54.534" || r["extra_kb"] != "1741.9" || r["printed_kb"] != "1700" {
		t.Errorf("%v", r)
	}
	if r := rows[17]; r["city"] != "Buenos Aires" || r["level"] != "1.791759469" || r["confidence"] != "0.99" || r["extra_kb"] != "57.7" || r["printed_kb"] != "54" {
		t.Errorf("%v", r)
	}
	rows = lbsOf(t, "-part", "table", "-density", `The "Hague"=10,Rome=137`, "-level", "ln4", "-confidence", "0.95", "-row-kb", "1", "-interest", "500", "-radius", "100")
	if len(rows) != 2 || rows[0]["city"] != `The "Hague"` || rows[1]["printed_kb"] != "" || rows[1]["radius_m"] != "842.197" {
		t.Errorf("%v", rows)
	}
}

// R15 and R16, section 5.5 of the thesis.
func TestStudyLBSComparison(t *testing.T) {
	var got []string
	for _, r := range lbsOf(t, "-part", "comparison") {
		cells := []string{r["prior"], r["equal"], r["mechanism"], r["printed"], r["epsilon"], r["quality_loss_m"][:6], r["adv_error_m"][:6], r["confidence"]}
		got = append(got, strings.Join(cells, " "))
	}
	want := []string{
		"uniform equal-loss most-private 0  107.29 107.29 ",
		"uniform equal-loss most-private-uniform 0  107.29 107.29 ",
		"uniform equal-loss cloaking 0  107.29 107.29 1.000000",
		"uniform equal-loss planar-laplace 0 0.016163209 107.29 107.29 0.856385",
		"uniform equal-loss planar-laplace 1 0.016200000 107.05 107.05 0.857251",
		"uniform equal-accuracy cloaking 0  107.29 107.29 1.000000",
		"uniform equal-accuracy planar-laplace 0 0.031293492 50.405 50.405 0.990000",
		"uniform equal-accuracy planar-laplace 1 0.016000000 108.36 108.36 0.852488",
	}
	if len(got) != 32 || !slices.Equal(got[:8], want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if cross := got[18]; cross != "cross equal-loss cloaking 0  70.588 70.588 1.000000" {
		t.Error(cross)
	}
}

// R9, figure 5.6 of the thesis.
func TestStudyLBSPrecision(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	result := clitest.Run(t, "", "lbs", "-part", "precision", "-level", "ln4,ln10000", "-out", out)
	var got []string
	for _, r := range csvRows(t, result.Out) {
		got = append(got, strings.Join([]string{r["level"], r["digits"], r["epsilon"], r["noise_epsilon"], r["least_epsilon"]}, " "))
	}
	want := []string{
		"1.386294361 16 0.0069314718056 0.0069314717653 0.0000000000400",
		"1.386294361 9 0.0069314718056 0.0065288517157 0.0004000000053",
		"1.386294361 7 0.0069314718056  0.0400053346137",
		"9.210340372 16 0.0460517018599 0.0460517018180 0.0000000000400",
		"9.210340372 9 0.0460517018599 0.0456330257609 0.0004000000053",
		"9.210340372 7 0.0460517018599 0.0058130733035 0.0400053346137",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	wantFigures(t, result, out, "precision")
}

func TestStudyLBSFigure(t *testing.T) {
	out := filepath.Join(t.TempDir(), "figures")
	wantFigures(t, clitest.Run(t, "", "lbs", "-pois", somePlaces(t), "-reports", "2", "-out", out), out, "overhead")
}

func TestStudyLBSErrors(t *testing.T) {
	good := somePlaces(t)
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, 2, "no file of points of interest given"},
		{[]string{"-part", "some"}, 2, "-part must be measured, table, comparison or precision, not some"},
		{[]string{"-part", "table", "-pois", good}, 2, "-part table takes no flag -pois"},
		{[]string{"-part", "precision", "-interest", "2"}, 2, "-part precision takes no flag -interest"},
		{[]string{"-part", "precision", "-radius", "1e308"}, 2, "must be between 1e-9 and 1000"},
		{[]string{"-part", "comparison", "-level", "2"}, 2, "-part comparison takes no flag -level"},
		{[]string{"-pois", good, "-density", "Rome=1"}, 2, "-part measured takes no flag -density"},
		{[]string{"-pois", good, "-columns", "lat"}, 2, "-columns names lat,lon"},
		{[]string{"-pois", good, "-domain", "1,2,3,4"}, 2, "-domain is SOUTH"},
		{[]string{"-pois", good, "-domain", "2,2,1,4,1"}, 2, "south 2 must be less than north 1"},
		{[]string{"-pois", good, "-at", "home"}, 2, "-at must be pois or grid, not home"},
		{[]string{"-pois", good, "-users", "0"}, 2, "-users must be at least 1"},
		{[]string{"-pois", good, "-reports", "0"}, 2, "reports must be at least 1"},
		{[]string{"-pois", good, "-level", "ln1"}, 2, "level must be above 0, not 0"},
		{[]string{"-pois", good, "-level", "two"}, 2, `"two" is not like 1.386 or ln4`},
		{[]string{"-pois", good, "-confidence", "1"}, 2, "confidence must be at least 0 and less than 1"},
		{[]string{"-pois", good, "-radius", "0"}, 2, "radius must be above 0"},
		{[]string{"-part", "table", "-density", "Rome"}, 2, `"Rome" is not like Paris=137`},
		{[]string{"-part", "table", "-density", "Rome=0"}, 2, `"Rome=0" is not like Paris=137`},
		{[]string{"-part", "table", "-density", "=1"}, 2, `"=1" is not like Paris=137`},
		{[]string{"-part", "table", "-radius", "1e308"}, 2, "must be between 1e-9 and 1000"},
		{[]string{"-pois", good, "-columns", "lat,x"}, 1, "has no column x: it has name, lon, lat"},
		{[]string{"-pois", good + "x"}, 1, "no such file"},
		{[]string{"-pois", clitest.WriteFile(t, "lat,lon\n")}, 1, "has no points of interest"},
		{[]string{"-pois", clitest.WriteFile(t, "lat,lon\n91,2\n")}, 1, "line 2: latitude 91, longitude 2 is not a location"},
		{[]string{"-pois", clitest.WriteFile(t, "lat,lon\n-60,-170\n60,170\n")}, 1, "-domain must be given"},
		{[]string{"-pois", good, "-domain", "10,20,11,21,1"}, 1, "no points of interest in -domain"},
		{[]string{"-pois", good, "-out", good}, 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"lbs"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyLBSInterrupted(t *testing.T) {
	interruptStudy(t, lbsColumns.head, "lbs", "-pois", somePlaces(t), "-level", "ln4"+strings.Repeat(",ln4", 2000), "-reports", "20")
}

// The promised confidence is kept among the places of New York, and the overhead is
// less than the ratio of the areas: people are where places are. 45,000 reports of each
// level; 9 rows fail with a probability below 1e-10 together.
func TestStudyLBSNewYork(t *testing.T) {
	rows := lbsOf(t, "-pois", realData(t, "poi_osm/nyc2013.csv.gz"), "-reports", "45")
	if len(rows) != 18 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, r := range rows {
		promised := measure(t, r, "confidence")
		if r["radius"] == "lattice" && !keepsPromise(measure(t, r, "contained"), measure(t, r, "reports"), promised) {
			t.Errorf("%v", r)
		}
		if measure(t, r, "found") < promised || measure(t, r, "overhead") > measure(t, r, "area_ratio") || r["reports"] != "45000" {
			t.Errorf("%v", r)
		}
	}
}
