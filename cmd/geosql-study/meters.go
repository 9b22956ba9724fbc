package main

import (
	"context"
	"errors"
	"flag"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/chart"
	"github.com/geosql/geosql/internal/study/meters"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A metersStudy measures the information that released meter readings reveal, and their totals.
type metersStudy struct {
	readings       string   // file
	columns        []string // device, t, value
	part           string
	universe       []float64 // lo, hi, step
	window, period float64   // seconds
	settings       meters.Settings
	figures        figures
}

// The parts of the study.
const (
	signaturesPart  = "signatures"
	totalsPart      = "totals"
	predictionsPart = "predictions"
)

// register sets the defaults to those of the published example.
func (s *metersStudy) register(fs *flag.FlagSet) {
	*s = metersStudy{
		columns:  []string{"device", "t", "value"},
		part:     signaturesPart,
		universe: []float64{0, 300, 1},
		window:   300,
		period:   10,
		settings: meters.Settings{
			Epsilons: []float64{0.1, 0.5},
			Windows:  100,
			Alphas:   []float64{10, 30, 100},
			Etas:     []float64{0.25, 0.5},
			Repeat:   100,
		},
	}
	fs.StringVar(&s.readings, "readings", "", "the readings: a `FILE`")
	fs.StringVar(&s.part, "part", s.part, "the `PART`: signatures, totals or predictions")
	s.figures.register(fs)
	fs.IntVar(&s.settings.Windows, "windows", s.settings.Windows, "at most `N` windows of a device")
	fs.IntVar(&s.settings.Repeat, "repeat", s.settings.Repeat, "release everything `N` times")
	cli.WordsVar(fs, &s.columns, "columns", "the `NAMES` of the columns")
	cli.NumberVar(fs, &s.window, "window", "the length of a window in `SECONDS`")
	cli.NumberVar(fs, &s.period, "period", "the time between readings in `SECONDS`")
	cli.NumbersVar(fs, &s.universe, "universe", "the `RANGE` LO,HI,STEP of values")
	cli.NumbersVar(fs, &s.settings.Alphas, "alpha", "the `RADII` that a prediction's noise keeps to, in 1 of the value")
	cli.NumbersVar(fs, &s.settings.Etas, "eta", "the `RATIOS` of these radii to those of the tests")
	cli.NumbersVar(fs, &s.settings.Epsilons, "epsilon", "the `EPSILONS`, per 1 of the value")
}

func (s *metersStudy) check() error {
	switch {
	case s.readings == "":
		return cli.UsageError("no file of readings given: -readings FILE")
	case len(s.columns) != 3:
		return cli.UsageError("-columns names device,t,value")
	case s.part != signaturesPart && s.part != totalsPart && s.part != predictionsPart:
		return cli.UsageError("-part must be " + signaturesPart + ", " + totalsPart + " or " + predictionsPart + ", not " + s.part)
	case len(s.universe) != 3:
		return cli.UsageError("-universe is LO,HI,STEP")
	}
	if err := checkDuration("period", s.period); err != nil {
		return err
	}
	return checkDuration("window", s.window)
}

// start returns the study. Errors are about the flags.
func (s *metersStudy) start() (_ *meters.Study, err error) {
	if s.settings.Universe, err = newUniverse(s.universe); err != nil {
		return nil, err
	}
	s.settings.Window, s.settings.Period = duration(s.window), duration(s.period)
	return meters.New(s.settings)
}

// checkDuration returns an error unless a flag of seconds is above 0 and at most some 30
// years.
func checkDuration(flag string, seconds float64) error {
	if !(0 < seconds && seconds <= 1e9) {
		return cli.UsageError("-" + flag + " must be above 0, in seconds, and at most 1000000000")
	}
	return nil
}

// duration returns a number of seconds, rounded to microseconds.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1e6)) * time.Microsecond
}

func (s *metersStudy) run(ctx context.Context) error {
	study, err := s.start()
	if err != nil {
		return cli.UsageError(err.Error())
	}
	all, err := s.read(ctx, s.settings.Universe)
	if err != nil {
		return err
	}
	switch s.part {
	case totalsPart:
		return s.totals(ctx, study, all)
	case predictionsPart:
		return s.predictions(ctx, study, all)
	default:
		return s.signatures(ctx, study, all)
	}
}

// read reads the readings. Empty ones are left out.
func (s *metersStudy) read(ctx context.Context, u *scalar.Universe) ([]meters.Meter, error) {
	var c meters.Collector
	readings, outside := 0, 0
	if err := cli.ReadColumns(ctx, s.readings, singleNames(s.columns), func(_ func() string, cells []string) error {
		device, at, value := cells[0], cells[1], cells[2]
		if cli.TrimBlanks(value) == "" {
			return nil
		}
		r, err := reading(at, value)
		if err != nil {
			return err
		}
		readings++
		if u.Outside(r.Value) {
			outside++
		}
		c.Add(device, r)
		return nil
	}); err != nil {
		return nil, err
	}
	if readings == 0 {
		return nil, errors.New(s.readings + " has no readings")
	}
	all := c.Meters()
	if term.IsTerminal(int(os.Stderr.Fd())) {
		cli.Say("%d devices, %d readings; %d outside the universe count as its nearer end", len(all), readings, outside)
	}
	return all, nil
}

