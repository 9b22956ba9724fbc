package sqlitefn_test

import "testing"

func TestCentroid(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE r(account, lat, lon)`, `INSERT INTO r VALUES
		('ana', 39.90, 116.30), ('bo', 39.92, 116.30), ('ana', 39.91, 116.36), ('cy', NULL, 116.3), (NULL, NULL, NULL), ('ana', 39.91, NULL)`)
	// An epsilon at which no noise is left: the centroid in the frame, to the lattice.
	d.run(`SELECT budget_limit('*', 'm', 1000)`)
	d.answers(`SELECT abs(substr(w, 7) - 116.32) < 1e-3 AND abs(substr(w, 7 + instr(substr(w, 7), ' ')) - 39.91) < 1e-3
		FROM (SELECT dx_centroid(account, lat, lon, 100) AS w FROM r)`, `[[1]]`)
	d.spends("ana", "m", 100)
	d.spends("bo", "m", 100)
	d.spends("cy", "m", 0)
	d.answers(`SELECT account, function, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[ana dx_centroid m 100 2] [bo dx_centroid m 100 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT dx_centroid(account, lat, lon, 7) FROM r') ORDER BY 1`,
		`[[ana m 7 7] [bo m 7 7]]`)
}

// Without a location an answer is as if the centroid were the middle of the box, as
// for the other aggregates; only a group without rows is NULL.
func TestCentroidWithoutLocations(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT dx_centroid('ana', NULL, 116.3, 0.01) LIKE 'POINT(%)', dx_centroid(NULL, NULL, NULL, 0.01) LIKE 'POINT(%)'`, `[[1 1]]`)
	d.answers(`SELECT dx_centroid('ana', 39.9, 116.3, 0.01) FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

func TestCentroidRefuses(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('poor', 'm', 0)`)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_centroid('ana', 39.9, 116.3, i)`+two, "dx_centroid: epsilon changes within a group")
	d.fails(`SELECT dx_centroid('ana', 39.9, 116.3, 1, iif(i = 1, 'beijing', NULL))`+two, "dx_centroid: domain changes within a group")
	d.fails(`SELECT dx_centroid('ana', 39.9, 116.3, 1, 'nowhere')`, "dx_centroid: domain 'nowhere' is not declared")
	d.fails(`SELECT dx_centroid(NULL, 39.9, 116.3, 1)`, "dx_centroid: account must be TEXT or INTEGER, got NULL")
	d.fails(`SELECT dx_centroid('ana', 91, 116.3, 1)`, "dx_centroid: lat must lie between -90 and 90")
	d.fails(`SELECT dx_centroid(iif(i = 1, 'ana', 'poor'), 39.9, 116.3, 1)`+two, "account 'poor' has 0/m left")
	d.fails(`SELECT dx_centroid('ana', 39.9, 116.3, 1) OVER ()`, "may not be used as a window function")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}
