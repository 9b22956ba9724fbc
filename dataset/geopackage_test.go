package dataset

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/sqlite"
)

func TestGeoPackageRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, "data.gpkg")
		os.Remove(path)
		batches, cells := nastyBatches(t)
		write(t, folder, GeoPackage, nasty, batches...)
		r := open(t, path+"#"+nasty.Name)
		defer r.Close()
		got, err := read(r, all(r, "fid_", "geom"), 4)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, without(cells, 1, 4))
		checkGeoPackage(t, path, cells)
	})
}

// checkGeoPackage compares the geometries and the bounds with rows of the schema nasty.
func checkGeoPackage(t tester, path string, cells [][]string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	r := sqliteReader{conn: conn}
	defer conn.Close()
	var b box
	next := 0
	err = r.each("SELECT geom FROM "+quoteName(nasty.Name)+" ORDER BY fid_", "", func(s *sqlite.Stmt) {
		lat, lon, isNull := location(t, cells[next])
		want := appendWKB([]byte{'G', 'P', 0, 1, 0xe6, 0x10, 0, 0}, lat, lon)
		v := s.Column(0)
		if isNull != (v.Type() == sqlite.Null) || !isNull && !bytes.Equal(v.Bytes(), want) {
			t.Fatalf("row %d: wrong geometry", next)
		}
		if !isNull {
			b.add(lat, lon)
		}
		next++
	})
	if err != nil || next != len(cells) {
		t.Fatal(err, next, len(cells))
	}
	err = r.each("SELECT min_x, min_y, max_x, max_y, table_name FROM gpkg_contents", "", func(s *sqlite.Stmt) {
		for i, want := range []float64{b.west, b.south, b.east, b.north} {
			if v := s.Column(i); b.some != (v.Type() == sqlite.Float) || b.some && v.Float() != want {
				t.Fatalf("bound %d is not %v", i, want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Nothing stands beside the file, neither while it is written nor later.
func TestGeoPackageIsOneFile(t *testing.T) {
	folder := t.TempDir()
	file, err := os.Create(filepath.Join(folder, "unfinished"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	alone := func() {
		t.Helper()
		if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
			t.Error(entries, err)
		}
	}
	w, err := GeoPackage.Create(file, benchSchema)
	if err != nil {
		t.Fatal(err)
	}
	block, err := w.Encode(benchBatch(0))
	if err := errors.Join(err, w.Append(block)); err != nil {
		t.Fatal(err)
	}
	alone()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	alone()
}

func TestGeoPackageNames(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	refuses := func(s Schema, want string) {
		t.Helper()
		if _, err := GeoPackage.Create(file, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"", "gpkg_contents", "SQLite_x", "rtree_x"} {
		s := nasty
		s.Name = name
		refuses(s, "cannot have the name")
	}
	refuses(Schema{Name: "x", Fields: []Field{{"lat", Real}, {"lon", Real}, {"a", Text}, {"A", Text}}, Points: []Point{{0, 1}}}, "two columns of a GeoPackage would have the name a")
}

// ogr asks GDAL for a summary of a file.
func ogr(t *testing.T, path string, more ...string) string {
	t.Helper()
	program, err := exec.LookPath("ogrinfo")
	if err != nil {
		t.Skip("ogrinfo is not installed (Debian package gdal-bin)")
	}
	out, err := exec.Command(program, append([]string{"-ro", "-al", path}, more...)...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("Warning")) || bytes.Contains(out, []byte("ERROR")) {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// GDAL, which has the formats from their standards, reads what the package writes.
func TestOGR(t *testing.T) {
	s := Schema{Name: "homes", Fields: []Field{{"who", Text}, {"lat", Real}, {"lon", Real}, {"n", Integer}, {"x", Real}}, Points: []Point{{1, 2}}}
	rows := batch(0, []string{"Ann \"A\"", "52.5", "13.25", "7", "0.5"}, []string{"Bö", "-1.5", "2", null, null}, []string{"nowhere", null, null, "9", "1"})
	for _, format := range []Format{GeoPackage, GeoJSON} {
		out := ogr(t, write(t, t.TempDir(), format, s, rows), "homes")
		for _, want := range []string{"Layer name: homes", "Geometry: Point", "Feature Count: 3", "Extent: (2.000000, -1.500000) - (13.250000, 52.500000)",
			"POINT (13.25 52.5)", "POINT (2.0 -1.5)", `who (String) = Ann "A"`, "who (String) = Bö", "n (Integer", "= 7", "x (Real) = 0.5", `ID["EPSG",4326]`} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %s", extensions[format], want, out)
			}
		}
		if n := strings.Count(out, "POINT ("); n != 2 {
			t.Errorf("%s: %d points", extensions[format], n)
		}
	}
}
