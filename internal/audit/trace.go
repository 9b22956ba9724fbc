package audit

import (
	"fmt"
	"math"
	"strings"

	"github.com/geosql/geosql/internal/audit/bound"
)

// traces returns databases in which every trace has the same policy, and an account of its own. Each trial is a new
// trace: the claim is for a trace as a whole.
func traces(name, mechanism, policy string, declare ...string) *fixture {
	return &fixture{
		name: name,
		declare: append(declare, fine.declare(), `SELECT dx_universe('u', 0, 100, 0.5, 'kWh')`,
			`SELECT budget_limit('*', 'm', 9000000), budget_limit('*', 'kWh', 9000000), budget_limit('*', 'set', 9000000)`,
			`SELECT budget_limit('blocked', 'm', 0), budget_limit('blocked', 'kWh', 0), budget_limit('blocked', 'set', 0)`,
			fmt.Sprintf("SELECT trace_policy('*', '*', '%s', '%s')", mechanism, policy)),
		release: `geoind_laplace('dry run', 40, 116.35, 0.001, 'fine')`,
	}
}

// Policies differ in the manager of the budget, and in the end of a trace. Policies with an alpha can pay for two
// points with noise and a test between them.
var (
	fixedRate    = traces("fixed rate", "predictive", `{"domain": "fine", "epsilon": 0.005, "steps": 3}`)
	fixedUtility = traces("fixed utility", "predictive", `{"domain": "fine", "epsilon": 0.005, "alpha": 2000}`)
	goOn         = traces("predictions without tests", "predictive", `{"domain": "fine", "epsilon": 0.005, "alpha": 2000, "after": "predict", "predictor": "linear"}`)
	skipping     = traces("skipped tests", "predictive", `{"domain": "fine", "epsilon": 0.005, "alpha": 2000, "skip_speed": 5}`)
	independent  = traces("independent", "independent", `{"domain": "fine", "epsilon": 0.005, "steps": 2}`)
	meterRate    = traces("readings, fixed rate", "predictive", `{"universe": "u", "epsilon": 0.5, "steps": 3}`)
	meterUtility = traces("readings, fixed utility", "predictive", `{"universe": "u", "epsilon": 0.5, "alpha": 15, "eta": 0.25}`)
	meterOnce    = traces("a reading", "independent", `{"universe": "u", "epsilon": 0.5, "steps": 1}`)
	meterAlone   = traces("readings, independent", "independent", `{"universe": "u", "epsilon": 0.5, "steps": 2}`)
)

// epsilons of the policies.
const (
	walkEpsilon  = 0.005
	meterEpsilon = 0.5
)

// stepwise returns an attack on a window function over a table of (t, ..). The answer has all reports of a trace in the order
// of time.
func stepwise(function, columns, pair string, f *fixture, a, b []string) attack {
	return attack{
		function: function, pair: pair, fixture: f, columns: "t, " + columns, inputs: [2][]string{timed(a), timed(b)},
		answer: "group_concat(ifnull(z, '-'), ' ')",
		never:  fmt.Sprintf("SELECT 'a test was free' FROM trial, trace_run({each}) AS r WHERE trial <= %d AND r.tested AND r.epsilon = 0", checkTrials),
		from: fmt.Sprintf("FROM (SELECT trial, t, %s({each}, t, %s) OVER (PARTITION BY trial ORDER BY t ROWS UNBOUNDED PRECEDING) AS z FROM {rows})",
			function, columns),
		group: "GROUP BY trial",
	}
}

// timed returns rows a minute apart.
func timed(rows []string) (list []string) {
	for i, row := range rows {
		list = append(list, fmt.Sprintf("%d, %s", 60*i, row))
	}
	return list
}

// walk returns an attack on a trace of locations.
func walk(pair string, f *fixture, a, b []spot) attack {
	attack := stepwise("predictive_step", "lat, lon", pair, f, texts(a), texts(b))
	attack.unit, attack.grid = "m", onlyPoints(fine.latticed)
	attack.claim = claim{kind: bound.Pure, distance: furthest(a, b) + fine.diagonal(), most: walkEpsilon}
	attack.hints = []bound.Score{{Name: "nearer to the trace of input 0, where a report is new", Of: func(o bound.Outcome) (score float64) {
		list := points(o)
		for i, z := range list {
			if i < len(a) && (i == 0 || z != list[i-1]) {
				p := fine.plane(z)
				score += euclid(p, fine.secret(b[i])) - euclid(p, fine.secret(a[i]))
			}
		}
		return score
	}}, fine.nearer(euclid, a, b),
		tested("a prediction passes, far from the location of input 1", a, true, b), tested("a prediction fails, near the location of input 0", a, false, a)}
	return attack
}

