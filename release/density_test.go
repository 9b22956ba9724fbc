package release

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A density appears beside the output, complete, and in the report; the charge is the same.
func TestDensity(t *testing.T) {
	dir := t.TempDir()
	const n = 2000
	write(t, filepath.Join(dir, "in.csv"), people(n, 20))
	l := openLedger(t, dir)
	s := newSpec(dir)
	s.Density, s.Publishable = 500, true
	sum, err := attempt(s, small, l)
	check(t, err)
	wantFolder(t, dir, "in.csv", "out.csv", "out.csv.density.geojson", "out.csv.metadata.json", "out.csv.report.html")
	if total := spent(t, l)["u0"]; total != n/20*cost || sum.Density != s.Out+".density.geojson" {
		t.Errorf("spent %v, summary %+v", total, sum)
	}
	var density struct {
		Type     string
		Points   int
		Features []struct{ Properties struct{ Count float64 } }
	}
	data, err := os.ReadFile(sum.Density)
	check(t, err)
	check(t, json.Unmarshal(data, &density))
	count, most := 0.0, 0.0
	for _, f := range density.Features {
		count, most = count+f.Properties.Count, max(most, f.Properties.Count)
	}
	if density.Type != "FeatureCollection" || density.Points != n || math.Abs(count-n) > 10 || most < n/10 {
		t.Errorf("%d points, of which %v are in cells, %v in one", density.Points, count, most)
	}
	page, err := os.ReadFile(sum.Report)
	check(t, err)
	metadata, err := os.ReadFile(sum.Metadata)
	check(t, err)
	if !strings.Contains(string(page), "Recovered population") || !strings.Contains(string(page), "out.csv.density.geojson") ||
		!strings.Contains(string(metadata), `"file": "out.csv.density.geojson"`) {
		t.Error("the report or the metadata does not have it")
	}
}

func TestDensityRefused(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"a density is of one pair of columns": func(s *Spec) { s.Lat, s.Lon = []string{"lat", "id"}, []string{"lon", "user"} },
		"density: cell_m 1 makes a grid":      func(s *Spec) { s.Density = 1 },
		"out.csv.density.geojson already exists": func(s *Spec) {
			_ = os.WriteFile(s.Out+".density.geojson", []byte("{}"), 0o600)
		},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "in.csv"), people(100, 5))
		l := openLedger(t, dir)
		s := newSpec(dir)
		s.Density = 500
		change(&s)
		if _, err := attempt(s, small, l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
		if all := spent(t, l); len(all) != 0 {
			t.Errorf("%s: charged %v", want, all)
		}
	}
}
