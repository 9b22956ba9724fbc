package trace

import (
	"fmt"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/mechanism/trace"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argPolicyTrace     = &frame.Arg{Name: "trace", Is: "TEXT or INTEGER; '*' is the default for traces without a policy of their own", Kind: frame.AnyAccount}
	argPolicyAccount   = &frame.Arg{Name: "account", Is: "TEXT or INTEGER: the account that pays, in unit m, in the unit of the policy's universe, or in unit set for pim; '*', only for trace '*', charges each trace to the account of its name", Kind: frame.AnyAccount}
	argPolicyMechanism = &frame.Arg{Name: "mechanism", Is: "'predictive' or 'independent' (noise for every point) for predictive_step and predictive_value, or 'pim' for pim_step", Kind: frame.Text}
	argPolicySettings  = &frame.Arg{Name: "json", Is: "JSON object with the settings, see below", Kind: frame.Text}
)

var policyFunctions = []*frame.Function{
	{
		Name: "trace_policy", Section: frame.DeclaredByOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args: []*frame.Arg{argPolicyTrace, argPolicyAccount, argPolicyMechanism, argPolicySettings},
		Does: "Declares the policy of predictive_step, predictive_value or pim_step for a trace.",
		Notes: "Settings of predictive and independent: `epsilon` per metre for the whole trace, or per unit of the universe (required); `domain`, which may be left out if only one is declared, or `universe` in place of it, for readings and predictive_value; " +
			"`steps`, for manager `fixed-rate`: how many points the budget should last for, or `alpha`, for manager `fixed-utility`: the radius in metres, or in the universe's unit, that noise stays within with probability 0.9. " +
			"Further settings of predictive, with their defaults: `eta` (0.6 for fixed-rate, 0.5 for fixed-utility) and `gamma` (0.8), which relate a test to its noise; " +
			"`prediction_rate` (0.75; fixed-rate only), the share of predictions expected to pass; `skip_speed` in m/s, or the universe's unit per second (0): predictions that the secret cannot have left behind at that speed are not tested; " +
			"**more than a tenth of the reports may be further off than alpha** then, most of all of a secret that is faster, and without skip_speed where bad predictions pass the test, as they do for taxis and, where eta is below its default, for meters: at 0.25 up to 16 % of the reports, at 0.1 up to 28 % (see docs/study-predictive.md and docs/study-meters.md); " +
			"`predictor` ('parrot', which predicts the last report, 'linear' or 'mixture'); and `after` ('stop', or 'predict' for untested predictions once the budget is used up). " +
			"Settings of pim: `model`, the name of a model that markov_store has stored (required); `epsilon`, of each step (required); " +
			"`delta` (0.01): a step's set has the cells that the public knows the trace to be in with probability 1 - delta; " +
			"`min_set` (1): the least number of cells in a set. The domain of the model must not have a region. " +
			"A policy cannot change; declaring it again unchanged is harmless.",
		Examples: []string{
			`SELECT trace_policy('*', '*', 'predictive', '{"domain": "beijing", "epsilon": 0.023, "steps": 30}')`,
			`SELECT trace_policy('walk', 'ana', 'predictive', '{"domain": "beijing", "epsilon": 0.02, "alpha": 3000, "skip_speed": 8}')`,
			`SELECT budget_limit(17, 'kWh', 20), trace_policy('meter 17', 17, 'predictive', '{"universe": "halfhour", "epsilon": 20, "alpha": 0.5, "eta": 0.25}')`,
			`SELECT trace_policy('ride', 'ana', 'pim', '{"model": "popular", "epsilon": 1, "delta": 0.01, "min_set": 3}')`,
		},
		Scalar: tracePolicy,
	},
}

// everyTrace is the trace with the policy for all traces without one of their own.
const everyTrace = "*"

// declaredTrace is a row of geosql_trace.
type declaredTrace struct{ account, mechanism, settings string }

// A traceMechanism is a mechanism that a policy may choose.
type traceMechanism struct {
	name  string
	step  string // the function that takes its steps
	value string // the function that takes its steps over readings, or empty
	plan  func(*frame.Session, declaredTrace) (*tracePlan, error)
}

// stepOf returns the name of the function that takes the steps of a plan.
func (m *traceMechanism) stepOf(plan *tracePlan) string {
	if plan.readings {
		return m.value
	}
	return m.step
}

var traceMechanisms = []traceMechanism{
	{trace.Predictive, "predictive_step", "predictive_value", predictivePlan},
	{trace.Independent, "predictive_step", "predictive_value", predictivePlan},
	{pim.PIM, "pim_step", "", pimPlan},
}

// mechanismNamed returns the mechanism of that name.
func mechanismNamed(name string) (*traceMechanism, error) {
	names := make([]string, len(traceMechanisms))
	for i := range traceMechanisms {
		if names[i] = traceMechanisms[i].name; names[i] == name {
			return &traceMechanisms[i], nil
		}
	}
	return nil, fmt.Errorf("mechanism must be one of %s, not %s", strings.Join(names, ", "), frame.Quoted(name))
}

