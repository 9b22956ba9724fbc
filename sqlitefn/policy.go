package sqlitefn

import (
	"fmt"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// everyTrace is the trace whose policy holds for those that have none.
const everyTrace = "*"

// declaredTrace is what stands in geosql_trace.
type declaredTrace struct{ account, mechanism, settings string }

// tracePlan is a policy at work on its domain.
type tracePlan struct {
	mechanism *trace.Mechanism
	plane     trace.Plane
	domain    *planar.Domain
}

type tracePlanKey struct {
	mechanism, settings string
	domain              *planar.Domain
}

// tracePolicy declares what the steps of a trace do.
func tracePolicy(s *session, c call) error {
	name, err := c.limitedAccount(0)
	if err != nil {
		return err
	}
	d := declaredTrace{}
	if d.account, err = c.limitedAccount(1); err != nil {
		return err
	}
	if d.account == everyTrace && name != everyTrace {
		return c.bad(1, "'*' is only for the policy of all traces, where every trace is an account")
	}
	for i, into := range []*string{&d.mechanism, &d.settings} {
		text, err := c.text(2 + i)
		if err != nil {
			return err
		}
		*into = string(text)
	}
	plan, err := s.tracePlan(d)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	earlier, found, err := s.readTrace(name)
	if err != nil {
		return err
	}
	if found && d != earlier {
		return fmt.Errorf("trace %s has a policy already and it cannot change; take another name", quoted([]byte(name)))
	}
	if !found {
		if err := s.write(`INSERT INTO main.geosql_trace(trace, account, mechanism, settings) VALUES(?,?,?,?)`,
			name, d.account, d.mechanism, d.settings); err != nil {
			return err
		}
	}
	c.ResultString(0, plan.describe(name, d.account))
	return nil
}

// describe is the line that answers a declaration.
func (p *tracePlan) describe(name, account string) string {
	who := "trace " + quoted([]byte(name))
	switch {
	case name == everyTrace && account == everyTrace:
		who = "every trace without a policy of its own, each an account of its name"
	case name == everyTrace:
		who = "every trace without a policy of its own, charged to account " + quoted([]byte(account))
	default:
		who += ", charged to account " + quoted([]byte(account))
	}
	policy := p.mechanism.Policy()
	return fmt.Sprintf("%s: %s, %s, %s/m for the whole trace", who, policy.Mechanism, policy.Manager, policy.Epsilon)
}

// tracePlan is the mechanism that a declaration stands for. Errors name the key of
// the settings at fault.
func (s *session) tracePlan(d declaredTrace) (*tracePlan, error) {
	policy, err := trace.ParsePolicy(d.mechanism, []byte(d.settings))
	if err != nil {
		return nil, err
	}
	domain, err := s.policyDomain(policy.Domain)
	if err != nil {
		return nil, err
	}
	key := tracePlanKey{d.mechanism, d.settings, domain}
	if p := s.traces[key]; p != nil {
		return p, nil
	}
	plane := trace.NewPlane(domain)
	m, err := trace.New(plane, policy)
	if err != nil {
		return nil, err
	}
	p := &tracePlan{m, plane, domain}
	remember(s.traces, key, p)
	return p, nil
}

// policyDomain is the domain of that name, or the only one for none.
func (s *session) policyDomain(name string) (*planar.Domain, error) {
	if name == "" {
		return s.onlyDomain()
	}
	domain, err := s.domainNamed([]byte(name))
	if err == nil && domain == nil {
		err = fmt.Errorf("domain %s is not declared", quoted([]byte(name)))
	}
	return domain, err
}

func (s *session) readTrace(name string) (d declaredTrace, found bool, err error) {
	err = s.read(`SELECT account, mechanism, settings FROM main.geosql_trace WHERE trace = ?`, func(st *sqlite.Stmt) {
		found = true
		d = declaredTrace{columnText(st, 0), columnText(st, 1), columnText(st, 2)}
	}, name)
	return d, found, err
}

// tracePolicyOf is the policy that holds for a trace.
func (s *session) tracePolicyOf(name string) (d declaredTrace, err error) {
	d, found, err := s.readTrace(name)
	if err == nil && !found {
		d, found, err = s.readTrace(everyTrace)
		if d.account == everyTrace {
			d.account = name
		}
	}
	if err == nil && !found {
		err = fmt.Errorf("trace %s has no policy; declare one: SELECT trace_policy(%[1]s, ACCOUNT, 'predictive', JSON)", quoted([]byte(name)))
	}
	return d, err
}
