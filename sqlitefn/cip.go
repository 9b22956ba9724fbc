package sqlitefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/cip"
)

// cipUnit is what traces under a policy of that name are charged in.
func cipUnit(name string) budget.Unit { return budget.Unit("cip:" + name) }

// cipPolicy declares a policy.
func cipPolicy(s *session, c call) error {
	name, err := c.name(0)
	if err != nil {
		return err
	}
	text, err := c.text(1)
	if err != nil {
		return err
	}
	policy, err := cip.ParsePolicy(string(text))
	if err != nil {
		return c.bad(1, "cannot be used: %v", err)
	}
	earlier, err := declare(s, func() (string, bool, error) { return s.readCIP(name) },
		`INSERT OR IGNORE INTO main.geosql_cip(name, policy) VALUES(?,?)`, name, string(text))
	if err != nil {
		return err
	}
	if earlier != string(text) {
		return fmt.Errorf("policy '%s' is declared already and cannot change; take another name", name)
	}
	c.ResultString(0, fmt.Sprintf("policy '%s': %s", name, policy))
	return nil
}

// readCIP is the text of a declared policy.
func (s *session) readCIP(name string) (text string, found bool, err error) {
	err = s.read(`SELECT policy FROM main.geosql_cip WHERE name = ?`,
		func(st *sqlite.Stmt) { text, found = columnText(st, 0), true }, name)
	return text, found, err
}

// cipNamed is the policy that argument i names, and the name.
func (s *session) cipNamed(c call, i int) (name string, policy cip.Policy, err error) {
	if name, err = c.name(i); err != nil {
		return "", policy, err
	}
	text, found, err := s.readCIP(name)
	if err == nil && !found {
		err = c.undeclared(s, i, "cip")
	}
	if err != nil {
		return "", policy, err
	}
	policy, err = cip.ParsePolicy(text)
	return name, policy, err
}

// cipGiven is the policy that argument i names or is the JSON of.
func (s *session) cipGiven(c call, i int) (cip.Policy, error) {
	text, err := c.text(i)
	if err != nil {
		return cip.Policy{}, err
	}
	if !bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		_, policy, err := s.cipNamed(c, i)
		return policy, err
	}
	policy, err := cip.ParsePolicy(string(text))
	if err != nil {
		err = c.bad(i, "cannot be used: %v", err)
	}
	return policy, err
}

// cipArguments are those of the free functions.
func (s *session) cipArguments(c call) (times []float64, policy cip.Policy, err error) {
	text, err := c.text(0)
	if err != nil {
		return nil, policy, err
	}
	if times, err = cip.ParseTimes(string(text)); err != nil {
		return nil, policy, c.bad(0, "cannot be used: %v", err)
	}
	policy, err = s.cipGiven(c, 1)
	return times, policy, err
}

var (
	errNoSigma2  = errors.New("policy has no sigma2, the variance of the noise")
	errNoEpsilon = errors.New("policy has no epsilon, the loss that is allowed")
)

// cipLoss answers what a trace with these times loses.
func cipLoss(s *session, c call) error {
	times, policy, err := s.cipArguments(c)
	if err != nil {
		return err
	}
	if policy.Sigma2 == 0 {
		return errNoSigma2
	}
	var loss cip.Loss
	err = s.untilInterrupted(func(ctx context.Context) (err error) {
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
func cipSigma(s *session, c call) error {
	times, policy, err := s.cipArguments(c)
	if err != nil {
		return err
	}
	if policy.Epsilon == 0 {
		return errNoEpsilon
	}
	var sigma2 float64
	err = s.untilInterrupted(func(ctx context.Context) (err error) {
		sigma2, err = policy.SmallestSigma2(ctx, times)
		return err
	})
	if err != nil {
		return err
	}
	c.ResultFloat(0, sigma2)
	return nil
}
