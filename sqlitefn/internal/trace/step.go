package trace

import (
	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argStepTrace = &frame.Arg{Name: "trace", Is: "TEXT or INTEGER; the trace's policy must have a mechanism for these steps, see trace_policy", Kind: frame.Account}
	argFix       = &frame.Arg{Name: "t", Is: "time of the point, seconds or milliseconds since 1970, or ISO 8601 text; later than the trace's last", Kind: frame.Time}
)

var stepFunctions = []*frame.Function{
	{
		Name: "predictive_step", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:     []*frame.Arg{argStepTrace, argFix, frame.ArgLat, frame.ArgLon},
		Does:     "Reports a trace step by step, as WKT: a prediction made from earlier reports if a private test finds it good enough, otherwise the location with noise, and NULL once the trace's budget is used up.",
		Accuracy: "under fixed-utility, noise is within the policy's alpha with a probability of 0.9, and trace_policy tells of predictions; under fixed-rate no function tells it, as it depends on how many predictions pass",
		Charges:  "the epsilon of the step, in unit m, to the policy's account: the test, and the noise if the test failed",
		Notes: "Over a table: `predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)`; to sort by the result, sort outside of a subquery. " +
			"On line: one row at a time, without OVER. The trace's epsilon covers all of its points together: the reports are at most e^(epsilon*(d + a lattice cell's diagonal)) times as likely from one trace as from another in which each point is at most d metres away from its counterpart. " +
			"The times, which tests passed, and where the trace stops are public. The run is kept in the ledger; after a crash see trace_restart.",
		Examples: []string{
			"SELECT predictive_step('walk', 1000, 40.0, 116.3)",
			"WITH fix(trace, t, lat, lon) AS (VALUES ('bus', 0, 40, 116.3), ('bus', 60, 40.001, 116.3), ('bus', 120, 40.002, 116.301)) " +
				"SELECT trace, t, predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix",
		},
		Window: newPartition(&stepsOfLocations),
	},
	{
		Name: "predictive_value", Section: frame.ReleasedValues, Returns: "REAL",
		Args:     []*frame.Arg{argStepTrace, argFix, frame.ArgX},
		Does:     "Reports the readings of a trace step by step, such as the half hours of a meter: a prediction made from earlier reports if a private test finds it good enough, otherwise the reading with noise, and NULL once the trace's budget is used up.",
		Accuracy: "that of predictive_step, in the universe's unit",
		Charges:  "the epsilon of the step, in the universe's unit, to the policy's account: the test, and the noise if the test failed",
		Notes: "It has the same forms as predictive_step, and the trace's policy has a `universe` in place of a domain. The trace's epsilon covers all of its readings together: the reports are at most e^(epsilon*(d + a step of the universe)) times as likely from one trace as from another in which each reading is at most d away from its counterpart; " +
			"for readings that are values of the universe the step is not added. " +
			"A prediction passes with probability 1/2 at a distance of alpha/(eta*(1+gamma)) from the reading. " +
			"A test costs eta*ln 5/ln 10*(1+1/gamma) of its noise, 0.79 for fixed-utility and 0.94 for fixed-rate with the defaults, and so many of the predictions must pass before tests save anything: for readings a smaller `eta` may be better. " +
			"A NULL reading gives NULL and charges nobody.",
		Examples: []string{
			"SELECT predictive_value('meter 17', 1800, 0.214)",
			"WITH half(t, kwh) AS (VALUES (3600, 0.22), (5400, NULL), (7200, 0.205)) " +
				"SELECT t, predictive_value('meter 17', t, kwh) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM half",
		},
		Window: newPartition(&stepsOfReadings),
	},
	{
		Name: "pim_step", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:     []*frame.Arg{argStepTrace, argFix, frame.ArgLat, frame.ArgLon},
		Does:     "Reports a trace step by step, as WKT, each step hidden among the cells where the public knows that the trace is likely to be (planar isotropic mechanism).",
		Accuracy: "no radius: the noise is as wide as the set of the step, of which trace_run has the size; pim_estimate tells where the trace is likely to be",
		Charges:  "the policy's epsilon in unit set to the policy's account, for each step with a location",
		Notes: "It has the same forms as predictive_step. The public knows a model of how people move (markov_store) and the reports so far. " +
			"These determine the set of the step, which is public too: the most likely cells, at least min_set of them, with a total probability of at least 1 - delta. " +
			"The location's cell is reported with noise that fits the set; a location outside the set counts as the nearest cell of the set. " +
			"So at each step **an answer is at most e^epsilon times as likely from one location in the domain as from any other**, however far apart they are and however wrong the model is; steps add up. " +
			"The location rounded to its cell is protected. " +
			"A set of one cell hides nothing, since everything is known already: the report is that cell, wherever the trace is. min_set keeps sets from becoming that small. " +
			"A NULL location gives NULL and charges nobody; the next step takes into account how much time has passed. " +
			"The run is kept in the ledger. After a crash see trace_restart: the run goes on without the lost points, and its sets do not reflect them.",
		Examples: []string{
			"SELECT pim_step('ride', 1000, 39.984, 116.318)",
			"WITH fix(trace, t, lat, lon) AS (VALUES ('ride', 2000, 39.96, 116.26), ('ride', 2060, NULL, NULL), ('ride', 2120, 39.97, 116.27)) " +
				"SELECT trace, t, pim_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix",
		},
		Window: newPartition(&stepsOfLocations),
	},
	{
		Name: "trace_run", Section: frame.ForOwner, Flags: frame.OwnerOnly, Reads: true,
		Args:     []*frame.Arg{argTrace},
		Columns:  traceRunColumns,
		Does:     "Lists the public run of a trace: every point that was reported, whether it was tested, whether it is hard (reported with noise), its epsilon, for pim_step how many cells its set had, and for predictive_value the reported reading as x.",
		Notes:    "A row of NULLs is a gap: points that were lost in a crash, and the reservation for them.",
		Examples: []string{"SELECT t, hard, tested, epsilon FROM trace_run('walk')", "SELECT t, lat, lon, epsilon, set_size FROM trace_run('ride')"},
		Table:    newTraceRunCursor,
	},
	{
		Name: "trace_restart", Section: frame.ForOwner, Returns: "TEXT", Flags: frame.OwnerOnly,
		Args:     []*frame.Arg{argTrace},
		Does:     "Lets a trace go on after a crash; its reservation counts as spent. Do not restart a trace that another connection is using: its points would be lost.",
		Notes:    "If a statement over traces of accounts with reserved budgets (budget_reserve) has crashed, which of them have lost points is not known: all traces of these accounts go on then, each with a gap for a few steps.",
		Examples: []string{"SELECT trace_restart('walk')"},
		Scalar:   traceRestart,
	},
}

