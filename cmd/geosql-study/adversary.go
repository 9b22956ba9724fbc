package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/study/optimal"
)

// An adversaryStudy compares mechanisms of one quality loss against adversaries who know more
// than the weights that the mechanisms were made for.
type adversaryStudy struct {
	places   placeFlags
	user     string   // column; empty if all rows are one user's
	priors   []string // columns, besides the weight
	settings optimal.Settings
	figures  figures
}

func (s *adversaryStudy) register(fs *flag.FlagSet) {
	s.settings = optimal.Settings{Dilations: []float64{1.05}, Gap: 1e-4}
	s.places.register(fs)
	fs.StringVar(&s.user, "user", "", "the `COLUMN` of users; otherwise all rows are of one user")
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
	all := s.allPriors()
	for k, name := range all {
		if slices.Contains(all[:k], name) {
			return cli.UsageError("-priors names " + name + " twice")
		}
	}
	return s.places.checkOptimal(&s.settings)
}

// allPriors returns the names of the priors: the weight's, and the others.
func (s *adversaryStudy) allPriors() []string {
	return append([]string{s.places.columns[2]}, s.priors...)
}

func (s *adversaryStudy) run(ctx context.Context) error {
	users, err := s.read(ctx)
	if err != nil {
		return err
	}
	return experiment[userRow]{
		head: adversaryHead,
		text: adversaryRow,
		run: func(line *cli.TerminalLine, row func(userRow) error) error {
			return s.measureAll(ctx, users, line, row)
		},
		draw: s.draw,
	}.perform(s.figures)
}

// draw draws the figure.
func (s *adversaryStudy) draw(rows []userRow) error {
	var all []optimal.AdversaryRow
	for _, r := range rows {
		all = append(all, r.AdversaryRow)
	}
	figure, err := optimal.OverPriors(s.places.unit, all)
	return s.figures.write("priors", figure, err)
}

// A userPlaces holds the places and priors of one user.
type userPlaces struct {
	name string
	placeList
	priors []optimal.Prior
}

// read reads the users, in the order of the file.
func (s *adversaryStudy) read(ctx context.Context) (users []*userPlaces, err error) {
	further := s.priors
	if s.user != "" {
		further = append(slices.Clone(further), s.user)
	}
	known := map[string]*userPlaces{}
	err = s.places.each(ctx, further, func(r placeRow) error {
		name := ""
		if s.user != "" {
			name = r.more[len(s.priors)]
		}
		u := known[name]
		if u == nil {
			u = &userPlaces{name: name}
			for _, prior := range s.allPriors() {
				u.priors = append(u.priors, optimal.Prior{Name: prior})
			}
			known[name] = u
			users = append(users, u)
		}
		return u.addPriors(r)
	})
	if err == nil && len(users) == 0 {
		err = fmt.Errorf("%s has no places", s.places.path)
	}
	return users, err
}

// addPriors adds a place and its weight under each prior.
func (u *userPlaces) addPriors(r placeRow) error {
	if err := u.add(r); err != nil {
		return err
	}
	u.priors[0].Weights = append(u.priors[0].Weights, r.place.Weight)
	for k := range u.priors[1:] {
		p := &u.priors[1+k]
		w, err := cli.Number(r.more[k])
		if err == nil && w < 0 {
			err = fmt.Errorf("%s must be 0 or more, not %v", p.Name, w)
		}
		if err != nil {
			return err
		}
		p.Weights = append(p.Weights, w)
	}
	return nil
}

// adversaryHead names the columns of adversaryRow.
const adversaryHead = "user,mechanism,prior,epsilon,quality_loss,adv_error,realised_epsilon"

// A userRow is a row for one user.
type userRow struct {
	user string
	optimal.AdversaryRow
}

func adversaryRow(r userRow) string {
	return strings.Join([]string{
		quoted(r.user), r.Mechanism, quoted(r.Prior), decimal(r.Epsilon, 9),
		decimal(r.Loss, 9), decimal(r.AdversaryError, 9), strconv.FormatFloat(r.RealisedEpsilon, 'f', 9, 64),
	}, ",")
}

// measureAll measures user by user.
func (s *adversaryStudy) measureAll(ctx context.Context, users []*userPlaces, line *cli.TerminalLine, row func(userRow) error) error {
	for k, u := range users {
		progress := func(p optimal.Progress) {
			line.Show("user %d of %d, %s: %s", k+1, len(users), p.Mechanism, cli.ShareAndRest(p.Share, p.Left))
		}
		rows, err := s.measure(ctx, u, progress)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := row(userRow{u.name, r}); err != nil {
				return err
			}
		}
	}
	return nil
}

// measure compares the mechanisms for one user.
func (s *adversaryStudy) measure(ctx context.Context, u *userPlaces, progress func(optimal.Progress)) ([]optimal.AdversaryRow, error) {
	study, err := s.places.study(s.settings, u.places)
	if err != nil {
		return nil, s.nameUser(u, err)
	}
	study.Progress = progress
	rows, err := study.Adversary(ctx, u.priors)
	if err != nil && ctx.Err() == nil {
		err = s.nameUser(u, err)
	}
	return rows, err
}

// nameUser adds to an error whose places it is about.
func (s *adversaryStudy) nameUser(u *userPlaces, err error) error {
	if s.user == "" {
		return fmt.Errorf("%s: %w", s.places.path, err)
	}
	return fmt.Errorf("%s: user %s: %w", s.places.path, u.name, err)
}
