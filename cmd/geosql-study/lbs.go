package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/lbs"
	"github.com/geosql/geosql/mechanism/planar"
)

// An lbsStudy measures the cost of noisy places to users of a location service.
type lbsStudy struct {
	part     string
	settings lbs.Settings
	pois     string    // file
	columns  []string  // lat, lon
	domain   []float64 // south, west, north, east, step in metres; nil for around the data
	at       string    // where the users are
	users    int
	figures  figures
	cities   []lbs.City
	flags    *flag.FlagSet
}

// Values of -part.
const (
	lbsMeasured   = "measured"
	lbsTable      = "table"
	lbsComparison = "comparison"
	lbsPrecision  = "precision"
)

// Values of -at.
const (
	atPOIs = "pois"
	atGrid = "grid"
)

// lbsFlags are the flags of each part, except -part.
var lbsFlags = map[string][]string{
	lbsMeasured: {
		"pois", "columns", "domain", "at", "users", "reports", "out",
		"level", "confidence", "radius", "interest", "row-kb",
	},
	lbsTable:      {"density", "level", "confidence", "radius", "interest", "row-kb"},
	lbsComparison: {},
	lbsPrecision:  {"level", "radius", "out"},
}

// register sets the defaults to those of the thesis.
func (s *lbsStudy) register(fs *flag.FlagSet) {
	*s = lbsStudy{
		part:    lbsMeasured,
		columns: []string{"lat", "lon"},
		at:      atPOIs,
		users:   1000,
		cities:  lbs.Cities,
		flags:   fs,
		settings: lbs.Settings{
			Levels: thesisLevels(), PrivacyRadius: 200, InterestRadius: 300,
			Confidences: []float64{0.9, 0.95, 0.99}, RowKB: 0.84, Reports: 100,
		},
	}
	fs.StringVar(&s.part, "part", s.part, "the `PART`: measured, table, comparison or precision")
	fs.StringVar(&s.pois, "pois", "", "the points of interest: a `FILE`")
	fs.StringVar(&s.at, "at", s.at, "`WHERE` the users are: at pois, or on a grid")
	s.figures.register(fs)
	fs.IntVar(&s.users, "users", s.users, "`N` users")
	fs.IntVar(&s.settings.Reports, "reports", s.settings.Reports, "`N` reports of each")
	cli.WordsVar(fs, &s.columns, "columns", "the `NAMES` of the columns")
	cli.NumberVar(fs, &s.settings.PrivacyRadius, "radius", "the privacy radius in `METRES`")
	cli.NumberVar(fs, &s.settings.InterestRadius, "interest", "the radius of interest in `METRES`")
	cli.NumberVar(fs, &s.settings.RowKB, "row-kb", "the size of a row in `KB`")
	cli.NumbersVar(fs, &s.domain, "domain", "the `BOX` SOUTH,WEST,NORTH,EAST,STEP; otherwise around the points")
	cli.LevelsVar(fs, &s.settings.Levels, "level", "the `LEVELS`, such as 1.5 or ln4")
	cli.NumbersVar(fs, &s.settings.Confidences, "confidence", "the `PROBABILITIES` that all points of interest are fetched")
	citiesFlag(fs, &s.cities, "density", "`CITY=DENSITY`,..: points per square kilometre (default the thesis's)")
}

// citiesFlag defines a flag of cities and their points of interest per square kilometre.
func citiesFlag(fs *flag.FlagSet, cities *[]lbs.City, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*cities = nil
		for _, word := range strings.Split(v, ",") {
			city, text, ok := strings.Cut(word, "=")
			density, err := cli.Number(text)
			if !ok || city == "" || err != nil || density <= 0 {
				return fmt.Errorf("%q is not like Paris=137", word)
			}
			*cities = append(*cities, lbs.City{Name: city, Density: density})
		}
		return nil
	})
}

func (s *lbsStudy) check() error {
	known, ok := lbsFlags[s.part]
	if !ok {
		return cli.UsageError("-part must be measured, table, comparison or precision, not " + s.part)
	}
	stray := ""
	s.flags.Visit(func(f *flag.Flag) {
		if f.Name != "part" && !slices.Contains(known, f.Name) {
			stray = cmp.Or(stray, f.Name)
		}
	})
	switch {
	case stray != "":
		return cli.UsageError("-part " + s.part + " takes no flag -" + stray)
	case s.part == lbsMeasured && s.pois == "":
		return cli.UsageError("no file of points of interest given: -pois FILE")
	case len(s.columns) != 2:
		return cli.UsageError("-columns names lat,lon")
	case s.domain != nil && len(s.domain) != 5:
		return cli.UsageError("-domain is SOUTH,WEST,NORTH,EAST,STEP, the step in metres")
	case s.at != atPOIs && s.at != atGrid:
		return cli.UsageError("-at must be pois or grid, not " + s.at)
	case s.users < 1:
		return cli.UsageError("-users must be at least 1")
	}
	if err := s.settings.Check(); err != nil {
		return cli.UsageError(err.Error())
	}
	return nil
}