// tested returns the score of a test about the last step that tells how far a prediction that has passed, or failed, is from
// a location. Without noise some of them could not be.
func tested(name string, a []spot, passed bool, from []spot) bound.Score {
	last := len(a) - 1
	return bound.Score{Name: name, Of: func(o bound.Outcome) float64 {
		list := points(o)
		if len(list) <= last || last == 0 || (list[last] == list[last-1]) != passed {
			return math.NaN()
		}
		d := euclid(fine.plane(list[last-1]), fine.secret(from[last]))
		if !passed {
			return -d
		}
		return d
	}}
}

// texts returns locations as SQL has them.
func texts(spots []spot) (list []string) {
	for _, s := range spots {
		list = append(list, s.String())
	}
	return list
}

// swing returns a trace of some steps to and fro.
func swing(s spot, metres float64, steps int) (trace []spot) {
	for i := range steps {
		trace = append(trace, s.move(float64(i%2)*metres, 0))
	}
	return trace
}

// meter returns an attack on a trace of readings, which are d apart at most.
func meter(pair string, f *fixture, d float64, a, b []float64) attack {
	attack := stepwise("predictive_value", "x", pair, f, numbers(a), numbers(b))
	attack.unit, attack.claim = "kWh", claim{kind: bound.Pure, distance: d, most: meterEpsilon}
	attack.hints = []bound.Score{{Name: "nearer to the readings of input 0, where a report is new", Of: func(o bound.Outcome) (score float64) {
		for i, z := range o.Values {
			if i < len(a) && (i == 0 || z != o.Values[i-1]) {
				score += math.Abs(z-b[i]) - math.Abs(z-a[i])
			}
		}
		return score
	}}}
	attack.grid = func(row []any) bool {
		for _, z := range outcome(row).Values {
			if z < 0 || z > 100 || math.Mod(z, 0.5) != 0 {
				return false
			}
		}
		return true
	}
	return attack
}

// numbers returns readings as SQL has them.
func numbers(readings []float64) (list []string) {
	for _, x := range readings {
		list = append(list, fmt.Sprint(x))
	}
	return list
}

// between returns an attack with a row without a secret between the steps, which is public, in both inputs.
func (a attack) between(row string) attack {
	for i, rows := range a.inputs {
		a.inputs[i] = append(rows[:len(rows):len(rows)], row)
	}
	a.hints = nil
	return a
}

