package release

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

const square = `[[[2.30, 48.80], [2.40, 48.80], [2.40, 48.90], [2.30, 48.90], [2.30, 48.80]]]`

func TestReadRegion(t *testing.T) {
	polygon := `{"type": "Polygon", "coordinates": ` + square + `}`
	for name, text := range map[string]string{
		"geometry":   polygon,
		"multi":      `{"type": "MultiPolygon", "coordinates": [` + square + `]}`,
		"feature":    `{"type": "Feature", "properties": {"name": "a", "type": 3}, "geometry": ` + polygon + `}`,
		"features":   `{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": null, "geometry": ` + polygon + `}]}`,
		"geometries": `{"type": "GeometryCollection", "geometries": [` + polygon + `]}`,
		"height":     strings.ReplaceAll(polygon, "48.80]", "48.80, 35]"),
		"bom":        "\ufeff" + polygon,
		"zipped.gz":  zipped(t, polygon),
	} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		r, err := ReadRegion(path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r.Box != (Box{South: 48.80, West: 2.30, North: 48.90, East: 2.40}) {
			t.Errorf("%s: box %v", name, r.Box)
		}
		d, err := planar.NewDomain("d", r.Box.South, r.Box.West, r.Box.North, r.Box.East, 10)
		check(t, err)
		if _, err := d.WithRegion(t.Context(), r.WKT); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	check(t, err)
	check(t, z.Close())
	return b.String()
}

func TestReadRegionErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "not GeoJSON",
		"[]":                       "not GeoJSON",
		`{"type": "Point"}`:        `not of "Point"`,
		`{}`:                       `not of ""`,
		`{"type": "Feature"}`:      "no geometry",
		`{"type": "MultiPolygon"}`: "the coordinates of a MultiPolygon",
		`{"type": "Polygon"}`:      "the coordinates of a Polygon",
		`{"type": "FeatureCollection", "features": []}`:         "no polygon",
		`{"type": "Polygon", "coordinates": []}`:                "no shell",
		`{"type": "Polygon", "coordinates": [[[1, 2]]]}`:        "no shell",
		`{"type": "Polygon", "coordinates": [[["1", 2]]]}`:      "the coordinates of a Polygon",
		`{"type": "MultiPolygon", "coordinates": [[], [[]]]}`:   "no shell",
		`{"type": "Polygon", "coordinates": [[[1], [2], [3]]]}`: "no shell",
	} {
		path := filepath.Join(t.TempDir(), "region.geojson")
		write(t, path, text)
		if _, err := ReadRegion(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := ReadRegion(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("read a file that is not there")
	}
}
