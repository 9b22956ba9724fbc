package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// A publisher runs the command release in a folder of its own.
type publisher struct {
	dir  string
	args []string
}

func newPublisher(t *testing.T, rows int) publisher {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("id,user,lat,lon\n")
	for i := range rows {
		fmt.Fprintf(&text, "%d,u%d,48.85,2.35\n", i, i%50)
	}
	p := publisher{dir: dir}
	p.write(t, "in.csv", text.String())
	p.args = []string{"release", "--in", p.path("in.csv"), "--out", p.path("out.csv"), "--account", "user",
		"--lat", "lat", "--lon", "lon", "--epsilon", "0.01", "--domain", "48.80,2.22,48.91,2.48,1", "--ledger", p.path("ledger")}
	return p
}

func (p publisher) path(name string) string { return filepath.Join(p.dir, name) }

func (p publisher) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(p.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p publisher) run(t *testing.T, more ...string) clitest.Result {
	t.Helper()
	return clitest.Run(t, "", p.and(more...).args...)
}

// and is the publisher who gives more.
func (p publisher) and(more ...string) publisher {
	return publisher{p.dir, slices.Concat(p.args, more)}
}

// with is the publisher with another value of a flag.
func (p publisher) with(flag, value string) publisher {
	args := slices.Clone(p.args)
	for i := range args {
		if args[i] == flag {
			args[i+1] = value
		}
	}
	return publisher{p.dir, args}
}

// without is the publisher that does not give a flag.
func (p publisher) without(flag string) publisher {
	var args []string
	for i := 0; i < len(p.args); i++ {
		if p.args[i] == flag {
			i++
			continue
		}
		args = append(args, p.args[i])
	}
	return publisher{p.dir, args}
}

