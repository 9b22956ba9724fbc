package main

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/cip"
)

// A cipStudy computes the loss of whole traces under Gaussian-process priors.
type cipStudy struct {
	settings cip.Settings
	points   int // at the times 0, 1, 2, ..
	figures  figures
	flags    *flag.FlagSet
	study    *cip.Study
}

// register sets the defaults to those of figure 2 of the paper, and to simple numbers where it
// gives none.
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
	fs.IntVar(&s.points, "points", s.points, "`N` points, at the times 0, 1, 2, ..")
	fs.StringVar(&s.settings.Kernel, "kernel", s.settings.Kernel, "the `KERNEL` of the prior")
	s.figures.register(fs)
	cli.Switch(fs, "max", "the worst of all length scales up to each", func() { s.settings.Maxima = true })
	cli.NumbersVar(fs, &s.settings.Times, "times", "the `TIMES` of the points, in place of --points")
	cli.NumbersVar(fs, &s.settings.LengthScales, "length-scale", "the `LENGTHS` of the prior's scale")
	cli.NumbersVar(fs, &s.settings.Sigma2, "sigma2", "the `VARIANCES` of the noise")
	cli.NumberVar(fs, &s.settings.Variance, "variance", "the `VARIANCE` of the prior")
	cli.NumberVar(fs, &s.settings.Period, "period", "the `PERIOD` of a periodic kernel")
	cli.NumberVar(fs, &s.settings.Radius, "radius", "points are moved by at most `RADIUS`")
	cli.NumberVar(fs, &s.settings.Lambda, "lambda", "the `ORDER` of the Renyi divergence")
	familiesFlag(fs, &s.settings.Families, "family",
		"the `NAMES` of families of secrets: every-other, singles, windows:W, or one JSON array of sets (default every-other)")
}

// familiesFlag reads names of families, or one family as a JSON array of its sets.
func familiesFlag(fs *flag.FlagSet, families *[]string, name, usage string) {
	fs.Func(name, usage, func(v string) error {
		*families = []string{v}
		if !strings.HasPrefix(v, "[") {
			*families = strings.Split(v, ",")
		}
		return nil
	})
}

func (s *cipStudy) check() error {
	err := s.setTimes()
	if err == nil {
		s.study, err = cip.New(s.settings)
	}
	if err != nil {
		return cli.UsageError(err.Error())
	}
	return nil
}

// setTimes sets the times of the points.
func (s *cipStudy) setTimes() error {
	const most = 256 // points that losses are computed for
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
	return experiment[cip.Row]{
		table: cipTable,
		run:   measured(ctx, &s.study.Progress, s.study.Run),
		draw: func(rows []cip.Row) error {
			losses, err := cip.Figure(rows)
			if err := s.figures.write("loss", losses, err); err != nil {
				return err
			}
			hypotheses, err := s.study.HypothesisFigure(ctx, rows)
			return s.figures.write("hypothesis", hypotheses, err)
		},
	}.perform(s.figures)
}

var cipTable = table[cip.Row]{
	head: "points,length_scale,lambda,radius,family,sigma2,alpha,loss,independent_loss,set,shift",
	line: func(r cip.Row) string {
		return cells(
			strconv.Itoa(r.Points), exact(r.LengthScale), exact(r.Lambda), exact(r.Radius),
			quoted(r.Family), exact(r.Sigma2),
			significant(r.Loss.Alpha, 9), significant(r.Loss.Loss, 9), significant(r.Loss.Independent, 9),
			quoted(list(r.Loss.Set, strconv.Itoa)), quoted(list(r.Shift, func(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) })),
		)
	},
}

// list returns a JSON array.
func list[E any](elements []E, text func(E) string) string {
	var texts []string
	for _, e := range elements {
		texts = append(texts, text(e))
	}
	return "[" + strings.Join(texts, ",") + "]"
}

// exact formats a number as it was given, without an exponent.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// significant formats a number with the given digits, without an exponent. Below 1e-30, the
// least value of a setting, it returns 0.
func significant(x float64, digits int) string {
	if x < 1e-30 {
		return "0"
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'e', digits-1, 64), 64)
	return exact(short)
}
