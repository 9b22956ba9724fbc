package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/mechanism/scalar"
)

// singleNames returns columns with one name each.
func singleNames(names []string) (columns [][]string) {
	for _, name := range names {
		columns = append(columns, []string{name})
	}
	return columns
}

// readPOIs reads at least one point of interest, from the columns of their latitude and
// longitude.
func readPOIs[P ~struct{ Lat, Lon float64 }](ctx context.Context, path string, columns []string) (pois []P, err error) {
	err = cli.ReadColumns(ctx, path, singleNames(columns), func(_ func() string, cells []string) error {
		lat, lon, err := location(cells[0], cells[1])
		if err != nil {
			return err
		}
		pois = append(pois, P{lat, lon})
		return nil
	})
	if err == nil && pois == nil {
		err = errors.New(path + " has no points of interest")
	}
	return pois, err
}

// newUniverse returns the universe of a flag.
func newUniverse(r []float64) (*scalar.Universe, error) {
	u, err := scalar.NewUniverse("study", r[0], r[1], r[2], "reading")
	if err != nil {
		return nil, fmt.Errorf("-universe: %w", err)
	}
	return u, nil
}

// thesisLevels are the privacy levels of the thesis's table 5.1.
func thesisLevels() []float64 { return []float64{math.Ln2, math.Log(4), math.Log(6)} }

// location reads a latitude and a longitude in degrees.
func location(latText, lonText string) (lat, lon float64, err error) {
	if lat, err = cli.Number(latText); err != nil {
		return 0, 0, err
	}
	if lon, err = cli.Number(lonText); err != nil {
		return 0, 0, err
	}
	if math.Abs(lat) > 90 || math.Abs(lon) > 180 {
		return 0, 0, fmt.Errorf("latitude %v, longitude %v is not a location", lat, lon)
	}
	return lat, lon, nil
}