// A tracePlan is made from a trace's policy: how its steps are taken and charged.
type tracePlan struct {
	frame.TraceTerms
	summary  string // describes the policy on one line
	readings bool   // whether steps take readings, not locations
}

// tracePlanKey identifies a plan.
type tracePlanKey struct {
	mechanism, settings string
	on                  any // a domain or model
}

var tracePlans = frame.NewMemo[tracePlanKey, *tracePlan]()

// A traceRun is the state of a trace between two steps. It is public, as is everything
// passed to its methods. It is a locationsRun or a readingsRun too, as its plan says.
type traceRun interface {
	frame.Run

	// plan plans a step at a time in microseconds, which must be later than that of every
	// point so far. It returns the most that the step may spend, and reports false if the
	// run has ended.
	plan(at int64) (cost budget.Amount, goesOn bool, err error)

	// guess takes the step in a dry run: it returns a point that was public before the step.
	guess() (ledger.Point, error)
}

// A locationsRun is the run of a trace of locations.
type locationsRun interface {
	traceRun

	// draw takes the step that was planned. No other method sees the secret.
	draw(src *exact.Source, lat, lon float64) (ledger.Point, error)
}

// A readingsRun is the run of a trace of readings.
type readingsRun interface {
	traceRun

	// draw takes the step that was planned. No other method sees the secret.
	draw(src *exact.Source, x float64) (ledger.Point, error)
}

