package release

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	ledgerfile "github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/release/internal/accounts"
)

// Rows keep their order, columns that are kept stay as they are, unnamed columns
// are gone, and every account pays for its locations, however they are charged.
func TestRelease(t *testing.T) {
	for name, z := range map[string]sizes{"default": defaultSizes, "at once": {100, accounts.Limits{Tally: 5000, Merge: 64}, 5000}, "sorted": small} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const n, users = 2345, 30
			write(t, filepath.Join(dir, "in.csv"), people(n, users))
			l := openLedger(t, dir)
			s := newSpec(dir)
			s.Keep = []string{"id"}
			sum, err := attempt(s, z, l)
			check(t, err)
			wantFolder(t, dir, "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
			rows := readCSV(t, s.Out)
			if strings.Join(rows[0], ",") != "id,lat,lon" || len(rows) != n+1 {
				t.Fatalf("header %v, %d rows", rows[0], len(rows)-1)
			}
			for i, row := range rows[1:] {
				if row[0] != fmt.Sprint(i) {
					t.Fatalf("row %d is %v", i, row)
				}
			}
			want := map[string]budget.Amount{}
			for i := range n {
				want[fmt.Sprint("u", i%users)] += cost
			}
			if got := spent(t, l); !maps.Equal(got, want) {
				t.Errorf("spent %v, want %v", got, want)
			}
			if sum.Rows != n || sum.Locations != n || sum.Accounts != users || sum.Epsilon != cost || sum.Already != 0 {
				t.Errorf("summary %+v", sum)
			}
			if info, err := os.Stat(s.Out); err != nil || !isPrivate(info) {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// The mean distance from the location is 2/epsilon*(1 + kappa), within the effect of discreteness
// ; the release has 20,000 draws. The distance has variance 2/epsilon^2, so the mean
// of them has a standard deviation of 1 m; the bound of 8 m leaves 1 m for the lattice and
// 7 standard deviations: a false alarm has a probability below 1e-11. No two draws are
// equal because they were drawn twice: of a domain of 10 m steps a point is hit by 1e-3 of
// the draws at most, and a draw repeats its predecessor with that probability.
func TestReleasedPlaces(t *testing.T) {
	dir := t.TempDir()
	const n = 20000
	write(t, filepath.Join(dir, "in.csv"), "lat,lon\n"+strings.Repeat("48.85,2.35\n", n))
	s := newSpec(dir)
	s.Account = "const:city"
	s.Limit = new(budget.Amount)
	*s.Limit = n * cost
	l := openLedger(t, dir)
	sum, err := attempt(s, defaultSizes, l)
	check(t, err)
	if got := spent(t, l); got["city"] != n*cost || len(got) != 1 {
		t.Errorf("spent %v", got)
	}
	total, repeated := 0.0, 0
	rows := readCSV(t, s.Out)[1:]
	for i, row := range rows {
		total += planar.Distance(48.85, 2.35, float(t, row[0]), float(t, row[1]))
		if i > 0 && slices.Equal(row, rows[i-1]) {
			repeated++
		}
	}
	if mean := total / n; math.Abs(mean-200) > 8 || mean > sum.Mean {
		t.Errorf("mean distance %v m, told %v", mean, sum.Mean)
	}
	if repeated > 100 { // 20 expected at most; Chernoff: below 1e-30
		t.Errorf("%d draws repeat the one before", repeated)
	}
}

// Two releases of the same rows are different draws.
func TestFreshDraws(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(50, 5))
	l := openLedger(t, dir)
	var texts []string
	for _, id := range []string{"one", "two"} {
		s := newSpec(dir)
		s.ID, s.Out = id, filepath.Join(dir, id+".csv")
		_, err := attempt(s, small, l)
		check(t, err)
		text, err := os.ReadFile(s.Out)
		check(t, err)
		texts = append(texts, string(text))
	}
	if texts[0] == texts[1] {
		t.Error("the same draws")
	}
	if got := spent(t, l)["u0"]; got != 20*cost {
		t.Errorf("spent %v", got)
	}
}

// A pair with a NULL stays NULL and costs nothing, each of several pairs costs epsilon,
// and the account may be kept.
func TestPairsAndNulls(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "hlat,user,hlon,wlat,wlon,x\n"+
		"48.85,ana,2.35,48.86,2.36,a\n"+
		"48.85,ana,2.35,,2.36,\n"+
		",ben,2.35,48.86,,c\n"+
		",,,,,\n")
	s := newSpec(dir)
	s.Lat, s.Lon, s.Keep = []string{"wlat", "hlat"}, []string{"wlon", "hlon"}, []string{"user", "x"}
	l := openLedger(t, dir)
	_, err := attempt(s, defaultSizes, l)
	check(t, err)
	var shape []string
	for _, row := range readCSV(t, s.Out) {
		for i, cell := range row {
			if strings.Contains(cell, ".") {
				row[i] = "#"
			}
		}
		shape = append(shape, strings.Join(row, ","))
	}
	want := "hlat,user,hlon,wlat,wlon,x|#,ana,#,#,#,a|#,ana,#,,,|,ben,,,,c|,,,,,"
	if got := strings.Join(shape, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := spent(t, l); got["ana"] != 3*cost || len(got) != 1 {
		t.Errorf("spent %v", got)
	}
}

// Every format of output, from every format of input that it can be read as again.
func TestFormats(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(250, 7))
	l := openLedger(t, dir)
	in := filepath.Join(dir, "in.csv")
	for _, ext := range []string{".csv.gz", ".parquet", ".geoparquet", ".geojson", ".gpkg"} {
		s := newSpec(dir)
		s.In, s.Out, s.ID, s.Keep = in, filepath.Join(dir, "out"+ext), "to"+ext, []string{"id", "user"}
		_, err := attempt(s, small, l)
		check(t, err)
		if left, _ := filepath.Glob(filepath.Join(dir, "*"+unfinished+"*")); left != nil {
			t.Errorf("%s: left %v", ext, left)
		}
		if ext == ".parquet" {
			in = s.Out
		}
	}
	s := newSpec(dir)
	s.In, s.Keep = in, []string{"id"}
	_, err := attempt(s, small, l)
	check(t, err)
	if rows := readCSV(t, s.Out); len(rows) != 251 || rows[250][0] != "249" {
		t.Errorf("%d rows, the last is %v", len(rows)-1, rows[len(rows)-1])
	}
}

// A table of SQLite keeps its types and its order.
func TestFromSQLite(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "city.db")
	conn, err := sqlite.Open(db, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	check(t, conn.Exec(`CREATE TABLE home(person INTEGER, lat REAL, lon REAL, code TEXT);
		INSERT INTO home VALUES (7, 48.85, 2.35, '007'), (8, NULL, 2.35, NULL), (7, 48.86, 2.36, 'x');
		CREATE TABLE height(metres REAL, lat REAL, lon REAL)`))
	check(t, conn.Close())
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.In, s.Account, s.Keep = db+"#home", "person", []string{"person", "code"}
	_, err = attempt(s, defaultSizes, l)
	check(t, err)
	rows := readCSV(t, s.Out)
	if len(rows) != 4 || rows[1][0] != "7" || rows[1][3] != "007" || rows[2][1] != "" || rows[3][3] != "x" {
		t.Errorf("released %v", rows)
	}
	if got := spent(t, l); got["7"] != 2*cost || len(got) != 1 {
		t.Errorf("spent %v", got)
	}
	s = newSpec(dir)
	s.In, s.Account, s.Out, s.Keep = db+"#height", "metres", filepath.Join(dir, "heights.csv"), nil
	if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "column metres has REAL numbers") {
		t.Errorf("got %v", err)
	}
}

