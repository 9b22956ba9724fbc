package main

import (
	"context"
	"errors"
	"flag"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/accuracy"
)

// An accuracyStudy measures how far answers over a column of readings are from the truth.
type accuracyStudy struct {
	readings string // file
	column   string
	universe []float64 // lo, hi, step
	settings accuracy.Settings
}

func (s *accuracyStudy) register(fs *flag.FlagSet) {
	s.settings = accuracy.Settings{Epsilons: []float64{0.1, 0.5, 1, 5}, Draws: 10_000}
	fs.StringVar(&s.readings, "readings", "", "the readings: a `FILE`")
	fs.StringVar(&s.column, "column", "value", "the `NAME` of their column")
	fs.StringVar(&s.settings.Metric, "metric", budget.DH.String(), "the `METRIC`: d1, dh; or d1/noise, d1/score, d1/window")
	fs.IntVar(&s.settings.Draws, "draws", s.settings.Draws, "draw every answer `N` times")
	cli.NumbersVar(fs, &s.universe, "universe", "the `RANGE` LO,HI,STEP of readings")
	cli.NumbersVar(fs, &s.settings.Epsilons, "epsilon", "the `EPSILONS`, per 1 of a reading under d1, per record under dh")
}

func (s *accuracyStudy) check() error {
	switch {
	case s.readings == "":
		return cli.UsageError("no file of readings given: -readings FILE")
	case len(s.universe) != 3:
		return cli.UsageError("-universe is LO,HI,STEP")
	}
	return nil
}

// start returns the study. Errors are about the flags.
func (s *accuracyStudy) start() (_ *accuracy.Study, err error) {
	if s.settings.Universe, err = newUniverse(s.universe); err != nil {
		return nil, err
	}
	return accuracy.New(s.settings)
}

func (s *accuracyStudy) run(ctx context.Context) error {
	study, err := s.start()
	if err != nil {
		return cli.UsageError(err.Error())
	}
	readings, err := s.read(ctx)
	if err != nil {
		return err
	}
	return experiment[accuracy.Row]{
		table: accuracyTable,
		run:   measuredOn(ctx, &study.Progress, study.Run, readings),
	}.perform(figures{})
}

// read reads the readings. Empty ones are left out.
func (s *accuracyStudy) read(ctx context.Context) (readings []float64, err error) {
	err = cli.ReadColumns(ctx, s.readings, singleNames([]string{s.column}), func(_ func() string, cells []string) error {
		if cli.TrimBlanks(cells[0]) == "" {
			return nil
		}
		x, err := cli.Number(cells[0])
		readings = append(readings, x)
		return err
	})
	if err == nil && readings == nil {
		err = errors.New(s.readings + " has no readings")
	}
	return readings, err
}

var accuracyTable = table[accuracy.Row]{
	head: "question,epsilon,mechanism,truth,median_error,p95_error",
	line: func(r accuracy.Row) string {
		return cells(
			r.Question, rounded(r.Epsilon, 12), r.Mechanism, rounded(r.Truth, 9), rounded(r.Median, 9), rounded(r.P95, 9),
		)
	},
}
