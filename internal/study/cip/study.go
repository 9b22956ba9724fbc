package cip

import (
	"context"
	"errors"

	"github.com/geosql/geosql/mechanism/cip"
)

// A Study computes losses. It is not safe for concurrent use.
type Study struct {
	// Progress, unless nil, is called with how many of all rows are done.
	Progress func(done, total int)

	times    []float64
	rows     []Row // without results
	policies []cip.Policy

	scales, variances int // of each family, and of each length scale
}

// A Row holds the loss of a trace in one configuration.
type Row struct {
	Points         int
	LengthScale    float64 // the greatest, if Settings.Maxima is set
	Lambda, Radius float64
	Family         string
	Sigma2         float64 // variance of the noise in each coordinate

	// Loss is that of the family's worst set, and so is its loss for independent points.
	Loss cip.Loss

	// Shift is the worst hypothesis about that set: see [cip.Hypothesis].
	Shift []float64
}

// New returns a study. Errors are about the settings.
func New(s Settings) (*Study, error) {
	if err := s.checkTimes(); err != nil {
		return nil, err
	}
	study := &Study{times: s.Times, scales: len(s.LengthScales), variances: len(s.Sigma2)}
	for _, family := range s.Families {
		for _, l := range s.LengthScales {
			for _, sigma2 := range s.Sigma2 {
				p, err := s.policy(family, l, sigma2)
				if err != nil {
					return nil, err
				}
				study.policies = append(study.policies, p)
				study.rows = append(study.rows, Row{
					Points: len(s.Times), LengthScale: l, Lambda: s.Lambda, Radius: s.Radius,
					Family: family, Sigma2: sigma2,
				})
			}
		}
	}
	if study.rows == nil {
		return nil, errors.New("family, length-scale and sigma2 must be given")
	}
	return study, nil
}

// Run calls yield with each row as soon as it is known, by family, length scale and variance
// in the order of the settings. It ends early with the error of yield, the error of a loss
// that cannot be proved, or the cause of ctx.
func (s *Study) Run(ctx context.Context, yield func(Row) error) error {
	for k, row := range s.rows {
		h, err := s.policies[k].Hypothesis(ctx, s.times, row.Sigma2)
		if err != nil {
			return err
		}
		row.Loss, row.Shift = h.Loss, h.Shift
		if err := yield(row); err != nil {
			return err
		}
		if s.Progress != nil {
			s.Progress(k+1, len(s.rows))
		}
	}
	return nil
}
