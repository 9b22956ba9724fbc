package census

import (
	"context"
	"errors"
	"slices"

	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Place is where people live or work, in degrees.
type Place struct{ Lat, Lon float64 }

// A Commute is a home, a workplace, and the number of jobs with both. Each job is protected
// separately: a person with two jobs pays for both.
type Commute struct {
	Home, Work Place
	Jobs       int64
}

// A Row is one bucket of the histograms at a setting. The rows of all buckets are about the
// same sanitised version.
type Row struct {
	Setting
	Bucket             string  // one of Buckets
	Original, Released int64   // jobs
	ShareError         float64 // (Released - Original) / all jobs
	Estimated          float64 // jobs, from the released homes and the workplaces; 0 without places
	EstimateError      float64 // (Estimated - Original) / all jobs
}

// A Study draws sanitised versions of commutes. [New] returns one. It is not safe for
// concurrent use.
type Study struct {
	parallel.Workers // Progress counts parts, over all settings

	// Places are where homes may be; if there are any, commutes are recovered from each sanitised version.
	Places []Place

	settings  []Setting
	domain    *planar.Domain
	parts     [][]Commute
	original  histogram
	mechanism func(d *planar.Domain, e float64) (noise.Drawer, error) // at e per metre
}

// partSize is how many commutes a worker takes at once.
const partSize = 256

// New returns a study of commutes. Homes should be in the domain: its mechanism moves others to its edge. Errors are
// about the settings, or say that there is nothing to measure.
func New(d *planar.Domain, settings []Setting, commutes []Commute) (*Study, error) {
	if err := Check(settings); err != nil {
		return nil, err
	}
	study := &Study{
		Workers:  parallel.NewWorkers(),
		settings: settings, domain: d, mechanism: noise.Laplace,
		parts: slices.Collect(slices.Chunk(commutes, partSize)),
	}
	for _, c := range commutes {
		study.original.add(planar.Distance(c.Home.Lat, c.Home.Lon, c.Work.Lat, c.Work.Lon), c.Jobs)
	}
	if study.original.total() == 0 {
		return nil, errors.New("there are no jobs")
	}
	return study, nil
}

// Run measures the settings in their order, and calls row for each bucket. It ends early with
// the cause of ctx, or with the error of row. It uses all processors.
func (s *Study) Run(ctx context.Context, row func(Row) error) error {
	s.Begin(len(s.settings) * len(s.parts))
	for _, setting := range s.settings {
		released, err := s.release(ctx, setting)
		if err != nil {
			return err
		}
		var estimate [len(Buckets)]float64
		if s.Places != nil {
			if estimate, err = s.recover(ctx, setting.Epsilon(), released.rings[:]); err != nil {
				return err
			}
		}
		all := float64(s.original.total())
		for k, name := range Buckets {
			r := Row{
				Setting: setting, Bucket: name, Original: s.original[k], Released: released.histogram[k],
				ShareError: float64(released.histogram[k]-s.original[k]) / all,
			}
			if s.Places != nil {
				r.Estimated, r.EstimateError = estimate[k], (estimate[k]-float64(s.original[k]))/all
			}
			if err := row(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// release draws a sanitised version and counts its jobs.
func (s *Study) release(ctx context.Context, setting Setting) (released tally, err error) {
	m, err := s.mechanism(s.domain, setting.Epsilon())
	if err != nil {
		return released, err
	}
	counts := make([]tally, len(s.Sources))
	err = s.Each(ctx, len(s.parts), func(worker, k int) error {
		for _, c := range s.parts[k] {
			c.sanitise(ctx, m, s.Sources[worker], &counts[worker])
		}
		return nil
	})
	for k := range counts {
		released.merge(&counts[k])
	}
	return released, err
}

// sanitise draws a home for each job and counts its distance from the workplace (thesis,
// figure 5.12). It ends early with ctx.
func (c *Commute) sanitise(ctx context.Context, m noise.Drawer, src *exact.Source, counts *tally) {
	for range c.Jobs {
		if ctx.Err() != nil {
			return
		}
		lat, lon := m.Draw(src, c.Home.Lat, c.Home.Lon)
		counts.add(planar.Distance(lat, lon, c.Work.Lat, c.Work.Lon), 1)
	}
}
