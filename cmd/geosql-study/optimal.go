package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"

	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/study/optimal"
)

// An optimalStudy measures optimal mechanisms on a set of places.
type optimalStudy struct {
	places   placeFlags
	settings optimal.Settings
	figures  figures
}

func (s *optimalStudy) register(fs *flag.FlagSet) {
	s.settings = optimal.Settings{Dilations: []float64{1, 1.05, 1.1, 1.2, 1.5, 2}, Gap: 1e-4}
	s.places.register(fs)
	s.figures.register(fs)
	cli.NumberVar(fs, &s.settings.Epsilon, "epsilon", "the privacy `E` per unit of length")
	cli.NumberVar(fs, &s.settings.Gap, "gap", "solve to a relative `GAP`")
	cli.NumbersVar(fs, &s.settings.Dilations, "dilation", "the `DILATIONS` of the spanners")
}

func (s *optimalStudy) check() error {
	if err := s.places.check(); err != nil {
		return err
	}
	return s.places.checkOptimal(&s.settings)
}

func (s *optimalStudy) run(ctx context.Context) error {
	if s.places.user != "" {
		return s.runUsers(ctx)
	}
	var list placeList
	if err := s.places.each(ctx, nil, list.add); err != nil {
		return err
	}
	study, err := s.places.study(s.settings, list.places)
	if err != nil {
		return fmt.Errorf("%s: %w", s.places.path, err)
	}
	return experiment[optimal.Row]{
		table: optimalTable,
		run: func(line *cli.TerminalLine, row func(optimal.Row) error) error {
			study.Progress = func(p optimal.Progress) {
				line.Show("%s, dilation %s: %s", p.Mechanism, rounded(p.Dilation, 9), cli.ShareAndRest(p.Share, p.Left))
			}
			return study.Run(ctx, row)
		},
		draw: func(rows []optimal.Row) error { return s.draw(ctx, study, rows) },
	}.perform(s.figures)
}

// runUsers measures user by user, at the epsilon and those of the sweep.
func (s *optimalStudy) runUsers(ctx context.Context) error {
	users, err := s.places.users(ctx, nil)
	if err != nil {
		return err
	}
	return experiment[userRow[optimal.Row]]{
		table: table[userRow[optimal.Row]]{"user,epsilon," + optimalTable.head, func(of userRow[optimal.Row]) string {
			return cells(quoted(of.user), strconv.FormatFloat(of.row.Epsilon, 'f', -1, 64), optimalTable.line(of.row))
		}},
		run: func(line *cli.TerminalLine, row func(userRow[optimal.Row]) error) error {
			return measureUsers(ctx, &s.places, s.settings, users, row,
				func(k int, _ *userPlaces, study *optimal.Study) ([]optimal.Row, error) {
					study.Progress = func(p optimal.Progress) {
						line.Show("user %d of %d, %s, epsilon %s, dilation %s: %s", k+1, len(users), p.Mechanism,
							rounded(p.Epsilon, 9), rounded(p.Dilation, 9), cli.ShareAndRest(p.Share, p.Left))
					}
					return collected(func(add func(optimal.Row) error) error {
						if err := study.Run(ctx, add); err != nil {
							return err
						}
						return study.Sweep(ctx, add)
					})
				})
		},
		draw: func(rows []userRow[optimal.Row]) error { return s.drawLosses(ofAllUsers(rows)) },
	}.perform(s.figures)
}

var optimalTable = table[optimal.Row]{
	head: "mechanism,dilation,true_dilation,edges,constraints,quality_loss,adv_error,remapped_loss,gap,certified_epsilon,seconds",
	line: func(r optimal.Row) string {
		dilation, trueDilation, edges, constraints, gap := "", "", "", "", ""
		if f := r.Solved; f != nil {
			dilation, trueDilation = rounded(f.Dilation, 9), rounded(f.TrueDilation, 12)
			edges, constraints = strconv.Itoa(f.Edges), strconv.Itoa(f.Constraints)
			gap = decimal(f.Gap, 10)
		}
		return cells(
			r.Mechanism, dilation, trueDilation, edges, constraints,
			decimal(r.Loss, 9), decimal(r.AdversaryError, 9), decimal(r.RemappedLoss, 9), gap,
			strconv.FormatFloat(r.CertifiedEpsilon, 'f', -1, 64), decimal(r.Took.Seconds(), 3),
		)
	},
}

// draw draws the figures. The spanner is that of the least dilation above 1, or of 1 if there
// is no other.
func (s *optimalStudy) draw(ctx context.Context, study *optimal.Study, rows []optimal.Row) error {
	dilation := math.Inf(1)
	for _, x := range s.settings.Dilations {
		if x > 1 {
			dilation = min(dilation, x)
		}
	}
	if math.IsInf(dilation, 1) {
		dilation = 1
	}
	figure, err := study.Spanner(dilation, unitMetres[s.places.unit])
	if err := s.figures.write("spanner", figure, err); err != nil {
		return err
	}
	sweep, err := s.sweep(ctx, study)
	if err != nil {
		return err
	}
	return s.drawLosses(append(rows, sweep...))
}

// drawLosses draws the figures of losses.
func (s *optimalStudy) drawLosses(rows []optimal.Row) error {
	figure, err := optimal.OverDilation(s.places.unit, rows)
	if err := s.figures.write("dilation", figure, err); err != nil {
		return err
	}
	figure, err = optimal.OverEpsilon(s.places.unit, rows)
	return s.figures.write("epsilon", figure, err)
}

// sweep measures over epsilon, and shows its progress on a terminal.
func (s *optimalStudy) sweep(ctx context.Context, study *optimal.Study) ([]optimal.Row, error) {
	line := cli.NewTerminalLine()
	defer line.Clear()
	study.Progress = func(p optimal.Progress) {
		line.Show("%s, epsilon %s: %s", p.Mechanism, rounded(p.Epsilon, 9), cli.ShareAndRest(p.Share, p.Left))
	}
	return collected(func(add func(optimal.Row) error) error { return study.Sweep(ctx, add) })
}
