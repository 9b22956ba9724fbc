package main

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/need"
)

// censusOf runs the study of commutes.
func censusOf(t *testing.T, args ...string) []map[string]string {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"census"}, args...)...))
}

// Places around Detroit; from a to the others it is 3.5, 17, 35 and 69 miles.
const censusPlaces = `cell,lat,lon
a,42.3,-83.0
b,42.35,-83.0
c,42.55,-83.0
d,42.8,-83.0
e,43.3,-83.0
`

// Jobs from a by bucket: 1008, 2000, 300 and 40.
const censusJobs = `home_cell,work_cell,jobs
a,a,8
a,b,1000
a,c,2000
d,a,300
a,e,40
c,e,0
`

var censusCounts = map[string]string{"0-10": "1008", "10-25": "2000", "25-50": "300", ">50": "40"}

// The settings, and rows which hold all jobs. Homes that hardly move change nothing.
func TestStudyCensus(t *testing.T) {
	od, places := clitest.WriteFile(t, clitest.Zipped(t, censusJobs)), clitest.WriteFile(t, censusPlaces)
	for name, c := range map[string]struct {
		args []string
		want []string // level and radius
	}{
		"thesis":   {nil, []string{"0.693147181 1.22", "1.386294361 1.22", "1.791759469 1.22", "2.15 3.86", "4.3 3.86", "8.6 3.86"}},
		"levels":   {[]string{"-level", "ln 3,0.5"}, []string{"1.098612289 1.22", "0.5 1.22"}},
		"radii":    {[]string{"-radius=0.5"}, []string{"0.693147181 0.5", "1.386294361 0.5", "1.791759469 0.5"}},
		"both":     {[]string{"--level=2,8.6", "--radius", "0.01,2"}, []string{"2 0.01", "8.6 0.01", "2 2", "8.6 2"}},
		"in place": {[]string{"-level", "2", "-radius", "0.001"}, []string{"2 0.001"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := censusOf(t, append([]string{"-od", od, "-places", places}, c.args...)...)
			if len(rows) != 4*len(c.want) {
				t.Fatalf("%d rows", len(rows))
			}
			released, errors := 0.0, 0.0
			for k, r := range rows {
				bucket := []string{"0-10", "10-25", "25-50", ">50"}[k%4]
				if r["level"]+" "+r["radius_mi"] != c.want[k/4] || r["bucket"] != bucket || r["original"] != censusCounts[bucket] {
					t.Errorf("row %d: %v", k, r)
				}
				if name == "in place" && (r["released"] != r["original"] || r["share_error"] != "0.000000") {
					t.Errorf("%v", r)
				}
				share := (measure(t, r, "released") - measure(t, r, "original")) / 3348
				if math.Abs(measure(t, r, "share_error")-share) > 1e-6 {
					t.Errorf("%v: share error %v", r, share)
				}
				released, errors = released+measure(t, r, "released"), errors+measure(t, r, "share_error")
			}
			if n := float64(len(c.want)); released != 3348*n || math.Abs(errors) > 1e-5*n {
				t.Errorf("%v jobs, errors of shares %v", released, errors)
			}
		})
	}
}

// Estimates are columns more, and have all jobs too.
func TestStudyCensusEstimate(t *testing.T) {
	od, places := clitest.WriteFile(t, censusJobs), clitest.WriteFile(t, censusPlaces)
	estimated := 0.0
	for _, r := range censusOf(t, "-od", od, "-places", places, "-estimate", "-level", "2", "-radius", "1") {
		estimated += measure(t, r, "estimated")
		if e := (measure(t, r, "estimated") - measure(t, r, "original")) / 3348; math.Abs(measure(t, r, "estimate_error")-e) > 1e-4 {
			t.Errorf("%v", r)
		}
	}
	if math.Abs(estimated-3348) > 1 {
		t.Errorf("%v jobs are estimated", estimated)
	}
}

