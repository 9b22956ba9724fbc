package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/mechanism/trace"
)

// studyFlags are those of the command study.
type studyFlags struct {
	points     string
	columns    []string // user, trace (unless there are only four), t, lat, lon
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

// studyFlagNames are the flags that register defines.
var studyFlagNames = []string{
	"points", "columns", "manager", "predictor", "steps", "alpha", "epsilon", "skip", "skip-speed", "jump",
	"repeat", "domain", "out",
}

// register defines the flags, and sets their defaults: those of the published
// experiments.
func (f *studyFlags) register(fs *flag.FlagSet) {
	*f = studyFlags{
		columns:    []string{"user", "trace", "t", "lat", "lon"},
		managers:   []string{trace.FixedRate, trace.FixedUtility},
		predictors: []string{trace.Parrot},
		steps:      30,
		alpha:      3000,
		epsilon:    0.02302585, // ln 10 at 100 m
		jumps:      []float64{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
		repeat:     10,
	}
	fs.StringVar(&f.points, "points", "", "")
	fs.StringVar(&f.out, "out", "", "")
	fs.Int64Var(&f.steps, "steps", f.steps, "")
	fs.IntVar(&f.repeat, "repeat", f.repeat, "")
	boolFlag(fs, "skip", func() { f.skip = true })
	numberFlag(fs, "alpha", &f.alpha)
	numberFlag(fs, "epsilon", &f.epsilon)
	numberFlag(fs, "skip-speed", &f.skipSpeed)
	numbersFlag(fs, "jump", &f.jumps)
	numbersFlag(fs, "domain", &f.domain)
	wordsFlag(fs, "columns", &f.columns)
	wordsFlag(fs, "manager", &f.managers)
	wordsFlag(fs, "predictor", &f.predictors)
}

func numberFlag(fs *flag.FlagSet, name string, value *float64) {
	fs.Func(name, "", func(v string) (err error) {
		*value, err = number(v)
		return err
	})
}

func numbersFlag(fs *flag.FlagSet, name string, values *[]float64) {
	fs.Func(name, "", func(v string) error {
		*values = nil
		for _, word := range strings.Split(v, ",") {
			x, err := number(word)
			if err != nil {
				return err
			}
			*values = append(*values, x)
		}
		return nil
	})
}

func wordsFlag(fs *flag.FlagSet, name string, words *[]string) {
	fs.Func(name, "", func(v string) error {
		*words = strings.Split(v, ",")
		if slices.Contains(*words, "") {
			return errors.New("a name is empty")
		}
		return nil
	})
}

// number reads a finite number.
func number(text string) (float64, error) {
	x, err := strconv.ParseFloat(trimBlanks(text), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// defaultSkipSpeed is the 0.5 km per minute of the published experiments, in km/h.
const defaultSkipSpeed = 30

// check refuses values that the study itself would not look at.
func (f *studyFlags) check() error {
	switch {
	case f.points == "":
		return usageError("study: no file of points given: -points FILE")
	case len(f.columns) != 4 && len(f.columns) != 5:
		return usageError("study: -columns names user,trace,t,lat,lon, or without a trace user,t,lat,lon")
	case f.skipSpeed != 0 && !f.skip:
		return usageError("study: -skip-speed is for -skip")
	case f.skipSpeed < 0:
		return usageError("study: -skip-speed must be above 0")
	case f.domain != nil && len(f.domain) != 5:
		return usageError("study: -domain is SOUTH,WEST,NORTH,EAST,STEP, the step in metres")
	}
	return nil
}
