package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
)

// ParsePolicy reads the settings of a mechanism, [Predictive] or [Independent],
// from a JSON object with the keys of [Policy], and fills in the defaults. Keys are
// spelt as written there; one which is unknown or given twice is an error. One that the
// mechanism and manager chosen make no use of need only be of the right type, so that
// one object serves to compare them. Epsilon is the decimal that is
// written, rounded down to a multiple of 1e-12. Errors name the key.
func ParsePolicy(mechanism string, text []byte) (Policy, error) {
	if err := oneOf("mechanism", mechanism, Predictive, Independent); err != nil {
		return Policy{}, err
	}
	s, err := readSettings(text)
	if err != nil {
		return Policy{}, err
	}
	p := Policy{Mechanism: mechanism}
	s.read("domain", &p.Domain)
	s.epsilon(&p.Epsilon)
	s.manager(&p)
	if mechanism == Predictive {
		s.predictive(&p)
	}
	if err := s.finish(); err != nil {
		return Policy{}, err
	}
	if err := p.check(); err != nil {
		return Policy{}, err
	}
	return p, nil
}

// manager reads the budget manager and its goal.
func (s *settings) manager(p *Policy) {
	switch {
	case s.has("manager"):
		s.read("manager", &p.Manager)
	case s.has("alpha") && s.has("steps"):
		s.fail("manager is missing: with steps it is fixed-rate, with alpha fixed-utility")
	case s.has("alpha"):
		p.Manager = FixedUtility
	case s.has("steps"):
		p.Manager = FixedRate
	default:
		s.fail("steps is missing, or alpha for a fixed utility")
		return
	}
	switch p.Manager {
	case FixedRate:
		s.require("steps", &p.Steps)
	case FixedUtility:
		s.require("alpha", &p.Alpha)
	default:
		s.fail("%w", oneOf("manager", p.Manager, FixedRate, FixedUtility))
	}
}

// predictive reads the settings of the predictive mechanism, over their defaults.
func (s *settings) predictive(p *Policy) {
	p.Eta, p.Gamma, p.Predictor, p.After = 0.5, 0.8, Parrot, AfterStop
	if p.Manager == FixedRate {
		p.Eta, p.PredictionRate = 0.6, 0.75
		s.read("prediction_rate", &p.PredictionRate)
	}
	s.read("eta", &p.Eta)
	s.read("gamma", &p.Gamma)
	s.read("skip_speed", &p.SkipSpeed)
	s.read("predictor", &p.Predictor)
	s.read("after", &p.After)
}

// settings are the values of a JSON object not read yet, and the first error.
type settings struct {
	values map[string]json.RawMessage
	err    error
}

// keys are all that a policy may have.
var keys = []string{
	"domain", "epsilon", "manager", "alpha", "steps", "eta", "gamma", "prediction_rate",
	"skip_speed", "predictor", "after",
}

var errNotAnObject = errors.New(`settings must be one JSON object, such as {"epsilon": 0.023, "steps": 30}`)

// readSettings splits an object into its values. Unlike json.Unmarshal into a
// struct it tells apart keys that differ by case, and notices repetitions.
func readSettings(text []byte) (*settings, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, errNotAnObject
	}
	s := &settings{values: map[string]json.RawMessage{}}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, errNotAnObject
		}
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("key %q is unknown: there are %s", key, strings.Join(keys, ", "))
		}
		if s.has(key) {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, fmt.Errorf("%s has no JSON value", key)
		}
		s.values[key] = value
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, errNotAnObject
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errNotAnObject
	}
	return s, nil
}

func (s *settings) has(key string) bool { return s.values[key] != nil }

func (s *settings) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// require is read for a key that must be there.
func (s *settings) require(key string, target any) {
	if !s.has(key) {
		s.fail("%s is missing", key)
	}
	s.read(key, target)
}

// read takes the value of a key, if it is given.
func (s *settings) read(key string, target any) {
	value, given := s.values[key]
	if !given {
		return
	}
	delete(s.values, key)
	if err := json.Unmarshal(value, target); err != nil || string(value) == "null" {
		s.fail("%s must be %s, not %.40q", key, kindOf(target), value)
	}
}

func kindOf(target any) string {
	switch target.(type) {
	case *string:
		return "a text"
	case *int64:
		return "a whole number"
	default:
		return "a number"
	}
}

// epsilon reads the budget, as the decimal people wrote.
func (s *settings) epsilon(target *budget.Amount) {
	var number float64
	s.require("epsilon", &number)
	if s.err != nil {
		return
	}
	amount, err := budget.Limit(budget.Decimal(number))
	if err != nil {
		s.fail("%w", err)
	}
	*target = amount
}

// finish returns the first error. It also looks at the type of what nobody has
// read.
func (s *settings) finish() error {
	var text string
	var number float64
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		switch key {
		case "manager", "predictor", "after":
			s.read(key, &text)
		default:
			s.read(key, &number)
		}
	}
	return s.err
}
