package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/census"
)

// A censusStudy measures the effect of sanitised homes on the commutes of a census.
type censusStudy struct {
	od, places    string    // files
	columns       []string  // home, work, jobs; place, lat, lon; nil for the known ones
	levels, radii []float64 // both nil for those of the thesis
	estimate      bool
	figures       figures
}

// censusColumns are the known names of the columns: those of LODES tables by block and by cell,
// and of LODES as published.
var censusColumns = [][]string{
	{"home_block", "home_cell", "h_geocode"},
	{"work_block", "work_cell", "w_geocode"},
	{"jobs", "S000"},
	{"block", "cell", "tabblk2020", "tabblk2010"},
	{"lat", "blklatdd"},
	{"lon", "blklondd"},
}

// odColumns is the number of columns in the file of jobs.
const odColumns = 3

func (s *censusStudy) register(fs *flag.FlagSet) {
	fs.StringVar(&s.od, "od", "", "the jobs by home and workplace: a `FILE`")
	fs.StringVar(&s.places, "places", "", "where homes and workplaces are: a `FILE`")
	s.figures.register(fs)
	cli.WordsVar(fs, &s.columns, "columns", "the `NAMES` home,work,jobs,place,lat,lon (default those of LODES)")
	cli.Switch(fs, "estimate", "recover the commutes from each sanitised version too", func() { s.estimate = true })
	cli.LevelsVar(fs, &s.levels, "level", "the `LEVELS`, such as 1.5 or ln4 (default ln2,ln4,ln6 with --radius)")
	cli.NumbersVar(fs, &s.radii, "radius", "the `RADII` in miles (default 1.22 with --level)")
}

func (s *censusStudy) check() error {
	switch {
	case s.od == "":
		return cli.UsageError("no file of jobs given: -od FILE")
	case s.places == "":
		return cli.UsageError("no file of places given: -places FILE")
	case s.columns != nil && len(s.columns) != len(censusColumns):
		return cli.UsageError("-columns names home,work,jobs,place,lat,lon")
	}
	if err := census.Check(s.settings()); err != nil {
		return cli.UsageError(err.Error())
	}
	return nil
}

// settings returns every level with every radius. Levels and radii that are not given are those
// of the thesis.
func (s *censusStudy) settings() []census.Setting {
	levels, radii := s.levels, s.radii
	switch {
	case levels == nil && radii == nil:
		return census.Published
	case levels == nil:
		levels = thesisLevels()
	case radii == nil:
		radii = []float64{1.22}
	}
	return census.Each(levels, radii)
}

func (s *censusStudy) run(ctx context.Context) error {
	study, err := s.start(ctx)
	if err != nil {
		return err
	}
	table := censusTable
	if s.estimate {
		table = estimateTable
	}
	return experiment[census.Row]{
		table: table,
		run:   measured(ctx, &study.Progress, study.Run),
		draw:  oneFigure(s.figures, "commutes", census.Figure),
	}.perform(s.figures)
}

// start reads the files and returns the study, in a domain around all places.
func (s *censusStudy) start(ctx context.Context) (*census.Study, error) {
	places, err := s.readPlaces(ctx)
	if err != nil {
		return nil, err
	}
	commutes, err := s.readCommutes(ctx, places)
	if err != nil {
		return nil, err
	}
	around := newExtent()
	for _, p := range places {
		around.add(p.Lat, p.Lon)
	}
	d, err := around.domain(1)
	if err != nil {
		return nil, fmt.Errorf("around the places of %s, %w", s.places, err)
	}
	study, err := census.New(d, s.settings(), commutes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.od, err)
	}
	if s.estimate {
		study.Places = slices.Collect(maps.Values(places))
	}
	return study, nil
}

// readPlaces reads places by their names.
func (s *censusStudy) readPlaces(ctx context.Context) (map[string]census.Place, error) {
	places := map[string]census.Place{}
	err := cli.ReadColumns(ctx, s.places, s.allColumns()[odColumns:], func(_ func() string, cells []string) error {
		name := cli.TrimBlanks(cells[0])
		if _, ok := places[name]; ok {
			return fmt.Errorf("place %s is given twice", name)
		}
		lat, lon, err := location(cells[1], cells[2])
		if err != nil {
			return err
		}
		places[name] = census.Place{Lat: lat, Lon: lon}
		return nil
	})
	if err == nil && len(places) == 0 {
		err = errors.New(s.places + " has no places")
	}
	return places, err
}

// readCommutes reads the number of jobs by home and workplace.
func (s *censusStudy) readCommutes(ctx context.Context, places map[string]census.Place) (commutes []census.Commute, err error) {
	place := func(cell string) (census.Place, error) {
		p, ok := places[cli.TrimBlanks(cell)]
		if !ok {
			return p, fmt.Errorf("%s has no place %q", s.places, cell)
		}
		return p, nil
	}
	err = cli.ReadColumns(ctx, s.od, s.allColumns()[:odColumns], func(_ func() string, cells []string) error {
		home, err := place(cells[0])
		if err != nil {
			return err
		}
		work, err := place(cells[1])
		if err != nil {
			return err
		}
		jobs, err := strconv.ParseUint(cli.TrimBlanks(cells[2]), 10, 32)
		if err != nil {
			return fmt.Errorf("%q is not a number of jobs", cells[2])
		}
		commutes = append(commutes, census.Commute{Home: home, Work: work, Jobs: int64(jobs)})
		return nil
	})
	return commutes, err
}

// allColumns returns the columns of the jobs, and then those of the places.
func (s *censusStudy) allColumns() [][]string {
	if s.columns == nil {
		return censusColumns
	}
	return singleNames(s.columns)
}

var censusTable = table[census.Row]{
	head: "level,radius_mi,bucket,original,released,share_error",
	line: func(r census.Row) string {
		return cells(
			rounded(r.Level, 9), rounded(r.Radius, 9), r.Bucket,
			strconv.FormatInt(r.Original, 10), strconv.FormatInt(r.Released, 10), decimal(r.ShareError, 6),
		)
	},
}

var estimateTable = table[census.Row]{
	head: censusTable.head + ",estimated,estimate_error",
	line: func(r census.Row) string {
		return cells(censusTable.line(r), decimal(r.Estimated, 1), decimal(r.EstimateError, 6))
	},
}
