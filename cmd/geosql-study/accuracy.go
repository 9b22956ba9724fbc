package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/accuracy"
	"github.com/geosql/geosql/mechanism/scalar"
)

// An accuracyStudy measures how far answers over a column of readings are from the truth.
type accuracyStudy struct {
	readings string // file
	column   string
	metric   string
	universe []float64 // lo, hi, step
	epsilons []float64
	draws    int
}

func (s *accuracyStudy) register(fs *flag.FlagSet) {
	*s = accuracyStudy{column: "value", metric: budget.DH.String(), epsilons: []float64{0.1, 0.5, 1, 5}, draws: 10_000}
	fs.StringVar(&s.readings, "readings", "", "the readings: a `FILE`")
	fs.StringVar(&s.column, "column", s.column, "the `NAME` of their column")
	fs.StringVar(&s.metric, "metric", s.metric, "the `METRIC`: d1 or dh")
	fs.IntVar(&s.draws, "draws", s.draws, "draw every answer `N` times")
	cli.NumbersVar(fs, &s.universe, "universe", "the `RANGE` LO,HI,STEP of readings")
	cli.NumbersVar(fs, &s.epsilons, "epsilon", "the `EPSILONS`, per 1 of a reading under d1, per record under dh")
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

// settings returns the settings of the flags.
func (s *accuracyStudy) settings() (accuracy.Settings, error) {
	m, err := budget.ParseMetric(s.metric)
	if err != nil {
		return accuracy.Settings{}, err
	}
	u, err := scalar.NewUniverse("study", s.universe[0], s.universe[1], s.universe[2], "reading")
	if err != nil {
		return accuracy.Settings{}, fmt.Errorf("-universe: %w", err)
	}
	return accuracy.Settings{Universe: u, Metric: m, Epsilons: s.epsilons, Draws: s.draws}, nil
}

func (s *accuracyStudy) run(ctx context.Context) error {
	settings, err := s.settings()
	if err != nil {
		return cli.UsageError(err.Error())
	}
	study, err := accuracy.New(settings)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	readings, err := s.read(ctx)
	if err != nil {
		return err
	}
	_, err = experiment[accuracy.Row]{
		head: accuracyHead,
		text: accuracyRow,
		run: func(line *cli.TerminalLine, row func(accuracy.Row) error) error {
			study.Progress = measuring(line)
			return study.Run(ctx, readings, row)
		},
	}.print()
	return err
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

// accuracyHead names the columns of accuracyRow.
const accuracyHead = "question,epsilon,mechanism,truth,median_error,p95_error"

func accuracyRow(r accuracy.Row) string {
	return strings.Join([]string{
		r.Question, rounded(r.Epsilon, 12), r.Mechanism, rounded(r.Truth, 9), rounded(r.Median, 9), rounded(r.P95, 9),
	}, ",")
}
