package sqlitefn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

// A step is a statement, and a part of its error if it fails.
type step struct{ statement, fails string }

// statements are those of steps.
func statements(steps []step) (list []string) {
	for _, s := range steps {
		list = append(list, s.statement)
	}
	return list
}

// succeeding are steps of statements that do not fail.
func succeeding(statements ...string) (steps []step) {
	for _, s := range statements {
		steps = append(steps, step{statement: s})
	}
	return steps
}

// uses are statements on the tables t(a, account, lat, lon, x) and n(i), for a
// database with declarations, from top to bottom.
var uses = []step{
	// Aggregates: every metric, groups, rows without a secret.
	{`SELECT dx_count(account, 1) FROM t`, ``},
	{`SELECT account, dx_count(account, 1), dx_sum(account, x, 1, 'u') FROM t GROUP BY account`, ``},
	{`SELECT dx_sum(account, x, 1, 'u', 'd1'), dx_avg(account, x, 1, 'u', 'd1'), dx_min(account, x, 1, 'u', 'd1'), dx_max(account, x, 1, 'u', 'd1'), dx_median(account, x, 1, 'u', 'd1') FROM t`, ``},
	{`SELECT dx_sum(account, x, 1, 'u', 'nd1'), dx_avg(account, x, 1, 'u', 'nd1'), dx_min(account, x, 1, 'u', 'nd1'), dx_max(account, x, 1, 'u', 'nd1'), dx_median(account, x, 1, 'u', 'nd1') FROM t`, ``},
	{`SELECT dx_sum(account, x, 1, 'u', 'dh'), dx_avg(account, x, 1, 'u', 'dh'), dx_min(account, x, 1, 'u', 'dh'), dx_max(account, x, 1, 'u', 'dh'), dx_median(account, x, 1, 'u', 'dh') FROM t`, ``},
	{`SELECT dx_avg(account, x, 1, 'u', 'dinf'), dx_min(account, x, 1, 'u', 'dinf'), dx_max(account, x, 1, 'u', 'dinf'), dx_median(account, x, 1, 'u', 'dinf'), dx_percentile(account, x, 90, 1, 'u', 'dinf') FROM t`, ``},
	{`SELECT dx_sum(account, x, 1, 'u', 'dinf') FROM t`, `dx_sum: metric`},
	{`SELECT n.i, dx_sum(t.account, t.x, 1, 'u'), dx_median(t.account, t.x, 1, 'u'), dx_count(t.account, 1) FROM n LEFT JOIN t ON t.a = n.i GROUP BY n.i`, ``},
	{`SELECT dx_sum(account, x, 1, 'u') FILTER (WHERE a > 2), dx_max(account, x, 1, 'u' ORDER BY a DESC) FROM t`, ``},
	{`SELECT account, dx_avg(account, x, 1, 'u') FROM t GROUP BY account HAVING count(*) > 1 ORDER BY account LIMIT 2`, ``},
	{`SELECT dx_sum(account, x, 1, 'u') FROM t WHERE false`, ``},
	{`SELECT dx_centroid(account, lat, lon, 0.01), dx_centroid(account, lat, lon, 0.01, 'beijing') FROM t`, ``},
	{`SELECT n.i, dx_centroid(t.account, t.lat, t.lon, 0.01) FROM n LEFT JOIN t ON t.a = n.i GROUP BY n.i`, ``},
	{`SELECT dx_accounts(account, 1), dx_histogram(account, x, 1, 'u', 3), dx_histogram(account, x, 1, 'u', 11) FROM t`, ``},
	{`SELECT n.i, dx_accounts(t.account, 1), dx_histogram(t.account, t.x, 1, 'u', 2) FROM n LEFT JOIN t ON t.a = n.i GROUP BY n.i`, ``},
	{`SELECT dx_histogram(account, x, 1, 'u', 12) FROM t`, `dx_histogram: bins must be at most 11`},
	{`SELECT dx_percentiles(account, x, '[25, 50, 75]', 1, 'u', 'dh'), dx_percentiles(account, x, '[5, 95]', 1, 'u') FROM t`, ``},
	{`SELECT dx_histogram(account, x, 1, 'u', a) FROM t`, `dx_histogram: bins changes within a group`},
	{`SELECT dx_curve(account, x, 1, 'u'), dx_curve(account, x, 1, 'u', 2), dx_curve(account, x, 1, 'u', '[50, 90]') FROM t`, ``},
	{`SELECT n.i, dx_curve_percentile(dx_curve(t.account, t.x, 1, 'u'), 50) FROM n LEFT JOIN t ON t.a = n.i GROUP BY n.i`, ``},
	{`SELECT p.value, dx_curve_percentile(c, p.value), dx_curve_share(c, p.value), dx_curve_mean(c, p.value, 100) FROM (SELECT dx_curve(account, x, 1, 'u') AS c FROM t), json_each('[0, 5, 95, 100]') p`, ``},
	{`SELECT dx_curve(account, x, 1, 'u', a) FROM t`, `dx_curve: blocks changes within a group`},
	{`SELECT dx_curve(account, x, 1, 'u', 'dh') FROM t`, `dx_curve: metric dh: curve is released under d1 only`},
	{`SELECT dx_percentile(account, x, a, 1, 'u') FROM t`, `dx_percentile: p changes within a group`},
	{`SELECT dx_sum(account, x, a, 'u') FROM t`, `dx_sum: epsilon changes within a group`},

	{`SELECT cip_trace('trip', a, lat, lon, 'day') FROM t`, ``},
	{`SELECT cip_trace('trip', a, lat, lon, 'day') FROM t`, `cip_trace: account 'trip' was charged in unit 'cip:day' before`},
	{`SELECT cip_trace(account, a, lat, lon, 'day') FROM t`, `cip_trace: account changes within a group`},

	// Joins and the table-valued form.
	{`SELECT t.a, n.i, dx_value(t.account, t.x, 1, 'u') FROM t JOIN n ON n.i <= t.a`, ``},
	{`SELECT t.a, g.lat, g.lon, g.wkt FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01) g`, ``},
	{`SELECT t.a, g.wkt, r.a FROM t LEFT JOIN geoind_laplace(t.account, t.lat, t.lon, 0.01, 'beijing') g JOIN t r ON r.account = t.account`, ``},
	{`SELECT a, typeof(dx_value(account, x, 1, 'u')), typeof(geoind_laplace(account, lat, lon, 0.01)) FROM t`, ``},
	{`SELECT a, dx_value(account, x, a, 'u') FROM t`, ``},

	{`SELECT a, geoind_optimal(account, lat, lon, 'homes'), geoind_remap(geoind_optimal(account, lat, lon, 'homes'), 'homes') FROM t`, ``},
	{`SELECT t.a, g.* FROM t LEFT JOIN geoind_optimal(t.account, t.lat, t.lon, 'homes') g`, ``},
	{`SELECT * FROM budget_cost('SELECT geoind_optimal(account, lat, lon, ''homes'') FROM t')`, ``},
	{`SELECT optql_store('blocks', optql_build(39.5 + n.i * 0.1, 116, n.i, 0.001, 1, 'beijing', 'manhattan')) FROM n`, ``},
	{`SELECT a, geoind_optimal(account, lat, lon, 'blocks') FROM t`, `geoind_optimal: account 'ana' has no budget in unit 'm:blocks'`},
	{`SELECT budget_limit('*', 'm:blocks', 0.0035)`, ``},
	{`SELECT a, geoind_optimal(account, lat, lon, 'blocks') FROM t`, ``},
	{`SELECT t.a, g.*, geoind_remap(g.wkt, 'blocks') FROM t, geoind_optimal(t.account, t.lat, t.lon, 'blocks') g`, `geoind_optimal: account 'ana' has 0.0005/m:blocks left of 0.0035/m:blocks, 0.0010/m:blocks asked, 0.0005/m:blocks short`},

	// Views, tables, transactions, several statements at once.
	{`CREATE VIEW places AS SELECT a, account, geoind_laplace(account, lat, lon, 0.01) AS wkt FROM t`, ``},
	{`SELECT * FROM places`, ``},
	{`SELECT a, wkt, wkt FROM places WHERE a > 3`, ``},
	{`CREATE TABLE kept(a, z)`, ``},
	{`BEGIN`, ``},
	{`INSERT INTO kept SELECT a, dx_value(account, x, 1, 'u') FROM t`, ``},
	{`SAVEPOINT s`, ``},
	{`INSERT INTO kept SELECT a, wkt FROM places RETURNING a, z`, ``},
	{`ROLLBACK TO s`, ``},
	{`UPDATE kept SET z = dx_value('ana', z, 1, 'u')`, ``},
	{`COMMIT`, ``},
	{`SELECT * FROM kept`, ``},
	{`BEGIN IMMEDIATE`, ``},
	{`INSERT INTO kept SELECT a, wkt FROM places`, ``},
	{`ROLLBACK`, ``},
	{`SELECT count(*), count(z) FROM kept`, ``},

	// Errors in a row, before and after a charge, of the functions and of others.
	{`SELECT a, dx_value(account, x, 5 - a, 'u') FROM t`, `dx_value: epsilon must be above 0`},
	{`SELECT a, dx_value(CASE a WHEN 5 THEN NULL ELSE account END, x, 1, 'u') FROM t`, `dx_value: account must be TEXT or INTEGER, got NULL`},
	{`SELECT a, dx_value(account, CASE a WHEN 5 THEN 'five' ELSE x END, 1, 'u') FROM t`, `dx_value: x must be a number, got TEXT`},
	{`SELECT a, dx_value(account, x, 1, CASE a WHEN 5 THEN 'v' ELSE 'u' END) FROM t`, `dx_value: universe 'v' is not declared`},
	{`SELECT a, geoind_laplace(account, CASE a WHEN 5 THEN 91 ELSE lat END, lon, 0.01) FROM t`, `geoind_laplace: lat must lie`},
	{`SELECT t.a, g.lat FROM t, geoind_laplace(t.account, t.lat, t.lon, 0.01, CASE t.a WHEN 5 THEN 'rome' END) g`, `geoind_laplace: domain 'rome' is not declared`},
	{`SELECT a, geoind_optimal(account, lat, CASE a WHEN 5 THEN 'east' ELSE lon END, 'homes') FROM t`, `geoind_optimal: lon must be a number, got TEXT`},
	{`SELECT a, geoind_optimal(account, lat, lon, CASE a WHEN 5 THEN 'offices' ELSE 'homes' END) FROM t`, `geoind_optimal: mechanism 'offices' is not declared`},
	{`SELECT a, dx_value(account, x, 1, 'u'), json(CASE a WHEN 5 THEN '[' END) FROM t`, `malformed JSON`},
	{`SELECT account, dx_sum(CASE a WHEN 5 THEN NULL ELSE account END, x, 1, 'u') FROM t GROUP BY account`, `dx_sum: account must be TEXT or INTEGER, got NULL`},
	{`SELECT account, dx_sum(account, x, 1, 'u'), sum(json(CASE a WHEN 5 THEN '[' ELSE 1 END)) FROM t GROUP BY account`, `malformed JSON`},

	// A budget that ends in mid-scan, the rest of it, and none at all.
	{`SELECT budget_limit('poor', 'm', 1.7), budget_limit('poor', 'kWh', 3.5), budget_limit('poor', 'record', 2)`, ``},
	{`SELECT a, geoind_laplace('poor', lat, lon, 0.5) FROM t`, `geoind_laplace: account 'poor' has 0.2/m left of 1.7/m, 0.5/m asked`},
	{`SELECT t.a, g.lat FROM t, geoind_laplace('poor', t.lat, t.lon, 0.15) g`, `geoind_laplace: account 'poor' has 0.05/m left of 1.70/m, 0.15/m asked`},
	{`SELECT a, geoind_optimal('poor', lat, lon, 'homes'), geoind_optimal('poor', lat, lon, 'homes') FROM t JOIN n ON n.i * a < 200 JOIN n r`, `geoind_optimal: account 'poor' has 0.000/m left of 1.700/m, 0.001/m asked`},
	{`SELECT n.i, t.a, dx_value(CASE t.a WHEN 5 THEN 'poor' ELSE account END, x, 1, 'u') FROM n, t`, `dx_value: account 'poor' has 0.5/kWh left`},
	{`SELECT a % 3, dx_count(CASE a WHEN 5 THEN 'poor' ELSE account END, 3) FROM t GROUP BY 1`, `dx_count: account 'poor' has 2/record left`},
	{`SELECT a, dx_value('poor', x, 0.25, 'u') FROM t`, `dx_value: account 'poor' has 0.00/kWh left`},
	{`SELECT a, CAST(budget_spent(account, 'kWh') AS TEXT), dx_value(account, x, 1, 'u') FROM t`, ``},
	{`SELECT budget_reserve(account, 'm', 0.25) FROM t`, ``},
	{`SELECT a, geoind_laplace(account, lat, lon, 0.125) FROM t`, ``},
	{`SELECT dx_universe('power', 0, 10, 0.1, 'kW')`, ``},
	{`SELECT a, dx_value(account, x, 1, 'power') FROM t`, `dx_value: account 'ana' has no budget in unit 'kW'`},

	// Other frames: across the antimeridian, with a pole, with a region.
	{`SELECT geo_domain('antimeridian', -20, 175, -15, -175, 100), geo_domain('pole', 85, -90, 90, 90, 1000), geo_domain('parks', 39.4, 115.4, 41.1, 117.6, 1000)`, ``},
	{`SELECT geo_region('parks', 'MULTIPOLYGON(((116 40, 117 40, 117 41, 116 40)), ((115.5 39.5, 115.6 39.5, 115.5 39.6, 115.5 39.5)))')`, ``},
	{`SELECT a, geoind_laplace(account, lat, lon, 0.01) FROM t`, `geoind_laplace: domain is missing`},
	{`SELECT a, geoind_laplace(account, lat, lon, 0.01, 'antimeridian'), geoind_laplace(account, lat, lon, 0.01, 'pole'), geoind_laplace(account, lat, lon, 0.01, 'parks') FROM t`, ``},
	{`SELECT t.a, g.*, h.lon FROM t, geoind_laplace(t.account, t.lat, t.lon, 1, 'pole') g, geoind_laplace(t.account, t.lat, t.lon, 100, 'parks') h`, ``},

	// At the end: how many bits a heat map reads depends on how many cells have a location.
	{`SELECT dx_heatmap(account, lat, lon, a, 'beijing', 1000) FROM t`, `dx_heatmap: epsilon changes within a group`},
	{`SELECT dx_heatmap(account, lat, lon, 1, 'beijing', 0.1) FROM t`, `dx_heatmap: cell_m 0.1 makes a grid`},
	{`SELECT dx_heatmap(account, lat, lon, 1, 'beijing', 1000), dx_heatmap(account, lat, lon, 100, 'parks', 20000), dx_heatmap(account, lat, lon, 1, 'pole', 5000), dx_heatmap(account, lat, lon, 1, 'antimeridian', 100) FROM t`, ``},
	{`SELECT dx_heatmap(account, lat, lon, 1, 'beijing', 100, 'adaptive'), dx_heatmap(account, lat, lon, 100, 'pole', 5000, 'adaptive'), dx_heatmap(account, lat, lon, 1, 'antimeridian', 1, 'adaptive') FROM t`, ``},
	{`SELECT n.i, dx_heatmap(t.account, t.lat, t.lon, 1, 'beijing', 1000) FROM n LEFT JOIN t ON t.a = n.i GROUP BY n.i`, ``},
}

