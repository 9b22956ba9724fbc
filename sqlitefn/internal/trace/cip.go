package trace

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/cip"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argCIPName = &frame.Arg{Name: "name", Is: "TEXT", Kind: frame.Name}
	argCIPJSON = &frame.Arg{Name: "json", Is: "JSON object with the settings, see below", Kind: frame.Text}

	argTimes       = &frame.Arg{Name: "times_json", Is: "JSON array of numbers, in the unit of the policy's length scale", Kind: frame.Text}
	argLossPolicy  = &frame.Arg{Name: "policy", Is: "name of a policy, or its JSON; it must have sigma2", Kind: frame.Text}
	argSigmaPolicy = &frame.Arg{Name: "policy", Is: "name of a policy, or its JSON; it must have epsilon", Kind: frame.Text}
)

var cipFunctions = []*frame.Function{
	{
		Name: "cip_policy", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argCIPName, argCIPJSON},
		Does: "Declares the assumptions and the protection of whole traces that are released: conditional inferential privacy under Gaussian-process priors.",
		Notes: "Settings: `kernel` ('rbf', 'exponential' or 'periodic': how coordinates at two times are correlated), `variance` (of a coordinate, square metres), " +
			"`length_scale` (of the kernel, seconds) or `length_scale_max` (the policy covers all length scales up to it), `period` (of the periodic kernel, seconds), " +
			"`radius` (the greatest distance between two locations of one point that must not be told apart, metres), `lambda` (order of the Rényi divergence, above 1), " +
			"`epsilon` (the loss allowed), `domain` (of the locations; may be left out if only one is declared), `sigma2` (variance of the noise, for cip_loss), " +
			"and `family`, the sets of points that are protected together: 'singles', 'every-other', 'windows:W' (any 1 to W consecutive points) or lists of indices in the order of time such as [[0, 1], [5]]. " +
			"**Only the sets of the family are protected, and only against someone who knows no more than such a prior**; other sets may lose far more. " +
			"A policy cannot change once declared.",
		Examples: []string{`SELECT cip_policy('day', '{"kernel": "rbf", "variance": 1000000, "length_scale_max": 600, "radius": 100, "lambda": 2, "epsilon": 1, "family": "windows:3", "domain": "beijing"}')`,
			"SELECT budget_limit('*', 'cip:day', 1)"},
		Scalar: cipPolicy,
	},
	{
		Name: "cip_loss", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{argTimes, argLossPolicy},
		Does:     "Returns the loss of a trace with these times if noise of variance sigma2 is added to each coordinate: the greatest over the policy's family and length scales.",
		Accuracy: "rounded up",
		Notes: "The loss is computed with as many digits as necessary; if that cannot be guaranteed, it is an error. " +
			"Each length scale that is examined has this guarantee, but the greatest loss between them is found by a search: see the documentation of package cip. The radius is Euclidean for each point, so the loss covers both coordinates.",
		Examples: []string{`SELECT round(cip_loss('[0,1,2,3,4,5,6,7,8,9]', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"every-other","sigma2":1}'), 5)`},
		Scalar:   cipLoss,
	},
	{
		Name: "cip_sigma", Section: frame.Free, Returns: "REAL",
		Args:     []*frame.Arg{argTimes, argSigmaPolicy},
		Does:     "Returns the least variance of the noise in each coordinate with which a trace with these times loses no more than epsilon.",
		Examples: []string{`SELECT round(cip_sigma('[0,300,600]', '{"kernel":"rbf","variance":1000000,"length_scale":600,"radius":100,"lambda":2,"family":"singles","epsilon":1}'))`},
		Scalar:   cipSigma,
	},
}

// cipPolicy declares a policy.
func cipPolicy(c frame.Call) error {
	s, name, text := c.Session, c.Text(argCIPName), c.Text(argCIPJSON)
	policy, err := cip.ParsePolicy(text)
	if err != nil {
		return c.Errorf(argCIPJSON, "cannot be used: %v", err)
	}
	earlier, err := declared.Declare(s, func() (string, bool, error) { return readCIP(s, name) },
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
func readCIP(s *frame.Session, name string) (text string, found bool, err error) {
	err = s.Read(`SELECT policy FROM main.geosql_cip WHERE name = ?`,
		func(st *sqlite.Stmt) { text, found = frame.ColumnText(st, 0), true }, name)
	return text, found, err
}

// cipNamed returns the policy that an argument names.
func cipNamed(c frame.Call, a *frame.Arg) (policy cip.Policy, err error) {
	name := c.Bytes(a)
	if !frame.IsPrintable(name) {
		return policy, c.Errorf(a, "must be printable text")
	}
	text, found, err := readCIP(c.Session, string(name))
	if err == nil && !found {
		err = declared.Undeclared(c, a, "cip")
	}
	if err != nil {
		return policy, err
	}
	return cip.ParsePolicy(text)
}

// cipGiven returns the policy that an argument names or contains as JSON.
func cipGiven(c frame.Call, a *frame.Arg) (cip.Policy, error) {
	text := c.Text(a)
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		return cipNamed(c, a)
	}
	policy, err := cip.ParsePolicy(text)
	if err != nil {
		err = c.Errorf(a, "cannot be used: %v", err)
	}
	return policy, err
}

// cipArguments returns the arguments of cip_loss and cip_sigma.
func cipArguments(c frame.Call, a *frame.Arg) (times []float64, policy cip.Policy, err error) {
	if times, err = cip.ParseTimes(c.Text(argTimes)); err != nil {
		return nil, policy, c.Errorf(argTimes, "cannot be used: %v", err)
	}
	policy, err = cipGiven(c, a)
	return times, policy, err
}

var (
	errNoSigma2  = errors.New("policy has no sigma2, the variance of the noise")
	errNoEpsilon = errors.New("policy has no epsilon, the loss that is allowed")
)

// cipLoss answers the loss of a trace with these times.
func cipLoss(c frame.Call) error {
	times, policy, err := cipArguments(c, argLossPolicy)
	if err != nil {
		return err
	}
	if policy.Sigma2 == 0 {
		return errNoSigma2
	}
	var loss cip.Loss
	err = c.Session.Interruptibly(func(ctx context.Context) (err error) {
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
func cipSigma(c frame.Call) error {
	times, policy, err := cipArguments(c, argSigmaPolicy)
	if err != nil {
		return err
	}
	if policy.Epsilon == 0 {
		return errNoEpsilon
	}
	var sigma2 float64
	err = c.Session.Interruptibly(func(ctx context.Context) (err error) {
		sigma2, err = policy.SmallestSigma2(ctx, times)
		return err
	})
	if err != nil {
		return err
	}
	c.ResultFloat(0, sigma2)
	return nil
}
