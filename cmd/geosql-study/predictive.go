package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/predictive"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/trace"
)

// A predictiveStudy measures the predictive mechanism against independent noise.
type predictiveStudy struct {
	points    pointFlags
	settings  predictive.Settings
	skip      bool
	skipSpeed float64   // km/h; 0 if not given
	domain    []float64 // south, west, north, east, step in metres; nil for around the data
	figures   figures
}

// register sets the defaults to those of the published experiments.
func (s *predictiveStudy) register(fs *flag.FlagSet) {
	s.settings = predictive.Settings{
		Managers:   []string{trace.FixedRate, trace.FixedUtility},
		Predictors: []string{trace.Parrot},
		Steps:      30,
		Alpha:      3000,
		Epsilon:    0.02302585, // ln 10 at 100 m
		SkipSpeeds: []float64{0},
		Jumps:      []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
		Repeat:     10,
	}
	s.points.register(fs)
	s.figures.register(fs)
	fs.Int64Var(&s.settings.Steps, "steps", s.settings.Steps, "fixed-rate plans for `N` steps")
	fs.IntVar(&s.settings.Repeat, "repeat", s.settings.Repeat, "run each trace `N` times")
	cli.Switch(fs, "skip", "measure with the skip strategy too", func() { s.skip = true })
	cli.NumberVar(fs, &s.settings.Alpha, "alpha", "the accuracy of fixed-utility in `METRES`")
	cli.NumberVar(fs, &s.settings.Epsilon, "epsilon", "the budget `E` of a trace, per metre")
	cli.NumberVar(fs, &s.skipSpeed, "skip-speed", fmt.Sprintf("the `SPEED` that -skip assumes (default %d)", defaultSkipSpeed))
	cli.NumbersVar(fs, &s.settings.Jumps, "jump", "the `PROBABILITIES` of an hour between points, not a minute")
	cli.NumbersVar(fs, &s.domain, "domain", "the `BOX` SOUTH,WEST,NORTH,EAST,STEP; otherwise around the points")
	cli.WordsVar(fs, &s.settings.Managers, "manager", "the `NAMES` of the budget managers")
	cli.WordsVar(fs, &s.settings.Predictors, "predictor", "the `NAMES` of predictors: parrot, linear, mixture")
}

// defaultSkipSpeed is the 0.5 km per minute of the published experiments, in km/h.
const defaultSkipSpeed = 30

func (s *predictiveStudy) check() error {
	switch {
	case s.skipSpeed != 0 && !s.skip:
		return cli.UsageError("-skip-speed is for -skip")
	case s.skipSpeed < 0:
		return cli.UsageError("-skip-speed must be above 0")
	case s.domain != nil && len(s.domain) != 5:
		return cli.UsageError("-domain is SOUTH,WEST,NORTH,EAST,STEP, the step in metres")
	}
	if s.skip { // everything is measured without and with it
		speed := cmp.Or(s.skipSpeed, defaultSkipSpeed)
		s.settings.SkipSpeeds = append(s.settings.SkipSpeeds, speed*metresPerKilometre/secondsPerHour)
	}
	return s.points.check()
}

const (
	metresPerKilometre = 1000
	secondsPerHour     = 3600
)

func (s *predictiveStudy) run(ctx context.Context) error {
	r, err := s.readPoints(ctx)
	if err != nil {
		return err
	}
	r.describe()
	study, err := predictive.New(r.domain, s.settings)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	return experiment[predictive.Row]{
		table: predictiveTable,
		run:   measuredOn(ctx, &study.Progress, study.Run, r.tracks),
		draw:  func(rows []predictive.Row) error { return s.draw(study, r.tracks, rows) },
	}.perform(s.figures)
}

// readPoints reads the points. If no domain is given, it uses one around them.
func (s *predictiveStudy) readPoints(ctx context.Context) (r *recording, err error) {
	if s.domain == nil {
		if r, err = s.points.read(ctx, nil, utcDay); err != nil {
			return nil, err
		}
		return r, r.setDomain()
	}
	d, err := givenDomain(s.domain)
	if err != nil {
		return nil, err
	}
	return s.points.read(ctx, d, utcDay)
}

// predictiveTable has skip speeds in km/h.
var predictiveTable = table[predictive.Row]{
	head: "manager,skip,predictor,jump,traces,points,prediction_rate,skipped,test_share," +
		"avg_error_m,p90_error_m,rate_percent,im_avg_error_m,im_p90_error_m,im_rate_percent,im_filter_error_m,im_smooth_error_m,max_spent_share",
	line: func(r predictive.Row) string {
		p, im := r.Predictive, r.Independent
		return cells(
			r.Manager, rounded(r.SkipSpeed*secondsPerHour/metresPerKilometre, 3), r.Predictor, rounded(r.Jump, 6),
			strconv.Itoa(p.Runs), strconv.Itoa(p.Points),
			decimal(p.PredictionRate, 4), decimal(p.Skipped, 4), decimal(p.TestShare, 4),
			decimal(p.AverageError, 1), decimal(p.P90Error, 1), decimal(100*p.Rate, 3),
			decimal(im.AverageError, 1), decimal(im.P90Error, 1), decimal(100*im.Rate, 3),
			decimal(im.FilterError, 1), decimal(im.SmoothError, 1),
			decimal(max(p.MaxSpentShare, im.MaxSpentShare), 6),
		)
	},
}

// draw draws the figures: one for each manager and predictor, and a map.
func (s *predictiveStudy) draw(study *predictive.Study, tracks []track.Track, rows []predictive.Row) error {
	for _, group := range figureGroups(rows) {
		figure, err := predictive.Figure(group)
		if err := s.figures.write(group[0].Manager+"-"+group[0].Predictor, figure, err); err != nil {
			return err
		}
	}
	example, err := study.Example(tracks)
	if err != nil {
		return err
	}
	figure, err := predictive.Map(example)
	return s.figures.write("map", figure, err)
}

// figureGroups returns the rows of each figure, in their order.
func figureGroups(rows []predictive.Row) (groups [][]predictive.Row) {
	type key struct{ manager, predictor string }
	index := map[key]int{}
	for _, r := range rows {
		at, ok := index[key{r.Manager, r.Predictor}]
		if !ok {
			at = len(groups)
			index[key{r.Manager, r.Predictor}] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], r)
	}
	return groups
}
