package sqlitefn

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// An operand is an SQL expression and its value.
type operand struct {
	sql    string
	is     operandType
	number float64 // of an integer or finite real
}

type operandType int

const (
	null operandType = iota
	integer
	real
	infinite
	text
	blob
)

var operands = []operand{
	{"NULL", null, 0},
	{"0.0 * 1e999", null, 0}, // NaN, which SQLite turns into NULL
	{"1e999", infinite, 0}, {"-1e999", infinite, 0},
	{"''", text, 0}, {"'text'", text, 0}, {"'*'", text, 0}, {"'1'", text, 0}, {"'NaN'", text, 0},
	{"x'00'", blob, 0}, {"x''", blob, 0},
	{"0", integer, 0}, {"-1", integer, -1}, {"9223372036854775807", integer, math.MaxInt64}, {"-9223372036854775808", integer, math.MinInt64},
	{"0.0", real, 0}, {"-1.5", real, -1.5}, {"1e308", real, 1e308}, {"-1e308", real, -1e308}, {"5e-324", real, 5e-324},
	{"90.0001", real, 90.0001}, {"-180.0001", real, -180.0001},
}

// A verdict is the demanded outcome of a call with an operand.
type verdict int

const (
	either verdict = iota // depends on the other arguments
	accepted
	refused
)

func only(ok bool) verdict {
	if ok {
		return accepted
	}
	return refused
}

// numeric is the verdict on arguments that are numbers, NULL not among them.
func numeric(o operand, judge func(x float64) verdict) verdict {
	switch o.is {
	case integer, real:
		return judge(o.number)
	}
	return refused
}

// secretly is numeric for secrets, which may be NULL.
func secretly(o operand, judge func(x float64) verdict) verdict {
	if o.is == null {
		return accepted
	}
	return numeric(o, judge)
}

func within(limit float64) func(float64) verdict {
	return func(x float64) verdict { return only(math.Abs(x) <= limit) }
}

// beyond refuses numbers up to a limit.
func beyond(limit float64) func(float64) verdict {
	return func(x float64) verdict {
		if x <= limit {
			return refused
		}
		return either
	}
}

func sealedOnly(o operand) verdict { return only(o.is == null) }

func anything(float64) verdict { return either }

// sample is an argument that is good, and the verdict on others in its place.
type sample struct {
	good  string
	judge func(o operand) verdict
}