// A stepKind says how the secret of a step is read, drawn and shown.
type stepKind struct {
	absent func(frame.Call) bool // reports that the secret is NULL
	draw   func(c frame.Call, run traceRun, src *exact.Source) (ledger.Point, error)
	show   func(frame.Call, ledger.Point)
}

var stepsOfLocations = stepKind{
	absent: func(c frame.Call) bool {
		_, _, absent := c.Location(frame.ArgLat, frame.ArgLon)
		return absent
	},
	draw: func(c frame.Call, run traceRun, src *exact.Source) (ledger.Point, error) {
		lat, lon, _ := c.Location(frame.ArgLat, frame.ArgLon)
		return run.(locationsRun).draw(src, lat, lon)
	},
	show: func(c frame.Call, p ledger.Point) { c.ResultPoint(0, p.Lat, p.Lon) },
}

var stepsOfReadings = stepKind{
	absent: func(c frame.Call) bool { return !c.Given(frame.ArgX) },
	draw: func(c frame.Call, run traceRun, src *exact.Source) (ledger.Point, error) {
		return run.(readingsRun).draw(src, c.Number(frame.ArgX))
	},
	show: func(c frame.Call, p ledger.Point) { c.ResultFloat(0, p.Value) },
}

// stepPartition reports the steps of one trace, in the order of their time.
type stepPartition struct {
	kind  *stepKind
	name  string // "" before the first row
	plan  *tracePlan
	run   traceRun
	payer frame.StepPayer // nil before the first row
}

// newPartition returns the function that makes partitions of steps of a kind.
func newPartition(kind *stepKind) func(*frame.Session) frame.Partition {
	return func(*frame.Session) frame.Partition { return &stepPartition{kind: kind} }
}

// Row reports one step. The most that it may cost is on disk before anything is drawn. The
// unused part goes back to the trace's reservation, since the cost of a step is public.
// Which rows there are, their times, and which secrets are NULL are public too.
func (p *stepPartition) Row(c frame.Call) error {
	if err := p.open(c); err != nil {
		return err
	}
	if p.kind.absent(c) {
		return nil
	}
	at := c.Time(argFix)
	cost, goesOn, err := p.run.plan(at.UnixMicro())
	if err != nil {
		return c.Errorf(argFix, "must be later than the last one of trace %s", frame.Quoted(p.name))
	}
	paid, err := p.payer.Pay(p.run, cost) // nothing for a run that ends, which in a dry run depends on guesses
	if err != nil || !goesOn {
		return err
	}
	point, err := p.take(c, paid)
	if err != nil {
		return err
	}
	point.Time = at
	if err := p.payer.Add(p.run, point); err != nil {
		return err
	}
	p.kind.show(c, point)
	return nil
}

// take takes the step that was planned and paid for. In a dry run it sees no secret.
func (p *stepPartition) take(c frame.Call, paid frame.Receipt) (ledger.Point, error) {
	source := paid.Randomness()
	if source == nil {
		return p.run.guess()
	}
	return p.kind.draw(c, p.run, source)
}

// open reads the trace's policy and state at the first row, and checks the trace's name at
// the others.
func (p *stepPartition) open(c frame.Call) error {
	name := c.Bytes(argStepTrace)
	if p.plan != nil {
		if string(name) != p.name {
			return c.Errorf(argStepTrace, "changes within a partition; write OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)")
		}
		return nil
	}
	plan, account, err := planOfSteps(c.Statement(), string(name), c.Function)
	if err != nil {
		return err
	}
	p.name = string(name)
	payer, run, err := c.OpenTrace(p.name, account, &plan.TraceTerms)
	if err != nil {
		return err
	}
	p.plan, p.payer, p.run = plan, payer, run.(traceRun)
	return nil
}

// End closes the run.
func (p *stepPartition) End() {
	if p.payer != nil {
		p.payer.Close(p.run)
		p.payer = nil
	}
}