// Wrong input is refused with its place; nothing is charged and no file stays.
func TestRefused(t *testing.T) {
	const good = "user,lat,lon,x\nana,48.85,2.35,1\n"
	for _, c := range []struct {
		name, text string
		change     func(*Spec)
		want       string
	}{
		{"no number", "user,lat,lon\nana,48.85,2.35\nben,here,2.35\n", nil, `in.csv: line 3, column lat: "here" is not a number (--rejects FILE writes such rows to a file)`},
		{"several", "user,lat,lon\nana,48.85,x\nben,48.85,y\n", nil, `in.csv: line 2, column lon: "x" is not a number (2 rows are invalid; --rejects FILE writes them to a file)`},
		{"beyond", "user,lat,lon\nana,48.85,2.35\nben,90.5,2.35\n", nil, "line 3, column lat: 90.5 is beyond 90 degrees"},
		{"beyond east", "user,lat,lon\nana,48.85,2.35\nben,48,181\n", nil, "line 3, column lon: 181 is beyond 180 degrees"},
		{"swapped", "user,lat,lon\nana,116.31,39.98\nben,116.32,39.99\n", nil, "every latitude is beyond 90 degrees: are --lat and --lon swapped?"},
		{"swapped, set aside", "user,lat,lon\nana,116.31,39.98\n", func(s *Spec) { s.Rejects = s.Out + ".rejects.csv" }, "swapped?"},
		{"no account", "user,lat,lon\n,48.85,2.35\n", nil, "line 2, column user: the location has no account"},
		{"everyone", "user,lat,lon\n*,48.85,2.35\n", nil, "stands for all accounts"},
		{"long account", "user,lat,lon\n" + strings.Repeat("x", 1001) + ",48.85,2.35\n", nil, "the account has 1001 bytes, which is more than 1000"},
		{"infinite", "user,lat,lon\nana,inf,2.35\n", nil, `"inf" is not a number`},
		{"ragged", "user,lat,lon\nana,48.85\n", nil, "line 2"},
		{"no header", "", nil, "header"},
		{"no column", good, func(s *Spec) { s.Lon = []string{"lng"} }, "has no column lng: it has user, lat, lon, x"},
		{"no kept column", good, func(s *Spec) { s.Keep = []string{"y"} }, "has no column y"},
		{"kept coordinate", good, func(s *Spec) { s.Keep = []string{"x", "lat"} }, "column lat is a released coordinate and cannot be kept"},
		{"kept coordinate in capitals", good, func(s *Spec) { s.Keep = []string{"LAT"} }, "column LAT is a released coordinate and cannot be kept"},
		{"kept twice", good, func(s *Spec) { s.Keep = []string{"x", "x"} }, "column x is kept twice"},
		{"coordinate as account", good, func(s *Spec) { s.Account = "lat" }, "column lat is a coordinate and cannot be the account"},
		{"column twice", good, func(s *Spec) { s.Lon = []string{"lat"} }, "column lat is named as two coordinates"},
		{"no pairs", good, func(s *Spec) { s.Lon = nil }, "do not form pairs"},
		{"const of everyone", good, func(s *Spec) { s.Account = "const:*" }, "empty or '*'"},
		{"no format", good, func(s *Spec) { s.Out += ".docx" }, "unknown format"},
		{"no folder", good, func(s *Spec) { s.Out = filepath.Join(filepath.Dir(s.Out), "none", "out.csv") }, filepath.Join("none", "out.csv")},
		{"there", good, func(s *Spec) { s.Out = s.In }, "already exists"},
		{"no input", good, func(s *Spec) { s.In += ".gone.csv" }, ".gone.csv: "},
		{"flat box", good, func(s *Spec) { s.Box.North = s.Box.South }, "domain: south"},
		{"region elsewhere", good, func(s *Spec) { s.Region = "POLYGON((9 9, 9 10, 10 10, 9 9))" }, "region: "},
		{"layer of a standard", good, func(s *Spec) { s.Out = filepath.Join(filepath.Dir(s.Out), "gpkg_out.gpkg") }, `a layer of a GeoPackage cannot have the name "gpkg_out"`},
		{"no report", good, func(s *Spec) { s.Level = 1 }, "level 1 and radius 0"},
		{"limit too low", good + "ana,48.86,2.36,2\n", func(s *Spec) { *s.Limit = 2*cost - 1 }, "account 'ana' has 0.019999999999/m left"},
		{"no limit", good, func(s *Spec) { s.Limit = nil }, `account "ana" has no budget in unit 'm'; --limit EPSILON gives one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "in.csv"), c.text)
			l := openLedger(t, dir)
			s := newSpec(dir)
			if c.change != nil {
				c.change(&s)
			}
			_, err := attempt(s, defaultSizes, l)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %s", err, c.want)
			}
			wantFolder(t, dir, "in.csv")
			if got := spent(t, l); len(got) > 0 {
				t.Errorf("charged %v", got)
			}
		})
	}
}

// manyPeople is a data set of n rows with an account each.
func manyPeople(n int) string {
	var b strings.Builder
	b.WriteString("user,lat,lon\n")
	for i := range n {
		fmt.Fprintf(&b, "u%03d,48.85,2.35\n", i*7919%n)
	}
	return b.String()
}

// All accounts are asked before the first is charged: if the very last one cannot pay,
// nobody does.
func TestRefusedLast(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), manyPeople(500))
	l := openLedger(t, dir)
	check(t, l.SetLimit("u499", budget.Metre, 0, 0))
	var refusal *ledger.RefusalError
	_, err := attempt(newSpec(dir), small, l)
	if !errors.As(err, &refusal) || refusal.Account != "u499" || !strings.Contains(err.Error(), "nothing was charged") {
		t.Errorf("got %v", err)
	}
	wantFolder(t, dir, "in.csv")
	if got := spent(t, l); len(got) > 0 {
		t.Errorf("charged %v", got)
	}
}

// A refusal between two transactions, because of spending by another process meanwhile,
// leaves the accounts before it charged, and the next attempt charges the others only.
func TestRefusedLate(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), manyPeople(500))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Progress = func(p Progress) {
		if p.Stage == Charging && p.Done == 100 {
			check(t, l.SetLimit("u450", budget.Metre, 0, 0))
		}
	}
	var refusal *ledger.RefusalError
	_, err := attempt(s, small, l)
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), "440 accounts have been charged and will not be charged again") {
		t.Fatalf("got %v", err)
	}
	s.Progress = nil
	if _, err := attempt(s, small, l); !errors.As(err, &refusal) {
		t.Errorf("got %v", err)
	}
	wantFolder(t, dir, "in.csv")
	if n := len(spent(t, l)); n != 440 {
		t.Errorf("%d accounts were charged", n)
	}
	check(t, l.SetLimit("u450", budget.Metre, cost, 0))
	sum, err := attempt(s, small, l)
	check(t, err)
	all := spent(t, l)
	for account, e := range all {
		if e != cost {
			t.Errorf("%s spent %v", account, e)
		}
	}
	if len(all) != 500 || sum.Already != 440 || sum.Accounts != 500 {
		t.Errorf("%d spent, summary %+v", len(all), sum)
	}
}

// An account cannot be charged more than any budget holds; nobody is charged then.
func TestChargeBeyondBudgets(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), manyPeople(30)+"u029,48.85,2.35\n")
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Epsilon = new(big.Rat).SetFrac64(int64(budget.Max/2+1), 1e12)
	*s.Limit = budget.Max
	for _, z := range []sizes{defaultSizes, {100, accounts.Limits{Tally: 10, Merge: 3}, 20}} {
		if _, err := attempt(s, z, l); err == nil || !strings.Contains(err.Error(), `account "u029" has 2 locations, which cost more than any budget can hold`) {
			t.Errorf("got %v", err)
		}
		if got := spent(t, l); len(got) > 0 {
			t.Errorf("charged %v", got)
		}
	}
}

// A limit that is there is not replaced.
func TestLimitStays(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3, 1))
	l := openLedger(t, dir)
	check(t, l.SetLimit("*", budget.Metre, 2*cost, 0))
	if _, err := attempt(newSpec(dir), defaultSizes, l); err == nil || !strings.Contains(err.Error(), "left of 0.02/m") {
		t.Errorf("got %v", err)
	}
}

func TestRejects(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "id,user,lat,lon\n1,ana,48.85,2.35\n2,ana,x,2.35\n3,,48.85,2.35\n4,ben,48.85,2.35\n5,\"b,n\",,200\n")
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Keep, s.Rejects = []string{"id"}, filepath.Join(dir, "bad.csv")
	sum, err := attempt(s, defaultSizes, l)
	check(t, err)
	wantFolder(t, dir, "bad.csv", "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
	if rows := readCSV(t, s.Out); len(rows) != 3 || rows[1][0] != "1" || rows[2][0] != "4" {
		t.Errorf("released %v", rows)
	}
	want := [][]string{
		{"rejected_at", "reason", "id", "user", "lat", "lon"},
		{"line 3", `column lat: "x" is not a number`, "2", "ana", "x", "2.35"},
		{"line 4", "column user: the location has no account", "3", "", "48.85", "2.35"},
		{"line 6", "column lon: 200 is beyond 180 degrees", "5", "b,n", "", "200"},
	}
	if got := readCSV(t, s.Rejects); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("rejected %v", got)
	}
	if sum.Invalid != 3 || sum.Rows != 2 || sum.Rejects != s.Rejects {
		t.Errorf("summary %+v", sum)
	}
	if got := spent(t, l); got["ana"] != cost || got["ben"] != cost || len(got) != 2 {
		t.Errorf("spent %v", got)
	}
}

func TestNoRows(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "user,lat,lon\n")
	l := openLedger(t, dir)
	_, err := attempt(newSpec(dir), defaultSizes, l)
	check(t, err)
	if rows := readCSV(t, filepath.Join(dir, "out.csv")); len(rows) != 1 {
		t.Errorf("released %v", rows)
	}
}

// Charges and messages do not depend on where valid locations are if all may lie outside
// the box, but for how many did, which is the owner's.
func TestNothingDependsOnPlaces(t *testing.T) {
	var told []string
	for _, lat := range []string{"48.85000", "48.91000", "-89.9999", "0", "90"} {
		dir := t.TempDir()
		var text strings.Builder
		text.WriteString("user,lat,lon\n")
		for i := range 500 {
			fmt.Fprintf(&text, "u%d,%s,2.35\n", i%30, lat)
		}
		write(t, filepath.Join(dir, "in.csv"), text.String())
		l := openLedger(t, dir)
		s := newSpec(dir)
		s.ID, s.Outside = "1", 1
		sum, err := attempt(s, small, l)
		check(t, err)
		metadata, err := os.ReadFile(sum.Metadata)
		check(t, err)
		drawn := regexp.MustCompile(`"(sha256|released)": ".*"`) // the hash of the draws, and the time
		if n := len(drawn.FindAll(metadata, -1)); n != 2 {
			t.Fatalf("%d of the metadata are drawn: %s", n, metadata)
		}
		sum.Out, sum.Report, sum.Metadata, sum.Outside, sum.Gridded = "", "", "", 0, nil
		told = append(told, fmt.Sprint(*sum, spent(t, l), string(drawn.ReplaceAll(metadata, nil))))
	}
	for _, x := range told {
		if x != told[0] {
			t.Errorf("told %s\nand  %s", told[0], x)
		}
	}
}

// The metadata are of the file that was published, and name nothing that is the owner's, even if
// the report beside them has a section for the owner.
func TestMetadata(t *testing.T) {
	for _, publishable := range []bool{false, true} {
		dir := t.TempDir()
		s := newSpec(dir)
		s.In, s.ID, s.Keep, s.Publishable, s.Rejects = filepath.Join(dir, "secret-input.csv"), "secret-id", []string{"id"}, publishable, filepath.Join(dir, "rejects.csv")
		write(t, s.In, strings.Replace(people(30, 3), "user", "person", 1)+"x,u1,n/a,2\n")
		s.Account = "person"
		l := openLedger(t, dir)
		sum, err := attempt(s, defaultSizes, l)
		check(t, err)
		if sum.Metadata != s.Out+".metadata.json" {
			t.Errorf("the metadata are %s", sum.Metadata)
		}
		text, err := os.ReadFile(sum.Metadata)
		check(t, err)
		var m struct {
			File, SHA256 string
			Rows         int64
			Released     time.Time
			Method       struct{ Mechanism string }
		}
		check(t, json.Unmarshal(text, &m))
		output, err := os.ReadFile(s.Out)
		check(t, err)
		if m.File != "out.csv" || m.SHA256 != fmt.Sprintf("%x", sha256.Sum256(output)) || m.Rows != 30 || m.Method.Mechanism != "laplace" || time.Since(m.Released) > time.Hour {
			t.Errorf("%+v", m)
		}
		for _, hidden := range []string{dir, "secret", "person", "ledger", "rejects.csv", "limit", "u1"} {
			if strings.Contains(string(text), hidden) {
				t.Errorf("the metadata have %q: %s", hidden, text)
			}
		}
	}
}

// A region moves released locations, and the owner learns how many lay outside.
func TestRegion(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "user,lat,lon\nana,48.85,2.35\nben,48.85,2.40\ncy,49.85,2.35\n")
	write(t, filepath.Join(dir, "region.geojson"), `{"type": "Feature", "properties": {}, "geometry": {"type": "Polygon",
		"coordinates": [[[2.34, 48.84], [2.36, 48.84], [2.36, 48.86], [2.34, 48.86], [2.34, 48.84]]]}}`)
	region, err := ReadRegion(filepath.Join(dir, "region.geojson"))
	check(t, err)
	s := newSpec(dir)
	s.Region, s.Outside = region.WKT, 0.5
	sum, err := attempt(s, defaultSizes, openLedger(t, dir))
	check(t, err)
	if sum.Outside != 2 {
		t.Errorf("%d outside", sum.Outside)
	}
	for _, row := range readCSV(t, s.Out)[1:] {
		if lat, lon := float(t, row[0]), float(t, row[1]); lat < 48.84 || lat > 48.86 || lon < 2.34 || lon > 2.36 {
			t.Errorf("released %v, %v", lat, lon)
		}
	}
}

func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), people(3000, 40))
	l := openLedger(t, dir)
	attempts := []struct {
		stage   Stage
		done    int64
		charged int
	}{{Checking, 500, 0}, {Charging, 0, 0}, {Charging, 20, 20}, {Charging, 40, 40}, {Releasing, 500, 40}}
	for _, a := range attempts {
		ctx, cancel := context.WithCancelCause(context.Background())
		enough := errors.New("enough")
		s := newSpec(dir)
		s.Progress = func(p Progress) {
			if p.Stage == a.stage && p.Done >= a.done {
				cancel(enough)
			}
		}
		_, err := (&run{spec: &s, sizes: small, ledger: l}).run(ctx)
		if err != enough {
			t.Errorf("%v: got %v", a, err)
		}
		wantFolder(t, dir, "in.csv")
		if n := len(spent(t, l)); n != a.charged {
			t.Errorf("%v: %d accounts are charged", a, n)
		}
	}
	sum, err := attempt(newSpec(dir), small, l)
	check(t, err)
	if sum.Already != 40 {
		t.Errorf("%d accounts were charged before", sum.Already)
	}
	for account, e := range spent(t, l) {
		if e != 75*cost {
			t.Errorf("%s spent %v", account, e)
		}
	}
}

// A ledger or an input that has the name of a temporary file is neither emptied nor removed.
func TestTemporaryNames(t *testing.T) {
	for _, suffix := range []string{unfinished, ".report.html" + unfinished, ".metadata.json" + unfinished, ".accounts" + unfinished} {
		dir := t.TempDir()
		s := newSpec(dir)
		write(t, s.In, people(30, 3))
		l, err := ledgerfile.Open(s.Out+suffix, true)
		check(t, err)
		check(t, l.SetLimit(everyone, budget.Metre, budget.Max, 0))
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "is the ledger") {
			t.Errorf("%s: got %v", suffix, err)
		}
		check(t, l.Close())
		l, err = ledgerfile.Open(s.Out+suffix, false)
		check(t, err)
		b, err := l.Balance(everyone, budget.Metre)
		if err != nil || !b.Limited {
			t.Errorf("%s: the ledger has lost its limit, %v", suffix, err)
		}
		check(t, l.Close())

		dir = t.TempDir()
		s = newSpec(dir)
		write(t, filepath.Join(dir, "data.csv"), people(30, 3))
		s.In = filepath.Join(dir, "data.csv")
		check(t, os.Link(s.In, s.Out+suffix))
		if _, err := attempt(s, defaultSizes, openLedger(t, dir)); err == nil || !strings.Contains(err.Error(), "is the input") {
			t.Errorf("%s: got %v", suffix, err)
		}
		if text, err := os.ReadFile(s.In); err != nil || string(text) != people(30, 3) {
			t.Errorf("%s: the input is %q, %v", suffix, text, err)
		}
	}
	s := newSpec(t.TempDir())
	write(t, s.In, people(30, 3))
	for path, what := range map[string]string{s.Out: "output", reportPath(s.Out): "report", metadataPath(s.Out): "file of metadata"} {
		s.Rejects = path
		if _, err := attempt(s, defaultSizes, openLedger(t, t.TempDir())); err == nil || !strings.Contains(err.Error(), path+" cannot be both the "+what+" and") {
			t.Errorf("got %v", err)
		}
	}
}

// Kept cells can be made harmless for spreadsheet programs; coordinates are numbers.
func TestEscapeFormulas(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), "=id,user,lat,lon\n=1+1,ana,48.85,2.35\n-2.5,@bo,x,2.35\n-2.5,@bo,48.85,2.35\n")
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Keep, s.Rejects, s.EscapeFormulas = []string{"=id", "user"}, filepath.Join(dir, "rejects.csv"), true
	escaped, err := attempt(s, defaultSizes, l)
	check(t, err)
	rows := readCSV(t, s.Out)
	if got := fmt.Sprint(rows[0][:2], rows[1][:2], rows[2][:2]); got != "['=id user] ['=1+1 ana] [-2.5 '@bo]" {
		t.Errorf("got %s", got)
	}
	if rejects := readCSV(t, s.Rejects); rejects[0][2] != "=id" || rejects[1][3] != "@bo" {
		t.Errorf("rejects are not as they came: %v", rejects)
	}
	page, err := os.ReadFile(reportPath(s.Out))
	check(t, err)
	if !strings.Contains(string(page), "has an apostrophe in front") {
		t.Error("the report says that everything is unchanged")
	}

	plain := s
	plain.EscapeFormulas, plain.Out, plain.Rejects = false, filepath.Join(dir, "plain.csv"), filepath.Join(dir, "rejects2.csv")
	other, err := attempt(plain, defaultSizes, l)
	check(t, err)
	if other.ID == escaped.ID {
		t.Error("the release without the setting is the same one")
	}
	if rows := readCSV(t, plain.Out); rows[0][0] != "=id" || rows[1][0] != "=1+1" {
		t.Errorf("got %v", rows)
	}
	for _, name := range []string{"out.parquet", "out.geoparquet", "out.geojson", "out.gpkg"} {
		s.Out = filepath.Join(dir, name)
		if _, err := attempt(s, defaultSizes, l); err == nil || !strings.Contains(err.Error(), "formulas can be escaped in CSV only") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
