package sqlite

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
)

// checkIndex has SQLite check the index of a layer, and compares it with all geometries.
func checkIndex(t datasettest.T, path, layer, fid string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	index := "rtree_" + layer + "_geom"
	for sql, want := range map[string]string{
		"SELECT rtreecheck('main', '" + strings.ReplaceAll(index, "'", "''") + "')": "ok",
		"SELECT group_concat(id) FROM (SELECT id FROM " + sqlite.QuoteName(index) + " ORDER BY id)": texts(t, conn,
			"SELECT group_concat(id) FROM (SELECT "+sqlite.QuoteName(fid)+" AS id FROM "+sqlite.QuoteName(layer)+" WHERE geom NOT NULL ORDER BY 1)"),
		"SELECT CAST(count(*) AS TEXT) FROM gpkg_extensions": "1",
	} {
		if got := texts(t, conn, sql); got != want {
			t.Fatalf("%s: %q, want %q", sql, got, want)
		}
	}
}

// texts returns the rows of a query with one column, in lines.
func texts(t datasettest.T, conn *sqlite.Conn, sql string) string {
	t.Helper()
	var lines []string
	if err := conn.Each(sql, func(row []sqlite.Value) error {
		lines = append(lines, string(row[0].Bytes()))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// placesSchema has a number and a place.
var placesSchema = dataset.Schema{Name: "place's \"o\"", Fields: []dataset.Field{{Name: "n", Kind: dataset.Integer}, {Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}}, Points: []dataset.Point{{Lat: 1, Lon: 2}}}

// An index finds in every window the same as a search through all rows, whether its tree has one
// level of nodes or three, and for all sizes of the batches.
func TestIndexFindsWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, sizes := range [][]int{{}, {1}, {51}, {52}, {3, 49, 1}, {200, 5000, 1, 900}} {
		var batches []*dataset.Rows
		var places [][2]float64 // by fid - 1; NaN for none
		for _, size := range sizes {
			first := int64(len(places))
			var rows [][]string
			for range size {
				lat, lon := r.Float64()*180-90, r.Float64()*360-180
				row := []string{strconv.Itoa(len(places)), fmt.Sprintf("%.7f", lat), fmt.Sprintf("%.7f", lon)}
				if r.IntN(10) == 0 {
					lat, row[1] = math.NaN(), datasettest.Null
				}
				rows, places = append(rows, row), append(places, [2]float64{lat, lon})
			}
			batches = append(batches, datasettest.Batch(first, rows...))
		}
		path := datasettest.Write(t, t.TempDir(), dataset.GeoPackage, placesSchema, batches...)
		checkIndex(t, path, placesSchema.Name, "fid")
		conn, err := sqlite.Open(path, sqlite.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			south, west := r.Float64()*180-90, r.Float64()*360-180
			north, east := south+r.Float64()*30, west+r.Float64()*30
			var want []string
			for i, p := range places {
				if p[0] >= south && p[0] <= north && p[1] >= west && p[1] <= east {
					want = append(want, strconv.Itoa(i+1))
				}
			}
			got := texts(t, conn, fmt.Sprintf("SELECT CAST(id AS TEXT) FROM %s WHERE maxx >= %v AND minx <= %v AND maxy >= %v AND miny <= %v ORDER BY id",
				sqlite.QuoteName("rtree_"+placesSchema.Name+"_geom"), west, east, south, north))
			if got != strings.Join(want, "\n") {
				t.Fatalf("%v rows: found %q, want %q", sizes, got, want)
			}
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		takeAway(t, path, r.Perm(len(places)))
	}
}

// takeAway has SQLite delete the entries of an index in an order, and check the rest now and
// then. Deleting takes apart nodes that have few entries.
func takeAway(t *testing.T, path string, order []int) {
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	index := "rtree_" + placesSchema.Name + "_geom"
	if err := conn.Exec("BEGIN"); err != nil { // each deletion would be a transaction
		t.Fatal(err)
	}
	w := &geoPackageWriter{conn: conn}
	for i, place := range order {
		if err := w.run("DELETE FROM "+sqlite.QuoteName(index)+" WHERE id = ?1", strconv.Itoa(place+1)); err != nil {
			t.Fatalf("after %d of %d: %v", i, len(order), err)
		}
		if i%500 == 0 || i == len(order)-1 {
			if got := texts(t, conn, "SELECT rtreecheck('main', '"+strings.ReplaceAll(index, "'", "''")+"')"); got != "ok" {
				t.Fatalf("after %d of %d: %s", i+1, len(order), got)
			}
		}
	}
	if got := texts(t, conn, "SELECT CAST(count(*) AS TEXT) FROM "+sqlite.QuoteName(index)); got != "0" {
		t.Errorf("%s entries are left", got)
	}
}

// Nodes are compact, so that a small window lies in few of them: 100 of evenly spread locations
// cover little more than the area, 1, wherever they stand in the input.
func TestTilesAreCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var entries []indexEntry
	for i := range int64(5100) {
		entries = append(entries, newIndexEntry(i, r.Float64(), r.Float64()))
	}
	tile(entries, 51)
	var area float32
	for node := range slices.Chunk(entries, 51) {
		box := node[0]
		for _, e := range node {
			box.minX, box.maxX, box.minY, box.maxY = min(box.minX, e.minX), max(box.maxX, e.maxX), min(box.minY, e.minY), max(box.maxY, e.maxY)
		}
		area += (box.maxX - box.minX) * (box.maxY - box.minY)
	}
	if area > 1.2 {
		t.Errorf("the nodes cover %v", area)
	}
}

// The box of an entry holds the location, and no float32 is nearer.
func TestIndexEntryHoldsLocation(t *testing.T) {
	for _, x := range []float64{0, 0.1, -0.1, 179.9999999, -179.9999999, 1e-300, 13.25} {
		e := newIndexEntry(1, x, -x)
		if float64(e.minY) > x || float64(e.maxY) < x || float64(e.minX) > -x || float64(e.maxX) < -x {
			t.Errorf("%v: %+v", x, e)
		}
		if e.minY != e.maxY && math.Nextafter32(e.minY, 200) != e.maxY {
			t.Errorf("%v: the box %+v is too large", x, e)
		}
	}
}

// GDAL makes the same triggers and the same announcement of an index, uses ours, and keeps it
// up to date when it edits the file.
func TestIndexAndGDAL(t *testing.T) {
	program, info := need.Program(t, "ogr2ogr"), need.Program(t, "ogrinfo")
	s := placesSchema
	s.Name = "homes"
	ours := datasettest.Write(t, t.TempDir(), dataset.GeoPackage, s,
		datasettest.Batch(0, []string{"1", "52.5", "13.25"}, []string{"2", "-1.5", "2"}, []string{"3", datasettest.Null, "2"}))
	theirs := filepath.Join(t.TempDir(), "homes.gpkg")
	if out, err := exec.Command(program, "-f", "GPKG", "-dsco", "VERSION=1.3", theirs, ours).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	describe := func(path string) string {
		conn, err := sqlite.Open(path, sqlite.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return texts(t, conn, `SELECT table_name || ' ' || column_name || ' ' || extension_name || ' ' || definition || ' ' || scope FROM gpkg_extensions`) + "\n" +
			strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(texts(t, conn, `SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'rtree%' ORDER BY name`))
	}
	if got, want := describe(ours), describe(theirs); got != want {
		t.Errorf("%s\nGDAL has\n%s", got, want)
	}
	for where, n := range map[string]int{"-spat 13 52 14 53": 1, "-spat -180 -90 180 90": 2, "-spat 50 50 60 60": 0} {
		out := ogr(t, ours, append([]string{"homes"}, strings.Fields(where)...)...)
		if got := strings.Count(out, "POINT ("); got != n {
			t.Errorf("%s: %d points in %s", where, got, out)
		}
	}
	for _, edit := range []string{"DELETE FROM homes WHERE n = 1", "UPDATE homes SET geom = (SELECT geom FROM homes WHERE n = 2) WHERE n = 3"} {
		if out, err := exec.Command(info, ours, "-sql", edit).CombinedOutput(); err != nil || strings.Contains(string(out), "ERROR") {
			t.Fatalf("%s: %v: %s", edit, err, out)
		}
	}
	checkIndex(t, ours, "homes", "fid")
	if out := ogr(t, ours, "homes", "-spat", "1", "-2", "3", "-1"); strings.Count(out, "POINT (") != 2 {
		t.Errorf("after the edits: %s", out)
	}
}
