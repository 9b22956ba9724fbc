package sqlitefn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// fixes is a table of six locations, four of them in one cell of any size and place that
// tests use, one far from it, and rows without a location.
var fixes = []string{
	`CREATE TABLE fix(g, account, lat, lon)`,
	`INSERT INTO fix VALUES (1, 'ana', 39.9, 116.3), (1, 'ana', 39.9, 116.3), (1, 'bo', 39.9, 116.3), (2, 42, 39.9, 116.3), (2, 'bo', 40.9, 117.5),
		(1, 'cy', NULL, 116.3), (2, NULL, NULL, NULL), (2, 'ana', 39.9, NULL), (2, 'di', -80, -100)`,
}

// counts returns the counts of a heat map's or a histogram's text.
func (d *database) counts(text any) (list []int) {
	d.Helper()
	decoder := json.NewDecoder(strings.NewReader(text.(string)))
	for {
		token, err := decoder.Token()
		if err != nil {
			return list
		}
		if token == "count" {
			var n int
			if err := decoder.Decode(&n); err != nil {
				d.Fatal(err)
			}
			list = append(list, n)
		}
	}
}

func TestHeatmap(t *testing.T) {
	d := declared(t)
	d.run(fixes...)
	text := d.value(`SELECT dx_heatmap(account, lat, lon, 200, 'beijing', 10000) FROM fix`)
	if got := fmt.Sprint(d.counts(text)); got != "[1 4 1]" { // the one outside is moved to the south-west
		t.Errorf("counts %s in %s", got, text)
	}
	d.answers(`SELECT account, function, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[42 dx_heatmap record 200 1] [ana dx_heatmap record 400 2] [bo dx_heatmap record 400 2] [di dx_heatmap record 200 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT dx_heatmap(account, lat, lon, 7, ''beijing'', 100) FROM fix') ORDER BY 1`,
		`[[42 record 7 7] [ana record 14 14] [bo record 14 14] [di record 7 7]]`)
	var groups []string
	for _, row := range d.rows(`SELECT dx_heatmap(account, lat, lon, 200, NULL, 10000) FROM fix GROUP BY g ORDER BY g`) {
		groups = append(groups, fmt.Sprint(d.counts(row[0])))
	}
	if got := fmt.Sprint(groups); got != "[[3] [1 1 1]]" {
		t.Errorf("groups %s", got)
	}
	d.answers(`SELECT typeof(dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 500)), dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 500) IS NULL`, `[[text 0]]`)
}

