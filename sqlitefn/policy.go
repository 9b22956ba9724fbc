package sqlitefn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/trace"
)

// everyTrace is the trace whose policy holds for those that have none.
const everyTrace = "*"

// declaredTrace is what stands in geosql_trace.
type declaredTrace struct{ account, mechanism, settings string }

// A traceMechanism is what a policy may choose.
type traceMechanism struct {
	name string
	step string // the function that takes its steps
	plan func(*session, declaredTrace) (*tracePlan, error)
}

var traceMechanisms = []traceMechanism{
	{trace.Predictive, "predictive_step", (*session).predictivePlan},
	{trace.Independent, "predictive_step", (*session).predictivePlan},
	{pim.PIM, "pim_step", (*session).pimPlan},
}

func mechanismNamed(name string) (*traceMechanism, error) {
	names := make([]string, len(traceMechanisms))
	for i := range traceMechanisms {
		if names[i] = traceMechanisms[i].name; names[i] == name {
			return &traceMechanisms[i], nil
		}
	}
	return nil, fmt.Errorf("mechanism must be one of %s, not %s", strings.Join(names, ", "), quoted([]byte(name)))
}

// mechanismOf is the first mechanism whose steps f takes.
func mechanismOf(f *function) string {
	i := slices.IndexFunc(traceMechanisms, func(m traceMechanism) bool { return m.step == f.name })
	return traceMechanisms[i].name
}

// tracePlanKey is what a plan is made from.
type tracePlanKey struct {
	mechanism, settings string
	on                  any // a domain or model
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
	mechanism, err := mechanismNamed(d.mechanism)
	if err != nil {
		return err
	}
	plan, err := mechanism.plan(s, d)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	earlier, err := declare(s, func() (declaredTrace, bool, error) { return s.readTrace(name) },
		`INSERT OR IGNORE INTO main.geosql_trace(trace, account, mechanism, settings) VALUES(?,?,?,?)`,
		name, d.account, d.mechanism, d.settings)
	if err != nil {
		return err
	}
	if d != earlier {
		return fmt.Errorf("trace %s has a policy already and it cannot change; take another name", quoted([]byte(name)))
	}
	c.ResultString(0, policyOf(name, d.account)+": "+plan.says)
	return nil
}

// policyOf says which traces a policy is of and who pays.
func policyOf(name, account string) string {
	switch {
	case name == everyTrace && account == everyTrace:
		return "every trace without a policy of its own, each an account of its name"
	case name == everyTrace:
		return "every trace without a policy of its own, charged to account " + quoted([]byte(account))
	default:
		return "trace " + quoted([]byte(name)) + ", charged to account " + quoted([]byte(account))
	}
}

// rememberTrace is the plan of the key, which is made if there is none.
func (s *session) rememberTrace(key tracePlanKey, plan func() (*tracePlan, error)) (*tracePlan, error) {
	if p := s.traces[key]; p != nil {
		return p, nil
	}
	p, err := plan()
	if err == nil {
		remember(s.traces, key, p)
	}
	return p, err
}

// domainOf is the domain of that name, or the only one for none.
func (s *session) domainOf(name string) (*planar.Domain, error) {
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
func (s *session) tracePolicyOf(name string) (d declaredTrace, found bool, err error) {
	d, found, err = s.readTrace(name)
	if err == nil && !found {
		d, found, err = s.readTrace(everyTrace)
		if d.account == everyTrace {
			d.account = name
		}
	}
	return d, found, err
}