func (s *lbsStudy) run(ctx context.Context) error {
	switch s.part {
	case lbsTable:
		return s.printTable()
	case lbsComparison:
		return printComparison(ctx)
	case lbsPrecision:
		return s.printPrecision()
	}
	study, err := s.start(ctx)
	if err != nil {
		return err
	}
	return experiment[lbs.Row]{
		table: lbsColumns,
		run:   measured(ctx, &study.Progress, study.Run),
		draw:  oneFigure(s.figures, "overhead", lbs.Figure),
	}.perform(s.figures)
}

// start reads the points of interest, places users among them, and returns the study.
func (s *lbsStudy) start(ctx context.Context) (*lbs.Study, error) {
	pois, err := readPOIs[lbs.Place](ctx, s.pois, s.columns)
	if err != nil {
		return nil, err
	}
	d, err := s.chooseDomain(pois)
	if err != nil {
		return nil, err
	}
	users := lbs.Grid(d, s.users)
	if s.at == atPOIs {
		inside := slices.DeleteFunc(slices.Clone(pois), func(p lbs.Place) bool { return d.Outside(p.Lat, p.Lon) })
		if len(inside) == 0 {
			return nil, fmt.Errorf("%s has no points of interest in -domain", s.pois)
		}
		users = lbs.Sample(inside, s.users)
	}
	return lbs.New(d, s.settings, pois, users)
}

// chooseDomain returns the domain in which users report: that of the flags, or else one around
// all points of interest.
func (s *lbsStudy) chooseDomain(pois []lbs.Place) (*planar.Domain, error) {
	if s.domain != nil {
		return givenDomain(s.domain)
	}
	around := newExtent()
	for _, p := range pois {
		around.add(p.Lat, p.Lon)
	}
	d, err := around.domain(1)
	if err != nil {
		return nil, fmt.Errorf("-domain must be given: around the points of interest, %w", err)
	}
	return d, nil
}

var lbsColumns = table[lbs.Row]{
	head: "level,epsilon,confidence,radius,radius_m,area_ratio,reports," +
		"contained,contained_low,contained_high,found,interest_rows,fetched_rows,overhead,extra_kb",
	line: func(r lbs.Row) string {
		return cells(
			rounded(r.Level, 9), decimal(r.Epsilon, 9), rounded(r.Confidence, 9), r.Radius, decimal(r.Metres, 3), decimal(r.AreaRatio, 3),
			strconv.FormatInt(r.Reports, 10),
			decimal(r.Contained.Share, 5), decimal(r.Contained.Low, 5), decimal(r.Contained.High, 5), decimal(r.Found, 5),
			decimal(r.Interest, 3), decimal(r.Fetched, 3), decimal(r.Overhead, 3), decimal(r.ExtraKB, 1),
		)
	},
}

func (s *lbsStudy) printTable() error {
	rows, err := lbs.Table(s.settings, s.cities)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	return experiment[lbs.TableRow]{
		table: lbsDensities,
		run:   knownRows(rows),
	}.perform(figures{})
}

var lbsDensities = table[lbs.TableRow]{
	head: "city,pois_per_km2,level,confidence,radius_m,area_ratio,interest_rows,extra_kb,printed_kb",
	line: func(r lbs.TableRow) string {
		return cells(
			quoted(r.Name), rounded(r.Density, 9), rounded(r.Level, 9), rounded(r.Confidence, 9),
			decimal(r.Metres, 3), decimal(r.AreaRatio, 3), decimal(r.Interest, 3), decimal(r.ExtraKB, 1), decimal(r.PrintedKB, 0),
		)
	},
}

func printComparison(ctx context.Context) error {
	rows, err := lbs.Comparison(ctx)
	if err != nil {
		return err
	}
	return experiment[lbs.ComparisonRow]{
		table: lbsComparisons,
		run:   knownRows(rows),
	}.perform(figures{})
}

var lbsComparisons = table[lbs.ComparisonRow]{
	head: "prior,equal,mechanism,printed,epsilon,quality_loss_m,adv_error_m,confidence",
	line: func(r lbs.ComparisonRow) string {
		printed := "0"
		if r.Printed {
			printed = "1"
		}
		return cells(
			r.Prior, r.Equal, r.Mechanism, printed, decimal(r.Epsilon, 9),
			decimal(r.Loss, 6), decimal(r.AdversaryError, 6), decimal(r.Confidence, 6),
		)
	},
}

func (s *lbsStudy) printPrecision() error {
	rows, err := lbs.Precision(s.settings)
	if err != nil {
		return cli.UsageError(err.Error())
	}
	return experiment[lbs.PrecisionRow]{
		table: lbsPrecisions,
		run:   knownRows(rows),
		draw:  oneFigure(s.figures, "precision", lbs.PrecisionFigure),
	}.perform(s.figures)
}

var lbsPrecisions = table[lbs.PrecisionRow]{
	head: "level,digits,epsilon,noise_epsilon,least_epsilon",
	line: func(r lbs.PrecisionRow) string {
		return cells(
			rounded(r.Level, 9), strconv.Itoa(r.Digits),
			decimal(r.Epsilon, 13), decimal(r.NoiseEpsilon, 13), decimal(r.LeastEpsilon, 13),
		)
	},
}
