package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/geosql/geosql/study/optimal"
)

// An adversaryStudy compares mechanisms of one quality loss against adversaries who
// know more than the weights which the mechanisms were made for.
type adversaryStudy struct {
	places   placeFlags
	user     string   // column; "": all rows are one user's
	priors   []string // columns, besides the weight
	settings optimal.Settings
	out      string // directory of the figure; "": none
}

func (s *adversaryStudy) register(fs *flag.FlagSet) {
	s.settings = optimal.Settings{Dilations: []float64{1.05}, Gap: 1e-4}
	s.places.register(fs)
	fs.StringVar(&s.user, "user", "", "")
	fs.StringVar(&s.out, "out", "", "")
	wordsFlag(fs, "priors", &s.priors)
	numberFlag(fs, "epsilon", &s.settings.Epsilon)
	numberFlag(fs, "gap", &s.settings.Gap)
	numberFlag(fs, "dilation", &s.settings.Dilations[0])
}

func (s *adversaryStudy) check() error {
	if err := s.places.check(); err != nil {
		return err
	}
	all := s.allPriors()
	for k, name := range all {
		if slices.Contains(all[:k], name) {
			return usageError("study: -priors names " + name + " again")
		}
	}
	return s.places.checkOptimal(&s.settings)
}

// allPriors names the priors: the weight's, and the others.
func (s *adversaryStudy) allPriors() []string {
	return append([]string{s.places.columns[2]}, s.priors...)
}

func (s *adversaryStudy) run(ctx context.Context) error {
	users, err := s.read(ctx)
	if err != nil {
		return err
	}
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := s.print(ctx, users)
	if err != nil || s.out == "" {
		return err
	}
	figure, err := optimal.OverPriors(s.places.unit, rows)
	if err != nil {
		return err
	}
	return writeFigure(s.out, "priors", figure)
}

// A userPlaces holds what the file says of one user.
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
		w, err := number(r.more[k])
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

func adversaryRow(user string, r optimal.AdversaryRow) string {
	return strings.Join([]string{
		csvText(user), r.Mechanism, csvText(r.Prior), decimal(r.Epsilon, 9),
		decimal(r.Loss, 9), decimal(r.AdversaryError, 9), strconv.FormatFloat(r.RealisedEpsilon, 'f', 9, 64),
	}, ",")
}

// csvText quotes a text where it must be.
func csvText(text string) string {
	if text == "" {
		return ""
	}
	return string(appendCSV(nil, []byte(text)))
}

// print measures user by user and prints the rows.
func (s *adversaryStudy) print(ctx context.Context, users []*userPlaces) (all []optimal.AdversaryRow, err error) {
	table, err := newStudyTable(adversaryHead)
	if err != nil {
		return nil, err
	}
	defer table.line.clear()
	for k, u := range users {
		progress := func(p optimal.Progress) {
			table.line.show("user %d of %d, %s: %s", k+1, len(users), p.Mechanism, shareAndRest(p.Share, p.Left))
		}
		rows, err := s.measure(ctx, u, progress)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if err := table.put(adversaryRow(u.name, r)); err != nil {
				return nil, err
			}
		}
		all = append(all, rows...)
	}
	return all, nil
}

// measure compares the mechanisms for one user.
func (s *adversaryStudy) measure(ctx context.Context, u *userPlaces, progress func(optimal.Progress)) ([]optimal.AdversaryRow, error) {
	study, err := s.places.study(s.settings, u.places)
	if err != nil {
		return nil, s.wrap(u, err)
	}
	study.Progress = progress
	rows, err := study.Adversary(ctx, u.priors)
	if err != nil && ctx.Err() == nil {
		err = s.wrap(u, err)
	}
	return rows, err
}

// wrap says whose places an error is about.
func (s *adversaryStudy) wrap(u *userPlaces, err error) error {
	if s.user == "" {
		return fmt.Errorf("%s: %w", s.places.path, err)
	}
	return fmt.Errorf("%s: user %s: %w", s.places.path, u.name, err)
}
