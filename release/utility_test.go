package release

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/planar"
)

// squares are regions in rows and columns over a box, named a1, a2, .. from the south-west.
func squares(b Box, n int) string {
	var features []string
	for i := range n {
		for j := range n {
			south, north := b.South+(b.North-b.South)*float64(i)/float64(n), b.South+(b.North-b.South)*float64(i+1)/float64(n)
			west, east := b.West+(b.East-b.West)*float64(j)/float64(n), b.West+(b.East-b.West)*float64(j+1)/float64(n)
			features = append(features, fmt.Sprintf(`{"type":"Feature","properties":{"name":"%c%d"},"geometry":{"type":"Polygon","coordinates":[[[%v,%v],[%[5]v,%[4]v],[%[5]v,%[6]v],[%[3]v,%[6]v],[%[3]v,%[4]v]]]}}`,
				'a'+i, j+1, west, south, east, north))
		}
	}
	return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
}

// utilitySpec is a release of homes and works, with a folder of the owner.
func utilitySpec(t *testing.T, text string) (s Spec, own string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "in.csv"), text)
	s, own = newSpec(dir), t.TempDir()
	var err error
	s.Regions, err = parseRegions([]byte(squares(city, 3)))
	check(t, err)
	s.Lat, s.Lon, s.Utility, s.Account, s.Limit = []string{"lat", "to_lat"}, []string{"lon", "to_lon"}, own, "const:all", nil
	s.Epsilon = big.NewRat(1, 1000)
	return s, own
}

// commutes are rows with a home in the south and a work in the north, some of which are missing.
func commutes(n int) string {
	var b strings.Builder
	b.WriteString("lat,lon,to_lat,to_lon\n")
	for i := range n {
		work := fmt.Sprintf("%.4f,%.4f", 48.89-float64(i%13)/1000, 2.30+float64(i%17)/100)
		if i%10 == 0 {
			work = ","
		}
		fmt.Fprintf(&b, "%.4f,%.4f,%s\n", 48.82+float64(i%7)/1000, 2.35-float64(i%11)/100, work)
	}
	return b.String()
}

// ownersTable reads a table of the owner, without its first two lines.
func ownersTable(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	first, rest, _ := strings.Cut(string(text), "\n")
	if first != private {
		t.Fatalf("%s begins with %q", path, first)
	}
	rows, err := csv.NewReader(strings.NewReader(rest)).ReadAll()
	check(t, err)
	return rows[1:]
}

