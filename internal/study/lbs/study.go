package lbs

import (
	"context"
	"errors"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/noise"
	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/planar"
)

// Names of the radii of retrieval.
const (
	Continuous = "continuous" // of the continuous mechanism (thesis, proposition 5.1)
	Lattice    = "lattice"    // of the mechanism of the domain, which draws the reports
)

// A Row holds the results for one level, confidence and radius. Rows of a level are about
// the same reports.
type Row struct {
	Level, Epsilon float64
	Confidence     float64 // promised
	Radius         string  // Continuous or Lattice
	Metres         float64 // radius of retrieval
	AreaRatio      float64 // of the areas of retrieval and interest

	Reports   int64      // of all users
	Contained Proportion // of the reports with the area of interest in the area of retrieval
	Found     float64    // share of the POIs of interest that were retrieved
	Interest  float64    // mean number of POIs of interest
	Fetched   float64    // mean number of POIs retrieved
	Overhead  float64    // Fetched/Interest

	UserOverheads stats.Quartiles // of the users that have POIs of interest

	ExtraKB float64 // mean size of the POIs fetched beyond those of interest
}

// A Study draws reports of users and counts the POIs around them. [New] returns one. It is
// not safe for concurrent use.
type Study struct {
	parallel.Workers // Progress counts users, over all levels

	settings  Settings
	domain    *planar.Domain
	pois      *places
	users     []Place
	mechanism func(d *planar.Domain, e float64) (noise.Drawer, error) // at e per metre
}

// New returns a study of users among points of interest. The users should be in the domain: its mechanism moves others
// to its edge; the points of interest need not be. Errors are about the settings, or say that there is nothing to
// measure.
func New(d *planar.Domain, s Settings, pois, users []Place) (*Study, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	switch {
	case len(pois) == 0:
		return nil, errors.New("there are no points of interest")
	case len(users) == 0:
		return nil, errors.New("there are no users")
	}
	_, meridian := d.Centre()
	return &Study{
		Workers:  parallel.NewWorkers(),
		settings: s, domain: d, users: users, pois: newPlaces(pois, meridian), mechanism: noise.Laplace,
	}, nil
}

// Run measures the levels in their order, and calls row with each result, by confidence and
// then by radius. It ends early with the cause of ctx, or with the error of row. It uses all
// processors.
func (s *Study) Run(ctx context.Context, row func(Row) error) error {
	s.Begin(len(s.settings.Levels) * len(s.users))
	for _, level := range s.settings.Levels {
		rows, err := s.measure(ctx, level)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := row(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure returns the rows of a level.
func (s *Study) measure(ctx context.Context, level float64) ([]Row, error) {
	rows, err := s.radii(level)
	if err != nil {
		return nil, err
	}
	m, err := s.mechanism(s.domain, s.settings.Epsilon(level))
	if err != nil {
		return nil, err
	}
	counters := make([]*counter, len(s.Sources))
	for k, src := range s.Sources {
		counters[k] = newCounter(s, m, src, rows)
	}
	if err := s.Each(ctx, len(s.users), func(worker, k int) error {
		counters[worker].serve(ctx, s.users[k])
		return nil
	}); err != nil {
		return nil, err
	}
	sum := counters[0]
	for _, c := range counters[1:] {
		sum.merge(c)
	}
	sum.summarise(rows, s.settings.RowKB)
	return rows, nil
}

// radii returns the rows of a level, without measurements.
func (s *Study) radii(level float64) (rows []Row, err error) {
	epsilon, interest := s.settings.Epsilon(level), s.settings.InterestRadius
	laws := []struct {
		name     string
		accuracy planar.Accuracy
	}{{Continuous, planar.LaplaceLaw.Plane(epsilon)}, {Lattice, planar.LaplaceLaw.On(s.domain, budget.Decimal(epsilon))}}
	for _, c := range s.settings.Confidences {
		for _, law := range laws {
			metres, err := law.accuracy.RetrievalRadius(c, interest)
			if err != nil {
				return nil, err
			}
			rows = append(rows, Row{
				Level: level, Epsilon: epsilon, Confidence: c,
				Radius: law.name, Metres: metres, AreaRatio: s.settings.areaRatio(metres),
			})
		}
	}
	return rows, nil
}
