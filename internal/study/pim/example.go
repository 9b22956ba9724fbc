package pim

import (
	"context"

	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/internal/workers"
	"github.com/geosql/geosql/mechanism/pim"
)

// An Example holds the results of the mechanisms over the time of one trajectory. It
// contains the truth and is not for publication.
type Example struct {
	Truth  []track.Fix
	Series []Series // one for each mechanism
}

// A Series holds the results of a mechanism, of all of [ExampleRuns] runs together.
type Series struct {
	Mechanism string
	Steps     []Summary
	Reports   []track.Fix // of the first run
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
	err := workers.Each(ctx, len(s.Sources), ExampleRuns, func(worker, k int) error {
		return s.run(ctx, m, s.Sources[worker], x, func(_ int, made step) { runs[k] = append(runs[k], made) })
	}, func() {})
	if err != nil {
		return Series{}, err
	}
	return meanOf(runs), nil
}

// meanOf summarises runs of the same trajectory step by step.
func meanOf(runs [][]step) (s Series) {
	for k, first := range runs[0] {
		tallies := make([]tally, len(runs))
		for n, run := range runs {
			tallies[n].add(run[k])
		}
		s.Steps = append(s.Steps, summaryOf(tallies, nil))
		s.Reports = append(s.Reports, first.report)
	}
	return s
}
