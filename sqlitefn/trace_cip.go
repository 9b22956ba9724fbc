package sqlitefn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/cip"
)

var (
	argCIPName = &argument{name: "name", is: "TEXT", kind: kindName}
	argCIPJSON = &argument{name: "json", is: "JSON object with the settings, see below", kind: kindText}

	argTimes       = &argument{name: "times_json", is: "JSON array of numbers, in the unit of the policy's length scale", kind: kindText}
	argLossPolicy  = &argument{name: "policy", is: "name of a policy, or its JSON; it must have sigma2", kind: kindText}
	argSigmaPolicy = &argument{name: "policy", is: "name of a policy, or its JSON; it must have epsilon", kind: kindText}
)

var cipFunctions = []*function{
	&function{
		name: "cip_policy", section: declared, flags: ownerOnly,
		args: []*argument{argCIPName, argCIPJSON},
		does: "Declares what is assumed and what is protected when whole traces are released: conditional inferential privacy under Gaussian-process priors.",
		notes: "Settings: `kernel` ('rbf', 'exponential' or 'periodic': how coordinates at two times are correlated), `variance` (of a coordinate, square metres), " +
			"`length_scale` (of the kernel, seconds) or `length_scale_max` (the policy covers all length scales up to it), `period` (of the periodic kernel, seconds), " +
			"`radius` (the greatest distance between two locations of one point that must not be told apart, metres), `lambda` (order of the Rényi divergence, above 1), " +
			"`epsilon` (the loss allowed), `domain` (of the locations; may be left out if only one is declared), `sigma2` (variance of the noise, for cip_loss), " +
			"and `family`, the sets of points that are protected together: 'singles', 'every-other', 'windows:W' (any 1 to W consecutive points) or lists of indices in the order of time such as [[0, 1], [5]]. " +
			"**Only the sets of the family are protected, and only against someone who knows no more than such a prior**; other sets may lose far more. " +
			"A policy cannot change once declared.",
		example: []string{`SELECT cip_policy('day', '{"kernel": "rbf", "variance": 1000000, "length_scale_max": 600, "radius": 100, "lambda": 2, "epsilon": 1, "family": "windows:3", "domain": "beijing"}')`,
			"SELECT budget_limit('*', 'cip:day', 1)"},
		scalar: cipPolicy,
	},
	&function{
		name: "cip_loss", section: free,
		args: []*argument{argTimes, argLossPolicy},
		does: "Returns the loss of a trace with these times if noise of variance sigma2 is added to each coordinate: the greatest over the policy's family and length scales.",
		notes: "The loss is computed with as many digits as necessary and rounded up; if that cannot be guaranteed, it is an error. " +
			"Each length scale that is examined has this guarantee, but the greatest loss between them is found by a search: see the documentation of package cip. The radius is Euclidean for each point, so the loss covers both coordinates.",
		example: []string{`SELECT round(cip_loss('[0,1,2,3,4,5,6,7,8,9]', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"every-other","sigma2":1}'), 5)`},
		scalar:  cipLoss,
	},
	&function{
		name: "cip_sigma", section: free,
		args:    []*argument{argTimes, argSigmaPolicy},
		does:    "Returns the least variance of the noise in each coordinate with which a trace with these times loses no more than epsilon.",
		example: []string{`SELECT round(cip_sigma('[0,300,600]', '{"kernel":"rbf","variance":1000000,"length_scale":600,"radius":100,"lambda":2,"family":"singles","epsilon":1}'))`},
		scalar:  cipSigma,
	},
}

// cipPolicy declares a policy.
func cipPolicy(c call) error {
	s, name, text := c.session, c.text(argCIPName), c.text(argCIPJSON)
	policy, err := cip.ParsePolicy(text)
	if err != nil {
		return c.argErrorf(argCIPJSON, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() (string, bool, error) { return s.readCIP(name) },
		`INSERT OR IGNORE INTO main.geosql_cip(name, policy) VALUES(?,?)`, name, text)
	if err != nil {
		return err
	}
	if earlier != text {
		return fmt.Errorf("policy '%s' is declared already and cannot change; take another name", name)
	}
	c.ResultString(0, fmt.Sprintf("policy '%s': %s", name, policy))
	return nil
}

// readCIP returns the text of a declared policy.
func (s *session) readCIP(name string) (text string, found bool, err error) {
	err = s.read(`SELECT policy FROM main.geosql_cip WHERE name = ?`,
		func(st *sqlite.Stmt) { text, found = columnText(st, 0), true }, name)
	return text, found, err
}

// cipNamed returns the policy that an argument names.
func (c call) cipNamed(a *argument) (policy cip.Policy, err error) {
	name := c.bytes(a)
	if !isName(name) {
		return policy, c.argErrorf(a, "must be printable text")
	}
	text, found, err := c.session.readCIP(string(name))
	if err == nil && !found {
		err = c.undeclared(a, "cip")
	}
	if err != nil {
		return policy, err
	}
	return cip.ParsePolicy(text)
}

// cipGiven returns the policy that an argument names or contains as JSON.
func (c call) cipGiven(a *argument) (cip.Policy, error) {
	text := c.text(a)
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return c.cipNamed(a)
	}
	policy, err := cip.ParsePolicy(text)
	if err != nil {
		err = c.argErrorf(a, "cannot be used: %v", err)
	}
	return policy, err
}

// cipArguments returns the arguments of cip_loss and cip_sigma.
func (c call) cipArguments(a *argument) (times []float64, policy cip.Policy, err error) {
	if times, err = cip.ParseTimes(c.text(argTimes)); err != nil {
		return nil, policy, c.argErrorf(argTimes, "cannot be used: %v", err)
	}
	policy, err = c.cipGiven(a)
	return times, policy, err
}

var (
	errNoSigma2  = errors.New("policy has no sigma2, the variance of the noise")
	errNoEpsilon = errors.New("policy has no epsilon, the loss that is allowed")
)

// cipLoss answers the loss of a trace with these times.
func cipLoss(c call) error {
	times, policy, err := c.cipArguments(argLossPolicy)
	if err != nil {
		return err
	}
	if policy.Sigma2 == 0 {
		return errNoSigma2
	}
	var loss cip.Loss
	err = c.session.runInterruptible(func(ctx context.Context) (err error) {
		loss, err = policy.Loss(ctx, times, policy.Sigma2)
		return err
	})
	if err != nil {
		return err
	}
	c.ResultFloat(0, loss.Loss)
	return nil
}

// cipSigma answers the least variance with which a trace loses no more than epsilon.
func cipSigma(c call) error {
	times, policy, err := c.cipArguments(argSigmaPolicy)
	if err != nil {
		return err
	}
	if policy.Epsilon == 0 {
		return errNoEpsilon
	}
	var sigma2 float64
	err = c.session.runInterruptible(func(ctx context.Context) (err error) {
		sigma2, err = policy.SmallestSigma2(ctx, times)
		return err
	})
	if err != nil {
		return err
	}
	c.ResultFloat(0, sigma2)
	return nil
}
