package main

import (
	"context"
	"flag"
	"slices"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/optimal"
)

// An adversaryStudy compares mechanisms of one quality loss against adversaries who know more
// than the weights that the mechanisms were made for.
type adversaryStudy struct {
	places   placeFlags
	priors   []string // columns, besides the weight
	settings optimal.Settings
	figures  figures
}

func (s *adversaryStudy) register(fs *flag.FlagSet) {
	s.settings = optimal.Settings{Dilations: []float64{1.05}, Gap: 1e-4}
	s.places.register(fs)
	s.figures.register(fs)
	cli.WordsVar(fs, &s.priors, "priors", "the `COLUMNS` with the weights of further priors, 0 or more")
	cli.NumberVar(fs, &s.settings.Epsilon, "epsilon", "the privacy `E` per unit of length")
	cli.NumberVar(fs, &s.settings.Gap, "gap", "solve to a relative `GAP`")
	cli.NumberVar(fs, &s.settings.Dilations[0], "dilation", "the `DILATION` of the spanner")
}

func (s *adversaryStudy) check() error {
	if err := s.places.check(); err != nil {
		return err
	}
	all := s.places.allPriors(s.priors)
	for k, name := range all {
		if slices.Contains(all[:k], name) {
			return cli.UsageError("-priors names " + name + " twice")
		}
	}
	return s.places.checkOptimal(&s.settings)
}

func (s *adversaryStudy) run(ctx context.Context) error {
	users, err := s.places.users(ctx, s.priors)
	if err != nil {
		return err
	}
	return experiment[userRow[optimal.AdversaryRow]]{
		table: adversaryTable,
		run: func(line *cli.TerminalLine, row func(userRow[optimal.AdversaryRow]) error) error {
			return measureUsers(ctx, &s.places, s.settings, users, row,
				func(k int, u *userPlaces, study *optimal.Study) ([]optimal.AdversaryRow, error) {
					study.Progress = func(p optimal.Progress) {
						line.Show("user %d of %d, %s: %s", k+1, len(users), p.Mechanism, cli.ShareAndRest(p.Share, p.Left))
					}
					return study.Adversary(ctx, u.priors)
				})
		},
		draw: s.draw,
	}.perform(s.figures)
}

// draw draws the figure.
func (s *adversaryStudy) draw(rows []userRow[optimal.AdversaryRow]) error {
	figure, err := optimal.OverPriors(s.places.unit, ofAllUsers(rows))
	return s.figures.write("priors", figure, err)
}

var adversaryTable = table[userRow[optimal.AdversaryRow]]{
	head: "user,mechanism,prior,epsilon,quality_loss,adv_error,realised_epsilon",
	line: func(of userRow[optimal.AdversaryRow]) string {
		r := of.row
		return cells(
			quoted(of.user), r.Mechanism, quoted(r.Prior), decimal(r.Epsilon, 9),
			decimal(r.Loss, 9), decimal(r.AdversaryError, 9), strconv.FormatFloat(r.RealisedEpsilon, 'f', 9, 64),
		)
	},
}
