package sqlite

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/datasettest"
	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/sqlite"
	"pgregory.net/rapid"
)

func TestGeoPackageRoundTrip(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, "data.gpkg")
		os.Remove(path)
		batches, cells := datasettest.NastyBatches(t)
		datasettest.Write(t, folder, dataset.GeoPackage, datasettest.Nasty, batches...)
		r := datasettest.Open(t, path+"#"+datasettest.Nasty.Name)
		defer r.Close()
		got, err := datasettest.Read(r, datasettest.All(r, "fid_", "geom"), 4)
		if err != nil {
			t.Fatal(err)
		}
		datasettest.Same(t, got, datasettest.Without(cells, 1, 4))
		checkGeoPackage(t, path, cells)
		checkIndex(t, path, datasettest.Nasty.Name, "fid_")
	})
}

// checkGeoPackage compares the geometries and the bounds with rows of the schema Nasty.
func checkGeoPackage(t datasettest.T, path string, cells [][]string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b geom.Bounds
	next := 0
	err = conn.Each("SELECT geom FROM "+sqlite.QuoteName(datasettest.Nasty.Name)+" ORDER BY fid_", func(row []sqlite.Value) error {
		lat, lon, isNull := datasettest.Location(t, cells[next])
		want := geom.AppendWKB([]byte{'G', 'P', 0, 1, 0xe6, 0x10, 0, 0}, lat, lon)
		v := row[0]
		if isNull != (v.Type() == sqlite.Null) || !isNull && !bytes.Equal(v.Bytes(), want) {
			t.Fatalf("row %d: wrong geometry", next)
		}
		if !isNull {
			b.Add(lat, lon)
		}
		next++
		return nil
	})
	if err != nil || next != len(cells) {
		t.Fatal(err, next, len(cells))
	}
	err = conn.Each("SELECT min_x, min_y, max_x, max_y, table_name FROM gpkg_contents", func(row []sqlite.Value) error {
		for i, want := range []float64{b.West, b.South, b.East, b.North} {
			if v := row[i]; b.Some != (v.Type() == sqlite.Float) || b.Some && v.Float() != want {
				t.Fatalf("bound %d is not %v", i, want)
			}
		}
		return nil
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
	w, err := dataset.GeoPackage.Create(file, datasettest.BenchSchema)
	if err != nil {
		t.Fatal(err)
	}
	block, err := w.Encode(datasettest.BenchBatch(0))
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
	refuses := func(s dataset.Schema, want string) {
		t.Helper()
		if _, err := dataset.GeoPackage.Create(file, s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, name := range []string{"", "gpkg_contents", "SQLite_x", "rtree_x"} {
		s := datasettest.Nasty
		s.Name = name
		refuses(s, "cannot have the name")
	}
	refuses(dataset.Schema{Name: "x", Fields: []dataset.Field{{Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "a", Kind: dataset.Text}, {Name: "A", Kind: dataset.Text}}, Points: []dataset.Point{{Lat: 0, Lon: 1}}}, "two columns of a GeoPackage would have the name a")
}

// ogr asks GDAL for a summary of a file.
func ogr(t *testing.T, path string, more ...string) string {
	t.Helper()
	out, err := exec.Command(need.Program(t, "ogrinfo"), append([]string{"-ro", "-al", path}, more...)...).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("Warning")) || bytes.Contains(out, []byte("ERROR")) {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// GDAL, which has the formats from their standards, reads the package's files.
func TestOGR(t *testing.T) {
	s := dataset.Schema{Name: "homes", Fields: []dataset.Field{{Name: "who", Kind: dataset.Text}, {Name: "lat", Kind: dataset.Real}, {Name: "lon", Kind: dataset.Real}, {Name: "n", Kind: dataset.Integer}, {Name: "x", Kind: dataset.Real}}, Points: []dataset.Point{{Lat: 1, Lon: 2}}}
	rows := datasettest.Batch(0, []string{"Ann \"A\"", "52.5", "13.25", "7", "0.5"}, []string{"Bö", "-1.5", "2", datasettest.Null, datasettest.Null}, []string{"nowhere", datasettest.Null, datasettest.Null, "9", "1"})
	for _, format := range []dataset.Format{dataset.GeoPackage, dataset.GeoJSON} {
		out := ogr(t, datasettest.Write(t, t.TempDir(), format, s, rows), "homes")
		for _, want := range []string{"Layer name: homes", "Geometry: Point", "Feature Count: 3", "Extent: (2.000000, -1.500000) - (13.250000, 52.500000)",
			"POINT (13.25 52.5)", "POINT (2.0 -1.5)", `who (String) = Ann "A"`, "who (String) = Bö", "n (Integer", "= 7", "x (Real) = 0.5", `ID["EPSG",4326]`} {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in %s", format.Extension(), want, out)
			}
		}
		if n := strings.Count(out, "POINT ("); n != 2 {
			t.Errorf("%s: %d points", format.Extension(), n)
		}
	}
}
