package pim

import (
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/settings"
)

// A Policy holds the settings of a mechanism, all of them public. [ParsePolicy] reads
// one; the text's keys are in parentheses.
type Policy struct {
	Model string // name of the Markov model that New is passed (model); required

	// Epsilon is the cost of each step, per set (epsilon); required, and at least 0.001:
	// below it, every report is noise of the size of a thousand maps.
	Epsilon budget.Amount

	// Delta is the prior probability that a set may leave out (delta), at least 0
	// and below 1; 0.01 by default, as in the paper's experiments.
	Delta budget.Amount

	// MinSet is the least number of cells in a set (min_set), as far as the grid has so
	// many; 1 by default. For a set of one cell the report is that cell, wherever the
	// secret is.
	MinSet int
}

const (
	minEpsilon   = budget.One / 1000
	maxEpsilon   = 100 * budget.One
	defaultDelta = budget.One / 100
)

// ParsePolicy reads settings from a JSON object with the keys of [Policy], and fills in
// the defaults. Numbers are the decimals as written, rounded down to multiples of 1e-12.
// Errors name the key.
func ParsePolicy(text []byte) (Policy, error) {
	v, err := settings.Parse(text, `{"model": "popular", "epsilon": 1, "delta": 0.01}`,
		"model", "epsilon", "delta", "min_set")
	if err != nil {
		return Policy{}, err
	}
	p := Policy{Delta: defaultDelta, MinSet: 1}
	v.Require("model", &p.Model)
	if !v.Has("epsilon") {
		v.Fail("epsilon is missing")
	}
	v.Amount("epsilon", &p.Epsilon)
	v.Amount("delta", &p.Delta)
	v.Read("min_set", &p.MinSet)
	if err := v.Finish(); err != nil {
		return Policy{}, err
	}
	return p, p.check()
}

// check returns an error that names the key at fault.
func (p *Policy) check() error {
	switch {
	case strings.TrimSpace(p.Model) == "":
		return errors.New("model must be the name of a model")
	case !(minEpsilon <= p.Epsilon && p.Epsilon <= maxEpsilon):
		return fmt.Errorf("epsilon must be between %v and %v, not %v", minEpsilon, maxEpsilon, p.Epsilon)
	case !(0 <= p.Delta && p.Delta < budget.One):
		return fmt.Errorf("delta must be at least 0 and below 1, not %v", p.Delta)
	case p.MinSet < 1:
		return fmt.Errorf("min_set must be at least 1, not %d", p.MinSet)
	}
	return nil
}