// samples are by the arguments' names; "function.argument" goes before "argument".
var samples = map[string]sample{
	"account":                  {"'ana'", anyKey},
	"dx_count.account":         {"'ana'", anyKeyOrNull},
	"dx_accounts.account":      {"'ana'", anyKeyOrNull},
	"budget_limit.account":     {"'ana'", anyAccount},
	"budget_spent.account":     {"'ana'", anyAccount},
	"budget_remaining.account": {"'ana'", anyAccount},

	"sealed":                {"(SELECT reading FROM sealed)", sealedOnly},
	"geoind_laplace.sealed": {"(SELECT place FROM sealed)", sealedOnly},
	"dx_centroid.sealed":    {"(SELECT place FROM sealed)", sealedOnly},
	"dx_heatmap.sealed":     {"(SELECT place FROM sealed)", sealedOnly},

	"lat":                 {"39.9", func(o operand) verdict { return secretly(o, within(90)) }},
	"to_lat":              {"39.9", func(o operand) verdict { return secretly(o, within(90)) }},
	"to_lon":              {"116.3", func(o operand) verdict { return secretly(o, within(180)) }},
	"lon":                 {"116.3", func(o operand) verdict { return secretly(o, within(180)) }},
	"x":                   {"3", func(o operand) verdict { return secretly(o, func(float64) verdict { return accepted }) }},
	"unit":                {"'m'", func(o operand) verdict { return name(o, "'text'", "'1'", "'NaN'", "'*'") }},
	"budget_reserve.unit": {"'m'", func(o operand) verdict { return name(o) }},

	"epsilon": {"0.5", func(o operand) verdict {
		return numeric(o, func(x float64) verdict {
			if x == 5e-324 {
				return either // too small for some
			}
			return only(x > 0 && x <= 9e6)
		})
	}},
	"budget_limit.epsilon": {"9000000", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(x >= 0 && x <= 9e6) })
	}},
	"geoind_radius.epsilon":     {"0.5", positive},
	"geoind_confidence.epsilon": {"0.5", positive},
	"lbs_radius.epsilon":        {"0.5", positive},
	"geoind_delta.epsilon":      {"0.5", positive},
	"geoind_factor.epsilon": {"0.5", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(x > 0 && x*500 < 709.78) })
	}},
	"geoind_factor.distance_m": {"500", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(x >= 0 && 0.5*x < 709.78) })
	}},
	"geoind_rho.epsilon": {"0.5", positive},
	"geoind_delta.rho":   {"0.00000001", positive},
	"rho": {"0.001", func(o operand) verdict {
		return numeric(o, func(x float64) verdict {
			if x == 5e-324 {
				return refused // noise that is wider than any domain
			}
			return only(x > 0 && x <= 9e6)
		})
	}},
	"delta":                       {"0.000001", properProbability},
	"distance_m":                  {"500", positive},
	"geoind_rho.distance_m":       {"500", func(o operand) verdict { return numeric(o, beyond(0)) }},
	"level":                       {"1.4", positive},
	"geoind_epsilon.radius_m":     {"200", positive},
	"geoind_epsilon_for.radius_m": {"200", positive},
	"radius_m":                    {"200", func(o operand) verdict { return numeric(o, func(x float64) verdict { return only(x >= 0) }) }},
	"p":                           {"0.5", probability},
	"pim_estimate.p":              {"0.5", func(o operand) verdict { return optional(o, probability(o)) }},
	"confidence":                  {"0.5", probability},
	"dx_radius.p":                 {"0.5", properProbability},
	"dx_epsilon_for.p":            {"0.5", properProbability},
	"dx_rank_radius.p":            {"0.5", properProbability},
	"dx_rank_within.p":            {"0.5", func(o operand) verdict { return optional(o, properProbability(o)) }},
	"dx_within.p":                 {"0.5", func(o operand) verdict { return optional(o, properProbability(o)) }},
	"answer":                      {"3", func(o operand) verdict { return secretly(o, func(float64) verdict { return accepted }) }},
	"radius":                      {"2", positive},
	"dx_percentile.p":             {"50", percent},

	"geoind_delta.mechanism":       {"'gauss'", func(o operand) verdict { return optional(o, refused) }},
	"geoind_rho.mechanism":         {"'gauss'", func(o operand) verdict { return optional(o, refused) }},
	"geoind_delta.step_m":          {"1", func(o operand) verdict { return optional(o, positive(o)) }},
	"geoind_rho.step_m":            {"1", func(o operand) verdict { return optional(o, positive(o)) }},
	"geoind_radius.mechanism":      {"'laplace'", func(o operand) verdict { return optional(o, refused) }},
	"geoind_epsilon_for.mechanism": {"'laplace'", func(o operand) verdict { return optional(o, refused) }},
	"geoind_confidence.mechanism":  {"'laplace'", func(o operand) verdict { return optional(o, refused) }},
	"lbs_radius.mechanism":         {"'laplace'", func(o operand) verdict { return optional(o, refused) }},
	"domain":                       {"'beijing'", func(o operand) verdict { return optional(o, refused) }},
	"geo_region.domain":            {"'beijing'", func(operand) verdict { return refused }},
	"geo_outside.domain":           {"'beijing'", func(o operand) verdict { return optional(o, refused) }},
	"bins":                         {"3", func(operand) verdict { return refused }},
	"blocks": {"'[50, 90]'", func(o operand) verdict {
		return optional(o, only(o.is == integer && 1 <= o.number && o.number <= 10_000))
	}},
	"curve":                 {`'{"m":2,"lo":0,"hi":10,"step":1,"epsilon":1,"edges":[0,1,2],"sums":[-3,70]}'`, func(o operand) verdict { return optional(o, refused) }},
	"ps":                    {"'[10, 50, 90]'", func(operand) verdict { return refused }},
	"dx_curve_percentile.p": {"50", percent}, "from_p": {"0", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return percentBeside(x) })
	}}, "to_p": {"100", percent},
	"v":                        {"3", func(o operand) verdict { return numeric(o, func(float64) verdict { return accepted }) }},
	"universe":                 {"'u'", func(operand) verdict { return refused }},
	"metric":                   {"'d1'", func(o operand) verdict { return optional(o, refused) }},
	"aggregate":                {"'sum'", func(operand) verdict { return refused }},
	"dx_rank_radius.aggregate": {"'max'", func(o operand) verdict { return optional(o, refused) }},
	"sql":                      {"'SELECT 1'", func(operand) verdict { return refused }},
	"wkt":                      {"'POLYGON((116 40, 116.01 40, 116.01 40.01, 116 40))'", func(operand) verdict { return refused }},
	"name":                     {"'new'", func(o operand) verdict { return only(o.is == text && o.sql != "''") }},
	"geosql_help.name":         {"'dx_sum'", func(o operand) verdict { return optional(o, refused) }},

	"south": {"39.4", border(90)}, "north": {"41.1", border(90)},
	"west": {"115.4", border(180)}, "east": {"117.6", border(180)},
	"step_m": {"1", step}, "step": {"1", step},
	"lo": {"0", func(o operand) verdict { return numeric(o, anything) }},
	"hi": {"10", func(o operand) verdict { return numeric(o, func(float64) verdict { return either }) }},

	"dx_universe.unit": {"'kWh'", func(o operand) verdict { return name(o, "'text'", "'1'", "'NaN'") }},
	"rows":             {"10", func(o operand) verdict { return optional(o, refused) }},
	"window_seconds":   {"NULL", func(o operand) verdict { return optional(o, refused) }},

	// A new trace every time: one goes on from call to call, whatever is rolled back.
	"predictive_step.trace": {"hex(randomblob(8))", anyKey},
	"predictive_value.trace": {`(SELECT trace FROM (SELECT hex(randomblob(8)) AS trace LIMIT -1 OFFSET 0)
		WHERE trace_policy(trace, 'ana', 'predictive', '{"universe": "u", "epsilon": 1, "steps": 5}') NOT NULL)`, func(o operand) verdict {
		if anyKey(o) == accepted {
			return either // has the policy of all traces, which is for locations
		}
		return refused
	}},
	"t": {"1000", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(math.Abs(x) < 1e14) })
	}},
	"pim_step.trace": {`(SELECT trace FROM (SELECT hex(randomblob(8)) AS trace LIMIT -1 OFFSET 0)
		WHERE trace_policy(trace, 'ana', 'pim', '{"model": "popular", "epsilon": 1}') NOT NULL)`, func(o operand) verdict {
		if anyKey(o) == accepted {
			return either // has the policy of all traces, which is another
		}
		return refused
	}},
	"pim_estimate.trace": {`(SELECT trace FROM (SELECT hex(randomblob(8)) AS trace LIMIT -1 OFFSET 0)
		WHERE trace_policy(trace, 'ana', 'pim', '{"model": "popular", "epsilon": 1}') NOT NULL)`, func(o operand) verdict {
		if anyKey(o) == accepted {
			return either // has the policy of all traces, which is another
		}
		return refused
	}},
	"trace": {"'walk'", anyKey},
	"trace_policy.trace": {"'walk'", func(o operand) verdict {
		if o.sql == "'*'" {
			return either // has a policy
		}
		return anyKey(o)
	}},
	"mechanism": {"'predictive'", func(operand) verdict { return refused }},
	"json":      {`'{"epsilon": 0.5, "steps": 5, "domain": "beijing"}'`, func(operand) verdict { return refused }},

	"squares":          {"'adaptive'", func(o operand) verdict { return optional(o, refused) }},
	"cell_m":           {"20000", func(o operand) verdict { return numeric(o, beyond(0)) }},
	"period_seconds":   {"60", func(o operand) verdict { return numeric(o, beyond(0)) }},
	"markov_train.t":   {"1000", func(o operand) verdict { return secretly(o, within(1e14-1)) }},
	"model":            {"markov_train('tram', 0, 39.9, 116.3, 'beijing', 20000, 60)", func(operand) verdict { return refused }},
	"markov_info.name": {"'popular'", func(operand) verdict { return refused }},

	"optql_build.lat": {"39.9 + 0.1 * i", func(o operand) verdict { return place(o, 90) }},
	"optql_build.lon": {"116.3", func(o operand) verdict { return place(o, 180) }},
	"weight": {"1", func(o operand) verdict {
		return numeric(o, func(x float64) verdict {
			if x < 0 {
				return refused
			}
			return either // 0 everywhere, or the sum is too great
		})
	}},
	"optql_build.epsilon": {"0.001", func(o operand) verdict {
		return numeric(o, func(x float64) verdict {
			if 0 < x && x <= 9e6 {
				return either // too small for the distances
			}
			return refused
		})
	}},
	"dilation": {"1", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(x >= 1 && x <= 1000) })
	}},
	"optql_build.metric":       {"'manhattan'", func(o operand) verdict { return optional(o, refused) }},
	"quality":                  {"'squared'", func(o operand) verdict { return optional(o, refused) }},
	"role":                     {"'both'", func(o operand) verdict { return optional(o, refused) }},
	"optql_store.mechanism":    {"(SELECT mechanism FROM geosql_optimal)", func(operand) verdict { return refused }},
	"geoind_optimal.mechanism": {"'homes'", func(operand) verdict { return refused }},
	"optql_report.name":        {"'homes'", func(operand) verdict { return refused }},
	"geoind_remap.name":        {"'homes'", func(operand) verdict { return refused }},
	"geoind_remap.prior":       {"'squares'", func(operand) verdict { return refused }},
	"geoind_remap.domain":      {"'beijing'", func(o operand) verdict { return optional(o, refused) }},
	"geoind_remap.epsilon":     {"0.005", positive},
	"geoind_density.mechanism": {"'laplace'", func(o operand) verdict { return optional(o, refused) }},
	"z":                        {"0.4", func(o operand) verdict { return optional(o, numeric(o, func(float64) verdict { return accepted })) }},
	"prior_store.prior":        {"prior_build(39.9, 116.3, 2, 'beijing')", func(operand) verdict { return refused }},
	"prior_build.weight":       {"2", positive},
	"geoind_remap.wkt":         {"'POINT(116.2999960 40.0000039)'", func(o operand) verdict { return optional(o, refused) }},

	"cip_policy.json": {`'{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "singles"}'`, func(operand) verdict { return refused }},
	// A new account every time: each has one trace, whatever is rolled back.
	"cip_trace.account": {"hex(randomblob(8))", func(o operand) verdict {
		if anyKey(o) == accepted {
			return either // may have had its trace
		}
		return refused
	}},
	"cip_trace.policy": {"'day'", func(operand) verdict { return refused }},
	"times_json":       {"'[0, 60, 120]'", func(operand) verdict { return refused }},
	"cip_loss.policy":  {`'{"kernel": "rbf", "variance": 1, "length_scale": 1, "radius": 1, "lambda": 2, "family": "singles", "sigma2": 1}'`, func(operand) verdict { return refused }},
	"cip_sigma.policy": {"'day'", func(operand) verdict { return refused }},

	"dx_cumulative.histogram": {`'[{"lo":0,"hi":4,"count":3},{"lo":5,"hi":10,"count":-1}]'`, func(o operand) verdict { return optional(o, refused) }},

	"only":    {"'ana'", func(o operand) verdict { return optional(o, name(o, "''")) }},
	"head":    {"NULL", func(o operand) verdict { return optional(o, refused) }},
	"archive": {"NULL", func(o operand) verdict { return optional(o, refused) }},
	"where":   {"'other-ledger'", func(o operand) verdict { return refused }}, // the connection uses one already
	"file":    {"'archive.db'", func(o operand) verdict { return name(o) }},
	"before": {"0", func(o operand) verdict {
		return numeric(o, func(x float64) verdict { return only(math.Abs(x) < 1e14) })
	}},
}

