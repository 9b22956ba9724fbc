package optimal

import (
	"context"
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/optimal"
)

// A Prior is an adversary's knowledge of how often each place is the secret. It may be more
// than the weights that a mechanism was made for, such as the time of day.
type Prior struct {
	Name    string
	Weights []float64 // in the order of the places, not negative; only ratios matter
}

// An AdversaryRow holds the results of [Study.Adversary] for one mechanism and one prior.
type AdversaryRow struct {
	Mechanism, Prior string
	Epsilon          float64 // of the mechanism; NaN for [MostPrivate]
	Loss             float64 // average distance of report and truth, under the prior
	AdversaryError   float64 // of an adversary who knows the prior and the mechanism
	RealisedEpsilon  float64 // the least for which the mechanism is private, per unit
}

// Adversary compares mechanisms of the same quality loss against adversaries who know
// different priors: thesis, section 6.2.2 and figure 6.3. The mechanisms are made for the
// weights of the places: [Optimal] at the epsilon and first dilation of the settings, and
// [PlanarLaplace] and [MostPrivate] at the epsilon and the bound at which they have the same
// loss. Under those weights no private mechanism of that loss has a greater AdversaryError
// than the optimal one (theorem 6.2).
//
// Rows are ordered by mechanism, then by prior. Adversary ends early with the cause of ctx, or
// with the error of a solver. It uses all processors.
func (s *Study) Adversary(ctx context.Context, priors []Prior) (rows []AdversaryRow, err error) {
	for _, p := range priors {
		if err := p.check(len(s.places)); err != nil {
			return nil, err
		}
	}
	mechanisms, err := s.contenders(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range mechanisms {
		realised := optimal.RealisedEpsilon(m.k, s.d)
		for _, p := range priors {
			rows = append(rows, AdversaryRow{
				Mechanism: m.name, Prior: p.Name, Epsilon: m.epsilon, RealisedEpsilon: realised,
				Loss:           optimal.Loss(p.Weights, m.k, s.d),
				AdversaryError: optimal.AdversaryError(p.Weights, m.k, s.d),
			})
		}
	}
	return rows, nil
}

// check returns an error if the prior is not one of n places.
func (p Prior) check(n int) error {
	if len(p.Weights) != n {
		return fmt.Errorf("prior %s has %d weights for %d places", p.Name, len(p.Weights), n)
	}
	sum := 0.0
	for k, w := range p.Weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("prior %s: the weight of place %d must be 0 or more, not %v", p.Name, k+1, w)
		}
		sum += w
	}
	if !(sum > 0 && sum <= math.MaxFloat64) {
		return fmt.Errorf("prior %s: the weights add up to %v", p.Name, sum)
	}
	return nil
}

// A contender is one of the mechanisms that are compared.
type contender struct {
	name    string
	epsilon float64
	k       optimal.Matrix
}

// contenders returns the mechanisms that Adversary compares.
func (s *Study) contenders(ctx context.Context) ([]contender, error) {
	best, _, err := s.solve(ctx, s.settings.Epsilon, s.settings.Dilations[0])
	if err != nil {
		return nil, err
	}
	k := best.Matrix()
	loss := optimal.Loss(s.prior, k, s.d)
	s.reportSearch(MostPrivate)
	most, err := optimal.MostPrivate(ctx,
		optimal.PrivacyProblem{Prior: s.prior, Quality: s.d, Adversary: s.d, Loss: loss}, s.settings.Gap)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	s.reportSearch(PlanarLaplace)
	epsilon, noise, err := s.LaplaceOfLoss(ctx, loss)
	if err != nil {
		return nil, err
	}
	return []contender{{Optimal, best.Epsilon(), k}, {MostPrivate, math.NaN(), most.Matrix}, {PlanarLaplace, epsilon, noise}}, nil
}

// reportSearch reports that the search for a mechanism begins. Its progress is not reported.
func (s *Study) reportSearch(mechanism string) {
	if s.Progress != nil {
		s.Progress(Progress{Mechanism: mechanism})
	}
}
