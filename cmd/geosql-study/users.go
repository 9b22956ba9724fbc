package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/optimal"
)

// A userPlaces holds the places and priors of one user.
type userPlaces struct {
	name string
	placeList
	priors []optimal.Prior // the weight, and the others
}

// users reads the users, in the order of the file, with their weights under further priors.
func (f *placeFlags) users(ctx context.Context, priors []string) (users []*userPlaces, err error) {
	further := priors
	if f.user != "" {
		further = append(slices.Clone(further), f.user)
	}
	known := map[string]*userPlaces{}
	err = f.each(ctx, further, func(r placeRow) error {
		name := ""
		if f.user != "" {
			name = r.more[len(priors)]
		}
		u := known[name]
		if u == nil {
			u = &userPlaces{name: name}
			for _, prior := range f.allPriors(priors) {
				u.priors = append(u.priors, optimal.Prior{Name: prior})
			}
			known[name] = u
			users = append(users, u)
		}
		return u.addPriors(r)
	})
	if err == nil && len(users) == 0 {
		err = fmt.Errorf("%s has no places", f.path)
	}
	return users, err
}

// allPriors returns the names of the priors: the weight's, and the others.
func (f *placeFlags) allPriors(priors []string) []string {
	return append([]string{f.columns[2]}, priors...)
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

// A userRow is a row for one user.
type userRow[R any] struct {
	user string
	row  R
}

// ofAllUsers returns the rows without the users' names.
func ofAllUsers[R any](rows []userRow[R]) (all []R) {
	for _, r := range rows {
		all = append(all, r.row)
	}
	return all
}

// measureUsers calls measure with a study of each user's places in turn, the k-th counted from 0, and row with each of
// its results. It names the user in errors, unless ctx has ended.
func measureUsers[R any](ctx context.Context, f *placeFlags, s optimal.Settings, users []*userPlaces, row func(userRow[R]) error,
	measure func(k int, u *userPlaces, study *optimal.Study) ([]R, error)) error {
	for k, u := range users {
		study, err := f.study(s, u.places)
		var rows []R
		if err == nil {
			rows, err = measure(k, u, study)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case f.user == "":
			return fmt.Errorf("%s: %w", f.path, err)
		default:
			return fmt.Errorf("%s: user %s: %w", f.path, u.name, err)
		}
		for _, r := range rows {
			if err := row(userRow[R]{u.name, r}); err != nil {
				return err
			}
		}
	}
	return nil
}

// collected returns the rows of a run.
func collected[R any](run func(row func(R) error) error) (rows []R, err error) {
	err = run(func(r R) error {
		rows = append(rows, r)
		return nil
	})
	return rows, err
}