// place is the verdict on a coordinate of all places, which then may be one.
func place(o operand, limit float64) verdict {
	return numeric(o, func(x float64) verdict {
		if math.Abs(x) > limit {
			return refused
		}
		return either
	})
}

func anyKey(o operand) verdict { return only(o.is == text && o.sql != "'*'" || o.is == integer) }
func anyKeyOrNull(o operand) verdict {
	return only(o.is == null || anyKey(o) == accepted)
}
func anyAccount(o operand) verdict { return only(o.is == text || o.is == integer) }
func positive(o operand) verdict {
	return numeric(o, func(x float64) verdict {
		if x == 5e-324 {
			return either // a quotient with it may be no float
		}
		return only(x > 0)
	})
}
func probability(o operand) verdict {
	return numeric(o, func(x float64) verdict { return only(x >= 0 && x < 1) })
}

// properProbability refuses 0 too.
func properProbability(o operand) verdict {
	return numeric(o, func(x float64) verdict { return only(x > 0 && x < 1) })
}

// percent refuses fractions of 1.
func percent(o operand) verdict {
	return numeric(o, func(x float64) verdict { return only(x == 0 || 1 <= x && x <= 100) })
}

// percentBeside takes fractions of 1 for percentiles, beside a larger one.
func percentBeside(x float64) verdict {
	if x == 5e-324 {
		return refused // too many decimals
	}
	return only(0 <= x && x <= 100)
}