// The tables have the numbers of the input and of the output, which is as it is without them, and nothing else has them.
func TestUtility(t *testing.T) {
	s, own := utilitySpec(t, commutes(3000))
	l := inMemory(t)
	check(t, l.SetFirstLimit("*", "m", 1000*1e12))
	sum, err := attempt(s, small, l)
	check(t, err)
	wantFolder(t, own, "distances.csv", "flows.csv", "regions.csv")
	wantFolder(t, filepath.Dir(s.Out), "in.csv", "out.csv", "out.csv.metadata.json", "out.csv.report.html")
	columns, flows, bands := map[string]both{}, map[string]both{}, map[string]both{}
	for i, path := range []string{s.In, s.Out} {
		for _, row := range readCSV(t, path)[1:] {
			var names []string
			var at [2][2]float64
			for k := range 2 {
				if row[2*k] != "" {
					at[k] = [2]float64{float(t, row[2*k]), float(t, row[2*k+1])}
					names = append(names, s.Regions.name(s.Regions.of(at[k][0], at[k][1])))
					add(columns, s.Lat[k]+", "+s.Lon[k]+"|"+names[k], i)
				}
			}
			if len(names) == 2 {
				add(flows, names[0]+"|"+names[1], i)
				km, low := planar.Distance(at[0][0], at[0][1], at[1][0], at[1][1])/1000, 0
				for _, end := range []int{1, 2, 5, 10, 20} {
					if km >= float64(end) {
						low = end
					}
				}
				add(bands, fmt.Sprint(low), i)
			}
		}
	}
	for name, want := range map[string]map[string]both{"regions.csv": columns, "flows.csv": flows, "distances.csv": bands} {
		got, recovered, total := map[string]both{}, 0.0, 0.0
		for _, row := range ownersTable(t, filepath.Join(own, name)) {
			key := row[0] + "|" + row[1]
			switch name {
			case "flows.csv":
				key = row[1] + "|" + row[2]
			case "distances.csv":
				key = row[1]
			}
			numbers := row[len(row)-5:]
			n := both{int64(float(t, numbers[0])), int64(float(t, numbers[1]))}
			if n != (both{}) {
				got[key] = n
			}
			recovered, total = recovered+float(t, numbers[2]), total+float64(n[0])
			if float(t, numbers[3]) != float64(n[1]-n[0]) || math.Abs(float(t, numbers[4])-float(t, numbers[2])+float64(n[0])) > 0.11 {
				t.Errorf("%s: %v", name, row)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
		if math.Abs(recovered-total) > 5 {
			t.Errorf("%s: %v recovered of %v", name, recovered, total)
		}
	}
	if len(sum.Misplaced) != 4 || sum.Misplaced[0].Table != filepath.Join(own, "regions.csv") || sum.Misplaced[3].Released <= 0 {
		t.Errorf("%+v", sum.Misplaced)
	}
	for _, path := range []string{sum.Metadata, sum.Report} {
		text, err := os.ReadFile(path)
		check(t, err)
		if strings.Contains(string(text), own) || strings.Contains(string(text), "regions.csv") {
			t.Errorf("%s names the tables", path)
		}
	}
	for _, name := range inFolder(t, own) {
		if info, err := os.Stat(filepath.Join(own, name)); err != nil || !isPrivate(info) {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func add(to map[string]both, key string, i int) {
	n := to[key]
	n[i]++
	to[key] = n
}

// A release draws the same with tables and without.
func TestUtilityChangesNothing(t *testing.T) {
	s, _ := utilitySpec(t, commutes(300))
	with := drawnFrom(t, s)
	s.Utility, s.Regions = "", nil
	if without := drawnFrom(t, s); with != without {
		t.Error("the tables change the draws")
	}
}

// The folder of the tables is not the output's, nor in it, by whatever name.
func TestUtilityRefused(t *testing.T) {
	s, own := utilitySpec(t, commutes(30))
	out := filepath.Dir(s.Out)
	inside := filepath.Join(out, "a", "b")
	check(t, os.MkdirAll(inside, 0o700))
	refuse := func(want string, change func(*Spec)) {
		t.Helper()
		x := s
		change(&x)
		if _, err := attempt(x, small, inMemory(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	const apart = "is in the folder of the output, which may be published as a whole"
	refuse(apart, func(s *Spec) { s.Utility = out })
	refuse(apart, func(s *Spec) { s.Utility = inside })
	refuse(apart, func(s *Spec) { s.Also, s.Utility = []string{filepath.Join(own, "b.csv")}, own })
	refuse("none", func(s *Spec) { s.Utility = filepath.Join(own, "none") })
	refuse("give both --utility and --regions", func(s *Spec) { s.Regions = nil })
	refuse("give both --utility and --regions", func(s *Spec) { s.Utility = "" })
	write(t, filepath.Join(own, "flows.csv"), "x")
	refuse("flows.csv already exists", func(*Spec) {})
	if _, err := inShards(s, newShared(t), 2, -1); err == nil || !strings.Contains(err.Error(), "has no tables of the owner") {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	filestest.Symlink(t, inside, link)
	refuse(apart, func(s *Spec) { s.Utility = link })
}

// Tables that a killed release has left get their names with the output, and are not made anew.
func TestUtilityIsNamed(t *testing.T) {
	s, own := utilitySpec(t, commutes(300))
	l := inMemory(t)
	check(t, l.SetFirstLimit("*", "m", 1000*1e12))
	_, err := attempt(s, small, l)
	check(t, err)
	var before []string
	for _, path := range append(s.tableNames(), s.Out) {
		text, err := os.ReadFile(path)
		check(t, err)
		before = append(before, string(text))
		check(t, os.Rename(path, path+unfinished))
	}
	_, err = attempt(s, small, l)
	check(t, err)
	wantFolder(t, own, "distances.csv", "flows.csv", "regions.csv")
	for i, path := range append(s.tableNames(), s.Out) {
		if text, err := os.ReadFile(path); err != nil || string(text) != before[i] {
			t.Errorf("%s is another, %v", path, err)
		}
	}
}

// Names of regions are those of properties, or ids; the first region that has a location counts it.
func TestRegions(t *testing.T) {
	square := `"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}`
	r, err := parseRegions([]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"NAME":"north"},` + square +
		`},{"type":"Feature","id":7,"properties":null,` + square + `},{"type":"Feature","properties":{"name":12},` + square + `},{"type":"Feature",` + square + `}]}`))
	check(t, err)
	if want := []string{"north", "7", "12", "region 4"}; !slices.Equal(r.names, want) || r.of(0.5, 0.5) != 0 || r.name(r.of(0.5, 2)) != elsewhere {
		t.Errorf("%q", r.names)
	}
	for want, text := range map[string]string{
		"not GeoJSON": "x", "it has no features": `{"type":"Polygon"}`, "region region 1: a region is made of polygons": `{"features":[{"type":"Feature","geometry":{"type":"Point"}}]}`,
		"it has 301 features": `{"features":[` + strings.Repeat("{},", 300) + `{}]}`,
	} {
		if _, err := parseRegions([]byte(text)); err == nil || !strings.Contains(printable.Text(err.Error()), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// Raked flows have the margins, keep the ratios of released ones, and stay 0 where nobody is.
func TestRake(t *testing.T) {
	flows := []both{{0, 40}, {0, 10}, {0, 0}, {0, 10}, {0, 40}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}
	got := rake(flows, []float64{80, 20, 0}, []float64{60, 40, 0})
	for i, x := range got {
		if math.IsNaN(x) || (i > 5 || i%3 == 2) && x != 0 {
			t.Errorf("flow %d is %v", i, x)
		}
	}
	if math.Abs(got[0]+got[1]-80) > 1e-6 || math.Abs(got[0]+got[3]-60) > 1e-6 || math.Abs(got[0]*got[4]/got[1]/got[3]-math.Pow(40.1/10.1, 2)) > 1e-6 {
		t.Errorf("%v", got)
	}
	for _, x := range rake(make([]both, 4), make([]float64, 2), make([]float64, 2)) {
		if x != 0 {
			t.Errorf("of nothing: %v", x)
		}
	}
}

// Of commutes of Washington, released by weight with ln 4 within 1 km, recovered numbers are much nearer to the truth than released ones.
// GEOSQL_FIGURES draws 50 times, for the figures of docs/release.md.
func TestUtilityOfCommutes(t *testing.T) {
	trials.Rarely(t, 3)
	box := Box{South: 38.79, West: -77.12, North: 39.0, East: -76.90}
	packed := func(name string) [][]string {
		f, err := os.Open(need.Data(t, "lodes_dc/"+name))
		check(t, err)
		defer f.Close()
		text, err := gzip.NewReader(f)
		check(t, err)
		rows, err := csv.NewReader(text).ReadAll()
		check(t, err)
		return rows[1:]
	}
	blocks := map[string]string{}
	for _, row := range packed("blocks.csv.gz") {
		blocks[row[0]] = row[1] + "," + row[2]
	}
	var text strings.Builder
	text.WriteString("lat,lon,to_lat,to_lon,jobs\n")
	for _, row := range packed("od.csv.gz") {
		text.WriteString(blocks[row[0]] + "," + blocks[row[1]] + "," + row[2] + "\n")
	}
	draws := 1
	if os.Getenv("GEOSQL_FIGURES") != "" {
		draws = 50
	}
	s, _ := utilitySpec(t, text.String())
	s.Box, s.Step, s.Weight, s.Outside = box, 1, "jobs", 1
	var err error
	s.Regions, err = parseRegions([]byte(squares(box, 6)))
	check(t, err)
	for _, radius := range []int64{200, 1000} {
		s.Epsilon = big.NewRat(1386294, radius*1_000_000)
		found := map[string][2][]float64{}
		for range draws {
			s.Out, s.Utility = filepath.Join(t.TempDir(), "out.csv"), t.TempDir()
			l := inMemory(t)
			check(t, l.SetFirstLimit("*", "m", 1e18))
			sum, err := attempt(s, defaultSizes, l)
			check(t, err)
			for _, m := range sum.Misplaced {
				key := filepath.Base(m.Table) + " " + m.Columns
				found[key] = [2][]float64{append(found[key][0], m.Released), append(found[key][1], m.Recovered)}
			}
		}
		for key, x := range found {
			slices.Sort(x[0])
			slices.Sort(x[1])
			released, recovered := x[0][draws/2], x[1][draws/2]
			t.Logf("%d m, %s: %.3f of the released, %.3f of the recovered numbers is noise", radius, key, released, recovered)
			if radius == 1000 && recovered > released/2 {
				t.Errorf("%s: %v released, %v recovered", key, released, recovered)
			}
		}
	}
}