// steered are the shapes in which a released value decides the rows or draws that
// follow. They are compared where the released values are the same.
var steered = map[string]bool{
	"fence DISTINCT": true, "DISTINCT": true, "GROUP BY": true, "GROUP BY alias": true, "HAVING alias": true, "CASE": true,
	"WHERE and ORDER BY": true, "WHERE alias tests another draw": true, "WHERE around a subquery, per conjunct": true,
	"BETWEEN": true, "BETWEEN around a subquery": true, "join condition": true, "WHERE tests what is shown": true, "WHERE OR": true,
	"LEFT JOIN of a subquery, WHERE": true, "LEFT JOIN of a subquery, shown twice, WHERE": true,
}

// shapeSteps are the shapes of this package's tests: the ones that a draw steers, or
// the others.
func shapeSteps(steers bool) []step {
	releasing := strings.NewReplacer(
		`{f}`, `dx_value(tick(account), x, 2, 'u')`, `{c}`, `dx_value(tick('ana'), 3, 2, 'u')`, `{epsilon}`, `2`, `{universe}`, `'u'`,
		`{g}`, `geoind_laplace(tick(t.account), t.lat, t.lon, 0.001) AS g`)
	var list []string
	for _, shapes := range [][]shape{scalarShapes, tableShapes} {
		for _, s := range shapes {
			if steered[s.name] != steers || s.name == "EXPLAIN" { // which shows addresses in memory
				continue
			}
			for _, statement := range append(slices.Clone(s.setup), s.query, s.show) {
				if statement != "" {
					list = append(list, releasing.Replace(statement))
				}
			}
		}
	}
	return succeeding(list...)
}

