package sqlitefn_test

import (
	"encoding/json"
	"math"
	"testing"
)

// A recovered map, as GeoJSON.
type recovered struct {
	Type     string
	CellM    float64 `json:"cell_m"`
	Epsilon  float64
	Points   int
	Features []struct {
		Geometry   struct{ Coordinates [][][2]float64 }
		Properties struct{ Count float64 }
	}
}

func (d *database) recovered(sql string) (m recovered, total float64) {
	d.Helper()
	if err := json.Unmarshal([]byte(d.value(sql).(string)), &m); err != nil {
		d.Fatal(err)
	}
	for _, f := range m.Features {
		total += f.Properties.Count
	}
	return m, total
}

// Points of two places lead back to these, in any order and at no charge.
func TestDensity(t *testing.T) {
	d := declared(t)
	d.exec(`SELECT budget_limit('walker', 'm', 100)`)
	d.exec(`CREATE TABLE released AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
		SELECT i, g.lat, g.lon FROM n, geoind_laplace('walker', 39.9 + (i % 3 = 0) * 0.05, 116.3, 0.002, 'beijing') g`)
	spent := d.value(`SELECT budget_spent('walker', 'm')`)
	const density = `SELECT geoind_density(lat, lon, 0.002, 'beijing', 2000) FROM `
	m, total := d.recovered(density + `released`)
	if m.Type != "FeatureCollection" || m.CellM != 2000 || m.Epsilon != 0.002 || m.Points != 600 || math.Abs(total-600) > 3 {
		t.Errorf("%+v have %v points", m, total)
	}
	if again := d.value(density + `(SELECT * FROM released ORDER BY random())`); again != d.value(density+`(SELECT * FROM released UNION ALL SELECT 0, NULL, NULL)`) {
		t.Error("the order of points makes a difference, or NULL does")
	}
	near := 0.0
	for _, f := range m.Features {
		corner := f.Geometry.Coordinates[0][0]
		if math.Abs(corner[0]-116.3) < 0.04 && math.Min(math.Abs(corner[1]-39.9), math.Abs(corner[1]-39.95)) < 0.035 {
			near += f.Properties.Count
		}
	}
	if near < 570 {
		t.Errorf("only %v of 600 are near their places", near)
	}
	d.answers(`SELECT geoind_density(lat, lon, 0.000001, NULL, 2000, 'gauss') NOT NULL, typeof(geoind_prior(lat, lon, 0.002)) FROM released`, `[[1 blob]]`)
	d.answers(`SELECT geoind_density(NULL, NULL, 0.002, 'beijing', 2000) -> '$.features', geoind_prior(NULL, 116, 0.002, 'beijing')`, `[[[] <nil>]]`)
	d.answers(`SELECT geoind_density(lat, lon, 0.002, 'beijing', 2000) FROM released WHERE 0`, `[[<nil>]]`)
	if now := d.value(`SELECT budget_spent('walker', 'm')`); now != spent {
		t.Errorf("it costs: %v after %v", now, spent)
	}
	for call, want := range map[string]string{
		`geoind_density(lat, lon, 0.002 * (1 + i % 2), 'beijing', 2000)`: "geoind_density: epsilon",
		`geoind_density(x'00', lon, 0.002, 'beijing', 2000)`:             "lat must be a number, got BLOB",
		`geoind_density(lat, lon, 0.002, 'beijing', 10)`:                 "cell_m 10 makes a grid of",
		`geoind_density(lat, lon, 0.00001, 'beijing', 1000)`:             "cell_m 1000 is too small beside noise",
		`geoind_density(lat, lon, 0.002, 'mars', 2000)`:                  "domain 'mars' is not declared",
		`geoind_density(lat, lon, 0.002, 'beijing', 2000, 'optimal')`:    "mechanism must be one of gauss, laplace, laplace_l1",
		`geoind_prior(lat, lon, 0.000000001, 'beijing')`:                 "epsilon is too small to tell",
	} {
		d.fails(`SELECT `+call+` FROM released`, want)
	}
}

// A prior that is made of the points themselves moves them nearer to where they were.
func TestPriorFromPoints(t *testing.T) {
	d := declared(t)
	d.exec(`SELECT budget_limit('walker', 'm', 100)`)
	d.exec(`CREATE TABLE released AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
		SELECT g.lat, g.lon FROM n, geoind_laplace('walker', 39.9 + 0 * i, 116.3, 0.002, 'beijing') g`)
	d.exec(`SELECT prior_store('found', geoind_prior(lat, lon, 0.002, 'beijing')) FROM released`)
	far := d.rows(`SELECT avg(geo_distance(lat, lon, 39.9, 116.3)), avg(abs(CAST(substr(wkt, instr(wkt, ' ')) AS REAL) - 39.9)), avg(abs(lat - 39.9))
		FROM (SELECT lat, lon, geoind_remap(lat, lon, 'found', 0.002, 'beijing') AS wkt FROM released)`)
	if before, after := far[0][2].(float64), far[0][1].(float64); after > before/2 {
		t.Errorf("released %v degrees off, remapped %v", before, after)
	}
}

// Values lead back to the readings that they were made of.
func TestDensityOfValues(t *testing.T) {
	d := declared(t)
	d.exec(`SELECT dx_universe('tens', 0, 10, 0.5, 'tens'), budget_limit('home', 'tens', 1000)`)
	d.exec(`CREATE TABLE released AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 800)
		SELECT i, dx_value('home', 2 + 5 * (i % 4 = 0), 1, 'tens') AS z FROM n`)
	const density = `SELECT dx_density(z, 1, 'tens') FROM `
	rows := d.rows(`SELECT count(*), round(sum(value ->> 'count')), min(value ->> 'lo'), max(value ->> 'hi') FROM json_each((` + density + `released))`)
	if rows[0][0] != int64(21) || rows[0][1] != 800.0 || rows[0][2] != int64(0) || rows[0][3] != int64(10) {
		t.Errorf("%v", rows)
	}
	if at := d.value(`SELECT sum(value ->> 'count') FROM json_each((` + density + `released)) WHERE abs((value ->> 'lo') - 2) <= 0.5`).(float64); at < 350 {
		t.Errorf("%v of 600 readings near 2", at)
	}
	if d.value(density+`(SELECT * FROM released ORDER BY random())`) != d.value(density+`(SELECT z FROM released UNION ALL SELECT NULL)`) {
		t.Error("the order of values makes a difference, or NULL does")
	}
	d.fails(`SELECT dx_density(z, 1 + i % 2, 'tens') FROM released`, "dx_density: epsilon")
	d.fails(`SELECT dx_density(x'00', 1, 'tens')`, "z must be a number, got BLOB")
	d.fails(`SELECT dx_density(z, 1, 'mars') FROM released`, "universe 'mars' is not declared")
}