func step(o operand) verdict {
	return numeric(o, func(x float64) verdict {
		if x == 90.0001 {
			return either
		}
		return refused // not above 0, or out of all proportion to the range
	})
}

func border(limit float64) func(operand) verdict {
	return func(o operand) verdict {
		return numeric(o, func(x float64) verdict {
			if math.Abs(x) > limit {
				return refused
			}
			return either
		})
	}
}

func optional(o operand, otherwise verdict) verdict {
	if o.is == null {
		return accepted
	}
	return otherwise
}

// name is for arguments that accept certain names, and '*' or not.
func name(o operand, good ...string) verdict {
	for _, g := range good {
		if o.sql == g {
			return accepted
		}
	}
	if o.is == text && o.sql != "''" {
		return either
	}
	return refused
}

func sampleOf(f *frame.Function, i int) sample {
	if s, ok := samples[f.Name+"."+f.Args[i].Name]; ok {
		return s
	}
	return samples[f.Args[i].Name]
}

// goodArgs are SQL expressions with which every call succeeds.
func goodArgs(f *frame.Function, t *testing.T) []string {
	t.Helper()
	args := make([]string, len(f.Args))
	for i := range args {
		args[i] = sampleOf(f, i).good
		if args[i] == "" {
			t.Fatalf("%s: no sample of %s", f.Name, f.Args[i].Name)
		}
	}
	return args
}

