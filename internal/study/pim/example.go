package pim

import (
	"context"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/pim"
)

// An Example holds the results of the mechanisms over the time of one trajectory. It
// contains the truth and is not for publication.
type Example struct {
	Truth  []track.Fix
	Series []Series // one for each mechanism
}

// A Series holds a value for every step, the mean of [ExampleRuns] runs.
type Series struct {
	Mechanism  string
	SetSize    []float64   // cells
	DriftRatio []float64   // share of the runs with a set that missed the true cell
	Distance   []float64   // metres
	Reports    []track.Fix // of the first run

	SetSizes, Distances []stats.Quartiles // over the runs
}

// ExampleRuns is the number of runs that an Example averages, as in the paper.
const ExampleRuns = 20

// Example measures the first test trajectory at the first epsilon and delta.
func (s *Study) Example(ctx context.Context, tracks []track.Track) (Example, error) {
	if err := s.prepare(tracks); err != nil {
		return Example{}, err
	}
	x := &s.subjects[0]
	e := Example{Truth: x.fixes}
	for _, name := range mechanisms {
		m, err := pim.New(s.models[x.user], name, s.sweep[0].policy)
		if err != nil {
			return Example{}, err
		}
		series, err := s.series(ctx, m, x)
		if err != nil {
			return Example{}, err
		}
		series.Mechanism = name
		e.Series = append(e.Series, series)
	}
	return e, nil
}

func (s *Study) series(ctx context.Context, m *pim.Mechanism, x *trajectory) (Series, error) {
	runs := make([][]step, ExampleRuns)
	errs := make([]error, ExampleRuns)
	if err := parallel.Each(ctx, len(s.Sources), ExampleRuns, func(worker, k int) {
		errs[k] = s.run(m, s.Sources[worker], x, stopper(ctx), func(_ int, made step) { runs[k] = append(runs[k], made) })
	}, func() {}); err != nil {
		return Series{}, err
	}
	for _, err := range errs {
		if err != nil {
			return Series{}, err
		}
	}
	return meanOf(runs), nil
}

// meanOf returns the means over runs of the same trajectory.
func meanOf(runs [][]step) (s Series) {
	for k := range runs[0] {
		var all tally
		var sizes, distances []float64
		for _, run := range runs {
			all.add(run[k])
			sizes, distances = append(sizes, float64(run[k].setSize)), append(distances, run[k].metres)
		}
		s.SetSizes = append(s.SetSizes, stats.NewQuartiles(sizes))
		s.Distances = append(s.Distances, stats.NewQuartiles(distances))
		mean := all.summary(nil)
		s.SetSize = append(s.SetSize, mean.SetSize)
		s.DriftRatio = append(s.DriftRatio, mean.DriftRatio)
		s.Distance = append(s.Distance, mean.Distance)
		s.Reports = append(s.Reports, runs[0][k].report)
	}
	return s
}
