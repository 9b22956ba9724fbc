package main

import (
	"bufio"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// walkers is a file of people who walk about in a city for some hours, each of
// them recorded every twenty seconds. head names the columns.
func walkers(t *testing.T, head string, people, fixes int) (path string) {
	t.Helper()
	var text strings.Builder
	text.WriteString(head + "\n")
	for j := range fixes { // interleaved
		for k := range people {
			phase := float64(j) / 300
			fmt.Fprintf(&text, "u%d,morning,%d,%.6f,%.6f\n", k, 1_200_000_000+20*j,
				48.85+0.01*math.Sin(phase), 2.35+0.002*float64(k)+0.01*math.Cos(2*phase))
		}
	}
	return clitest.WriteFile(t, clitest.Zipped(t, text.String()))
}

const plainHead = "user,trace,t,lat,lon"

// studyRows runs a study and returns its rows by the names of their columns.
func studyRows(t *testing.T, args ...string) (rows []map[string]string) {
	t.Helper()
	return csvRows(t, clitest.Query(t, append([]string{"predictive"}, args...)...))
}

// csvRows reads the output of a study.
func csvRows(t *testing.T, out string) (rows []map[string]string) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range records[1:] {
		row := map[string]string{}
		for k, name := range records[0] {
			row[name] = record[k]
		}
		rows = append(rows, row)
	}
	return rows
}

// measure reads a number of a row.
func measure(t *testing.T, row map[string]string, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(row[name], 64)
	if err != nil {
		t.Fatalf("%s: %v in %v", name, err, row)
	}
	return x
}

func TestStudy(t *testing.T) {
	points := walkers(t, plainHead, 3, 600)
	rows := studyRows(t, "-points", points, "-jump", "0,0.1", "-repeat=2", "-skip", "-predictor", "parrot,mixture")
	var got []string
	for _, r := range rows {
		got = append(got, strings.Join([]string{r["manager"], r["skip"], r["predictor"], r["jump"], r["traces"]}, " "))
		if measure(t, r, "max_spent_share") > 1 || measure(t, r, "points") < 60 {
			t.Errorf("%v", r)
		}
		if im := r["im_rate_percent"]; im != map[string]string{"fixed-rate": "3.333", "fixed-utility": "5.631"}[r["manager"]] {
			t.Errorf("%s: independent rate %s", r["manager"], im)
		}
	}
	want := []string{
		"fixed-rate 0 parrot 0 6", "fixed-rate 0 parrot 0.1 6", "fixed-rate 0 mixture 0 6", "fixed-rate 0 mixture 0.1 6",
		"fixed-rate 30 parrot 0 6", "fixed-rate 30 parrot 0.1 6", "fixed-rate 30 mixture 0 6", "fixed-rate 30 mixture 0.1 6",
	}
	for _, w := range want[:8] {
		want = append(want, strings.Replace(w, "rate", "utility", 1))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s", strings.Join(got, "\n"))
	}
}

// The same points are the same study, whatever the columns are called, how the
// time is written, and in which order the rows are.
func TestStudyReadsPoints(t *testing.T) {
	text := func(head string, row func(j int, lat, lon float64) string) string {
		lines := []string{head}
		for j := range 400 {
			lines = append(lines, row(j, 48.85, 2.35+0.0001*float64(j)))
		}
		lines[3], lines[300] = lines[300], lines[3]
		return strings.Join(append(lines, lines[7]), "\n")
	}
	start := 1_200_000_000
	for name, c := range map[string]struct {
		text    string
		columns []string
	}{
		"defaults": {text(plainHead, func(j int, lat, lon float64) string {
			return fmt.Sprintf("ana,x,%d,%f,%f", start+30*j, lat, lon)
		}), nil},
		"other names, fractions": {text("x;when;who;north;east;trip", func(j int, lat, lon float64) string {
			return fmt.Sprintf(";%d.25; ana;%f ;%f;x", start+30*j, lat, lon)
		}), []string{"-columns", "who,trip,when,north,east"}},
		"ISO 8601, days": {text("who\tt\tlat\tlon", func(j int, lat, lon float64) string {
			// 1200000000 is 2008-01-10T21:20:00Z: after 320 rows another day.
			s := 21*3600 + 20*60 + 30*j
			return fmt.Sprintf("ana\t2008-01-%02d %02d:%02d:%02d\t%f\t%f", 10+s/86400, s/3600%24, s/60%60, s%60, lat, lon)
		}), []string{"-columns=who,t,lat,lon"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows := studyRows(t, append([]string{"-points", clitest.WriteFile(t, c.text), "-jump", "0", "-repeat", "1", "-manager", "fixed-utility"}, c.columns...)...)
			want := "1"
			if strings.Contains(name, "days") {
				want = "2"
			}
			if len(rows) != 1 || rows[0]["traces"] != want {
				t.Errorf("%v", rows)
			}
		})
	}
}

