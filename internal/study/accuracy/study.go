package accuracy

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/stats"
)

// A Study measures answers over readings. [New] returns one. It is not safe for concurrent
// use, and uses all processors.
type Study struct {
	parallel.Workers // Progress counts draws

	settings Settings
	trials   []trial
}

// A Row holds the results of a mechanism for one question at one epsilon.
type Row struct {
	Question  string
	Epsilon   float64
	Mechanism string  // Ours, Thesis or Exponential
	Truth     float64 // over the readings as moved to the universe's grid

	Median, P95 float64 // of the absolute error
}

// New returns a study. Errors are about the settings.
func New(s Settings) (*Study, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	study := &Study{Workers: parallel.NewWorkers(), settings: s}
	for _, q := range questions {
		if !q.asked(&s) {
			continue
		}
		for _, epsilon := range s.Epsilons {
			trials, err := s.trials(q, epsilon)
			if err != nil {
				return nil, err
			}
			study.trials = append(study.trials, trials...)
		}
	}
	return study, nil
}

// Run calls row with the results over the readings for each question, epsilon and mechanism;
// mechanisms vary fastest. It ends early with the cause of ctx, or with the error of row.
func (s *Study) Run(ctx context.Context, readings []float64, row func(Row) error) error {
	if len(readings) == 0 {
		return errors.New("there are no readings")
	}
	sorted := make([]int64, len(readings))
	for i, x := range readings {
		sorted[i] = s.settings.Universe.Index(x)
	}
	slices.Sort(sorted)
	s.Begin(len(s.trials) * s.settings.Draws)
	return parallel.Report(s.trials, func(t trial) (Row, error) { return s.measure(ctx, t, sorted) }, row)
}

// measure draws the answers of a trial.
func (s *Study) measure(ctx context.Context, t trial, sorted []int64) (Row, error) {
	draw := make([]drawer, len(s.Sources))
	for worker := range draw {
		draw[worker] = t.start(sorted)
	}
	truth := t.question.truth(s.settings.Universe, sorted)
	errs := make([]float64, s.settings.Draws)
	if err := s.Each(ctx, len(errs), func(worker, k int) error {
		errs[k] = math.Abs(draw[worker](s.Sources[worker]) - truth)
		return nil
	}); err != nil {
		return Row{}, err
	}
	slices.Sort(errs)
	return Row{
		Question: t.question.name, Epsilon: t.epsilon, Mechanism: t.mechanism, Truth: truth,
		Median: stats.Quantile(errs, 0.5), P95: stats.Quantile(errs, 0.95),
	}, nil
}
