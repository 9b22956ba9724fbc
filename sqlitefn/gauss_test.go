package sqlitefn_test

import (
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

func TestGaussForms(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT geoind_gauss('ana', 39.9, 116.3, 0.001) LIKE 'POINT(116._______ 3%', geoind_gauss('ana', NULL, 116.3, 0.001)`, `[[1 <nil>]]`)
	d.answers(`SELECT typeof(lat), typeof(lon), wkt LIKE 'POINT(116._______ 3%' FROM geoind_gauss('ana', 39.9, 116.3, 0.001, 'beijing')`, `[[real real 1]]`)
	d.answers(`SELECT * FROM geoind_gauss('ana', 39.9, NULL, 0.001)`, `[[<nil> <nil> <nil>]]`)
	d.spends("ana", "m2", 0.002)
	d.answers(`SELECT function, unit, epsilon, evaluations FROM ledger_charges`, `[[geoind_gauss m2 0.001 1] [geoind_gauss m2 0.001 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT geoind_gauss(''bo'', 39.9, 116.3, 0.25)')`, `[[bo m2 0.25 0.25]]`)
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 9000001)`, "geoind_gauss: rho must be at most 9000000")
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 0)`, "geoind_gauss: rho must be above 0")
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 1e-30)`, "geoind_gauss: rho is too small for a step of 1 m")
	d.fails(`SELECT geoind_gauss('ana', 91, 116.3, 1)`, "geoind_gauss: lat must lie between")
}

// Budgets per square metre and per metre are two: neither pays for the other, is a limit of
// the other or is shown with it. Refusals name the unit.
func TestSquareMetresNeverMix(t *testing.T) {
	d := newDatabase(t)
	d.run(declarations[0], `SELECT budget_limit('*', 'm', 5)`)
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 0.5)`, "geoind_gauss: account 'ana' has no budget in unit 'm2' (limits exist for 'm'); set one: SELECT budget_limit('ana', 'm2', EPSILON)")
	d.run(`SELECT budget_limit('ana', 'm2', 0.75)`, `SELECT geoind_gauss('ana', 39.9, 116.3, 0.5), geoind_laplace('ana', 39.9, 116.3, 2)`)
	d.spends("ana", "m2", 0.5)
	d.spends("ana", "m", 2)
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 0.5)`, "geoind_gauss: account 'ana' has 0.25/m2 left of 0.75/m2, 0.50/m2 asked, 0.25/m2 short")
	d.fails(`SELECT geoind_laplace('ana', 39.9, 116.3, 4)`, "geoind_laplace: account 'ana' has 3/m left of 5/m, 4/m asked, 1/m short")
	d.answers(`SELECT unit, spent, remaining FROM ledger_balance WHERE account = 'ana' ORDER BY unit`, `[[m 2 3] [m2 0.5 0.25]]`)
	d.fails(`SELECT dx_universe('area', 0, 10, 1, 'm2')`, `dx_universe: unit "m2" is reserved`)
}

// Ten charges of 0.1 exhaust 1, and a finer rho costs the next multiple of 1e-12.
func TestRhoIsCharged(t *testing.T) {
	d := newDatabase(t)
	d.run(declarations[0], `SELECT budget_limit('ana', 'm2', 1), budget_limit('bo', 'm2', 1)`)
	d.run(`SELECT count(geoind_gauss('ana', 39.9, 116.3, 0.1)) FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT i FROM n)`)
	d.fails(`SELECT geoind_gauss('ana', 39.9, 116.3, 0.000000000001)`, "0.000000000000/m2 left of 1.000000000000/m2")
	d.run(`SELECT geoind_gauss('bo', 39.9, 116.3, 0.0000000000011)`)
	d.spends("bo", "m2", 2e-12)
}

// The noise is as the accuracy functions say of rho, and not of an epsilon of that size:
// of 20,000 points as many are within the radius as p, with a false alarm of at most 1e-9
// (Hoeffding).
func TestGaussAccuracy(t *testing.T) {
	const n, falseAlarm = 20_000, 1e-9
	d := declared(t)
	radius := d.value(`SELECT geoind_radius(0.00005, 0.5, 'beijing', 'gauss')`).(float64)
	share := 0.
	for _, at := range d.rows(`SELECT g.lat, g.lon FROM (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n) n,
		geoind_gauss('ana', 39.9, 116.3 + 0 * n.i, 0.00005, 'beijing') g`) {
		if planar.Distance(39.9, 116.3, at[0].(float64), at[1].(float64)) <= radius {
			share += 1. / n
		}
	}
	slack := math.Sqrt(math.Log(2/falseAlarm) / (2 * n))
	if share < 0.5-slack || share > 0.51+slack {
		t.Errorf("%v of the points are within the radius of 0.5", share)
	}
	// The radius is 24.477468307, rounded up.
	d.answers(`SELECT geoind_radius(0.005, 0.95, NULL, 'gauss'), round(geoind_confidence(0.005, 10, NULL, 'gauss'), 9),
		lbs_radius(0.005, 0.95, 100, NULL, 'gauss'), geoind_epsilon_for(24.4774683069, 0.95, NULL, 'gauss')`,
		`[[24.48 0.39346934 124.5 0.005]]`)
}

func TestRhoAndDelta(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT geoind_rho(1, 0.000001, 1), geoind_rho(1, 0.000001, 500), geoind_rho(1, 0.000001, 1e-9)`, `[[0.0243559 9.74238e-08 9e+06]]`)
	d.answers(`SELECT geoind_delta(geoind_rho(1, 0.000001, 501.4143), 501.4143, 1) BETWEEN 0.00000099 AND 0.000001, geoind_delta(1, 1000, 1)`, `[[1 1]]`)
	d.answers(`SELECT round(geoind_delta(0.5, 1, 3), 12)`, `[[0.005143184064]]`)
	d.answers(`SELECT geoind_rho(1, 0.000001, 501.4143, 'gauss', 1), geoind_rho(1, 0.000001, 501.4143, 'gauss'), geoind_rho(1, 0.000001, 501.4143, NULL, 1) = geoind_rho(1, 0.000001, 501.4143)`,
		`[[1.11426e-07 1.06532e-07 1]]`)
	d.answers(`SELECT geoind_delta(0.000000111426, 501.4143, 1, 'gauss', 1) BETWEEN 0.00000099 AND 0.000001, geoind_delta(1, 1, 1, 'gauss') = geoind_delta(1, 1, 1)`, `[[1 1]]`)
	d.fails(`SELECT geoind_delta(1, 1, 1, 'laplace')`, "geoind_delta: mechanism must be 'gauss' or left out, not 'laplace'")
	d.fails(`SELECT geoind_rho(1, 0.000001, 1, 'gauss', 0)`, "geoind_rho: step_m must be above 0")
	d.fails(`SELECT geoind_rho(1, 0.000001, 200000)`, "geoind_rho: distance_m is too large: delta would be exceeded by a rho of 0.000000000001, the least that can be charged")
	d.fails(`SELECT geoind_rho(1, 0, 1)`, "geoind_rho: delta must be above 0 and less than 1, got 0")
	d.fails(`SELECT geoind_delta(1, 0, 1)`, "geoind_delta: distance_m must be above 0")
}
