package predictive

import (
	"context"
	"fmt"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// A Row holds the results of one configuration.
type Row struct {
	Manager     string
	SkipSpeed   float64 // metres per second; 0 if every prediction was tested
	Predictor   string
	Jump        float64
	Predictive  Summary
	Independent Summary // on the same query points, with the same manager and goal
}

// A Study compares mechanisms on tracks. [New] returns one. It is not safe for concurrent use.
type Study struct {
	parallel.Workers // Progress counts subjects, over all mechanisms and jumps

	settings   Settings
	plane      trace.Plane
	projection planar.Projection
	variants   []variant
	subjects   []subject
}

// A subject is a track that may have enough query points.
type subject struct {
	*track.Track
	slow []track.Fix
}

// New returns a study of tracks in a domain. Locations outside are moved to its edge, and
// count with a large error. Errors are about the settings.
func New(d *planar.Domain, s Settings) (*Study, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	study := &Study{Workers: parallel.NewWorkers(), settings: s, plane: trace.NewPlane(d), projection: d.Projection()}
	var err error
	study.variants, err = s.variants(study.plane)
	return study, err
}

// errNoSubject is the error if there is nothing to measure.
var errNoSubject = fmt.Errorf("no trace has %d fixes below 15 km/h", MinPoints)

// Run measures tracks and calls row with each result: jumps vary fastest, then predictors,
// skip speeds and managers. It ends early with the cause of ctx, or with the error of row. It
// uses all processors, and memory for the errors of one configuration's points.
func (s *Study) Run(ctx context.Context, tracks []track.Track, row func(Row) error) error {
	s.subjects = subjects(tracks)
	if len(s.subjects) == 0 {
		return errNoSubject
	}
	total := 0
	for _, v := range s.variants {
		total += (1 + len(v.predictive)) * len(s.settings.Jumps) * len(s.subjects)
	}
	s.Begin(total)
	for _, v := range s.variants {
		if err := s.runVariant(ctx, v, row); err != nil {
			return err
		}
	}
	return nil
}

// subjects returns the tracks that may have MinPoints query points.
func subjects(tracks []track.Track) (subjects []subject) {
	for k := range tracks {
		if points := slow(tracks[k].Fixes); len(points) >= MinPoints {
			subjects = append(subjects, subject{&tracks[k], points})
		}
	}
	return subjects
}

// runVariant measures the rows of one manager. It measures the independent mechanism once for
// each jump.
func (s *Study) runVariant(ctx context.Context, v variant, row func(Row) error) (err error) {
	independent := make([]Summary, len(s.settings.Jumps))
	for n, m := range v.predictive {
		for k, jump := range s.settings.Jumps {
			if n == 0 {
				if independent[k], err = s.measure(ctx, v.independent, jump); err != nil {
					return err
				}
			}
			predictive, err := s.measure(ctx, m, jump)
			if err != nil {
				return err
			}
			if err := row(Row{
				Manager: v.manager, SkipSpeed: m.Policy().SkipSpeed, Predictor: m.Policy().Predictor, Jump: jump,
				Predictive: predictive, Independent: independent[k],
			}); err != nil {
				return err
			}
		}
	}
	return nil
}
