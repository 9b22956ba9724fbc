package sqlitefn_test

import (
	"fmt"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

// stops is a table of released points: somebody who stands still, reported 2 km off at worst, with one time without a report.
const stops = `WITH r(t, lat, lon) AS (VALUES (0, 39.9871, 116.3004), (60, 39.9712, 116.3122), (120, NULL, NULL), (180, 39.9793, 116.3161), (240, 39.9912, 116.3152)) `

// coordinates returns those of a WKT point, in degrees.
func (d *database) coordinates(wkt any) (lat, lon float64) {
	d.Helper()
	if _, err := fmt.Sscanf(wkt.(string), "POINT(%f %f)", &lon, &lat); err != nil {
		d.Fatal(err)
	}
	return lat, lon
}

// Traces are smoothed as a whole, and filtered up to each point. Nothing is charged.
func TestSmooth(t *testing.T) {
	d := declared(t)
	distance := func(a, b any) float64 {
		latA, lonA := d.coordinates(a)
		latB, lonB := d.coordinates(b)
		return planar.Distance(latA, lonA, latB, lonB)
	}
	whole := d.rows(stops + `SELECT geoind_smooth(t, lat, lon, 0.001) OVER (ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM r`)
	so := d.rows(stops + `SELECT geoind_smooth(t, lat, lon, 0.001) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM r`)
	if len(whole) != 5 || len(so) != 5 {
		t.Fatalf("%d and %d rows", len(whole), len(so))
	}
	for i := range whole[1:] { // below walking pace
		if far := distance(whole[i][0], whole[i+1][0]); far > 60 {
			t.Errorf("%v m between points %d and %d", far, i, i+1)
		}
	}
	if whole[4][0] != so[4][0] {
		t.Errorf("the last point is %v of the whole, and %v of the points up to it", whole[4][0], so[4][0])
	}
	if so[0][0] != "POINT(116.3004000 39.9871000)" {
		t.Errorf("the first point is known as %v", so[0][0])
	}
	inDomain := d.rows(stops + `SELECT geoind_smooth(t, lat, lon, 0.001, 'beijing') OVER (ORDER BY t) FROM r`)
	for i, row := range inDomain { // its frame is nearly as true to scale
		if far := distance(row[0], so[i][0]); far > 1 {
			t.Errorf("the domain moves point %d by %v m", i, far)
		}
	}
	d.answers(`SELECT geoind_smooth(t, NULL, NULL, 0.001) OVER (ORDER BY t) FROM (SELECT 1 AS t UNION SELECT 2)`, `[[<nil>] [<nil>]]`)
	d.answers(`SELECT count(*) FROM ledger_charges`, `[[0]]`)
}

// Traces are told apart, and times at the antimeridian and around the globe are no matter.
func TestSmoothPartitions(t *testing.T) {
	d := declared(t)
	rows := d.rows(`WITH r(trace, t, lat, lon) AS (VALUES (1, 0, 0, 179.9999), (1, 60, 0, -179.9999), (1, 120, 0, 179.9999), (2, 60, 60, 20), (2, 61, 60, 20))
		SELECT trace, geoind_smooth(t, lat, lon, 0.1) OVER (PARTITION BY trace ORDER BY t ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM r`)
	for _, row := range rows {
		lat, lon := d.coordinates(row[1])
		want := 180.0
		if lon < 0 {
			want = -180
		}
		far := planar.Distance(lat, lon, 0, want)
		if row[0] == int64(2) {
			far = planar.Distance(lat, lon, 60, 20)
		}
		if far > 20 {
			t.Errorf("trace %v: %v is %v m off", row[0], row[1], far)
		}
	}
}

func TestSmoothRefusals(t *testing.T) {
	d := declared(t)
	for sql, want := range map[string]string{
		`geoind_smooth(t, lat, lon, 0.001) FROM r`:                                                                        "is a window function",
		`geoind_smooth(t, lat, lon, 0.001) OVER (ORDER BY t DESC) FROM r`:                                                 "not later than that of the row before",
		`geoind_smooth(1, lat, lon, 0.001) OVER () FROM r`:                                                                "not later than that of the row before",
		`geoind_smooth(t, lat, lon, 0.001) FILTER (WHERE lat NOT NULL) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM r`: "without FILTER and EXCLUDE",
		`geoind_smooth(t, lat, lon, 0.001) OVER (ORDER BY t ROWS 1 PRECEDING) FROM r`:                                     "has to begin with UNBOUNDED PRECEDING",
		`geoind_smooth(t, x'00', lon, 0.001) OVER (ORDER BY t) FROM r`:                                                    "lat must be a number, got BLOB",
		`geoind_smooth(t, lat, lon, 0) OVER (ORDER BY t) FROM r`:                                                          "epsilon must be",
		`geoind_smooth(t, lat, lon, 0.001, 'nowhere') OVER (ORDER BY t) FROM r`:                                           "nowhere",
	} {
		d.fails(stops+`SELECT `+sql, want)
	}
}
