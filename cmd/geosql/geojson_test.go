package main

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// Every answer is a FeatureCollection. The geometry is made of the columns that locate a row,
// and nothing that locates none is lost.
func TestGeoJSON(t *testing.T) {
	for sql, want := range map[string]string{
		`SELECT 1.5 AS lat, 2 AS lon, 'a"b' AS name`:                       `{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1.5]},"properties":{"name":"a\"b"}}`,
		`SELECT 7 AS n, 1 AS Latitude, -2.25 AS lng`:                       `{"type":"Feature","geometry":{"type":"Point","coordinates":[-2.25,1]},"properties":{"n":7}}`,
		`SELECT 'POINT(3 4)' AS at, 5 AS n`:                                `{"type":"Feature","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"n":5}}`,
		`SELECT 1 AS lat, 2 AS lon, 'POINT(2 1)' AS wkt`:                   `{"type":"Feature","geometry":{"type":"Point","coordinates":[2,1]},"properties":{"wkt":"POINT(2 1)"}}`,
		`SELECT NULL AS lat, NULL AS lon, 1 AS n`:                          `{"type":"Feature","geometry":null,"properties":{"n":1}}`,
		`SELECT 'here' AS lat, 2 AS lon`:                                   `{"type":"Feature","geometry":null,"properties":{"lat":"here","lon":2}}`,
		`SELECT 91 AS lat, 2 AS lon`:                                       `{"type":"Feature","geometry":null,"properties":{"lat":91,"lon":2}}`,
		`SELECT 1 AS lat, 'f(x)' AS f, NULL AS z`:                          `{"type":"Feature","geometry":null,"properties":{"lat":1,"f":"f(x)","z":null}}`,
		`SELECT 'POINT(nan 1)' AS w`:                                       `{"type":"Feature","geometry":null,"properties":{"w":"POINT(nan 1)"}}`,
		`SELECT 'GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))' AS w`: `{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2]},{"type":"LineString","coordinates":[[0,0],[1,1]]}]},"properties":{}}`,
		`SELECT 'POLYGON((0 0, 1 0, 1 1, 0 0))' AS w, 2 n`:                 `{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]},"properties":{"n":2}}`,
	} {
		got := clitest.Query(t, "-geojson", ":memory:", sql)
		if got != `{"type":"FeatureCollection","features":[`+"\n"+want+"]}\n" || !stdjson.Valid([]byte(got)) {
			t.Errorf("%s: %s", sql, got)
		}
	}
	two := clitest.Query(t, "-geojson", ":memory:", "SELECT NULL AS w, 1 AS n UNION ALL SELECT 'POINT(1 2)', 2 UNION ALL SELECT NULL, 3; SELECT 1 WHERE 0")
	if want := `{"type":"FeatureCollection","features":[
{"type":"Feature","geometry":null,"properties":{"w":null,"n":1}},
{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"n":2}},
{"type":"Feature","geometry":null,"properties":{"n":3}}]}
{"type":"FeatureCollection","features":[]}
`; two != want {
		t.Errorf("%s", two)
	}
}

// A value that is a FeatureCollection is the whole answer, as a map takes it, unless something else stands beside it.
func TestGeoJSONOfAHeatMap(t *testing.T) {
	const empty = `{"type":"FeatureCollection","features":[]}`
	for sql, want := range map[string]string{
		"SELECT '" + empty + "' AS map":                                            empty,
		"SELECT ' {\"features\" : [ ], \"type\":\"FeatureCollection\", \"n\": 1}'": ` {"features" : [ ], "type":"FeatureCollection", "n": 1}`,
		"SELECT '" + empty + "' AS map, 1 AS n":                                    `{"type":"FeatureCollection","features":[` + "\n" + `{"type":"Feature","geometry":null,"properties":{"map":"{\"type\":\"FeatureCollection\",\"features\":[]}","n":1}}]}`,
		`SELECT '{"type":"FeatureCollection"}' AS map`:                             `{"type":"FeatureCollection","features":[` + "\n" + `{"type":"Feature","geometry":null,"properties":{"map":"{\"type\":\"FeatureCollection\"}"}}]}`,
		"SELECT '" + empty + "' AS map UNION ALL SELECT 2": `{"type":"FeatureCollection","features":[` + "\n" +
			`{"type":"Feature","geometry":null,"properties":{"map":"{\"type\":\"FeatureCollection\",\"features\":[]}"}},` + "\n" +
			`{"type":"Feature","geometry":null,"properties":{"map":2}}]}`,
	} {
		if got := clitest.Query(t, "-geojson", ":memory:", sql); got != want+"\n" {
			t.Errorf("%s: %s", sql, got)
		}
	}
	got := clitest.Query(t, "-geojson", ":memory:", `SELECT geo_domain('d', 48.8, 2.3, 48.9, 2.4, 1); SELECT budget_limit('*', 'record', 2);
		SELECT dx_heatmap('ana', 48.85, 2.35, 1, 'd', 1000, 'adaptive') AS map; SELECT dx_heatmap('ana', 48.85, 2.35, 1, 'd', 1000) AS map`)
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for i, member := range []string{`"features"`, `"threshold"`} {
		line := lines[len(lines)-2+i]
		if !strings.HasPrefix(line, `{"type":"FeatureCollection","cell_m":1000,"epsilon":1,`+member) || !stdjson.Valid([]byte(line)) {
			t.Errorf("the heat map is printed as %s", line)
		}
	}
}
