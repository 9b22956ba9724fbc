package report_test

import (
	"fmt"
	"github.com/geosql/geosql/mechanism/planar"
	"strings"

	"github.com/geosql/geosql/release/internal/report"
)

// Every worker counts its draws; the counts are merged, and the page is written.
func Example() {
	box := report.Box{South: 38.79, West: -77.12, North: 39, East: -76.91}
	worker, other := report.NewGrid(box), report.NewGrid(box)
	worker.Add(38.8977, -77.0365)
	other.Add(38.8899, -77.0091)
	worker.Merge(other)

	var page strings.Builder
	err := report.Write(&page, report.Data{Public: report.Public{
		Output: "homes.csv", Rows: 2, Locations: []report.Location{{Lat: "lat", Lon: "lon", Released: worker}},
		Law: planar.LaplaceLaw, Epsilon: 0.01, Box: box, Step: 1, MeanError: 200, Error95: 475.1,
	}})
	fmt.Println(err)
	_, title, _ := strings.Cut(page.String(), "<title>")
	title, _, _ = strings.Cut(title, "</title>")
	fmt.Println(title)
	// Output:
	// <nil>
	// published locations, homes.csv
}
