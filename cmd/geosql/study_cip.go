package main

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"strings"

	"github.com/geosql/geosql/study/cip"
)

// A cipStudy computes what whole traces lose under Gaussian-process priors.
type cipStudy struct {
	settings cip.Settings
	points   int    // at the times 0, 1, 2, ..
	out      string // directory of the figure; "": none
	flags    *flag.FlagSet
	study    *cip.Study
}

// register sets the defaults to figure 2 of the paper, and all that it does not tell to
// simple numbers.
func (s *cipStudy) register(fs *flag.FlagSet) {
	*s = cipStudy{
		points: 10,
		flags:  fs,
		settings: cip.Settings{
			Kernel: "rbf", Variance: 1, LengthScales: []float64{0.5, 1, 2},
			Radius: 1, Lambda: 2, Families: []string{"every-other"},
		},
	}
	for quarters := 1; quarters <= 16; quarters++ {
		s.settings.Sigma2 = append(s.settings.Sigma2, float64(quarters)/4)
	}
	fs.IntVar(&s.points, "points", s.points, "")
	fs.StringVar(&s.settings.Kernel, "kernel", s.settings.Kernel, "")
	fs.StringVar(&s.out, "out", "", "")
	boolFlag(fs, "max", func() { s.settings.Maxima = true })
	numbersFlag(fs, "times", &s.settings.Times)
	numbersFlag(fs, "length-scale", &s.settings.LengthScales)
	numbersFlag(fs, "sigma2", &s.settings.Sigma2)
	numberFlag(fs, "variance", &s.settings.Variance)
	numberFlag(fs, "period", &s.settings.Period)
	numberFlag(fs, "radius", &s.settings.Radius)
	numberFlag(fs, "lambda", &s.settings.Lambda)
	familiesFlag(fs, "family", &s.settings.Families)
}

// familiesFlag reads names of families, or one family as a JSON array of its sets.
func familiesFlag(fs *flag.FlagSet, name string, families *[]string) {
	fs.Func(name, "", func(v string) error {
		*families = []string{v}
		if !strings.HasPrefix(v, "[") {
			*families = strings.Split(v, ",")
		}
		return nil
	})
}

func (s *cipStudy) check() error {
	err := s.layTimes()
	if err == nil {
		s.study, err = cip.New(s.settings)
	}
	if err != nil {
		return usageError("study: " + err.Error())
	}
	return nil
}

// layTimes puts the points at their times.
func (s *cipStudy) layTimes() error {
	const most = 256 // that losses are computed for
	given := map[string]bool{}
	s.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case given["times"] && given["points"]:
		return errors.New("give either -times, or -points for the times from 0 on")
	case given["times"]:
		return nil
	case s.points < 1 || s.points > most:
		return errors.New("-points must be between 1 and " + strconv.Itoa(most))
	}
	for k := range s.points {
		s.settings.Times = append(s.settings.Times, float64(k))
	}
	return nil
}

func (s *cipStudy) run(ctx context.Context) error {
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := printRows(cipHead, cipRow, func(progress func(done, total int), row func(cip.Row) error) error {
		s.study.Progress = progress
		return s.study.Run(ctx, row)
	})
	if err != nil {
		return err
	}
	return drawFigure(s.out, "loss", cip.Figure, rows)
}

// cipHead names the columns of cipRow.
const cipHead = "points,length_scale,lambda,radius,family,sigma2,alpha,loss,independent_loss"

func cipRow(r cip.Row) string {
	return strings.Join([]string{
		strconv.Itoa(r.Points), exact(r.LengthScale), exact(r.Lambda), exact(r.Radius),
		string(appendCSV(nil, []byte(r.Family))), exact(r.Sigma2),
		significant(r.Loss.Alpha, 9), significant(r.Loss.Loss, 9), significant(r.Loss.Independent, 9),
	}, ",")
}

// exact prints a number as it was given, without an exponent.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// significant prints so many digits of a number, without an exponent. Below 1e-30, the
// least that settings may be, all is 0.
func significant(x float64, digits int) string {
	if x < 1e-30 {
		return "0"
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return exact(short)
}
