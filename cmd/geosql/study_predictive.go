package main

import (
	"cmp"
	"context"
	"flag"
	"strconv"
	"strings"

	"github.com/geosql/geosql/mechanism/trace"
	"github.com/geosql/geosql/study/predictive"
	"github.com/geosql/geosql/study/track"
)

// A predictiveStudy measures the predictive mechanism against independent noise.
type predictiveStudy struct {
	points     pointFlags
	managers   []string
	predictors []string
	steps      int64
	alpha      float64 // metres
	epsilon    float64
	skip       bool
	skipSpeed  float64 // km/h; 0: not given
	jumps      []float64
	repeat     int
	domain     []float64 // south, west, north, east, step in metres; nil: around the data
	out        string    // directory of the figures; "": none
}

// register sets the defaults to those of the published experiments.
func (s *predictiveStudy) register(fs *flag.FlagSet) {
	*s = predictiveStudy{
		managers:   []string{trace.FixedRate, trace.FixedUtility},
		predictors: []string{trace.Parrot},
		steps:      30,
		alpha:      3000,
		epsilon:    0.02302585, // ln 10 at 100 m
		jumps:      []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
		repeat:     10,
	}
	s.points.register(fs)
	fs.StringVar(&s.out, "out", "", "")
	fs.Int64Var(&s.steps, "steps", s.steps, "")
	fs.IntVar(&s.repeat, "repeat", s.repeat, "")
	boolFlag(fs, "skip", func() { s.skip = true })
	numberFlag(fs, "alpha", &s.alpha)
	numberFlag(fs, "epsilon", &s.epsilon)
	numberFlag(fs, "skip-speed", &s.skipSpeed)
	numbersFlag(fs, "jump", &s.jumps)
	numbersFlag(fs, "domain", &s.domain)
	wordsFlag(fs, "manager", &s.managers)
	wordsFlag(fs, "predictor", &s.predictors)
}

// defaultSkipSpeed is the 0.5 km per minute of the published experiments, in km/h.
const defaultSkipSpeed = 30

func (s *predictiveStudy) check() error {
	switch {
	case s.skipSpeed != 0 && !s.skip:
		return usageError("study: -skip-speed is for -skip")
	case s.skipSpeed < 0:
		return usageError("study: -skip-speed must be above 0")
	case s.domain != nil && len(s.domain) != 5:
		return usageError("study: -domain is SOUTH,WEST,NORTH,EAST,STEP, the step in metres")
	}
	return s.points.check()
}

// settings are what the flags ask for. With -skip everything is measured without
// and with it.
func (s *predictiveStudy) settings() predictive.Settings {
	settings := predictive.Settings{
		Epsilon: s.epsilon, Managers: s.managers, Steps: s.steps, Alpha: s.alpha, SkipSpeeds: []float64{0},
		Predictors: s.predictors, Jumps: s.jumps, Repeat: s.repeat,
	}
	if s.skip {
		speed := cmp.Or(s.skipSpeed, defaultSkipSpeed)
		settings.SkipSpeeds = append(settings.SkipSpeeds, speed*metresPerKilometre/secondsPerHour)
	}
	return settings
}

const (
	metresPerKilometre = 1000
	secondsPerHour     = 3600
)

func (s *predictiveStudy) run(ctx context.Context) error {
	r, err := s.record(ctx)
	if err != nil {
		return err
	}
	r.describe()
	study, err := predictive.New(r.domain, s.settings())
	if err != nil {
		return usageError("study: " + err.Error())
	}
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := printPredictive(ctx, study, r.tracks)
	if err != nil || s.out == "" {
		return err
	}
	return drawPredictive(s.out, study, r.tracks, rows)
}

// record reads the points. Without a domain one is laid around them.
func (s *predictiveStudy) record(ctx context.Context) (r *recording, err error) {
	if s.domain == nil {
		if r, err = s.points.read(ctx, nil, utcDay); err != nil {
			return nil, err
		}
		return r, r.layDomain()
	}
	d, err := newDomain([5]float64(s.domain))
	if err != nil {
		return nil, usageError("study: -domain: " + err.Error())
	}
	return s.points.read(ctx, d, utcDay)
}

// predictiveHead names the columns of predictiveRow.
const predictiveHead = "manager,skip,predictor,jump,traces,points,prediction_rate,skipped,test_share," +
	"avg_error_m,p90_error_m,rate_percent,im_avg_error_m,im_p90_error_m,im_rate_percent,max_spent_share"

// predictiveRow is a row of the output. The skip speed is in km/h.
func predictiveRow(r predictive.Row) string {
	p, im := r.Predictive, r.Independent
	return strings.Join([]string{
		r.Manager, rounded(r.SkipSpeed*secondsPerHour/metresPerKilometre, 3), r.Predictor, rounded(r.Jump, 6),
		strconv.Itoa(p.Runs), strconv.Itoa(p.Points),
		decimal(p.PredictionRate, 4), decimal(p.Skipped, 4), decimal(p.TestShare, 4),
		decimal(p.AverageError, 1), decimal(p.P90Error, 1), decimal(100*p.Rate, 3),
		decimal(im.AverageError, 1), decimal(im.P90Error, 1), decimal(100*im.Rate, 3),
		decimal(max(p.MaxSpentShare, im.MaxSpentShare), 6),
	}, ",")
}

// printPredictive runs a study and prints its rows.
func printPredictive(ctx context.Context, study *predictive.Study, tracks []track.Track) ([]predictive.Row, error) {
	return printRows(predictiveHead, predictiveRow, func(progress func(done, total int), row func(predictive.Row) error) error {
		study.Progress = progress
		return study.Run(ctx, tracks, row)
	})
}

// drawPredictive writes the figures: one for each manager and predictor, and a map.
func drawPredictive(dir string, study *predictive.Study, tracks []track.Track, rows []predictive.Row) error {
	for _, group := range figureGroups(rows) {
		figure, err := predictive.Figure(group)
		if err != nil {
			return err
		}
		if err := writeFigure(dir, group[0].Manager+"-"+group[0].Predictor, figure); err != nil {
			return err
		}
	}
	example, err := study.Example(tracks)
	if err != nil {
		return err
	}
	figure, err := predictive.Map(example)
	if err != nil {
		return err
	}
	return writeFigure(dir, "map", figure)
}

// figureGroups collects the rows of each figure, in their order.
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
