package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/geosql/geosql/mechanism/density"
	"github.com/geosql/geosql/release/internal/report"
)

// densityPath returns the path of the estimate of the population behind an output.
func densityPath(out string) string { return out + ".density.geojson" }

// setPlane sets the law by which the population is estimated.
func (r *run) setPlane() (err error) {
	s := r.spec
	switch {
	case s.Density == 0:
		return nil
	case len(s.Lat) != 1:
		return errors.New("a density is of one pair of columns: leave out --density")
	}
	if r.plane, err = density.NewPlane(r.mechanism, s.Density); err != nil {
		return fmt.Errorf("density: %w", err)
	}
	return nil
}

// writeDensity writes the temporary file of the population behind the released points, and adds its map to the report. Both are
// functions of these points and of public facts.
func (r *run) writeDensity(ctx context.Context, p *report.Public) error {
	population, err := r.plane.Population(ctx, r.surveys[0].points)
	if err != nil {
		return err
	}
	p.Density, p.DensityCell = filepath.Base(densityPath(r.spec.Out)), r.spec.Density
	p.Locations[0].Recovered = report.NewGrid(r.spec.Box)
	p.Locations[0].Recovered.Spread(population.Each)
	return r.density.fill(func(w io.Writer) error {
		_, err := w.Write(append(population.AppendGeoJSON(nil), '\n'))
		return err
	})
}