// exampleSteps are the examples of the reference, which have declarations of their own,
// with the secrets of t in place of their own.
func exampleSteps(t *testing.T) []step {
	t.Helper()
	list := strings.Join(sqlitefn.ReferenceExamples(), ";")
	for _, r := range []struct{ own, other string }{
		{"39.984", "(SELECT lat FROM t WHERE a = 1)"},
		{"116.318", "(SELECT lon FROM t WHERE a = 1)"},
		{"0.412", "(SELECT x FROM t WHERE a = 1)"},
		{"0.388", "(SELECT x FROM t WHERE a = 2)"},
		{"bin.value ->> 'count'", "1.0 * (bin.value ->> 'count')"}, // a REAL, as released values are
		{"UNION SELECT", "UNION ALL SELECT"},                       // which does not make one row of equal readings
		{"41.1, 117.6, 1)", "41.1, 117.6, 1000)"},                  // a region that takes less time
	} {
		if !strings.Contains(list, r.own) {
			t.Fatalf("no example has %s", r.own)
		}
		list = strings.ReplaceAll(list, r.own, r.other)
	}
	return succeeding(strings.Split(list, ";")...)
}

// A corpus is a list of statements for databases that have the same declarations.
type corpus struct {
	name         string
	declarations []string
	steps        []step
}

func corpora(t *testing.T) []corpus {
	t.Helper()
	return []corpus{
		{"uses", usesDeclarations, uses},
		{"shapes", declarations, shapeSteps(false)},
		{"forms and arities", usesDeclarations, succeeding(sqlitefn.Releases(t)...)},
		{"examples", nil, exampleSteps(t)},
		{"location sets", pimDeclarations, pimUses},
		{"traces of readings", valueDeclarations, valueUses},
	}
}

// The compared statements succeed and fail as they are said to.
func TestCorpora(t *testing.T) {
	for _, c := range corpora(t) {
		t.Run(c.name, func(t *testing.T) {
			d := inhabit(t, worlds[0], 1, c.declarations...)
			for _, s := range c.steps {
				switch _, err := d.try(s.statement); {
				case err == nil && s.fails != "":
					t.Errorf("%s\nsucceeds, want an error with %q", s.statement, s.fails)
				case err != nil && (s.fails == "" || !strings.Contains(err.Error(), s.fails)):
					t.Errorf("%s\n%v, want %q", s.statement, err, s.fails)
				}
			}
		})
	}
}
