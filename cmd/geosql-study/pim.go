package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/pim"
	"github.com/geosql/geosql/internal/study/track"
)

// A pimStudy measures the planar isotropic mechanism against the Laplace mechanism.
type pimStudy struct {
	points   pointFlags
	settings pim.Settings
	domain   []float64 // south, west, north, east
	period   float64   // seconds
	pause    float64   // longest gap in a trajectory, seconds; 0 for ten periods
	pois     string    // file; empty for none
	figures  figures
}

// register sets the defaults to those of the published experiments.
func (s *pimStudy) register(fs *flag.FlagSet) {
	s.period = 60
	s.settings = pim.Settings{
		CellMetres: 340,
		Epsilons:   []float64{1},
		Deltas:     []float64{0.01},
		MinSet:     1,
		Traces:     100,
		Steps:      500,
		Repeat:     1,
		KNN: []pim.KNN{
			{K: 1, Returned: 1}, {K: 2, Returned: 2}, {K: 5, Returned: 5}, {K: 10, Returned: 10}, {K: 20, Returned: 20},
			{K: 5, Returned: 6}, {K: 5, Returned: 8}, {K: 5, Returned: 10}, {K: 5, Returned: 15}, {K: 5, Returned: 20},
		},
	}
	s.points.register(fs)
	fs.StringVar(&s.pois, "pois", "", "ask for nearest places in `FILE`, which has columns lat and lon")
	s.figures.register(fs)
	fs.IntVar(&s.settings.MinSet, "min-set", s.settings.MinSet, "location sets have at least `N` cells")
	fs.IntVar(&s.settings.Traces, "traces", s.settings.Traces, "measure on at most `N` pieces of traces")
	fs.IntVar(&s.settings.Steps, "steps", s.settings.Steps, "cut traces into pieces of `N` steps")
	fs.IntVar(&s.settings.Repeat, "repeat", s.settings.Repeat, "run each piece `N` times")
	cli.Switch(fs, "personal", "a model for each user in place of one for all", func() { s.settings.Personal = true })
	cli.Switch(fs, "known-start", "the first cell of every trace is public", func() { s.settings.KnownStart = true })
	cli.NumberVar(fs, &s.settings.CellMetres, "cell", "the width of a cell in `METRES`")
	cli.NumberVar(fs, &s.period, "period", "the time of a step in `SECONDS`")
	cli.NumberVar(fs, &s.pause, "break", "begin another piece where nothing was recorded for longer than `SECONDS` (default ten periods)")
	cli.NumbersVar(fs, &s.domain, "domain", "the `BOX` SOUTH,WEST,NORTH,EAST")
	cli.NumbersVar(fs, &s.settings.Epsilons, "epsilon", "the `EPSILONS` of a step")
	cli.NumbersVar(fs, &s.settings.Deltas, "delta", "the `DELTAS`, shares of the prior outside a location set")
	knnFlag(fs, &s.settings.KNN, "k", "the queries `K/R`,..: K wanted, R returned (default 1,2,5,10,20,5/6,5/8,5/10,5/15,5/20)")
}

// knnFlag defines a flag of queries: k/k', or k for as many places returned as wanted.
func knnFlag(fs *flag.FlagSet, queries *[]pim.KNN, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*queries = nil
		for _, word := range strings.Split(v, ",") {
			wanted, returned, two := strings.Cut(word, "/")
			if !two {
				returned = wanted
			}
			k, err := strconv.Atoi(wanted)
			more, err2 := strconv.Atoi(returned)
			if err != nil || err2 != nil {
				return fmt.Errorf("%q is not like 5 or 5/10", word)
			}
			*queries = append(*queries, pim.KNN{K: k, Returned: more})
		}
		return nil
	})
}

func (s *pimStudy) check() error {
	switch {
	case len(s.domain) != 4:
		return cli.UsageError("-domain SOUTH,WEST,NORTH,EAST must be given")
	case s.settings.CellMetres <= 0:
		return cli.UsageError("-cell must be above 0, in metres")
	}
	if err := checkDuration("period", s.period); err != nil {
		return err
	}
	if s.pause == 0 {
		s.pause = 10 * s.period
	}
	if err := checkDuration("break", s.pause); err != nil {
		return err
	}
	s.settings.Period, s.settings.Break = duration(s.period), duration(s.pause)
	return s.points.check()
}

// latticeSteps is the width of a cell in steps of the lattice: reports are rounded to a
// twentieth of a cell.
const latticeSteps = 20

func (s *pimStudy) run(ctx context.Context) error {
	d, err := newDomain(s.domain, s.settings.CellMetres/latticeSteps)
	if err != nil {
		return cli.UsageError("-domain, -cell: " + err.Error())
	}
	places, err := s.readPlaces(ctx)
	if err != nil {
		return err
	}
	study, err := pim.New(d, s.settings, places)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	r, err := s.points.read(ctx, d, func(track.Fix) string { return "" })
	if err != nil {
		return err
	}
	r.describe()
	return experiment[pim.Row]{
		table: table[pim.Row]{pimHead, func(r pim.Row) string { return strings.Join(pimRows(r, s.settings.KNN), "\n") }},
		run:   measuredOn(ctx, &study.Progress, study.Run, r.tracks),
		draw:  func(rows []pim.Row) error { return s.draw(ctx, study, r.tracks, rows) },
	}.perform(s.figures)
}

// readPlaces reads the points of interest, if there are any.
func (s *pimStudy) readPlaces(ctx context.Context) ([]pim.Place, error) {
	if s.pois == "" {
		return nil, nil
	}
	return readPOIs[pim.Place](ctx, s.pois, []string{"lat", "lon"})
}

// pimHead names the columns of pimRows.
const pimHead = "mechanism,epsilon,delta,steps,set_size,drift_ratio,distance_m,rmse_m,estimate_m,knn_k,precision,recall,ms_per_step"

// pimRows returns the rows of the output for one mechanism and setting: one for each query for
// the nearest places, or one if there are no queries.
func pimRows(r pim.Row, queries []pim.KNN) (rows []string) {
	row := func(query, precision, recall string) {
		rows = append(rows, cells(
			r.Mechanism, rounded(r.Epsilon, 9), rounded(r.Delta, 9), strconv.Itoa(r.Steps),
			decimal(r.SetSize, 2), decimal(r.DriftRatio, 4), decimal(r.Distance, 1), decimal(r.RMSE, 1), decimal(r.Estimate, 1),
			query, precision, recall, decimal(1000*r.StepTime.Seconds(), 3),
		))
	}
	for k := range r.Precision {
		row(queries[k].String(), decimal(r.Precision[k], 4), decimal(r.Recall[k], 4))
	}
	if r.Precision == nil {
		row("", "", "")
	}
	return rows
}

// draw draws the figures.
func (s *pimStudy) draw(ctx context.Context, study *pim.Study, tracks []track.Track, rows []pim.Row) error {
	figure, err := pim.Parameters(rows)
	if err := s.figures.write("parameters", figure, err); err != nil {
		return err
	}
	if s.pois != "" {
		figure, err := pim.Nearest(s.settings.KNN, rows)
		if err := s.figures.write("nearest", figure, err); err != nil {
			return err
		}
	}
	example, err := study.Example(ctx, tracks)
	if err != nil {
		return err
	}
	figure, err = pim.OverTime(example)
	if err := s.figures.write("time", figure, err); err != nil {
		return err
	}
	figure, err = pim.Map(example)
	return s.figures.write("map", figure, err)
}