func TestStudyLeavesOutWhatIsOutside(t *testing.T) {
	points := walkers(t, plainHead, 3, 600)
	// Around u1 and u2 only.
	rows := studyRows(t, "-points", points, "-jump", "0", "-repeat", "1", "-manager=fixed-rate", "-domain", "48.8,2.342,48.9,2.4,1")
	if len(rows) != 1 || rows[0]["traces"] != "3" || measure(t, rows[0], "im_avg_error_m") > 20_000 {
		t.Errorf("%v", rows)
	}
}

func TestStudyErrors(t *testing.T) {
	file := func(text string) string { return clitest.WriteFile(t, text) }
	good := walkers(t, plainHead, 1, 100)
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{}, 2, "no file of points"},
		{[]string{"-points", good, "-manager", "fixed"}, 2, "manager must be one of"},
		{[]string{"-points", good, "-manager", "fixed-rate,"}, 2, "a name is empty"},
		{[]string{"-points", good, "-predictor", "owl"}, 2, "predictor must be one of"},
		{[]string{"-points", good, "-jump", "0,1.5"}, 2, "jump must be between 0 and 1"},
		{[]string{"-points", good, "-jump", "0,,1"}, 2, `"" is not a number`},
		{[]string{"-points", good, "-jump", "nan"}, 2, `"nan" is not a number`},
		{[]string{"-points", good, "-repeat", "0"}, 2, "repeat must be at least 1"},
		{[]string{"-points", good, "-repeat", "x"}, 2, "-repeat"},
		{[]string{"-points", good, "-steps", "0"}, 2, "steps must be between"},
		{[]string{"-points", good, "-alpha", "1"}, 2, "alpha 1 costs more"},
		{[]string{"-points", good, "-epsilon", "-1"}, 2, "epsilon"},
		{[]string{"-points", good, "-epsilon", "inf"}, 2, "not a number"},
		{[]string{"-points", good, "-skip-speed", "10"}, 2, "-skip-speed is for -skip"},
		{[]string{"-points", good, "-skip", "-skip-speed", "-1"}, 2, "-skip-speed must be above 0"},
		{[]string{"-points", good, "-columns", "user,lat,lon"}, 2, "-columns names"},
		{[]string{"-points", good, "-domain", "1,2,3,4"}, 2, "-domain is SOUTH"},
		{[]string{"-points", good, "-domain", "2,2,1,4,1"}, 2, "south 2 must be less than north 1"},
		{[]string{"-points", good, "-domain", "48.85,2.35,48.8501,2.3501,100"}, 2, "step_m 100 exceeds the box"},
		{[]string{"-points", good, "-domain", "10,20,11,21,1"}, 1, "no trace has 10 fixes"},
		{[]string{"-points", good, "-columns", "user,trace,time,lat,lon"}, 1, "has no column time: it has user, trace, t, lat, lon"},
		{[]string{"-points", good + "x"}, 1, "no such file"},
		{[]string{"-points", file("")}, 1, "no header line"},
		{[]string{"-points", file(plainHead + "\n")}, 1, "has no points"},
		{[]string{"-points", file(plainHead + "\na,b,0,1,2\n")}, 1, "no trace has 10 fixes"},
		{[]string{"-points", file(plainHead + "\na,b,0,1,2\na,b,1,91,2\n")}, 1, "line 3: latitude 91, longitude 2 is not a location"},
		{[]string{"-points", file(plainHead + "\na,b,noon,1,2\n")}, 1, `line 2: time "noon" must be seconds or milliseconds since 1970`},
		{[]string{"-points", file(plainHead + "\na,b,1e300,1,2\n")}, 1, "too far from 1970"},
		{[]string{"-points", file(plainHead + "\na,b,0,,2\n")}, 1, `line 2: "" is not a number`},
		{[]string{"-points", file(plainHead + "\na,b,0,-60,-170\na,b,1,60,170\n")}, 1, "-domain must be given"},
		{[]string{"-points", good, "-jump", "0", "-out", good}, 1, "not a directory"},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"predictive"}, c.args...)...), c.status, c.text)
	}
}

