package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
)

// The names in a policy's text.
const (
	Predictive  = "predictive"  // the mechanism of figure 2 in the paper
	Independent = "independent" // noise for every point (figure 1)

	FixedRate    = "fixed-rate"    // [budget.FixedRate]
	FixedUtility = "fixed-utility" // [budget.FixedUtility]

	Parrot  = "parrot"  // predicts the last report
	Linear  = "linear"  // predicts by regression over the last reports
	Mixture = "mixture" // predicts by the one of the two that has done better

	AfterStop    = "stop"    // nothing is reported once the budget is used up
	AfterPredict = "predict" // predictions go on, untested and free
)

// A Policy holds the settings of a mechanism, all of them public. [ParsePolicy] reads
// one and fills in the defaults; the text's keys are in parentheses.
//
// # Accuracy
//
// alpha, whether set or paid for by a fixed rate, is the radius within which noise stays
// with probability 0.9. The reports of the predictive mechanism keep no such bound: a
// prediction passes its test with probability 1/2 at a distance of alpha/(eta*(1+gamma)),
// and 1/10 at alpha/eta. If all predictions were just beyond alpha, 0.81 of the reports
// would be within it for eta = 1, not the 0.9 of the paper's proposition 1, and 0.37 for
// eta = 0.5 and gamma = 0.8. How good reports are depends on the predictions.
//
// SkipSpeed adds to that: a skipped report may be alpha further off than the last point that
// something was spent on, and further still if the secret is faster. So with FixedUtility more
// than a tenth of the reports may be further off than alpha. Of taxis, with an alpha of 3 km and
// a speed of 30 km/h, a tenth are 3.2 to 3.5 km off and more.
type Policy struct {
	Mechanism string        // Predictive or Independent
	Domain    string        // name of the domain that locations are in (domain); may be empty
	Universe  string        // name of the universe that readings are in (universe); empty for locations
	Epsilon   budget.Amount // for the whole trace, per unit (epsilon); required

	// Manager is FixedRate or FixedUtility (manager). If the text has none, steps or
	// alpha decides.
	Manager string
	Steps   int64   // points planned (steps); required for FixedRate, and only there
	Alpha   float64 // accuracy of the noise in units (alpha); required for FixedUtility, and only there

	// The rest is for the predictive mechanism.

	// Eta and Gamma relate a test to its noise (eta, gamma; see [budget.Tuning]).
	// The defaults are those of the paper's experiments: 0.5 for FixedUtility, 0.6
	// for FixedRate, and 0.8.
	Eta, Gamma float64

	// PredictionRate is the share of predictions expected to pass, until the run shows
	// its own (prediction_rate; FixedRate only, 0.75 by default).
	PredictionRate float64

	// SkipSpeed is how fast the secret is assumed to move, in units per second
	// (skip_speed). Predictions that it cannot have left behind are not tested, see
	// [Mechanism.Plan]. With 0, the default, all are tested.
	SkipSpeed float64

	Predictor string // Parrot, the default, Linear or Mixture (predictor)
	After     string // AfterStop, the default, or AfterPredict (after)
}

// maxSteps bounds the steps of a plan.
const maxSteps = 1_000_000_000

// check returns an error that names the key at fault.
func (p *Policy) check() error {
	if err := checkOneOf("mechanism", p.Mechanism, Predictive, Independent); err != nil {
		return err
	}
	if p.Epsilon <= 0 || p.Epsilon > budget.Max {
		return fmt.Errorf("epsilon must be above 0 and at most %v, not %v", budget.Max, p.Epsilon)
	}
	if err := checkOneOf("manager", p.Manager, FixedRate, FixedUtility); err != nil {
		return err
	}
	if p.Manager == FixedRate && !(1 <= p.Steps && p.Steps <= maxSteps) {
		return fmt.Errorf("steps must be between 1 and %d, not %d", maxSteps, p.Steps)
	}
	if p.Manager == FixedUtility && !(p.Alpha > 0 && p.Alpha <= math.MaxFloat64) {
		return fmt.Errorf("alpha must be above 0, not %v", p.Alpha)
	}
	if p.Mechanism == Independent {
		return nil
	}
	return p.checkPredictive()
}

func (p *Policy) checkPredictive() error {
	for _, share := range []struct {
		key   string
		value float64
	}{{"eta", p.Eta}, {"gamma", p.Gamma}} {
		if !(share.value > 0 && share.value <= 1) {
			return fmt.Errorf("%s must be above 0 and at most 1, not %v", share.key, share.value)
		}
	}
	if !(p.PredictionRate >= 0 && p.PredictionRate <= 1) {
		return fmt.Errorf("prediction_rate must be between 0 and 1, not %v", p.PredictionRate)
	}
	if !(p.SkipSpeed >= 0 && p.SkipSpeed <= math.MaxFloat64) {
		return fmt.Errorf("skip_speed must not be below 0, nor be %v", p.SkipSpeed)
	}
	if err := checkOneOf("predictor", p.Predictor, Parrot, Linear, Mixture); err != nil {
		return err
	}
	return checkOneOf("after", p.After, AfterStop, AfterPredict)
}

func checkOneOf(key, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return fmt.Errorf("%s must be one of %s, not %q", key, strings.Join(allowed, ", "), value)
}

// tuning returns how the policy splits its budget on a space.
func (p *Policy) tuning(s Space) budget.Tuning {
	t := budget.Tuning{NoiseQuantile: s.NoiseQuantile()}
	if p.Mechanism == Predictive {
		t.Eta, t.Gamma = p.Eta, p.Gamma
	}
	return t
}

// manager returns the policy's budget manager on a space, or an error that names the key
// that leaves it nothing to manage.
func (p *Policy) manager(s Space) (budget.Manager, error) {
	tuning := p.tuning(s)
	if tuning.BreakEven() >= 1 {
		return nil, fmt.Errorf("eta %v and gamma %v make a test cost more than the noise it may save", p.Eta, p.Gamma)
	}
	if p.Manager == FixedRate {
		return budget.FixedRate{
			Epsilon: p.Epsilon, Steps: p.Steps, PredictionRate: p.PredictionRate, Tuning: tuning,
		}, nil
	}
	m := budget.FixedUtility{Epsilon: p.Epsilon, Alpha: p.Alpha, Tuning: tuning}
	if a := m.Allot(budget.History{}); a.Noise == 0 {
		return nil, fmt.Errorf("alpha %v costs more than epsilon %v, even once", p.Alpha, p.Epsilon)
	}
	return m, nil
}