// Gaussian noise is charged as rho, and what was spent is read as epsilon and delta; a year of reports is limited by one of them.
func TestReleaseWithGauss(t *testing.T) {
	p := newPublisher(t, 120).with("--epsilon", "0.000001").and("--mechanism", "gauss")
	clitest.WantError(t, p.without("--epsilon").run(t, "--level", "ln4", "--radius", "200"), 1, "mechanism gauss takes no level and radius")
	r := p.run(t, "--limit", "0.000002", "--dry-run")
	for _, want := range []string{
		"price      0.000001/m2 for each location, 0.00012/m2 in total\n", "one account is asked for up to 0.000003/m2\n",
		"20 of 50 accounts cannot pay", "--limit 0.000003 would suffice",
	} {
		if r.Status != 1 || !strings.Contains(r.Out, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	r = p.run(t, "--limit", "0.000003", "--id", "spring")
	for _, want := range []string{
		"charged: 0.000001/m2 for each of 120 locations, to 50 accounts; 0.00012/m2 in total (release spring)\n",
		"expected error: 887 m on average, at most 1732 m with probability 0.95\n",
	} {
		if r.Status != 0 || !strings.Contains(r.Err, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	r = clitest.Run(t, "", "-csv", "--ledger", p.path("ledger"), ":memory:",
		"SELECT unit, spent, geoind_delta(spent, 101.4143, 1, 'gauss', 1) < 0.001 FROM ledger_balance WHERE account = 'u0'")
	if want := "unit,spent,"; r.Status != 0 || !strings.HasPrefix(r.Out, want) || !strings.Contains(r.Out, "m2,0.000003,") {
		t.Errorf("%+v", r)
	}
	page, err := os.ReadFile(p.path("out.csv.report.html"))
	if err != nil || !strings.Contains(string(page), "ρ = 0.000001 per square metre") {
		t.Errorf("%v, %.200s", err, page)
	}
}

// Several outputs have one draw and one charge.
func TestReleaseSeveralOutputs(t *testing.T) {
	p := newPublisher(t, 120)
	p = p.and("--out", p.path("out.parquet"), "--out", p.path("again.csv"), "--limit", "0.03")
	r := p.run(t)
	for _, want := range []string{
		"released " + p.path("out.csv") + ", " + p.path("out.parquet") + ", " + p.path("again.csv") + ": 120 rows in the order of the input, which is public\n",
		"charged: 0.01/m for each of 120 locations, to 50 accounts; 1.2/m in total",
		"name it out.geoparquet\n",
	} {
		if r.Status != 0 || !strings.Contains(r.Err, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	first, err := os.ReadFile(p.path("out.csv"))
	second, err2 := os.ReadFile(p.path("again.csv"))
	if err != nil || err2 != nil || !bytes.Equal(first, second) {
		t.Errorf("%v, %v, or the outputs differ", err, err2)
	}
	if err := os.Remove(p.path("again.csv")); err != nil {
		t.Fatal(err)
	}
	if r := p.run(t); r.Status != 0 || !strings.Contains(r.Err, "nothing was charged or drawn") || !strings.Contains(r.Err, p.path("again.csv")+" is not there any more") {
		t.Errorf("%+v", r)
	}
}

// A release of an input that the ledger has released before says so, and so does its dry run.
func TestReleaseEarlier(t *testing.T) {
	p := newPublisher(t, 120).and("--limit", "0.2")
	if r := p.run(t, "--id", "spring"); r.Status != 0 || strings.Contains(r.Err, "another release") {
		t.Fatalf("%+v", r)
	}
	p = p.with("--out", p.path("next.csv")).with("--epsilon", "0.02")
	const want = "this ledger has another release of the same input: spring, to "
	if r := p.run(t, "--id", "summer", "--dry-run"); r.Status != 0 || !strings.Contains(r.Out, "earlier    "+want+p.path("out.csv")+", is complete since 20") {
		t.Errorf("%+v", r)
	}
	if r := p.run(t, "--id", "summer"); r.Status != 0 || !strings.Contains(r.Err, "warning: "+want) {
		t.Errorf("%+v", r)
	}
	p.write(t, "in.csv", "id,user,lat,lon\n1,u1,48.86,2.35\n")
	if r := p.with("--out", p.path("other.csv")).run(t, "--id", "autumn", "--dry-run"); r.Status != 0 || strings.Contains(r.Out, "another release") {
		t.Errorf("%+v", r)
	}
}

func TestReleaseCommand(t *testing.T) {
	p := newPublisher(t, 120)
	clitest.WantError(t, p.run(t), 1, `release: account "u0" has no budget in unit 'm'; --limit EPSILON gives one to every account without`)
	clitest.WantError(t, p.run(t, "--limit", "0.029"), 1, "has 0.029/m left")
	p.write(t, "other", "")
	clitest.WantError(t, p.run(t, "--title", "two\nlines"), 2, "it must be a line of text")
	r := p.run(t, "--limit", "0.03", "--keep", "id", "--id", "spring",
		"--title", "Trips", "--description", "One row a trip.", "--license", "CC BY 4.0", "--contact", "maps@city.example")
	if r.Status != 0 || r.Out != "" {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{
		"released " + p.path("out.csv") + ": 120 rows in the order of the input, which is public\n",
		"charged: 0.01/m for each of 120 locations, to 50 accounts; 1.2/m in total (release spring)\n",
		"expected error: 201 m on average, at most 475 m with probability 0.95\n",
		"for the owner only: 0 locations were outside",
		"report: " + p.path("out.csv") + ".report.html\n",
		"metadata: " + p.path("out.csv") + ".metadata.json\n",
	} {
		if !strings.Contains(r.Err, want) {
			t.Errorf("no %q in %q", want, r.Err)
		}
	}
	about, err := os.ReadFile(p.path("out.csv.metadata.json"))
	if want := `"title": "Trips",
  "description": "One row a trip.",
  "license": "CC BY 4.0",
  "contactPoint": "maps@city.example",`; err != nil || !strings.Contains(string(about), want) {
		t.Errorf("%v, %s", err, about)
	}
	text, err := os.ReadFile(p.path("out.csv"))
	if err != nil || !strings.HasPrefix(string(text), "id,lat,lon\n0,48.") || bytes.Count(text, []byte("\n")) != 121 {
		t.Errorf("%v, %.100s", err, text)
	}
	clitest.WantError(t, p.run(t), 1, "already exists")
	repeated := func(want string) {
		t.Helper()
		r := p.run(t, "--keep", "id", "--id", "spring")
		if r.Status != 0 || r.Out != "" || !strings.HasPrefix(r.Err, "release spring has been complete since 2") || !strings.HasSuffix(r.Err, want) {
			t.Errorf("%+v", r)
		}
	}
	repeated(", as " + p.path("out.csv") + ": nothing was charged or drawn\n")
	if err := os.Remove(p.path("out.csv")); err != nil {
		t.Fatal(err)
	}
	repeated("is not there any more, or was changed after it was published; to draw again, which is charged, use another --id\n")
}

// Rows beyond the limit for an account are left out and counted.
func TestReleaseMaxRows(t *testing.T) {
	p := newPublisher(t, 120).and("--max-rows-per-account", "2", "--limit", "1")
	for _, more := range [][]string{{"--dry-run"}, nil} {
		r := p.run(t, more...)
		if r.Status != 0 || !strings.Contains(r.Out+r.Err, "20 rows, since their accounts have more than 2\n") {
			t.Errorf("%+v", r)
		}
	}
	page, err := os.ReadFile(p.path("out.csv.report.html"))
	if err != nil || !bytes.Contains(page, []byte("only the first 2 rows with a location were kept: 20 rows were left out")) {
		t.Errorf("the report does not say what was left out: %v", err)
	}
}

// A row is released as often as its weight says, and its account pays for each time.
func TestReleaseWeight(t *testing.T) {
	p := newPublisher(t, 0).and("--weight", "jobs", "--keep", "id", "--limit", "1")
	p.write(t, "in.csv", "id,user,lat,lon,jobs\n1,ana,48.85,2.35,3\n2,ben,48.85,2.35,0\n3,ana,48.85,2.35,1\n")
	r := p.run(t)
	if r.Status != 0 || !strings.Contains(r.Err, "charged: 0.01/m for each of 4 locations, to 1 account; 0.04/m in total") {
		t.Errorf("%+v", r)
	}
	p.write(t, "in.csv", "id,user,lat,lon,jobs\n1,ana,48.85,2.35,-3\n")
	clitest.WantError(t, p.with("--out", p.path("b.csv")).run(t), 1, `line 2, column jobs: the weight "-3" is not a whole number from 0 to 1000000`)
}

// Tables of true numbers are for the owner, in a folder of their own.
func TestReleaseUtility(t *testing.T) {
	p := newPublisher(t, 20).and("--limit", "1", "--regions", "REGIONS", "--utility", "FOLDER")
	p.write(t, "regions.geojson", `{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {"name": "centre"},
		"geometry": {"type": "Polygon", "coordinates": [[[2.3, 48.8], [2.4, 48.8], [2.4, 48.9], [2.3, 48.9], [2.3, 48.8]]]}}]}`)
	p, own := p.with("--regions", p.path("regions.geojson")), t.TempDir()
	clitest.WantError(t, p.with("--utility", p.dir).run(t), 1, "is in the folder of the output")
	clitest.WantError(t, p.with("--utility", own).run(t, "--shards", "2"), 2, "leave out -utility and -regions")
	r := p.with("--utility", own).run(t)
	if r.Status != 0 || !strings.Contains(r.Err, "for the owner only: "+filepath.Join(own, "regions.csv")+", lat, lon: ") {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile(filepath.Join(own, "regions.csv"))
	if err != nil || !strings.HasPrefix(string(text), "# NOT PRIVATE") || !strings.Contains(string(text), "\n\"lat, lon\",centre,20,") {
		t.Errorf("%s, %v", text, err)
	}
}

// A level over a radius, a region instead of a domain, a constant account.
func TestReleaseByLevelAndRegion(t *testing.T) {
	p := newPublisher(t, 10).without("--epsilon").without("--domain").with("--account", "const:city")
	p.write(t, "region.geojson", `{"type": "Polygon", "coordinates": [[[2.3, 48.8], [2.4, 48.8], [2.4, 48.9], [2.3, 48.9], [2.3, 48.8]]]}`)
	r := p.run(t, "--level", "1.386", "--radius", "200", "--region", p.path("region.geojson"), "--limit", "1")
	if r.Status != 0 || !strings.Contains(r.Err, "charged: 0.00693/m for each of 10 locations, to 1 account; 0.0693/m in total") {
		t.Errorf("%+v", r)
	}
	page, err := os.ReadFile(p.path("out.csv.report.html"))
	if err != nil || !strings.Contains(string(page), "owner") {
		t.Errorf("no section for the owner: %v", err)
	}
	q := p.with("--out", p.path("b.csv"))
	r = q.run(t, "--level", "ln4", "--radius", "200", "--region", p.path("region.geojson"), "--publishable", "--id", "b")
	if r.Status != 0 || !strings.Contains(r.Err, "charged: 0.006931471806/m for each of 10") {
		t.Errorf("%+v", r)
	}
	if page, err = os.ReadFile(p.path("b.csv.report.html")); err != nil || strings.Contains(string(page), p.path("in.csv")) {
		t.Errorf("a publishable report tells where the input is: %v", err)
	}
	clitest.WantError(t, q.with("--out", p.path("c.csv")).run(t, "--level", "1", "--radius", "200", "--region", p.path("in.csv")), 1, "in.csv: not GeoJSON")
}

// The publisher of plain Parquet is told, beforehand and afterwards, how to get geometries.
func TestReleaseSaysHowToGetGeoParquet(t *testing.T) {
	const note = "a .parquet output has lat and lon as columns of numbers, without a geometry: for GeoParquet, name it out.geoparquet\n"
	for out, told := range map[string]bool{"out.PARQUET": true, "out.geoparquet": false, "out.csv": false} {
		p := newPublisher(t, 10).and("--limit", "1")
		p = p.with("--out", p.path(out))
		if r := p.run(t, "--dry-run"); r.Status != 0 || strings.Contains(r.Out, "\noutput     "+note) != told {
			t.Errorf("%s: %+v", out, r)
		}
		if r := p.run(t); r.Status != 0 || strings.Contains(r.Err, note) != told {
			t.Errorf("%s: %+v", out, r)
		}
	}
}

// A flag that takes a list may be given again: nothing that is named is forgotten.
func TestReleaseListsGrow(t *testing.T) {
	p := newPublisher(t, 0)
	p.write(t, "in.csv", "id,user,lat,lon,lat2,lon2,kind\n1,ana,48.85,2.35,48.86,2.36,home\n")
	p = p.and("--lat", "lat2", "--lon", "lon2", "--limit", "1")
	r := p.run(t, "--keep", "id", "--keep", "kind")
	if r.Status != 0 || !strings.Contains(r.Err, "for each of 2 locations") {
		t.Fatalf("%+v", r)
	}
	if text, err := os.ReadFile(p.path("out.csv")); err != nil || !strings.HasPrefix(string(text), "id,lat,lon,lat2,lon2,kind\n1,48.") {
		t.Errorf("%v, %s", err, text)
	}
	clitest.WantError(t, p.with("--out", p.path("b.csv")).run(t, "--keep", "id", "--keep", "lat2"), 1, "lat2")
}

func TestReleaseEscapesFormulas(t *testing.T) {
	p := newPublisher(t, 0)
	p.write(t, "in.csv", "user,lat,lon\n=ana,48.85,2.35\n")
	p = p.and("--limit", "1", "--keep", "user", "--escape-formulas")
	if r := p.run(t); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	if text, err := os.ReadFile(p.path("out.csv")); err != nil || !strings.Contains(string(text), "\n'=ana,48.") {
		t.Errorf("%v, %s", err, text)
	}
	clitest.WantError(t, p.with("--out", p.path("out.parquet")).run(t), 1, "formulas can be escaped in CSV only")
}

func TestReleaseUsage(t *testing.T) {
	t.Parallel()
	p := newPublisher(t, 1)
	for want, q := range map[string]publisher{
		"no input given":                 p.without("--in"),
		"no output given":                p.without("--out"),
		"no account to charge":           p.without("--account"),
		"equally many columns":           p.without("--lon"),
		"-lat and -lon must name":        p.with("--lat", "lat,x"),
		"no ledger given":                p.without("--ledger"),
		"no epsilon given":               p.without("--epsilon"),
		"no domain given":                p.without("--domain"),
		"-domain must be SOUTH":          p.with("--domain", "1,2,3"),
		`"x" is not a number`:            p.with("--epsilon", "x"),
		"0 is not above 0":               p.with("--epsilon", "0"),
		"a name is empty":                p.with("--lat", "lat,"),
		"too many":                       p.and("more"),
		"release takes no flag -csv":     p.and("-csv"),
		"not defined: -steps":            p.and("-steps=3"),
		"either -epsilon, or -level":     p.and("-level", "3"),
		"-limit: epsilon must not be":    p.and("-limit", "-1"),
		"-workers: it must be a whole":   p.and("-workers", "0"),
		"-max-rows-per-account: it must": p.and("-max-rows-per-account", "0"),
		"-shards: it must be a whole":    p.and("-shards", "100001"),
		"-shards: it must be a whole nu": p.and("-shards", "0"),
		"-shard: it must be a whole":     p.and("-shards", "3", "-shard", "-1"),
		"-shard needs -shards":           p.and("-shard", "0"),
		"-shard must be from 0 to 2":     p.and("-shards", "3", "-shard", "3"),
		"leave it out":                   p.and("-shards", "3", "-dry-run"),
		"has one output":                 p.and("-shards", "3", "-out", "x.csv"),
		"leave out -rejects":             p.and("-shards", "3", "-rejects", "x"),
		"needs a ledger that machines share, such as --ledger postgres://host/database": p.and("-shards", "3"),
		"-id: it must be a line of text":                                                p.and("-id", "a\nb"),
		"-outside: it must be from 0":                                                   p.and("-outside", "1.01"),
		"-outside: \"1 %\" is not a num":                                                p.and("-outside", "1 %"),
		"-dry-run: it takes no value":                                                   p.and("-dry-run=no"),
		"-keep":                                                                         p.and("-keep", ""),
		"flag -epsilon is given twice":                                                  p.and("-epsilon", "0.01"),
		"flag -ledger is given twice":                                                   p.and("-ledger", p.path("l2")),
	} {
		clitest.WantError(t, q.run(t), 2, want)
	}
	if left, _ := filepath.Glob(p.path("*")); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// Ctrl-C leaves no file, and the next run charges the rest.
func TestReleaseInterrupted(t *testing.T) {
	t.Parallel()
	p := newPublisher(t, 1_000_000)
	cmd := clitest.Command(t, append(p.args, "--limit", "1000")...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // the second pass writes, more than a header
		if info, err := os.Stat(p.path("out.csv.unfinished")); err == nil && info.Size() > 1000 {
			break
		}
	}
	if err := clitest.Signal(cmd.Process, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := clitest.ExitStatus(t, cmd.Wait()); status != 130 || said.String() != "geosql: release: interrupted\n" {
		t.Errorf("status %d, %q", status, said.String())
	}
	if left, _ := filepath.Glob(p.path("*")); len(left) != 2 { // in.csv and the ledger
		t.Errorf("left %v", left)
	}
	r := p.run(t)
	if r.Status != 0 || !strings.Contains(r.Err, "an earlier attempt had already charged") {
		t.Errorf("%+v", r)
	}
}
