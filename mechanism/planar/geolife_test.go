package planar

import (
	"compress/gzip"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/mechanism/exact"
)

// beijingPoints returns up to n GeoLife fixes in the box of a domain, one of every
// twenty.
func beijingPoints(t *testing.T, d *Domain, n int) [][2]float64 {
	t.Helper()
	file, err := os.Open(need.Data(t, "geolife/points.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := csv.NewReader(unpacked)
	var points [][2]float64
	for line := 0; len(points) < n; line++ {
		row, err := rows.Read()
		if err != nil {
			break
		}
		lat, errLat := strconv.ParseFloat(row[3], 64)
		lon, errLon := strconv.ParseFloat(row[4], 64)
		if line%20 == 1 && errLat == nil && errLon == nil && !d.Outside(lat, lon) {
			points = append(points, [2]float64{lat, lon})
		}
	}
	return points
}

// Real fixes of greater Beijing survive the projection, and their reports are as
// far away as they should be. With n = 30,000 draws the sum of the radii is close
// to a Gamma variate of shape 2n, whose mean is off by a share s or more with
// probability at most 2*exp(-2n*(s - ln(1+s))), 1e-11 at s = 0.03. Lattice, frame
// and printing add less than 0.002.
func TestGeoLife(t *testing.T) {
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	if d.Kappa() > 0.0002 {
		t.Errorf("kappa %v", d.Kappa())
	}
	const n = 30_000
	points := beijingPoints(t, d, n)
	if len(points) != n {
		t.Fatalf("%d points", len(points))
	}
	const eps = 2 * math.Ln2 / 200
	l := atRate(t, d, eps)
	src := exact.NewSource(nil)
	sum := 0.0
	for _, p := range points {
		x, y := d.frame.project(p[0], d.frame.offset(p[1]))
		lat, dlon := d.frame.unproject(x, y)
		if math.Hypot(lat-p[0], dlon-d.frame.offset(p[1])) > 1e-9 {
			t.Fatalf("%v returns as %v %v", p, lat, d.frame.lon0+dlon)
		}
		zlat, zlon := l.Draw(src, p[0], p[1])
		zx, zy := d.frame.project(zlat, d.frame.offset(zlon))
		sum += math.Hypot(zx-x, zy-y)
	}
	mean := sum / n
	t.Logf("mean distance %.2f m, 2/eps is %.2f m", mean, 2/eps)
	if math.Abs(mean*eps/2-1) > 0.032 {
		t.Errorf("mean distance %v m, expected %v m", mean, 2/eps)
	}
}
