package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/geosql/geosql/study/pim"
	"github.com/geosql/geosql/study/track"
)

// A pimStudy measures the planar isotropic mechanism against the Laplace mechanism.
type pimStudy struct {
	points   pointFlags
	domain   []float64 // south, west, north, east
	cell     float64   // metres
	epsilons []float64 // per step
	deltas   []float64
	minSet   int
	period   float64 // seconds
	traces   int
	steps    int
	repeat   int
	personal bool
	known    bool   // the first cell of every trajectory is public
	pois     string // file; "": none
	knn      []pim.KNN
	out      string // directory of the figures; "": none
}

// register sets the defaults to those of the published experiments.
func (s *pimStudy) register(fs *flag.FlagSet) {
	*s = pimStudy{
		cell:     340,
		epsilons: []float64{1},
		deltas:   []float64{0.01},
		minSet:   1,
		period:   60,
		traces:   100,
		steps:    500,
		repeat:   1,
		knn: []pim.KNN{
			{K: 1, Returned: 1}, {K: 2, Returned: 2}, {K: 5, Returned: 5}, {K: 10, Returned: 10}, {K: 20, Returned: 20},
			{K: 5, Returned: 6}, {K: 5, Returned: 8}, {K: 5, Returned: 10}, {K: 5, Returned: 15}, {K: 5, Returned: 20},
		},
	}
	s.points.register(fs)
	fs.StringVar(&s.pois, "pois", "", "")
	fs.StringVar(&s.out, "out", "", "")
	fs.IntVar(&s.minSet, "min-set", s.minSet, "")
	fs.IntVar(&s.traces, "traces", s.traces, "")
	fs.IntVar(&s.steps, "steps", s.steps, "")
	fs.IntVar(&s.repeat, "repeat", s.repeat, "")
	boolFlag(fs, "personal", func() { s.personal = true })
	boolFlag(fs, "known-start", func() { s.known = true })
	numberFlag(fs, "cell", &s.cell)
	numberFlag(fs, "period", &s.period)
	numbersFlag(fs, "domain", &s.domain)
	numbersFlag(fs, "epsilon", &s.epsilons)
	numbersFlag(fs, "delta", &s.deltas)
	knnFlag(fs, "k", &s.knn)
}

// knnFlag reads queries: k/k', or k for as many places returned as wanted.
func knnFlag(fs *flag.FlagSet, name string, queries *[]pim.KNN) {
	fs.Func(name, "", func(v string) error {
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

// maxPeriod is some 30 years, in seconds.
const maxPeriod = 1e9

func (s *pimStudy) check() error {
	switch {
	case len(s.domain) != 4:
		return usageError("study: -domain SOUTH,WEST,NORTH,EAST must be given")
	case s.cell <= 0:
		return usageError("study: -cell must be above 0, in metres")
	case !(0 < s.period && s.period <= maxPeriod):
		return usageError("study: -period must be above 0, in seconds, and at most 1000000000")
	}
	return s.points.check()
}

func (s *pimStudy) settings() pim.Settings {
	return pim.Settings{
		Epsilons: s.epsilons, Deltas: s.deltas, MinSet: s.minSet,
		CellMetres: s.cell, Period: time.Duration(math.Round(s.period*1e6)) * time.Microsecond,
		Personal: s.personal, KnownStart: s.known,
		Traces: s.traces, Steps: s.steps, Repeat: s.repeat, KNN: s.knn,
	}
}

// latticeSteps is how many steps of the lattice a cell is wide: reports are rounded
// to a twentieth of it.
const latticeSteps = 20

func (s *pimStudy) run(ctx context.Context) error {
	d, err := newDomain([5]float64(append(s.domain, s.cell/latticeSteps)))
	if err != nil {
		return usageError("study: -domain, -cell: " + err.Error())
	}
	places, err := s.readPlaces(ctx)
	if err != nil {
		return err
	}
	study, err := pim.New(d, s.settings(), places)
	if err != nil {
		return usageError("study: " + err.Error())
	}
	r, err := s.points.read(ctx, d, func(track.Fix) string { return "" })
	if err != nil {
		return err
	}
	r.describe()
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := s.print(ctx, study, r.tracks)
	if err != nil || s.out == "" {
		return err
	}
	return s.draw(ctx, study, r.tracks, rows)
}

// readPlaces reads the points of interest, if there are any.
func (s *pimStudy) readPlaces(ctx context.Context) ([]pim.Place, error) {
	if s.pois == "" {
		return nil, nil
	}
	return readPOIs[pim.Place](ctx, s.pois, []string{"lat", "lon"})
}

// pimHead names the columns of pimRows.
const pimHead = "mechanism,epsilon,delta,steps,set_size,drift_ratio,distance_m,rmse_m,knn_k,precision,recall,ms_per_step"

// pimRows are the rows of the output for one mechanism and setting: one for each
// query for the nearest places, or one.
func pimRows(r pim.Row, queries []pim.KNN) (rows []string) {
	row := func(query, precision, recall string) {
		rows = append(rows, strings.Join([]string{
			r.Mechanism, rounded(r.Epsilon, 9), rounded(r.Delta, 9), strconv.Itoa(r.Steps),
			decimal(r.SetSize, 2), decimal(r.DriftRatio, 4), decimal(r.Distance, 1), decimal(r.RMSE, 1),
			query, precision, recall, decimal(1000*r.StepTime.Seconds(), 3),
		}, ","))
	}
	for k := range r.Precision {
		row(queries[k].String(), decimal(r.Precision[k], 4), decimal(r.Recall[k], 4))
	}
	if r.Precision == nil {
		row("", "", "")
	}
	return rows
}

// print runs a study and prints its rows.
func (s *pimStudy) print(ctx context.Context, study *pim.Study, tracks []track.Track) ([]pim.Row, error) {
	text := func(r pim.Row) string { return strings.Join(pimRows(r, s.knn), "\n") }
	return printRows(pimHead, text, func(progress func(done, total int), row func(pim.Row) error) error {
		study.Progress = progress
		return study.Run(ctx, tracks, row)
	})
}

// draw writes the figures.
func (s *pimStudy) draw(ctx context.Context, study *pim.Study, tracks []track.Track, rows []pim.Row) error {
	figure, err := pim.Parameters(rows)
	if err != nil {
		return err
	}
	if err := writeFigure(s.out, "parameters", figure); err != nil {
		return err
	}
	if s.pois != "" {
		if figure, err = pim.Nearest(s.knn, rows); err != nil {
			return err
		}
		if err := writeFigure(s.out, "nearest", figure); err != nil {
			return err
		}
	}
	example, err := study.Example(ctx, tracks)
	if err != nil {
		return err
	}
	if figure, err = pim.OverTime(example); err != nil {
		return err
	}
	if err := writeFigure(s.out, "time", figure); err != nil {
		return err
	}
	if figure, err = pim.Map(example); err != nil {
		return err
	}
	return writeFigure(s.out, "map", figure)
}
