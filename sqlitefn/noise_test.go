package sqlitefn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A release is the secret's lattice point plus a draw in which the secret has no
// part, and then a function of that sum alone. So two databases that read the same
// entropy make the same draws, one after the other, whatever their secrets are. These
// tests recover the draws of one and find them in the other, exactly.

// noiseDeclarations make universes and lattices so large that the draws stay
// within them, of the database that they are recovered from.
var noiseDeclarations = []string{
	`SELECT budget_limit('ana', 'm', 9000000), budget_limit('ana', 'kWh', 9000000), budget_limit('ana', 'record', 9000000)`,
	`SELECT dx_universe('wide', -1000000000, 1000000000, 1, 'kWh'), dx_universe('positive', 0, 1000000000, 1, 'kWh')`,
	`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1000), geo_domain('antimeridian', -20, 175, -15, -175, 1000),
		geo_domain('pole', 85, -90, 90, 90, 1000), geo_domain('parks', 39.4, 115.4, 41.1, 117.6, 1000)`,
	`SELECT geo_region('parks', 'MULTIPOLYGON(((116 40, 117 40, 117 41, 116 40)), ((115.5 39.5, 115.6 39.5, 115.5 39.6, 115.5 39.5)))')`,
	`CREATE TABLE r(i INTEGER PRIMARY KEY, lat, lon, x)`,
}

// noiseRows is how many rows r has.
const noiseRows = 6

