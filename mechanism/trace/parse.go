package trace

import "github.com/geosql/geosql/internal/settings"

// ParsePolicy reads the settings of a mechanism, [Predictive] or [Independent], from a
// JSON object with the keys of [Policy], and fills in the defaults. Keys are
// case-sensitive, and one that is unknown or given twice is an error. A key that the
// chosen mechanism and manager do not use need only have the right type, so that one
// object serves to compare them. Epsilon is the decimal as written, rounded down to a
// multiple of 1e-12. Errors name the key.
func ParsePolicy(mechanism string, text []byte) (Policy, error) {
	s, err := settings.Parse(text, `{"epsilon": 0.023, "steps": 30}`, keys...)
	return readPolicy(mechanism, s, err)
}

// NewPolicy is ParsePolicy for the settings in an object of a host, each a string or a float64.
func NewPolicy(mechanism string, object map[string]any) (Policy, error) {
	s, err := settings.Of(object, keys...)
	return readPolicy(mechanism, s, err)
}

var keys = []string{"domain", "universe", "epsilon", "manager", "alpha", "steps", "eta", "gamma", "prediction_rate",
	"skip_speed", "predictor", "after"}

// readPolicy reads a policy from settings, or returns err, the error of parsing them. An unknown mechanism is reported first.
func readPolicy(mechanism string, s *settings.Values, err error) (Policy, error) {
	if err := checkOneOf("mechanism", mechanism, Predictive, Independent); err != nil {
		return Policy{}, err
	}
	if err != nil {
		return Policy{}, err
	}
	p := Policy{Mechanism: mechanism}
	p.readSpace(s)
	if !s.Has("epsilon") {
		s.Fail("epsilon is missing")
	}
	s.Amount("epsilon", &p.Epsilon)
	p.readManager(s)
	if mechanism == Predictive {
		p.readPredictive(s)
	}
	if err := s.Finish("manager", "predictor", "after"); err != nil {
		return Policy{}, err
	}
	if err := p.check(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// readSpace reads which space the secrets are in.
func (p *Policy) readSpace(s *settings.Values) {
	if !s.Has("universe") {
		s.Read("domain", &p.Domain)
		return
	}
	if s.Has("domain") {
		s.Fail("universe is for readings and domain for locations: give one of the two")
	}
	s.Read("universe", &p.Universe)
	if p.Universe == "" {
		s.Fail("universe must have a name")
	}
}

// readManager reads the budget manager and its goal.
func (p *Policy) readManager(s *settings.Values) {
	switch {
	case s.Has("manager"):
		s.Read("manager", &p.Manager)
	case s.Has("alpha") && s.Has("steps"):
		s.Fail("manager is missing: with steps it is fixed-rate, with alpha fixed-utility")
	case s.Has("alpha"):
		p.Manager = FixedUtility
	case s.Has("steps"):
		p.Manager = FixedRate
	default:
		s.Fail("steps is missing, or alpha for a fixed utility")
		return
	}
	switch p.Manager {
	case FixedRate:
		s.Require("steps", &p.Steps)
	case FixedUtility:
		s.Require("alpha", &p.Alpha)
	default:
		s.Fail("%w", checkOneOf("manager", p.Manager, FixedRate, FixedUtility))
	}
}

// readPredictive reads the settings of the predictive mechanism, over their defaults.
func (p *Policy) readPredictive(s *settings.Values) {
	p.Eta, p.Gamma, p.Predictor, p.After = 0.5, 0.8, Parrot, AfterStop
	if p.Manager == FixedRate {
		p.Eta, p.PredictionRate = 0.6, 0.75
		s.Read("prediction_rate", &p.PredictionRate)
	}
	s.Read("eta", &p.Eta)
	s.Read("gamma", &p.Gamma)
	s.Read("skip_speed", &p.SkipSpeed)
	s.Read("predictor", &p.Predictor)
	s.Read("after", &p.After)
}
