package pim

import (
	"context"
	"fmt"

	"github.com/geosql/geosql/internal/study/parallel"
	"github.com/geosql/geosql/internal/study/track"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Row holds the results for one mechanism in one setting.
type Row struct {
	Mechanism      string
	Epsilon, Delta float64
	Summary
}

// A Study compares mechanisms on test trajectories. [New] returns one. It is not safe for
// concurrent use.
type Study struct {
	parallel.Workers // Progress counts runs of trajectories, over all rows

	settings Settings
	sweep    []setting
	grid     *markov.Grid
	places   *places // nil if there are none
	furthest int     // greatest number of places that a query returns

	subjects []trajectory
	models   map[string]*markov.Model // by user
}

// New returns a study of tracks in a domain. The tracks must not have locations outside the
// domain. Without places there are no queries. Errors are about the settings.
func New(d *planar.Domain, s Settings, all []Place) (*Study, error) {
	if err := s.check(len(all)); err != nil {
		return nil, err
	}
	sweep, err := s.sweep()
	if err != nil {
		return nil, err
	}
	grid, err := markov.NewGrid(d, s.CellMetres)
	if err != nil {
		return nil, err
	}
	study := &Study{Workers: parallel.NewWorkers(), settings: s, sweep: sweep, grid: grid}
	if len(all) > 0 {
		study.places = newPlaces(all)
	}
	for _, q := range s.KNN {
		study.furthest = max(study.furthest, q.Returned)
	}
	return study, nil
}

// errNoSubject is the error if there is nothing to measure.
var errNoSubject = fmt.Errorf("no user has fixes in %d periods", MinSteps)

// Run measures tracks and calls row with each result: for every epsilon at the first delta,
// then for every other delta at the first epsilon, the rows of all mechanisms. It ends early
// with the cause of ctx, or with the error of row. It uses all processors.
func (s *Study) Run(ctx context.Context, tracks []track.Track, row func(Row) error) error {
	if err := s.prepare(tracks); err != nil {
		return err
	}
	s.Begin(len(s.sweep) * len(mechanisms) * len(s.subjects) * s.settings.Repeat)
	for _, under := range s.sweep {
		for _, name := range mechanisms {
			summary, err := s.measure(ctx, name, under.policy)
			if err != nil {
				return err
			}
			if err := row(Row{name, under.epsilon, under.delta, summary}); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare selects the test trajectories and trains their models.
func (s *Study) prepare(tracks []track.Track) (err error) {
	s.subjects = trajectories(tracks, s.settings.Period.Microseconds(), s.settings.Break.Microseconds(), s.settings.Steps, s.settings.Traces)
	if len(s.subjects) == 0 {
		return errNoSubject
	}
	if s.models, err = s.train(tracks); err != nil {
		return err
	}
	for k := range s.subjects {
		x := &s.subjects[k]
		if s.settings.KnownStart {
			x.start, x.fixes = &x.fixes[0], x.fixes[1:]
		}
		s.locate(x)
	}
	return nil
}

// locate finds the cells and places of a trajectory.
func (s *Study) locate(x *trajectory) {
	for _, f := range x.fixes {
		x.cells = append(x.cells, s.grid.Index(f.Lat, f.Lon))
		if s.places != nil {
			x.places = append(x.places, s.places.nearest(f.Lat, f.Lon, s.furthest, nil))
		}
	}
}

// train returns the model of every user that has a trajectory.
func (s *Study) train(tracks []track.Track) (models map[string]*markov.Model, err error) {
	const everybody = ""
	audience := func(user string) string {
		if s.settings.Personal {
			return user
		}
		return everybody
	}
	trainers := map[string]*markov.Trainer{}
	for _, t := range tracks {
		trainer := trainers[audience(t.User)]
		if trainer == nil {
			trainer = markov.NewTrainer(s.grid, s.settings.Period)
			trainers[audience(t.User)] = trainer
		}
		for _, x := range t.Fixes {
			trainer.Add(t.User+"\x00"+t.Name, x.T, x.Lat, x.Lon)
		}
	}
	trained := map[string]*markov.Model{}
	models = map[string]*markov.Model{}
	for _, x := range s.subjects {
		key := audience(x.user)
		if trained[key] == nil {
			if trained[key], err = trainers[key].Model(); err != nil {
				return nil, err
			}
		}
		models[x.user] = trained[key]
	}
	return models, nil
}

// measure runs a mechanism on all trajectories, as often as the settings say.
func (s *Study) measure(ctx context.Context, name string, p pim.Policy) (Summary, error) {
	tallies := make([]tally, len(s.subjects)*s.settings.Repeat)
	err := s.Each(ctx, len(tallies), func(worker, k int) error {
		x := &s.subjects[k/s.settings.Repeat]
		m, err := pim.New(s.models[x.user], name, p)
		if err != nil {
			return err
		}
		return s.run(ctx, m, s.Sources[worker], x, func(n int, made step) { s.count(&tallies[k], x, n, made) })
	})
	if err != nil {
		return Summary{}, err
	}
	return summaryOf(tallies, s.settings.KNN), nil
}

// count adds the k-th step of a trajectory to a tally.
func (s *Study) count(t *tally, x *trajectory, k int, made step) {
	t.add(made)
	if s.places != nil {
		returned := s.places.nearest(made.report.Lat, made.report.Lon, s.furthest, nil)
		t.addKNN(s.settings.KNN, x.places[k], returned)
	}
}