// filled opens a database with the secrets of row in its table r. Its draws come
// from the tape.
func filled(tb testing.TB, number uint64, row func(i int) secrets) *database {
	tb.Helper()
	d := open(tb, ":memory:").drawing(tape(number))
	d.run(noiseDeclarations...)
	for i := range noiseRows {
		s := row(i)
		if _, err := d.try(`INSERT INTO r VALUES (?, ?, ?, ?)`, i, s.lat, s.lon, s.x); err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// A reading is the value in a row, and its form in the universe wide.
type reading struct {
	x     any
	value int64
}

// The universe wide; positive is its upper half.
const wideLo, wideHi = -1_000_000_000, 1_000_000_000

// middle is where draws have room on both sides in both universes. The largest
// noise of the queries below is geometric at a rate of 5e-7 a step, so that one draw
// leaves the room with probability e^-250.
const middle = wideHi / 2

// anyReading draws a reading on the grid, off it, or beyond its ends.
func anyReading(t *rapid.T) reading {
	k := rapid.OneOf(rapid.Int64Range(-20, 20), rapid.Int64Range(wideLo+1, wideHi), rapid.SampledFrom([]int64{wideLo + 1, wideHi})).Draw(t, "value")
	return rapid.SampledFrom([]reading{
		{k, k}, {float64(k), k}, {float64(k) - 0.499, k}, {float64(k) - 0.5, k}, {float64(k-1) + 0.25, k - 1},
		{1e308, wideHi}, {int64(math.MaxInt64), wideHi}, {-1e308, wideLo}, {int64(math.MinInt64), wideLo}, {wideLo - 1.5, wideLo},
		{math.Copysign(0, -1), 0}, {5e-324, 0}, {-5e-324, 0},
	}).Draw(t, "reading")
}

// A query releases whole numbers from r, which it defines without noise.
type query struct {
	sql    string
	answer func(values []int64) []int64
	lo, hi int64 // releases are moved into this range
}

// queries call every dx_ function with every metric under which it adds noise, but for
// dx_avg, which answers quotients: see TestMeanFollowsItsLaw of package scalar.
func queries() (list []query) {
	universes := []struct {
		name  string
		lo    int64
		ofSum int64 // the least sum
	}{{"wide", wideLo, math.MinInt64}, {"positive", 0, 0}}
	for _, u := range universes {
		add := func(answer func(values []int64) []int64, lo, hi int64, call string) {
			list = append(list, query{strings.ReplaceAll(`SELECT `+call+` FROM r`, `{u}`, `'`+u.name+`'`),
				func(values []int64) []int64 {
					values = slices.Clone(values)
					for i := range values {
						values[i] = max(u.lo, values[i])
					}
					return answer(values)
				}, lo, hi})
		}
		add(func(values []int64) []int64 { return values }, u.lo, wideHi, `dx_value('ana', x, 0.001, {u})`)
		for _, with := range []struct{ epsilon, metric string }{{"0.001", "d1"}, {"0.001", "dinf"}, {"1000", "nd1"}, {"1000", "dh"}} {
			arguments := with.epsilon + `, {u}, '` + with.metric + `')`
			if with.metric != "dinf" {
				add(total, u.ofSum, math.MaxInt64, `dx_sum('ana', x, `+arguments)
			}
			if with.metric == "nd1" || with.metric == "dh" {
				continue // percentiles are drawn by score; so few readings are not under d1
			}
			add(ranked(0), u.lo, wideHi, `dx_min('ana', x, `+arguments)
			add(ranked(100), u.lo, wideHi, `dx_max('ana', x, `+arguments)
			add(ranked(50), u.lo, wideHi, `dx_median('ana', x, `+arguments)
			add(ranked(70), u.lo, wideHi, `dx_percentile('ana', x, 70, `+arguments)
		}
	}
	count := func(values []int64) []int64 { return []int64{int64(len(values))} }
	return append(list, query{`SELECT dx_count('ana', 5) FROM r`, count, 0, math.MaxInt64})
}

func total(values []int64) []int64 {
	sum := int64(0)
	for _, v := range values {
		sum += v
	}
	return []int64{sum}
}

func ranked(p int) func(values []int64) []int64 {
	return func(values []int64) []int64 {
		m := len(values)
		return []int64{slices.Sorted(slices.Values(values))[min(m, p*m/100+1)-1]}
	}
}

// numbers are the values that a query releases, which must be whole.
func (d *database) numbers(sql string) (list []int64, err error) {
	rows, err := d.try(sql)
	for _, row := range rows {
		switch v := row[0].(type) {
		case int64:
			list = append(list, v)
		case float64:
			if v != math.Trunc(v) {
				return nil, fmt.Errorf("%v is not whole", v)
			}
			list = append(list, int64(v))
		}
	}
	return list, err
}

// sameDraws recovers the draws of q from one database, with readings in the
// middle, and demands that the other's releases are the answers to its readings plus
// these draws, moved to the nearest number that may be released.
func sameDraws(q query, one, other *database, values []int64) error {
	recovered, err := one.numbers(q.sql)
	released, otherErr := other.numbers(q.sql)
	if err := errors.Join(err, otherErr); err != nil {
		return err
	}
	without := q.answer(slices.Repeat([]int64{middle}, noiseRows))
	for i, answer := range q.answer(values) {
		draw := recovered[i] - without[i]
		if want := max(q.lo, min(answer+draw, q.hi)); released[i] != want {
			return fmt.Errorf("%s of %v\nreleases %d, want %d: the answer %d plus the draw %d",
				q.sql, values, released[i], want, answer, draw)
		}
	}
	return nil
}

// inTheMiddle are readings that draws are recovered from.
func inTheMiddle(int) secrets { return secrets{x: int64(middle)} }

func TestQueryDrawsDoNotDependOnReadings(t *testing.T) {
	t.Parallel()
	list := queries()
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.Uint64().Draw(r, "tape")
		readings := rapid.SliceOfN(rapid.Custom(anyReading), noiseRows, noiseRows).Draw(r, "readings")
		values := make([]int64, noiseRows)
		for i, reading := range readings {
			values[i] = reading.value
		}
		one := filled(t, number, inTheMiddle)
		defer one.close()
		other := filled(t, number, func(i int) secrets { return secrets{x: readings[i].x} })
		defer other.close()
		for _, q := range list {
			if err := sameDraws(q, one, other, values); err != nil {
				r.Fatal(err)
			}
		}
	})
}

