package conformance

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/sqlitefn"
)

// mapPage is a page with a map in a browser and a layer of GeoJSON. Its title is the number of
// polygons that the map draws, and the bounds of all of them.
const mapPage = `<!DOCTYPE html><meta charset="utf-8"><title>none</title><div id="map" style="width:600px;height:400px"></div>
<script src="file://%s"></script>
<script>
const map = L.map("map"), layer = L.geoJSON(%s, {onEachFeature: (f, l) => l.bindTooltip(String(f.properties.count))}).addTo(map);
map.fitBounds(layer.getBounds(), {animate: false});
document.title = document.querySelectorAll("path.leaflet-interactive").length + " polygons, " + layer.getBounds().toBBoxString();
</script>`

// A browser's map draws each cell that a heat map lists.
func TestHeatmapOnABrowsersMap(t *testing.T) {
	chromium := need.Program(t, "chromium")
	leaflet := need.File(t, filepath.Join(nodeModules, "leaflet", "dist", "leaflet.js"), installHosts)
	page := filepath.Join(t.TempDir(), "map.html")
	if err := os.WriteFile(page, fmt.Appendf(nil, mapPage, leaflet, heatmap(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	profile, err := os.MkdirTemp("", "map") // processes of the browser may write it a little longer
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile)
	// The sandbox needs a kernel and a user that a build machine may not have.
	dom, err := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+profile, "--dump-dom", "file://"+page).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, title, _ := strings.Cut(string(dom), "<title>")
	title, _, _ = strings.Cut(title, "</title>")
	var polygons int
	var west, south, east, north float64
	if _, err := fmt.Sscanf(strings.ReplaceAll(title, ",", " "), "%d polygons %g %g %g %g", &polygons, &west, &south, &east, &north); err != nil {
		t.Fatalf("the page says %q: %v", title, err)
	}
	if polygons != 3 || west < 116.29 || south < 39.89 || east > 116.43 || north > 40.01 {
		t.Errorf("the map draws %s, want 3 cells of about a kilometre between 116.3 39.9 and 116.4 40", title)
	}
}

// heatmap returns the heat map of three places, at an epsilon that leaves no noise but with
// probability 1e-40.
func heatmap(t *testing.T) (geojson string) {
	db := sql.OpenDB(sqlitefn.Connector(":memory:"))
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err := db.Exec(`SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1), budget_limit('*', 'record', 1000)`)
	if err == nil {
		err = db.QueryRow(`SELECT dx_heatmap('ana', lat, lon, 200, 'beijing', 1000) FROM (
			SELECT 39.9 AS lat, 116.3 AS lon UNION ALL SELECT 39.95, 116.35 UNION ALL SELECT 40.0, 116.4)`).Scan(&geojson)
	}
	if err != nil {
		t.Fatal(err)
	}
	return geojson
}