// firstMechanismOf returns the name of the first mechanism with steps that f takes.
func firstMechanismOf(f *frame.Function) string {
	i := slices.IndexFunc(traceMechanisms, func(m traceMechanism) bool { return m.step == f.Name || m.value == f.Name })
	return traceMechanisms[i].name
}

// tracePolicy declares the policy of a trace.
func tracePolicy(c frame.Call) error {
	s, name := c.Session, c.Text(argPolicyTrace)
	d := declaredTrace{c.Text(argPolicyAccount), c.Text(argPolicyMechanism), c.Text(argPolicySettings)}
	if d.account == everyTrace && name != everyTrace {
		return c.Errorf(argPolicyAccount, "'*' is only for the policy of all traces, where every trace is an account")
	}
	mechanism, err := mechanismNamed(d.mechanism)
	if err != nil {
		return err
	}
	plan, err := mechanism.plan(s, d)
	if err != nil {
		return fmt.Errorf("json: %w", err)
	}
	earlier, err := declared.Declare(s, func() (declaredTrace, bool, error) { return readTrace(s, name) },
		`INSERT OR IGNORE INTO main.geosql_trace(trace, account, mechanism, settings) VALUES(?,?,?,?)`,
		name, d.account, d.mechanism, d.settings)
	if err != nil {
		return err
	}
	if d != earlier {
		return fmt.Errorf("trace %s has a policy already and it cannot change; take another name", frame.Quoted(name))
	}
	c.ResultString(0, describePolicy(name, d.account)+": "+plan.summary)
	return nil
}

// describePolicy says which traces a policy applies to and who pays.
func describePolicy(name, account string) string {
	switch {
	case name == everyTrace && account == everyTrace:
		return "every trace without a policy of its own, each an account of its name"
	case name == everyTrace:
		return "every trace without a policy of its own, charged to account " + frame.Quoted(account)
	default:
		return "trace " + frame.Quoted(name) + ", charged to account " + frame.Quoted(account)
	}
}

// readTrace returns the policy that is declared for exactly this trace.
func readTrace(s *frame.Session, name string) (d declaredTrace, found bool, err error) {
	err = s.Read(`SELECT account, mechanism, settings FROM main.geosql_trace WHERE trace = ?`, func(st *sqlite.Stmt) {
		found = true
		d = declaredTrace{frame.ColumnText(st, 0), frame.ColumnText(st, 1), frame.ColumnText(st, 2)}
	}, name)
	return d, found, err
}

// policyOfTrace returns the policy that applies to a trace: its own, or the default.
func policyOfTrace(s *frame.Session, name string) (d declaredTrace, found bool, err error) {
	d, found, err = readTrace(s, name)
	if err == nil && !found {
		d, found, err = readTrace(s, everyTrace)
		if d.account == everyTrace {
			d.account = name
		}
	}
	return d, found, err
}

// lastPlan has the plan that a statement used last.
var lastPlan frame.Variable[struct {
	of   declaredTrace
	plan *tracePlan
}]

// planOf returns the plan for a policy. The traces of a statement hardly ever have different ones, so it keeps
// the last, unless it is nil.
func planOf(s *frame.Session, t *frame.Statement, m *traceMechanism, d declaredTrace) (*tracePlan, error) {
	if t == nil {
		return m.plan(s, d)
	}
	last, of := lastPlan.Of(t), declaredTrace{mechanism: d.mechanism, settings: d.settings}
	if last.plan != nil && last.of == of {
		return last.plan, nil
	}
	plan, err := m.plan(s, d)
	if err == nil {
		last.of, last.plan = of, plan
	}
	return plan, err
}

// planOfTrace returns the plan for a trace with steps that f takes, and the account that pays.
func planOfTrace(s *frame.Session, t *frame.Statement, name string, f *frame.Function) (plan *tracePlan, account string, err error) {
	declared, found, err := policyOfTrace(s, name)
	if err != nil {
		return nil, "", err
	}
	if !found {
		return nil, "", fmt.Errorf("trace %s has no policy; declare one: SELECT trace_policy(%[1]s, ACCOUNT, '%s', JSON)",
			frame.Quoted(name), firstMechanismOf(f))
	}
	m, err := mechanismNamed(declared.mechanism)
	if err != nil {
		return nil, "", err
	}
	if plan, err = planOf(s, t, m, declared); err != nil {
		return nil, "", err
	}
	if by := m.stepOf(plan); by != f.Name {
		return nil, "", fmt.Errorf("trace %s has a policy of mechanism '%s'; its steps are taken by %s",
			frame.Quoted(name), m.name, s.Table.Lookup(by).Signature())
	}
	return plan, declared.account, nil
}

// planOfSteps is planOfTrace, for one of many traces of the statement: its queries are compiled once.
func planOfSteps(t *frame.Statement, name string, f *frame.Function) (plan *tracePlan, account string, err error) {
	err = t.CompileOnce(func() error {
		plan, account, err = planOfTrace(t.Session, t, name, f)
		return err
	})
	return plan, account, err
}
