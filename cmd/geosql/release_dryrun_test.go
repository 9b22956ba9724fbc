package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// files returns the names of the files in the publisher's folder.
func (p publisher) files() []string {
	all, _ := filepath.Glob(p.path("*"))
	for i, path := range all {
		all[i] = filepath.Base(path)
	}
	return all
}

// wantFiles demands that the folder has these files and no other.
func (p publisher) wantFiles(t *testing.T, want ...string) {
	t.Helper()
	if got := p.files(); !slices.Equal(got, want) {
		t.Errorf("the folder has %v, want %v", got, want)
	}
}

func wantTexts(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

// A dry run describes the release, and makes neither a file nor a ledger.
func TestReleaseDryRun(t *testing.T) {
	p := newPublisher(t, 120).and("--limit", "0.03")
	r := p.run(t, "--dry-run")
	if r.Status != 0 || r.Err != "" {
		t.Fatalf("%+v", r)
	}
	wantTexts(t, r.Out,
		"nothing is charged or written",
		"\nrows       120, 0 of them invalid\n",
		"\nlocations  120, of 50 accounts\n",
		"\nprice      0.01/m for each location, 1.2/m in total\n",
		"\nbudgets    all can pay; one account pays up to 0.03/m\n",
		"\noutside    0 of 120 locations lie outside the box (0 %); up to 1 % may\n",
		"\nerror      half of the locations move less than 169 m, 95 % less than 475 m; 201 m on average\n",
		"\nlat, lon: 120 locations\ntheir middle is 48.85, 2.35, which is 1 km from the middle of the box\n",
		"|                                    |\n", ". 1  ", "The release would begin.\n")
	if n := strings.Count(r.Out, "\n"); n > 40 {
		t.Errorf("%d lines", n)
	}
	p.wantFiles(t, "in.csv")
	if r := p.run(t); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	clitest.WantError(t, p.run(t, "--dry-run", "--keep", "id"), 1, "out.csv already exists")
	for range 2 { // the output may be there or not
		if r = p.run(t, "--dry-run"); r.Status != 0 || r.Err != "" {
			t.Errorf("%+v", r)
		}
		wantTexts(t, r.Out, "\nbudgets    the release is complete; repeating it charges and draws nothing\n", "The release would do nothing.\n")
		_ = os.Remove(p.path("out.csv"))
	}
}

// The owner of gridded locations with little noise is told by a dry run and by the release, and a
// reader of the page is not.
func TestReleaseGridded(t *testing.T) {
	p := newPublisher(t, 0).with("--epsilon", "0.05").and("--limit", "1")
	p.write(t, "in.csv", "user,lat,lon\n1,48.85,2.35\n2,48.86,2.36\n3,48.88,2.34\n4,48.83,2.33\n5,48.87,2.37\n")
	const note = "lat, lon: the true locations lie on a grid of 0.01 by 0.01 degrees (1112 by 734 m), and half of them move less than 34 m: at least 99 % of"
	r := p.run(t, "--dry-run")
	if r.Status != 0 || !strings.Contains(r.Out, "\ngridded    "+note) {
		t.Errorf("%+v", r)
	}
	if r = p.run(t); r.Status != 0 || !strings.Contains(r.Err, "for the owner only: "+note) || r.Out != "" {
		t.Errorf("%+v", r)
	}
	for _, name := range p.files() {
		if text, err := os.ReadFile(p.path(name)); err != nil || strings.Contains(string(text), "grid of") {
			t.Errorf("%s tells of the grid, or %v", name, err)
		}
	}
}

// Accounts that cannot pay are listed, with a limit that would suffice. It does.
func TestReleaseDryRunShortage(t *testing.T) {
	t.Parallel()
	p := newPublisher(t, 120)
	r := p.run(t, "--dry-run")
	clitest.WantError(t, r, 1, `account "u0" has no budget in unit 'm'`)
	wantTexts(t, r.Out, "budgets    50 of 50 accounts cannot pay; one account is asked for up to 0.03/m\n", "and 45 more\n",
		"--limit 0.03 would suffice")
	p.wantFiles(t, "in.csv")
	const limit = `SELECT budget_limit('*', 'm', %s), budget_limit('u7', 'm', 9)`
	clitest.Query(t, "--ledger", p.path("ledger"), p.path("x.db"), fmt.Sprintf(limit, "0.025"))
	before, _ := budgetOf(t, p.path("ledger"))
	files := p.files()
	r = p.run(t, "--dry-run", "--limit", "5")
	clitest.WantError(t, r, 1, "account 'u0' has 0.025/m left of 0.025/m, 0.030/m asked, 0.005/m short; 19 of 50 accounts cannot pay, and a limit of 0.03/m would suffice")
	wantTexts(t, r.Out, "19 of 50 accounts cannot pay", "asked   left  short  account\n", " 0.03  0.025  0.005  'u0'\n", "and 14 more\n",
		"A limit of 0.03/m would suffice", `:memory: "SELECT budget_limit('*', 'm', 0.03)"`, "So would --epsilon 0.008333333333,")
	clitest.WantError(t, p.run(t), 1, "19 of 50 accounts cannot pay")
	p.wantFiles(t, files...)
	if after, _ := budgetOf(t, p.path("ledger")); after != before {
		t.Errorf("before %s\nafter %s", before, after)
	}
	if r := p.with("--epsilon", "0.008333333333").run(t, "--dry-run"); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	clitest.Query(t, "--ledger", p.path("ledger"), ":memory:", "SELECT budget_limit('*', 'm', 0.03)")
	if r := p.run(t, "--dry-run"); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	if r := p.run(t); r.Status != 0 {
		t.Errorf("%+v", r)
	}
}

// A user who has swapped the columns is told, charged nothing, and goes on under the same id.
func TestReleaseSwapped(t *testing.T) {
	p := newPublisher(t, 120).and("--limit", "1", "--id", "spring")
	swapped := p.with("--lat", "lon").with("--lon", "lat")
	const want = "120 of 120 locations (100 %) lie outside the box, and --outside allows 1 %; of these, 120 would lie in the box with latitude and longitude swapped: are --lat and --lon swapped"
	r := swapped.run(t, "--dry-run")
	clitest.WantError(t, r, 1, want)
	wantTexts(t, r.Out, "outside    120 of 120 locations lie outside the box (100 %); up to 1 % may\n",
		"120 lie outside the box; of these, 120 would lie in the box with latitude and longitude swapped")
	p.wantFiles(t, "in.csv")
	clitest.WantError(t, swapped.run(t), 1, want)
	p.wantFiles(t, "in.csv", "ledger")
	if out, _ := budgetOf(t, p.path("ledger")); strings.Count(out, "\n") != 1 {
		t.Errorf("the ledger has %s", out)
	}
	if r := p.run(t); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	r = swapped.with("--out", p.path("b.csv")).with("--id", "b").run(t, "--outside", "1")
	if r.Status != 0 || !strings.Contains(r.Err, "120 locations were outside") {
		t.Errorf("%+v", r)
	}
}

func TestReleaseProjected(t *testing.T) {
	p := newPublisher(t, 0)
	p.write(t, "in.csv", "user,lat,lon\n"+strings.Repeat("ana,5411932.6,448251.7\n", 50))
	for _, more := range [][]string{nil, {"--dry-run"}, {"--rejects", p.path("bad.csv")}} {
		clitest.WantError(t, p.run(t, append(more, "--limit", "1")...), 1, "of these, 50 with numbers too large for degrees, such as metres of a map projection: convert them to degrees of WGS 84 (EPSG:4326)")
	}
	p.wantFiles(t, "in.csv", "ledger")
}

// The locations outside are counted around the map.
func TestReleaseDryRunMap(t *testing.T) {
	p := newPublisher(t, 0)
	p.write(t, "in.csv", "user,lat,lon\n"+strings.Repeat("a,48.85,2.35\n", 1000)+strings.Repeat("a,49,2.35\n", 3)+strings.Repeat("a,48.85,2\n", 4)+"a,48,3\n")
	r := p.run(t, "--dry-run", "--limit", "100")
	if r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	lines := strings.Split(r.Out, "\n")
	top := slices.IndexFunc(lines, func(s string) bool { return strings.Contains(s, "+--") })
	if top < 0 || strings.Join(strings.Fields(lines[top-1]), " ") != "0 3 0" {
		t.Fatalf("no map in %s", r.Out)
	}
	var bottom, west int
	for i, line := range lines[top+1:] {
		if strings.Contains(line, "+--") {
			bottom = top + 1 + i
		}
		if strings.HasPrefix(line, "  4 |") && strings.HasSuffix(line, "| 0") {
			west++
		}
	}
	if west != 1 || bottom == 0 || strings.Join(strings.Fields(lines[bottom+1]), " ") != "0 0 1" {
		t.Errorf("the map is %s", r.Out)
	}
}
