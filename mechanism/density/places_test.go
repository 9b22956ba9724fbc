package density

import (
	"compress/gzip"
	cryptorand "crypto/rand"
	"encoding/csv"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// rows visits the rows of a file of the real data. The test is skipped without it.
func rows(t testing.TB, file string, visit func(line int, row []string)) {
	t.Helper()
	packed, err := os.Open(need.Data(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	lines := csv.NewReader(unpacked)
	for line := 0; ; line++ {
		row, err := lines.Read()
		if err != nil {
			return
		}
		visit(line, row)
	}
}

// draws returns how many times a measurement is repeated: 50 times for the figures of the page, or else so often that the median of them
// breaks a bound with a probability below 4e-7 where one of fifty does.
func draws() int {
	if os.Getenv("GEOSQL_FIGURES") != "" {
		return 50
	}
	return 9
}

// A city has real locations of many people in a box.
type city struct {
	name, file               string
	lat, lon                 int // columns
	south, west, north, east float64
	every                    int     // lines
	least                    float64 // how many times smaller the errors of squares of 1 km are, at least
}

var cities = []city{
	{"Gowalla, Manhattan", "gowalla/checkins_nyc.csv.gz", 2, 3, 40.70, -74.02, 40.80, -73.93, 1, 1.3},
	{"taxis, San Francisco", "cabspotting/points.csv.gz", 2, 3, 37.70, -122.52, 37.82, -122.36, 5, 1.3},
	{"GeoLife, Beijing", "geolife/points.csv.gz", 3, 4, 39.85, 116.20, 40.05, 116.50, 20, 1.3},
}

func (c city) read(t testing.TB) (d *planar.Domain, locations [][2]float64) {
	d, err := planar.NewDomain("city", c.south, c.west, c.north, c.east, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows(t, c.file, func(line int, row []string) {
		lat, errLat := strconv.ParseFloat(row[c.lat], 64)
		lon, errLon := strconv.ParseFloat(row[c.lon], 64)
		if line%c.every == 0 && errLat == nil && errLon == nil && !d.Outside(lat, lon) {
			locations = append(locations, [2]float64{lat, lon})
		}
	})
	return d, locations
}

// Of real places the recovered population is nearer to the truth than the points are: cells of 250 m, ln 4 within 200 m.
func TestCities(t *testing.T) {
	for _, c := range trials.Some(t, 1, cities...) {
		d, locations := c.read(t)
		p := plane(t, d, "laplace", "0.0069315", 250)
		src := exact.NewSource(cryptorand.Reader)
		var before, after, oneKm, twoKm []float64
		var longest time.Duration
		for range draws() {
			truth, raw, points := make([]float64, lawOf(p).cells()), make([]float64, lawOf(p).cells()), map[int]int64{}
			for _, at := range locations {
				truth[p.grid.Cell(at[0], at[1])]++
				lat, lon := p.mechanism.Draw(src, at[0], at[1])
				raw[p.grid.Cell(lat, lon)]++
				points[p.Bin(lat, lon)]++
			}
			began := time.Now()
			got, err := p.Population(t.Context(), points)
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, time.Since(began))
			before, after = append(before, variation(raw, truth)), append(after, variation(got.cells, truth))
			columns := p.kernel.columns
			oneKm = append(oneKm, squares(raw, truth, columns, 4)/squares(got.cells, truth, columns, 4))
			twoKm = append(twoKm, squares(raw, truth, columns, 8)/squares(got.cells, truth, columns, 8))
		}
		t.Logf("%s, %d locations: total variation %.3f -> %.3f, errors of squares of 1 km and 2 km %.2f and %.2f times smaller, %v at most",
			c.name, len(locations), median(before), median(after), median(oneKm), median(twoKm), longest)
		if median(oneKm) < c.least || median(after) > 0.85*median(before) {
			t.Error("that is too little")
		}
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return (x[len(x)/2] + x[(len(x)-1)/2]) / 2
}

// squares returns the root of the mean square of the errors of counts in squares of side x side cells.
func squares(counts, truth []float64, columns, side int) float64 {
	errors := map[[2]int]float64{}
	for cell := range counts {
		errors[[2]int{cell % columns / side, cell / columns / side}] += counts[cell] - truth[cell]
	}
	sum := 0.0
	for _, e := range errors {
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(errors)))
}

// A point that is remapped with the population of all points is nearer to the truth where the noise is wide, and next to it where it
// is not.
func TestRemapOfCities(t *testing.T) {
	for _, c := range trials.Some(t, 1, cities...) {
		d, locations := c.read(t)
		for _, epsilon := range []string{"0.0138629", "0.0034657", "0.0013863"} {
			m, err := d.Mechanism("laplace", number(epsilon))
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPriorPlane(m)
			if err != nil {
				t.Fatal(err)
			}
			src := exact.NewSource(cryptorand.Reader)
			var released [][2]float64
			points := map[int]int64{}
			for _, at := range locations {
				lat, lon := m.Draw(src, at[0], at[1])
				released = append(released, [2]float64{lat, lon})
				points[p.Bin(lat, lon)]++
			}
			got, err := p.Population(t.Context(), points)
			if err != nil {
				t.Fatal(err)
			}
			prior, err := got.Prior()
			if err != nil {
				t.Fatal(err)
			}
			eps, _ := number(epsilon).Float64()
			before, after := 0.0, 0.0
			for k := 0; k < len(released); k += len(released) / (300 * draws()) {
				lat, lon := prior.Remap(eps, released[k][0], released[k][1])
				before += planar.Distance(locations[k][0], locations[k][1], released[k][0], released[k][1])
				after += planar.Distance(locations[k][0], locations[k][1], lat, lon)
			}
			t.Logf("%s, epsilon %s: %d places, the error is %.2f times smaller", c.name, epsilon, prior.Len(), before/after)
			if before/after < 0.9 {
				t.Error("remapping harms")
			}
		}
	}
}

// The distribution of half hours of homes is nearer to the truth than that of the released values, by the Wasserstein distance.
func TestMeterDensities(t *testing.T) {
	u, err := scalar.NewUniverse("halfhour", 0, 10, 0.001, budget.Unit("kWh"))
	if err != nil {
		t.Fatal(err)
	}
	var readings []float64
	rows(t, "meters_sgsc/readings.csv.gz", func(_ int, row []string) {
		if x, err := strconv.ParseFloat(row[2], 64); err == nil && strings.HasPrefix(row[1], "2013-07-") {
			readings = append(readings, x)
		}
	})
	src := exact.NewSource(cryptorand.Reader)
	for _, epsilon := range trials.Some(t, 1, "0.1", "0.3", "1") {
		q, err := scalar.NewQuery(scalar.Value, u, budget.D1, number(epsilon))
		if err != nil {
			t.Fatal(err)
		}
		var gains []float64
		for range draws() {
			l, err := NewLine(u, number(epsilon))
			if err != nil {
				t.Fatal(err)
			}
			truth, raw := make([]float64, l.cells()), make([]float64, l.cells())
			for _, x := range readings {
				var a scalar.Accumulator
				q.Reset(&a)
				q.Add(&a, x)
				z := q.Release(src, &a).Value
				truth[l.runs.Of(u.Index(x))]++
				raw[l.runs.Of(u.Index(z))]++
				l.Add(z)
			}
			got, _, err := population(t.Context(), &l.truncated, nil, l.counts)
			if err != nil {
				t.Fatal(err)
			}
			gains = append(gains, wasserstein(raw, truth)/wasserstein(got, truth))
		}
		t.Logf("%d half hours, epsilon %s: the distance is %.1f times smaller", len(readings), epsilon, median(gains))
		if median(gains) < 4 {
			t.Error("that is too little")
		}
	}
}

// wasserstein returns a number that is proportional to the distance of two distributions over the same runs.
func wasserstein(a, b []float64) (distance float64) {
	sum := 0.0
	for i := range a {
		sum += a[i] - b[i]
		distance += math.Abs(sum)
	}
	return distance
}