// Releases with draws that depend on the reading, or that use it otherwise than by
// adding to it, are told from dx_value.
func TestDrawsThatDependOnReadingsAreCaught(t *testing.T) {
	value := queries()[0]
	for name, sql := range map[string]string{
		"scale":               `SELECT dx_value('ana', x, iif(x > 0, 0.001, 0.002), 'wide') FROM r`,
		"draws made":          `SELECT dx_value('ana', x, 0.001, 'wide') + iif(x > 0, 0, 0 * dx_value('ana', x, 0.001, 'wide')) FROM r`,
		"draws made before":   `SELECT iif(x > 0, 0, 0 * dx_value('ana', x, 0.001, 'wide')) + dx_value('ana', x, 0.001, 'wide') FROM r`,
		"sign":                `SELECT iif(x > 0, 1, -1) * dx_value('ana', abs(x), 0.001, 'wide') FROM r`,
		"no noise at a point": `SELECT iif(x = -7, x, dx_value('ana', x, 0.001, 'wide')) FROM r`,
		"clamped early":       `SELECT max(0, dx_value('ana', x, 0.001, 'wide')) FROM r`,
		"none":                value.sql,
	} {
		t.Run(name, func(t *testing.T) {
			values := []int64{3, -7, 12, 0, -1_000_000, 5}
			one := filled(t, 1, inTheMiddle)
			other := filled(t, 1, func(i int) secrets { return secrets{x: values[i]} })
			err := sameDraws(query{sql, value.answer, value.lo, value.hi}, one, other, values)
			if caught := err != nil; caught == (name == "none") {
				t.Errorf("caught: %v", err)
			}
		})
	}
}

// A chart is an oblique stereographic map of WGS 84 about a point, in metres,
// of scale 1 there (Snyder, Map Projections: A Working Manual, 1987, equations 3-1,
// 14-15 and 21-2 to 21-4 with 21-27). A frame of the same centre is this map but for
// a scale that differs from 1 by less than its kappa.
type chart struct{ lat, lon float64 }

func (c chart) project(lat, lon float64) (x, y float64) {
	const a, e2 = 6378137, 0.0066943799901413165
	e := math.Sqrt(e2)
	conformal := func(degrees float64) float64 {
		phi := degrees * math.Pi / 180
		s := e * math.Sin(phi)
		return 2*math.Atan(math.Tan(math.Pi/4+phi/2)*math.Pow((1-s)/(1+s), e/2)) - math.Pi/2
	}
	phi1 := c.lat * math.Pi / 180
	m1 := math.Cos(phi1) / math.Sqrt(1-e2*math.Pow(math.Sin(phi1), 2))
	sin1, cos1 := math.Sincos(conformal(c.lat))
	sin, cos := math.Sincos(conformal(lat))
	sinL, cosL := math.Sincos((lon - c.lon) * math.Pi / 180)
	k := 2 * a * m1 / (cos1 * (1 + sin1*sin + cos1*cos*cosL))
	return k * cos * sinL, k * (cos1*sin - sin1*cos*cosL)
}

// charts are about the centres of the domains that have no region.
var charts = map[string]chart{"beijing": {40.25, 116.5}, "antimeridian": {-17.5, 180}, "pole": {87.5, 0}}

// offsets are the draws of geoind_laplace, in steps of the lattice, for all rows:
// from the lattice point of the row's location, which a release without noise
// tells (see database), to the released one.
func (d *database) offsets(domain, epsilon string) (list [][2]int, err error) {
	from := ` FROM r CROSS JOIN geoind_laplace('ana', r.lat, r.lon, ` + epsilon + `, '` + domain + `') g
		CROSS JOIN geoind_laplace('ana', r.lat, r.lon, 1, '` + domain + `') h`
	for _, row := range d.rows(`SELECT g.lat, g.lon, h.lat, h.lon` + from) {
		zx, zy := charts[domain].project(row[0].(float64), row[1].(float64))
		x, y := charts[domain].project(row[2].(float64), row[3].(float64))
		var offset [2]int
		for i, metres := range []float64{zx - x, zy - y} {
			steps := metres / 1000
			// The scale is off by 0.003 at most, and a draw from its centre by 60
			// steps or more with probability 31e^-30 < 3e-12.
			if math.Abs(steps-math.Round(steps)) > 0.2 {
				return nil, fmt.Errorf("in %s %v is no whole number of steps from %v", domain, row[:2], row[2:])
			}
			offset[i] = int(math.Round(steps))
		}
		list = append(list, offset)
	}
	return list, nil
}

