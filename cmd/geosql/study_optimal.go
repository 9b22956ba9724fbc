package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/geosql/geosql/study/optimal"
)

// An optimalStudy measures optimal mechanisms on a set of places.
type optimalStudy struct {
	places   placeFlags
	settings optimal.Settings
	out      string // directory of the figures; "": none
}

func (s *optimalStudy) register(fs *flag.FlagSet) {
	s.settings = optimal.Settings{Dilations: []float64{1, 1.05, 1.1, 1.2, 1.5, 2}, Gap: 1e-4}
	s.places.register(fs)
	fs.StringVar(&s.out, "out", "", "")
	numberFlag(fs, "epsilon", &s.settings.Epsilon)
	numberFlag(fs, "gap", &s.settings.Gap)
	numbersFlag(fs, "dilation", &s.settings.Dilations)
}

func (s *optimalStudy) check() error {
	if err := s.places.check(); err != nil {
		return err
	}
	return s.places.checkOptimal(&s.settings)
}

func (s *optimalStudy) run(ctx context.Context) error {
	var list placeList
	if err := s.places.each(ctx, nil, list.add); err != nil {
		return err
	}
	study, err := s.places.study(s.settings, list.places)
	if err != nil {
		return fmt.Errorf("%s: %w", s.places.path, err)
	}
	if err := makeFigureDir(s.out); err != nil {
		return err
	}
	rows, err := s.print(ctx, study)
	if err != nil || s.out == "" {
		return err
	}
	return s.draw(ctx, study, rows)
}

// optimalHead names the columns of optimalRow.
const optimalHead = "mechanism,dilation,true_dilation,edges,constraints,quality_loss,adv_error,remapped_loss,gap,certified_epsilon,seconds"

func optimalRow(r optimal.Row) string {
	dilation, trueDilation, edges, constraints, gap := "", "", "", "", ""
	if f := r.Solved; f != nil {
		dilation, trueDilation = rounded(f.Dilation, 9), rounded(f.TrueDilation, 12)
		edges, constraints = strconv.Itoa(f.Edges), strconv.Itoa(f.Constraints)
		gap = decimal(f.Gap, 10)
	}
	return strings.Join([]string{
		r.Mechanism, dilation, trueDilation, edges, constraints,
		decimal(r.Loss, 9), decimal(r.AdversaryError, 9), decimal(r.RemappedLoss, 9), gap,
		strconv.FormatFloat(r.CertifiedEpsilon, 'f', -1, 64), decimal(r.Took.Seconds(), 3),
	}, ",")
}

// print runs a study and prints its rows.
func (s *optimalStudy) print(ctx context.Context, study *optimal.Study) (rows []optimal.Row, err error) {
	table, err := newStudyTable(optimalHead)
	if err != nil {
		return nil, err
	}
	defer table.line.clear()
	study.Progress = func(p optimal.Progress) {
		table.line.show("%s, dilation %s: %s", p.Mechanism, rounded(p.Dilation, 9), shareAndRest(p.Share, p.Left))
	}
	err = study.Run(ctx, func(r optimal.Row) error {
		rows = append(rows, r)
		return table.put(optimalRow(r))
	})
	return rows, err
}

// draw writes the figures: the spanner of the least dilation above 1, or of 1 alone.
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
	if err != nil {
		return err
	}
	if err := writeFigure(s.out, "spanner", figure); err != nil {
		return err
	}
	if figure, err = optimal.OverDilation(s.places.unit, rows); err != nil {
		return err
	}
	if err := writeFigure(s.out, "dilation", figure); err != nil {
		return err
	}
	line := newTerminalLine()
	defer line.clear()
	study.Progress = func(p optimal.Progress) {
		line.show("%s, epsilon %s: %s", p.Mechanism, rounded(p.Epsilon, 9), shareAndRest(p.Share, p.Left))
	}
	sweep, err := study.Sweep(ctx)
	if err != nil {
		return err
	}
	line.clear()
	if figure, err = optimal.OverEpsilon(s.places.unit, sweep); err != nil {
		return err
	}
	return writeFigure(s.out, "epsilon", figure)
}
