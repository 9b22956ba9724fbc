package release

import (
	"math"
	"strings"
	"testing"

	"github.com/paulmach/orb/encoding/wkt"
)

// FuzzRegion reads any text as the GeoJSON of a region. An accepted region is written as WKT that means the same, within the
// box that the region is said to have.
func FuzzRegion(f *testing.F) {
	const square = `[[[2.2,48.8],[2.5,48.8],[2.5,48.9],[2.2,48.8]]]`
	for _, text := range []string{
		`{"type":"Polygon","coordinates":` + square + `}`,
		`{"type":"MultiPolygon","coordinates":[` + square + `,[[[1,2],[3,2],[3,4],[1,2]],[[1.5,2],[2,2],[2,2.5],[1.5,2]]]]}`,
		`{"type":"Feature","properties":{"a":1},"geometry":{"type":"Polygon","coordinates":` + square + `}}`,
		`{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null}]}`,
		`{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]}]}`,
		`{"type":"Polygon","coordinates":[[]]}`, `{"type":"Polygon","coordinates":[[[1],[2],[3],[4]]]}`, `{"type":"Polygon","coordinates":null}`,
		`{"type":"Polygon","coordinates":[[[1e308,-1e308],[1,2,3],[4,5],[1e308,-1e308]]]}`, `{`, ``, `null`, `[]`,
		strings.Repeat(`{"type":"GeometryCollection","geometries":[`, 100),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		all, err := parseRegion(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		again, err := wkt.UnmarshalMultiPolygon(wkt.MarshalString(all))
		if err != nil || !again.Equal(all) {
			t.Fatalf("%q becomes %q: %v", text, wkt.MarshalString(all), err)
		}
		b := all.Bound()
		for _, polygon := range all {
			for _, p := range polygon[0] {
				if !b.Contains(p) || math.IsNaN(p[0]) || math.IsInf(p[1], 0) {
					t.Errorf("%q: %v is outside %v", text, p, b)
				}
			}
		}
	})
}