// laplaceEpsilon is half per step of the lattices: draws of some four steps.
const laplaceEpsilon = "0.0005"

// anyLocation draws a location in one of the domains, on its border, or anywhere.
func anyLocation(t *rapid.T) secrets {
	box := rapid.SampledFrom([][4]float64{{39.4, 115.4, 41.1, 117.6}, {-20, 175, -15, 180}, {-20, -180, -15, -175}, {85, -90, 90, 90}, {-90, -180, 90, 180}}).Draw(t, "box")
	between := func(low, high float64) *rapid.Generator[float64] {
		return rapid.OneOf(rapid.Float64Range(low, high), rapid.SampledFrom([]float64{low, high}))
	}
	return secrets{lat: between(box[0], box[2]).Draw(t, "lat"), lon: between(box[1], box[3]).Draw(t, "lon")}
}

func TestLocationDrawsDoNotDependOnLocations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.Uint64().Draw(r, "tape")
		locations := rapid.SliceOfN(rapid.Custom(anyLocation), noiseRows, noiseRows).Draw(r, "locations")
		one := filled(t, number, func(int) secrets { return secrets{lat: 40.25, lon: 116.5} })
		defer one.close()
		other := filled(t, number, func(i int) secrets { return locations[i] })
		defer other.close()
		for _, domain := range []string{"beijing", "antimeridian", "pole"} {
			draws, err := one.offsets(domain, laplaceEpsilon)
			if err != nil {
				r.Fatal(err)
			}
			if again, err := other.offsets(domain, laplaceEpsilon); err != nil || !slices.Equal(draws, again) {
				r.Fatalf("in %s the draws are %v, and %v, %v of %v", domain, draws, again, err, locations)
			}
		}
	})
}

func TestDrawsThatDependOnLocationsAreCaught(t *testing.T) {
	one := filled(t, 1, func(int) secrets { return secrets{lat: 40.25, lon: 116.5} })
	other := filled(t, 1, func(i int) secrets { return secrets{lat: 40 + 0.1*float64(i), lon: 116.5} })
	const planted = `iif(r.lat > 40.25, 0.0005, 0.001)`
	draws, err := one.offsets("beijing", planted)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := other.offsets("beijing", planted); err != nil || slices.Equal(draws, again) {
		t.Errorf("draws of two scales are the same, %v, %v", again, err)
	}
}

// A domain with a region releases a function of its release without one:
// the point of the region nearest to it.
func TestRegionIsAppliedToDrawsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.Uint64().Draw(r, "tape")
		locations := rapid.SliceOfN(rapid.Custom(anyLocation), noiseRows, noiseRows).Draw(r, "locations")
		row := func(i int) secrets { return locations[i] }
		free, within := filled(t, number, row), filled(t, number, row)
		defer free.close()
		defer within.close()
		const releases = `SELECT g.lat, g.lon FROM r CROSS JOIN geoind_laplace('ana', r.lat, r.lon, ` + laplaceEpsilon
		moved := within.rows(releases + `, 'parks') g`)
		for i, point := range free.rows(releases + `, 'beijing') g`) {
			lat, lon := point[0].(float64), point[1].(float64)
			if lat < 39.4 || lat > 41.1 || lon < 115.4 || lon > 117.6 {
				continue // a release of it would first move it into the box
			}
			want := free.rows(`SELECT lat, lon FROM geoind_laplace('ana', ?, ?, 1, 'parks')`, lat, lon)[0]
			if !slices.Equal(moved[i], want) {
				r.Errorf("%v is moved to %v, want %v", point, moved[i], want)
			}
		}
	})
}