// word finds an argument's name in an error.
func word(name string) *regexp.Regexp { return regexp.MustCompile(`\b` + name + `\b`) }

// TestBadInput passes every operand as every argument of every function, in both
// forms. A call that must fail says which argument is to blame, whatever fails
// charges nothing, and no message shows a secret.
func TestBadInput(t *testing.T) {
	for _, c := range forms() {
		t.Run(c.String(), func(t *testing.T) {
			d := newInner(t)
			for i := range c.f.Args {
				for _, o := range trials.Some(t, len(operands)/2, operands...) {
					// A call that succeeds may change declarations and limits, so it is undone.
					if _, err := d.ask("SAVEPOINT before"); err != nil {
						t.Fatal(err)
					}
					c.checkOperand(t, d, i, o)
					if _, err := d.ask("ROLLBACK TO before"); err != nil {
						t.Fatal(err)
					}
					if c.f.Name == "budget_limit" {
						if _, err := d.ask("SELECT budget_limit('*', 'm', 9000000)"); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	}
}

func (c form) checkOperand(t *testing.T, d inner, i int, o operand) {
	t.Helper()
	args := goodArgs(c.f, t)
	args[i] = o.sql
	query := c.query(args...)
	before := d.charged(t)
	_, err := d.ask(query)
	switch want := sampleOf(c.f, i).judge(o); {
	case err == nil && want == refused:
		t.Errorf("%s\nsucceeds", query)
	case err != nil && want == accepted:
		t.Errorf("%s\n%v", query, err)
	case err != nil && want == refused && !word(c.f.Args[i].Name).MatchString(err.Error()):
		t.Errorf("%s\nerror does not name %s: %v", query, c.f.Args[i].Name, err)
	}
	if err == nil {
		return
	}
	c.checkError(t, query, err)
	if after := d.charged(t); after != before {
		t.Errorf("%s\ncharged before its error: %s, then %s", query, before, after)
	}
	switch c.f.Args[i].Name {
	case "lat", "lon", "x":
		if shown := strings.Trim(o.sql, "'x-"); o.is != null && len(shown) > 3 && strings.Contains(err.Error(), shown) {
			t.Errorf("%s\nshows a secret: %v", query, err)
		}
	}
}

func TestGoodInput(t *testing.T) {
	for _, c := range forms() {
		t.Run(c.String(), func(t *testing.T) {
			args := goodArgs(c.f, t)
			for _, n := range c.f.Arities() {
				open := newInner
				if c.f.Name == "geosql_ledger" { // which comes before anything that uses the ledger
					open = func(t testing.TB) inner { return newBare(t) }
				}
				d := open(t)
				if _, err := d.ask(c.query(args[:n]...)); err != nil {
					t.Errorf("%s\n%v", c.query(args[:n]...), err)
				}
			}
		})
	}
}

func TestNumberOfArguments(t *testing.T) {
	d := newInner(t)
	for _, c := range forms() {
		if c.table && functions.Lookup(c.f.Name) != c.f {
			continue // SQLite knows one table of that name
		}
		t.Run(c.String(), func(t *testing.T) {
			args := append(goodArgs(c.f, t), "1")
			for n := range len(args) + 1 {
				if takes(c.f.Name, n) {
					continue
				}
				query := c.query(args[:n]...)
				_, err := d.ask(query)
				want := fmt.Sprintf("wrong number of arguments to function %s()", c.f.Name)
				if c.table {
					want = fmt.Sprintf("too many arguments on %s() - max %d", c.f.Name, len(c.f.Args))
					if n < c.f.Required() { // of the first function of that name
						want = fmt.Sprintf("%s: %s is missing", c.f.Name, c.f.Args[n].Name)
					}
				}
				if err == nil || err.Error() != want {
					t.Errorf("%s\nerror %v, want %s", query, err, want)
				}
			}
		})
	}
	if got := d.charged(t); got != "0 0.0" {
		t.Errorf("charged %s", got)
	}
}

// takes reports whether a function of that name takes n arguments.
func takes(name string, n int) bool {
	return slices.ContainsFunc(functions, func(f *frame.Function) bool { return f.Name == name && slices.Contains(f.Arities(), n) })
}

// No error depends on a valid secret's value: whatever the location or reading,
// the same call succeeds.
func TestValidSecretsNeverFail(t *testing.T) {
	d := newInner(t)
	for _, declaration := range []string{
		`SELECT geo_domain('antimeridian', -20, 175, -15, -175, 100)`,
		`SELECT geo_domain('pole', 85, -90, 90, 90, 1000)`,
		`SELECT geo_domain('region', 39.4, 115.4, 41.1, 117.6, 1000)`,
		`SELECT geo_region('region', 'POLYGON((116 40, 117 40, 117 41, 116 40))')`,
		`SELECT dx_universe('signed', -1000000, 1000000, 0.00001, 'kWh')`,
		`SELECT dx_universe('wide', -99999999999999, 99999999999999, 99999999999999, 'kWh')`,
	} {
		if _, err := d.ask(declaration); err != nil {
			t.Fatal(err)
		}
	}
	extreme := func(limit float64) *rapid.Generator[float64] {
		return rapid.OneOf(rapid.Float64Range(-limit, limit),
			rapid.SampledFrom([]float64{-limit, limit, 0, math.Copysign(0, -1), 5e-324, math.Nextafter(limit, 0), -math.Nextafter(limit, 0)}))
	}
	rapid.Check(t, func(t *rapid.T) {
		lat, lon := extreme(90).Draw(t, "lat"), extreme(180).Draw(t, "lon")
		x := rapid.OneOf(rapid.Float64(), extreme(math.MaxFloat64), extreme(1e6)).Draw(t, "x")
		k := rapid.Int64().Draw(t, "k")
		epsilon := rapid.SampledFrom([]float64{1e-6, 0.001, 1, 100}).Draw(t, "epsilon")
		domain := rapid.SampledFrom([]string{"beijing", "antimeridian", "pole", "region"}).Draw(t, "domain")
		universe := rapid.SampledFrom([]string{"u", "signed", "wide"}).Draw(t, "universe")
		succeeds := func(query string, args ...any) {
			t.Helper()
			if v, err := d.ask(query, args...); err != nil || v == nil {
				t.Fatalf("%s %v answers %v, %v", query, args, v, err)
			}
		}
		succeeds(`SELECT geoind_laplace('ana', ?, ?, ?, ?)`, lat, lon, epsilon, domain)
		succeeds(`SELECT lat FROM geoind_laplace('ana', ?, ?, ?, ?)`, lat, lon, epsilon, domain)
		succeeds(`SELECT geo_outside(?, ?, ?)`, domain, lat, lon)
		succeeds(`SELECT dx_outside(?, ?)`, universe, x)
		for _, reading := range []any{x, k} {
			succeeds(`SELECT dx_value('ana', ?, ?, ?)`, reading, epsilon, universe)
			for _, metric := range []string{"d1", "nd1", "dh", "dinf"} {
				for _, aggregate := range []string{"sum", "avg", "min", "max", "median"} {
					if aggregate == "sum" && metric == "dinf" {
						continue
					}
					succeeds(`SELECT dx_`+aggregate+`('ana', ?, ?, ?, ?) FROM (SELECT 1 UNION SELECT 2)`, reading, epsilon, universe, metric)
				}
				succeeds(`SELECT dx_percentile('ana', ?, 95, ?, ?, ?)`, reading, epsilon, universe, metric)
			}
		}
	})
}