// The squares of an adaptive map have all locations, for the price of a flat one, and a group's own.
func TestAdaptiveHeatmap(t *testing.T) {
	d := declared(t)
	d.run(fixes...)
	text := d.value(`SELECT dx_heatmap(account, lat, lon, 200, 'beijing', 10000, 'adaptive') FROM fix`)
	total := 0
	for _, n := range d.counts(text) {
		total += n
	}
	if total != 6 {
		t.Errorf("%d of 6 locations in %s", total, text)
	}
	d.answers(`SELECT account, function, unit, epsilon, evaluations FROM ledger_charges ORDER BY account`,
		`[[42 dx_heatmap record 200 1] [ana dx_heatmap record 400 2] [bo dx_heatmap record 400 2] [di dx_heatmap record 200 1]]`)
	d.answers(`SELECT account, unit, epsilon, at_most FROM budget_cost('SELECT dx_heatmap(account, lat, lon, 7, ''beijing'', 100, ''adaptive'') FROM fix') ORDER BY 1`,
		`[[42 record 7 7] [ana record 14 14] [bo record 14 14] [di record 7 7]]`)
	d.answers(`SELECT g, f.value ->> '$.properties.count', f.value ->> '$.properties.cell_m', m ->> '$.threshold' IS NULL
		FROM (SELECT g, dx_heatmap(account, lat, lon, 200, NULL, 10000, 'adaptive') AS m FROM fix GROUP BY g), json_each(m, '$.features') AS f
		WHERE f.value ->> '$.properties.count' > 1`, `[[1 3 40000 1]]`)
	d.answers(`SELECT json_array_length(dx_heatmap('ana', 39.9, 116.3, 200, 'beijing', 10000, NULL), '$.threshold') IS NULL`, `[[0]]`)
	d.answers(`SELECT dx_heatmap('ana', 39.9, 116.3, 200, 'beijing', 20000, 'adaptive') FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 1000, iif(i = 1, 'adaptive', NULL))`+two, "dx_heatmap: squares changes within a group")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 1000, 'flat')`, "dx_heatmap: squares must be 'adaptive', not 'flat'")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1e-12, 'beijing', 0.1, 'adaptive')`, "dx_heatmap: cell_m 0.1 makes a grid of ")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1e-14, 'beijing', 1000, 'adaptive')`, "dx_heatmap: epsilon is too small")
}

// Without a location nobody pays, and the answer is noise; without a row it is NULL.
func TestHeatmapWithoutLocations(t *testing.T) {
	d := declared(t)
	const empty = `{"type":"FeatureCollection","cell_m":20000,"epsilon":200,"threshold":1,"features":[]}`
	d.answers(`SELECT dx_heatmap('ana', NULL, 116.3, 200, 'beijing', 20000), dx_heatmap(NULL, NULL, NULL, 200, 'beijing', 20000)`, `[[`+empty+` `+empty+`]]`)
	d.answers(`SELECT dx_heatmap('ana', 39.9, 116.3, 200, 'beijing', 20000) FROM (SELECT 1) WHERE false`, `[[<nil>]]`)
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

func TestHeatmapRefuses(t *testing.T) {
	d := declared(t)
	d.run(`SELECT budget_limit('poor', 'record', 1)`)
	const two = ` FROM (SELECT 1 AS i UNION SELECT 2)`
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, i, 'beijing', 1000)`+two, "dx_heatmap: epsilon changes within a group")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, iif(i = 1, 'beijing', NULL), 1000)`+two, "dx_heatmap: domain changes within a group")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 1000 * i)`+two, "dx_heatmap: cell_m changes within a group")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'nowhere', 1000)`, "dx_heatmap: domain 'nowhere' is not declared")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 0)`, "dx_heatmap: cell_m must be above 0, got 0")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 0.01)`, "dx_heatmap: cell_m must be at least 0.1, not 0.01")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 0.1)`, "dx_heatmap: cell_m 0.1 makes a grid of ", " cells, the limit is 1099511627776")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 500000)`, "dx_heatmap: cell_m 500000 exceeds the box, which is ")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1e-14, 'beijing', 1000)`, "dx_heatmap: epsilon is too small")
	d.fails(`SELECT dx_heatmap(NULL, 39.9, 116.3, 1, 'beijing', 1000)`, "dx_heatmap: account must be TEXT or INTEGER, got NULL")
	d.fails(`SELECT dx_heatmap('ana', 91, 116.3, 1, 'beijing', 1000)`, "dx_heatmap: lat must lie between -90 and 90")
	d.fails(`SELECT dx_heatmap('poor', 39.9, 116.3, 1, 'beijing', 1000)`+two, "account 'poor' has 1/record left of 1/record, 2/record asked")
	d.fails(`SELECT dx_heatmap('ana', 39.9, 116.3, 1, 'beijing', 1000) OVER ()`, "may not be used as a window function")
	if n := d.evaluations(); n != 0 {
		t.Errorf("%d evaluations charged", n)
	}
}

// GDAL reads heat maps as layers of valid polygons.
func TestHeatmapOGR(t *testing.T) {
	program := need.Program(t, "ogrinfo")
	d := declared(t)
	d.run(fixes...)
	d.run(`SELECT geo_domain('antimeridian', -20, 175, -15, -175, 100)`)
	for name, want := range map[string]struct {
		query string
		parts []string
	}{
		"beijing":      {`SELECT dx_heatmap(account, lat, lon, 200, 'beijing', 10000) FROM fix`, []string{"Feature Count: 3", "count (Integer) = 4", "Geometry: Polygon"}},
		"adaptive":     {`SELECT dx_heatmap(account, lat, lon, 200, 'beijing', 1000, 'adaptive') FROM fix`, []string{"count (Integer) = 4", "cell_m (Integer) = 16000", "Geometry: Polygon"}},
		"antimeridian": {`SELECT dx_heatmap('ana', -17, 180, 200, 'antimeridian', 10000)`, []string{"Feature Count: 1", "count (Integer) = 1"}},
		"no cell":      {`SELECT dx_heatmap('ana', NULL, NULL, 200, 'beijing', 10000)`, []string{"Feature Count: 0"}},
	} {
		file := filepath.Join(t.TempDir(), "map.geojson")
		if err := os.WriteFile(file, []byte(d.value(want.query).(string)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := osexec.Command(program, "-ro", "-al", file).CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("Warning")) || bytes.Contains(out, []byte("ERROR")) {
			t.Errorf("%s: %v: %s", name, err, out)
		}
		for _, part := range want.parts {
			if !bytes.Contains(out, []byte(part)) {
				t.Errorf("%s: no %q in %s", name, part, out)
			}
		}
	}
}
