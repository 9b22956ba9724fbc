// Package studytest provides helpers that the tests of studies share.
package studytest

import (
	"context"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// Rows runs a study to its end and returns its rows.
func Rows[R any](t *testing.T, run func(ctx context.Context, row func(R) error) error) (rows []R) {
	t.Helper()
	if err := run(t.Context(), func(r R) error {
		rows = append(rows, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A Drawer is a mechanism on locations, of the right law or a wrong one.
type Drawer func(src *exact.Source, lat, lon float64) (zlat, zlon float64)

// Draw calls the function.
func (f Drawer) Draw(src *exact.Source, lat, lon float64) (zlat, zlon float64) {
	return f(src, lat, lon)
}