func attacksOnSteps(register func(...attack)) {
	middle := fine.centre()
	still := []spot{middle, middle, middle}
	aside := all(still, 450, 600)
	jump := []spot{middle, middle.move(450, 600), middle}
	// A prediction passes with probability 1/2 where it is 2000/(0.5*1.8) metres off.
	limit := []spot{middle, middle.move(1800, 0), middle.move(1800, 1800)}
	beyond := []spot{middle, middle.move(2600, 0), middle.move(2600, 2600)}
	long := append(append([]spot{}, limit...), limit...)
	longer := append(append([]spot{}, beyond...), beyond...)
	register(
		walk("all steps move", fixedRate, still, aside),
		walk("one step moves, of a trace that stands still", fixedRate, still, jump),
		walk("all steps move, of a trace that passes tests as often as not", fixedUtility, limit, all(limit, 300, -400)),
		walk("steps move across the limit of the tests", fixedUtility, limit, beyond),
		walk("a test close to its limit", fixedUtility, []spot{middle, middle.move(2222, 0)}, []spot{middle, middle.move(2522, 0)}),
		walk("many tests close to their limits", fixedUtility, swing(middle, 1900, 12), swing(middle, 2400, 12)),
		walk("a jump across the box", fixedUtility, []spot{middle, middle.move(-3000, -3000), middle}, []spot{middle, middle.move(-2600, -2700), middle.move(400, 300)}),
		walk("steps after the budget is used up", fixedUtility, long, all(long, 450, 600)),
		walk("predictions after the budget is used up", goOn, long, longer),
		walk("steps with skipped tests", skipping, limit, beyond),
		walk("two points with noise", independent, still[:2], aside[:2]),
		walk("a step without a location", independent, still[:2], aside[:2]).between("180, NULL, NULL"),
	)
	register(
		meter("all readings move", meterRate, 4, []float64{50, 50, 50}, []float64{54, 54, 54}),
		meter("one reading moves", meterRate, 4, []float64{50, 50, 50}, []float64{50, 54, 50}),
		meter("readings move across the limit of the tests", meterUtility, 5, []float64{20, 50, 20}, []float64{20, 55, 15}),
		meter("a reading at a corner of the universe and inside", meterOnce, 2, []float64{0}, []float64{2}),
		meter("readings at a corner of the universe and inside", meterAlone, 2, []float64{0, 0}, []float64{2, 2}),
		meter("readings at the corners of the universe", meterUtility, 100, []float64{0, 0}, []float64{100, 100}),
		meter("readings outside the universe, after the budget is used up", meterUtility, 100, []float64{-9, 1e9, -1e300, 500, -9}, []float64{1e300, -1e300, 900, -0.1, 200}),
		meter("two readings with noise", meterAlone, 4, []float64{50, 50}, []float64{54, 54}),
		// Readings between two values of the universe are taken to be a step further apart.
		meter("readings that are not values of the universe", meterAlone, 4.5, []float64{50.24, 50.26}, []float64{54.24, 54.26}),
		meter("a step without a reading", meterAlone, 4, []float64{50, 50}, []float64{54, 54}).between("180, NULL"),
	)
}

// grid is a model of how people move on 3 x 4 cells of 3 km, trained on a public walk through all of them.
var grid = strings.Join([]string{
	"WITH RECURSIVE w(i, a) AS (SELECT 0, 7 UNION ALL SELECT i+1, (a*1103515245 + 12345) % 2147483648 FROM w WHERE i < 3000)",
	"SELECT markov_store('grid', markov_train(i / 500, 60*i, 39.951 + 0.0000001*(a / 4 % 980000), 116.301 + 0.0000001*(a / 256 % 980000), 'fine', 3000, 60)) FROM w",
}, " ")

// Models are public; policies differ in how small the sets of likely cells may be.
var (
	pimAll  = traces("all cells", "pim", `{"model": "grid", "epsilon": 1, "delta": 0.000001, "min_set": 12}`, fine.declare(), grid)
	pimSome = traces("few cells", "pim", `{"model": "grid", "epsilon": 2, "delta": 0.7, "min_set": 3}`, fine.declare(), grid)
)

// hidden returns an attack on a trace that hides among cells. The distance is the share of its steps that move.
func hidden(pair string, f *fixture, distance float64, a, b []spot) attack {
	attack := stepwise("pim_step", "lat, lon", pair, f, texts(a), texts(b))
	attack.unit, attack.claim = "set", claim{kind: bound.Pure, distance: distance}
	attack.hints = []bound.Score{fine.nearer(euclid, a, b)}
	return attack
}

func attacksOnHidden(register func(...attack)) {
	southWest, northEast, next := spot{39.952, 116.302}, spot{40.048, 116.398}, spot{39.985, 116.302}
	register(
		hidden("cells in opposite corners", pimAll, 1, []spot{southWest}, []spot{northEast}),
		hidden("neighbouring cells", pimAll, 1, []spot{southWest}, []spot{next}),
		hidden("two steps move", pimAll, 1, []spot{southWest, southWest}, []spot{northEast, northEast}),
		hidden("one of two steps moves", pimAll, 0.5, []spot{southWest, southWest}, []spot{southWest, northEast}),
		hidden("a cell outside the set of likely ones", pimSome, 1, []spot{southWest}, []spot{{40, 116.35}}),
		hidden("two steps, sets that follow from reports", pimSome, 1, []spot{southWest, northEast}, []spot{northEast, southWest}),
		hidden("locations outside the box", pimSome, 1, []spot{{-90, -60}}, []spot{{90, 120}}),
		hidden("two locations in one cell", pimAll, 0, []spot{southWest, northEast}, []spot{southWest.move(500, 500), northEast.move(-300, -300)}),
	)
}