// reading reads a time and a value.
func reading(timeText, valueText string) (r meters.Reading, err error) {
	if r.T, err = cli.Instant(timeText); err != nil {
		return r, err
	}
	r.Value, err = cli.Number(valueText)
	return r, err
}

// errorsHead names the columns of errorsRow.
const errorsHead = "mean_error,p95_error,radius95,within95"

func errorsRow(e meters.Errors) string {
	return strings.Join([]string{decimal(e.Mean, 6), decimal(e.P95, 6), rounded(e.Radius, 9), decimal(e.Within, 4)}, ",")
}

var signaturesTable = table[meters.SignatureRow]{
	head: "epsilon,tuple_epsilon,devices,signatures,readings," + errorsHead +
		",signature_recognised,device_recognised,unseen_recognised",
	line: func(r meters.SignatureRow) string {
		epsilon, tuple, errors := "", "", strings.Repeat(",", strings.Count(errorsHead, ","))
		if r.Epsilon > 0 {
			epsilon, tuple, errors = rounded(r.Epsilon, 12), rounded(r.TupleEpsilon(), 9), errorsRow(r.Errors)
		}
		return cells(
			epsilon, tuple, strconv.Itoa(r.Devices), strconv.Itoa(r.Signatures), strconv.Itoa(r.Samples), errors,
			decimal(r.Window, 4), decimal(r.Device, 4), decimal(r.Unseen, 4),
		)
	},
}

// signatures runs the signatures part of a study.
func (s *metersStudy) signatures(ctx context.Context, study *meters.Study, all []meters.Meter) error {
	return experiment[meters.SignatureRow]{
		table: signaturesTable,
		run:   measuredOn(ctx, &study.Progress, study.Signatures, all),
		draw:  func(rows []meters.SignatureRow) error { return s.draw(study, all, rows) },
	}.perform(s.figures)
}

// draw draws the figures of the signatures.
func (s *metersStudy) draw(study *meters.Study, all []meters.Meter, rows []meters.SignatureRow) error {
	example, err := study.Example(all)
	if err != nil {
		return err
	}
	figure, err := example.Figure(chart.Axis{Name: "reading", Unit: s.columns[2]})
	if err := s.figures.write("signature", figure, err); err != nil {
		return err
	}
	figure, err = meters.Recognition(rows)
	return s.figures.write("recognition", figure, err)
}

var totalsTable = table[meters.TotalRow]{
	head: "scope,span,epsilon,groups,zeros,mean_sum," + errorsHead + ",relative_median,relative_p95",
	line: func(r meters.TotalRow) string {
		return cells(
			r.Scope, r.Span, rounded(r.Epsilon, 12), strconv.Itoa(r.Groups), strconv.Itoa(r.Zeros), decimal(r.MeanSum, 6),
			errorsRow(r.Errors), decimal(r.RelativeMedian, 6), decimal(r.RelativeP95, 6),
		)
	},
}

// totals runs the totals part of a study.
func (s *metersStudy) totals(ctx context.Context, study *meters.Study, all []meters.Meter) error {
	return experiment[meters.TotalRow]{
		table: totalsTable,
		run:   measuredOn(ctx, &study.Progress, study.Totals, all),
		draw:  oneFigure(s.figures, "totals", meters.RelativeErrors),
	}.perform(s.figures)
}

var predictionsTable = table[meters.PredictionRow]{
	head: "alpha,eta,meters,readings,prediction_rate,mean_error,p95_error,beyond_alpha,epsilon," +
		"same_error_epsilon,same_epsilon_error,meters_saving",
	line: func(r meters.PredictionRow) string {
		return cells(
			rounded(r.Alpha, 9), rounded(r.Eta, 9), strconv.Itoa(r.Meters), strconv.Itoa(r.Readings), decimal(r.PredictionRate, 4),
			decimal(r.MeanError, 6), decimal(r.P95Error, 6), decimal(r.Beyond, 4), decimal(r.Epsilon, 6),
			decimal(r.SameError, 6), decimal(r.SameEpsilon, 6), strconv.Itoa(r.Saving),
		)
	},
}

// predictions runs the predictions part of a study.
func (s *metersStudy) predictions(ctx context.Context, study *meters.Study, all []meters.Meter) error {
	return experiment[meters.PredictionRow]{
		table: predictionsTable,
		run:   measuredOn(ctx, &study.Progress, study.Predictions, all),
		draw:  oneFigure(s.figures, "predictions", meters.Predicted),
	}.perform(s.figures)
}
