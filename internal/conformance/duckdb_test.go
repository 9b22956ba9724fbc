package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/release"
)

// DuckDB, from a package of npm and without its extension for maps, reads a release as
// GeoParquet: the columns have their types, the geometry is one in longitude and latitude of
// WGS 84, a row without a location has none, and the bounds in the metadata are the rows'.
func TestDuckDBReadsGeoParquet(t *testing.T) {
	node := nodeBinary(t)
	need.File(t, filepath.Join(nodeModules, "@duckdb", "node-api"), installHosts)
	const rows = 2000
	out, err := command("hosts", node, "duckdb_reads.js", geoParquet(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Types map[string]string
		Rows  [][2]*string
		Geo   string
	}
	if err := json.Unmarshal([]byte(out), &read); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, want := fmt.Sprint(read.Types), "map[geometry:GEOMETRY('OGC:CRS84') n:BIGINT word:VARCHAR x:DOUBLE]"; got != want {
		t.Errorf("the columns are %s, want %s", got, want)
	}
	west, south, east, north := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for i, row := range read.Rows {
		if *row[0] != fmt.Sprint(i) || (row[1] == nil) != (i%10 == 0) {
			t.Fatalf("row %d is %s, with a location: %v", i, *row[0], row[1] != nil)
		}
		if row[1] == nil {
			continue
		}
		var lat, lon float64
		if _, err := fmt.Sscanf(*row[1], "POINT (%g %g)", &lon, &lat); err != nil {
			t.Fatalf("%s: %v", *row[1], err)
		}
		west, south, east, north = min(west, lon), min(south, lat), max(east, lon), max(north, lat)
	}
	if len(read.Rows) != rows || west < 2.22 || east > 2.48 || south < 48.8 || north > 48.91 {
		t.Errorf("%d rows between %v, %v and %v, %v", len(read.Rows), south, west, north, east)
	}
	want := fmt.Sprintf(`"bbox":[%v,%v,%v,%v]`, west, south, east, north)
	if !strings.Contains(read.Geo, want) || !strings.Contains(read.Geo, `"version":"1.1.0"`) || !strings.Contains(read.Geo, `"primary_column":"geometry"`) {
		t.Errorf("the metadata are %s, want %s", read.Geo, want)
	}
}

// geoParquet releases a data set of so many rows, every tenth without a location, and returns
// the file.
func geoParquet(t *testing.T, rows int) string {
	t.Helper()
	dir := t.TempDir()
	text := "n,word,x,lat,lon\n"
	for i := range rows {
		lat := "48.85"
		if i%10 == 0 {
			lat = ""
		}
		text += fmt.Sprintf("%d,café,%d.5,%s,2.35\n", i, i, lat)
	}
	in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.geoparquet")
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := file.Open(filepath.Join(dir, "ledger"), true)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	limit, err := budget.Limit(big.NewRat(1000, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = release.Run(t.Context(), release.Spec{
		In: in, Out: out, Account: "const:city", Lat: []string{"lat"}, Lon: []string{"lon"}, Keep: []string{"n", "word", "x"},
		Epsilon: big.NewRat(1, 100), Box: release.Box{South: 48.8, West: 2.22, North: 48.91, East: 2.48}, Step: 10, Limit: &limit,
	}, l)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