func TestStudyFigures(t *testing.T) {
	points, out := walkers(t, plainHead, 3, 3000), filepath.Join(t.TempDir(), "new", "figures")
	r := clitest.Run(t, "", "predictive", "-points", points, "-jump", "0,1", "-repeat", "1", "-predictor=parrot,linear", "-out", out)
	wantFigures(t, r, out, "fixed-rate-parrot", "fixed-rate-linear", "fixed-utility-parrot", "fixed-utility-linear", "map")
}

// wantFigures demands that a study has written these figures, and nothing else on
// standard error.
func wantFigures(t *testing.T, r clitest.Result, out string, names ...string) {
	t.Helper()
	said := ""
	for _, name := range names {
		path := filepath.Join(out, name+".svg")
		said += "wrote " + path + "\n"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(text, new(struct {
			XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
		})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.Status != 0 || r.Err != said {
		t.Errorf("status %d, %q", r.Status, r.Err)
	}
}

func TestStudyInterrupted(t *testing.T) {
	interruptStudy(t, predictiveTable.head, "predictive", "-points", walkers(t, plainHead, 3, 300), "-jump", "0"+strings.Repeat(",0", 2000), "-repeat", "200")
}

// interruptStudy starts a study that would take long: Ctrl-C leaves the rows found so
// far, all complete.
func interruptStudy(t *testing.T, head string, args ...string) {
	t.Helper()
	cmd := clitest.Command(t, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	lines.Scan()
	rows := 1
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for ; lines.Scan(); rows++ {
		if strings.Count(lines.Text(), ",") != strings.Count(head, ",") {
			t.Errorf("incomplete row %q", lines.Text())
		}
	}
	err = cmd.Wait()
	if got := clitest.ExitStatus(t, err); got != 130 || errOut.String() != "geosql-study: interrupted\n" || rows > 5000 {
		t.Errorf("status %d, %d rows, %q", got, rows, errOut.String())
	}
}

// A reader that has seen enough ends the study in silence.
func TestStudyReaderLeaves(t *testing.T) {
	cmd := clitest.Command(t, "predictive", "-points", walkers(t, plainHead, 3, 300))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut strings.Builder
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	if err := cmd.Wait(); err != nil || errOut.Len() > 0 {
		t.Errorf("%v, %q", errors.Unwrap(err), errOut.String())
	}
}

// The published relations hold on GeoLife, for users who jump one time in five.
// There are 4169 runs. A run's rate is at most 8.25 % per point (the dearest step:
// oracle R37), so that by Hoeffding a mean rate is off by 0.6 % with probability
// below 1e-18; the 90th percentiles are of 70,000 errors and 25 % apart.
func TestStudyGeoLife(t *testing.T) {
	rows := studyRows(t, "-points", realData(t, "geolife/points.csv.gz"), "-columns", "user,trace,t_utc,lat,lon",
		"-domain", "39.4,115.4,41.1,117.6,1", "-jump", "0.2", "-skip")
	if len(rows) != 4 {
		t.Fatalf("%v", rows)
	}
	for _, c := range []struct {
		row           int
		small, large  string
		factor, least float64
	}{
		{0, "p90_error_m", "im_p90_error_m", 0.8, 3000}, // 3,400 m against 5,080
		{1, "p90_error_m", "im_p90_error_m", 0.8, 2900},
		{1, "avg_error_m", "im_avg_error_m", 0.8, 1400},
		{2, "rate_percent", "im_rate_percent", 0.8, 3.4}, // 4.0 % against 5.6
		{3, "rate_percent", "im_rate_percent", 0.4, 1},   // 1.6 %
	} {
		small, large := measure(t, rows[c.row], c.small), measure(t, rows[c.row], c.large)
		if small > c.factor*large || small < c.least {
			t.Errorf("row %d: %s is %v, %s is %v", c.row, c.small, small, c.large, large)
		}
	}
	if rows[0]["traces"] != "4169" {
		t.Errorf("%s runs", rows[0]["traces"])
	}
}