// The same jobs are the same study, however the columns are called and ordered.
func TestStudyCensusReadsColumns(t *testing.T) {
	rename := func(text, head string) string { return head + text[strings.IndexByte(text, '\n'):] }
	for name, c := range map[string]struct{ od, places, columns string }{
		"by block":   {rename(censusJobs, "home_block,work_block,jobs"), rename(censusPlaces, "block,lat,lon"), ""},
		"as LODES":   {rename(censusJobs, "h_geocode,w_geocode,S000"), rename(censusPlaces, "tabblk2020,blklatdd,blklondd"), ""},
		"as LODES 7": {rename(censusJobs, "h_geocode,w_geocode,S000"), rename(censusPlaces, "tabblk2010,blklatdd,blklondd"), ""},
		"other names": {
			"n;to;block;from\n8;a;;a\n1000; b;;a\n2000;c;;a\n300;a;;d \n40;e;;a", rename(censusPlaces, "id,north,east"), "from,to,n,id,north,east",
		},
	} {
		args := []string{"-od", clitest.WriteFile(t, c.od), "-places", clitest.WriteFile(t, c.places), "-level", "2", "-radius", "0.001"}
		if c.columns != "" {
			args = append(args, "-columns", c.columns)
		}
		for _, r := range censusOf(t, args...) {
			if r["original"] != censusCounts[r["bucket"]] || r["released"] != r["original"] {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}

func TestStudyCensusFigure(t *testing.T) {
	od, places, out := clitest.WriteFile(t, censusJobs), clitest.WriteFile(t, censusPlaces), filepath.Join(t.TempDir(), "figures")
	wantFigures(t, clitest.Run(t, "", "census", "-od", od, "-places", places, "-out", out), out, "commutes")
}

func TestStudyCensusErrors(t *testing.T) {
	od, places := clitest.WriteFile(t, censusJobs), clitest.WriteFile(t, censusPlaces)
	both := []string{"-od", od, "-places", places}
	with := func(args ...string) []string { return slices.Concat(both, args) }
	jobs := func(row string) []string {
		return []string{"-od", clitest.WriteFile(t, "home_cell,work_cell,jobs\na,b,1\n"+row), "-places", places}
	}
	where := func(text string) []string { return []string{"-od", od, "-places", clitest.WriteFile(t, text)} }
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{nil, 2, "no file of jobs given: -od FILE"},
		{[]string{"-od", od}, 2, "no file of places given: -places FILE"},
		{with("-columns", "home,work,jobs"), 2, "-columns names home,work,jobs,place,lat,lon"},
		{with("-level", "0"), 2, "level must be above 0, not 0"},
		{with("-level", "ln 0"), 2, `"ln 0" is not like 1.386 or ln4`},
		{with("-radius", "0"), 2, "radius must be above 0, not 0"},
		{with("-radius", "1e9"), 2, "which must be between 1e-9 and 1000"},
		{with("-users", "3"), 2, "census takes no flag -users"},
		{[]string{"-od", od + "x", "-places", places}, 1, "no such file"},
		{[]string{"-od", od, "-places", od}, 1, "has no column block or cell or tabblk2020 or tabblk2010: it has home_cell, work_cell, jobs"},
		{with("-columns", "home_cell,work_cell,n,cell,lat,lon"), 1, "has no column n: it has home_cell, work_cell, jobs"},
		{jobs("a,x,1"), 1, `line 3: ` + places + ` has no place "x"`},
		{jobs(",a,1"), 1, `has no place ""`},
		{jobs("a,b,-1"), 1, `line 3: "-1" is not a number of jobs`},
		{jobs("a,b,1.5"), 1, `"1.5" is not a number of jobs`},
		{jobs("a,b,5000000000"), 1, `"5000000000" is not a number of jobs`},
		{[]string{"-od", clitest.WriteFile(t, "home_cell,work_cell,jobs\na,b,0\n"), "-places", places}, 1, "there are no jobs"},
		{where("cell,lat,lon\n"), 1, "has no places"},
		{where("cell,lat,lon\na,91,0\n"), 1, "line 2: latitude 91, longitude 0 is not a location"},
		{where("cell,lat,lon\na,9,0\na,9,0\n"), 1, "line 3: place a is given twice"},
		{where(censusPlaces + "f,-42,100\n"), 1, "around the places of"},
		{with("-out", od), 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"census"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyCensusInterrupted(t *testing.T) {
	od, places := clitest.WriteFile(t, "home_cell,work_cell,jobs\na,b,2000\n"), clitest.WriteFile(t, censusPlaces)
	interruptStudy(t, censusTable.head, "census", "-od", od, "-places", places, "-level", "ln4"+strings.Repeat(",ln4", 5000))
}

// The tendency of figure 5.13 in the counties of Detroit: jobs move from 0-10 to 10-25
// miles, less so at higher levels, and hardly any beyond. The law has 4.3 % of all jobs
// leave the first bucket at ln 2, 4.5 % at 2.15 in the larger area, and 1.4 % at the next
// levels. By Hoeffding's inequality a share of
// 744,903 jobs is off by 0.004 with a probability below 1e-10.
func TestStudyCensusDetroit(t *testing.T) {
	rows := censusOf(t, "-od", realData(t, "lodes_detroit_h3/od.csv.gz"), "-places", need.Data(t, "lodes_detroit_h3/cells.csv.gz"))
	if len(rows) != 24 {
		t.Fatalf("%d rows", len(rows))
	}
	change := func(row int) float64 { return measure(t, rows[row], "share_error") }
	for first, want := range map[int]float64{0: -0.0433, 12: -0.0448} { // ln 2 within 1.22 miles, 2.15 within 3.86
		if short, middle := change(first), change(first+1); math.Abs(short-want) > 0.004 || middle < 0.03 {
			t.Errorf("%v of the short commutes, %v of the middle ones", short, middle)
		}
		if next := change(first + 4); math.Abs(next+0.014) > 0.004 {
			t.Errorf("%v of the short commutes at the next level", next)
		}
		if math.Abs(change(first+2)) > 0.014 || math.Abs(change(first+3)) > 0.005 {
			t.Errorf("long commutes: %v, %v", rows[first+2], rows[first+3])
		}
	}
	if math.Abs(change(20)+0.0064) > 0.004 {
		t.Errorf("8.6 within 3.86 miles: %v", rows[20])
	}
}
