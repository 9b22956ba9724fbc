package sqlitefn_test

import (
	"strings"
	"testing"
)

func TestGeoDistance(t *testing.T) {
	d := declared(t)
	// GeodSolve: a degree of longitude on the equator, from pole to pole, near antipodes.
	d.answers(`SELECT printf('%.6f', geo_distance(0, 0, 0, 1)), printf('%.6f', geo_distance(-90, 0, 90, 0)), printf('%.6f', geo_distance(0, 0, 0, 180))`,
		`[[111319.490793 20003931.458625 20003931.458625]]`)
	d.answers(`SELECT geo_distance(NULL, 0, 0, 1), geo_distance(0, NULL, 0, 1), geo_distance(0, 0, NULL, 1), geo_distance(0, 0, 0, NULL)`, `[[<nil> <nil> <nil> <nil>]]`)
	d.fails(`SELECT geo_distance(91, 0, 0, 1)`, "geo_distance: lat must lie between -90 and 90")
	d.fails(`SELECT geo_distance(0, 0, 0, 181)`, "geo_distance: to_lon must lie between -180 and 180")
}

// Cells are those of a heat map, so that released points can be counted in them.
func TestGeoCell(t *testing.T) {
	d := declared(t)
	d.run(`CREATE TABLE at(account, lat, lon)`, `INSERT INTO at VALUES ('ana', 39.984, 116.318), ('ana', 39.984, 116.319), ('ana', 39.2, 116)`)
	cells := d.value(`SELECT group_concat(cell, ';') FROM (SELECT DISTINCT geo_cell(lat, lon, 5000) AS cell FROM at ORDER BY cell)`).(string)
	heat := d.value(`SELECT dx_heatmap(account, lat, lon, 50, 'beijing', 5000) FROM at`).(string)
	for cell := range strings.SplitSeq(cells, ";") {
		ring := strings.NewReplacer("POLYGON((", "[[[", "))", "]]]", ", ", "],[", " ", ",").Replace(cell)
		if !strings.Contains(heat, ring) {
			t.Errorf("%s is no cell of %s", ring, heat)
		}
	}
	d.answers(`SELECT count(DISTINCT geo_cell(lat, lon, 5000, 'beijing')), geo_cell(NULL, 116, 5000), geo_cell(40, NULL, 5000) FROM at`, `[[2 <nil> <nil>]]`)
	d.fails(`SELECT geo_cell(40, 116, 0)`, "geo_cell: cell_m must be above 0, got 0")
	d.fails(`SELECT geo_cell(40, 116, 0.01)`, "geo_cell: cell_m must be at least 0.1")
	d.fails(`SELECT geo_cell(40, 116, 1e9)`, "geo_cell: cell_m 1000000000 exceeds the box")
	d.fails(`SELECT geo_cell(40, 116, 1000, 'mars')`, "geo_cell: domain 'mars' is not declared")
}

// Mathematical functions are there whatever the engine was compiled with, and readings that
// go through them keep their group rule.
func TestMathematics(t *testing.T) {
	d := declared(t)
	d.answers(`SELECT sqrt(4), round(ln(exp(2)), 9), floor(2.5), pi() > 3, pow(2, 3)`, `[[2 2 2 1 8]]`)
}
