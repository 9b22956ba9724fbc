package sqlitefn

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
)

// Sections of the reference.
const (
	declared = "Declared by the owner"
	released = "Released values"
	free     = "Free, on public arguments"
	owners   = "For the owner only"
)

// Flags by section. A released value has none: it may be used in views, which is
// how an owner hands out a sanitised table, and it is never deterministic, since
// SQLite may evaluate such a function once for many rows.
const (
	ownerOnly = sqlite.DirectOnly
	pure      = sqlite.Deterministic | sqlite.Innocuous
)

// Arguments that several functions share.
var (
	argAccount   = argument{name: "account", is: "TEXT or INTEGER: whose budget pays"}
	argLat       = argument{name: "lat", is: "latitude, degrees (secret)"}
	argLon       = argument{name: "lon", is: "longitude, degrees (secret)"}
	argX         = argument{name: "x", is: "reading in the universe's unit (secret); moved to the nearest value of the universe"}
	argEpsMetre  = argument{name: "epsilon", is: "distinguishability per metre"}
	argEpsQuery  = argument{name: "epsilon", is: "distinguishability per unit of the universe, or per record under nd1 and dh"}
	argUniverse  = argument{name: "universe", is: "name of a universe"}
	argMetric    = argument{name: "metric", is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records", optional: true}
	argMetricAll = argument{name: "metric", is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records; 'dinf': the accuracy of all values at once", optional: true}
	argDomain    = argument{name: "domain", is: "name of a domain; the only one if there is one", optional: true}
	argBall      = argument{name: "domain", is: "name of a domain whose lattice and frame are to be counted in", optional: true}
	argUnit      = argument{name: "unit", is: "unit of the budget: 'm', 'm:NAME' (metres of the metric of mechanism NAME), 'record', 'set' (steps of pim_step), or a universe's unit"}
	argFix       = argument{name: "t", is: "time of the point, seconds since 1970 or ISO 8601 text; later than the trace's last"}
	argRadius    = argument{name: "radius_m", is: "radius, metres"}
)

// Notes that several functions share.
const (
	perGroup = "epsilon, universe and metric are constant within a group; a group charges all its accounts or none. " +
		"A row whose reading is NULL contributes nothing and charges nobody, but its group answers; a group without rows is NULL."
	truncated = "The answer is a value of the universe: geometric noise, clamped to lo..hi. "
)

const (
	chargesGroup  = "each account once per group in the universe's unit (d1, dinf), or once per contributed row in unit record (nd1, dh)"
	chargesMetric = "each account once per group in the universe's unit (d1), or once per contributed row in unit record (nd1, dh)"
)

// query is the row of a dx_ aggregate that answers a value of the universe.
func query(name, does string, a scalar.Aggregate, example ...string) *function {
	return &function{
		name: name, section: released,
		args:    []argument{argAccount, argX, argEpsQuery, argUniverse, argMetricAll},
		does:    does,
		charges: chargesGroup,
		notes:   truncated + perGroup,
		example: example,

		aggregate: newQueryGroup(shapeOf(a)),
	}
}

// functions is the table of all functions, in the order of the reference. It is
// set by init because geosql_help, one of them, reads it.
var functions []*function

func init() { functions = table() }

func table() []*function {
	return []*function{
		{
			name: "geo_domain", section: declared, flags: ownerOnly,
			args: []argument{
				{name: "name", is: "TEXT"},
				{name: "south", is: "degrees"}, {name: "west", is: "degrees"},
				{name: "north", is: "degrees"},
				{name: "east", is: "degrees; smaller than west for a box across the antimeridian"},
				{name: "step_m", is: "step of the lattice, metres"},
			},
			does: "Declares a domain: a box, its map projection, and the lattice that released points lie on.",
			notes: "Answers one line: size, kappa, largest sensible epsilon for this step. " +
				"Locations outside the box are moved to it before anything else happens; without a region released points may lie outside. " +
				"A domain never changes: declaring it again unchanged is harmless.",
			example: []string{"SELECT geo_domain('beijing', 39.4, 115.4, 41.1, 117.6, 1)", "SELECT geo_domain('haidian', 39.9, 116.2, 40.1, 116.4, 1)"},
			scalar:  geoDomain,
		},
		{
			name: "geo_region", section: declared, flags: ownerOnly,
			args: []argument{
				{name: "domain", is: "name of a domain"},
				{name: "wkt", is: "POLYGON or MULTIPOLYGON, coordinates lon lat, edges straight in degrees"},
			},
			does: "Restricts a domain's outputs to a polygon: a point drawn outside is moved to the nearest lattice point inside.",
			notes: "Rims belong to the region, holes do not; polygons may overlap and touch. " +
				"It may have a million points, and a boundary of 8 million steps of the lattice. " +
				"The lattice points are stored with the declaration, so that only this call takes long; Ctrl-C ends it. " +
				"A region never changes: declaring it again unchanged is harmless, and stores the points where they are missing.",
			example: []string{"SELECT geo_region('beijing', 'POLYGON((115.5 39.5, 117.5 39.5, 117.5 41.0, 115.5 41.0, 115.5 39.5))')"},
			scalar:  geoRegion,
		},
		{
			name: "dx_universe", section: declared, flags: ownerOnly,
			args: []argument{
				{name: "name", is: "TEXT"}, {name: "lo", is: "smallest value"}, {name: "hi", is: "largest value"},
				{name: "step", is: "distance of neighbouring values; divides hi - lo"},
				{name: "unit", is: "TEXT, such as 'kWh'; names the budget"},
			},
			does:    "Declares a universe: the public values lo, lo+step, .., hi.",
			notes:   "Answers one line. A universe never changes: declaring it again unchanged is harmless.",
			example: []string{"SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh')"},
			scalar:  dxUniverse,
		},
		{
			name: "budget_limit", section: declared, flags: ownerOnly,
			args: []argument{
				{name: "account", is: "TEXT or INTEGER; '*' gives every account without a limit of its own one of that size"},
				argUnit,
				{name: "epsilon", is: "the limit, at most 9000000; 0 blocks at once"},
				{name: "window_seconds", is: "INTEGER: the limit opens again after so many seconds; without it never", optional: true},
			},
			does: "Sets a limit in the ledger. Without a limit every charge is refused.",
			notes: "Commits at once, whatever becomes of the transaction around it. Raising a limit does not forget what was spent; " +
				"lowering it takes back what is reserved and not used, and 0 blocks at once: whatever begins later is refused, and a statement that " +
				"another process runs meanwhile releases at most another 1,024 times. " +
				"An account's window starts with its first charge after the last one ended. " +
				"**That a budget reopens is a policy, not a theorem**: losses add up across windows as they do within one, and what holds for somebody " +
				"whose secrets of different windows are related is `spent`, the sum since the beginning. A clock that is set back opens nothing; " +
				"a clock that is set forward opens windows early. What a statement has reserved is neither used nor returned after the window's end.",
			example: []string{"SELECT budget_limit('*', 'm', 0.05)", "SELECT budget_limit('ana', 'kWh', 20)",
				"SELECT budget_limit('*', 'record', 5)", "SELECT budget_limit('*', 'set', 10)", "SELECT budget_limit('bo', 'm', 0.02, 86400)"},
			scalar: budgetLimit,
		},
		{
			name: "budget_reserve", section: declared, flags: ownerOnly,
			args: []argument{argAccount, argUnit, {name: "epsilon", is: "what to reserve for the account"}},
			does: "Reserves for many accounts in one transaction, so that a query over them does not commit once for each.",
			notes: "Answers the number of accounts; reserves for all or none. A reservation counts as spent until it is used or, " +
				"when the last connection to the database closes, returned.",
			example:   []string{"SELECT budget_reserve(account, 'm', 0.01) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
			aggregate: newReserveGroup,
		},

		{
			name: "markov_train", section: declared, flags: ownerOnly, reads: true,
			args: []argument{
				{name: "trace", is: "TEXT or INTEGER: whose points make moves"},
				{name: "t", is: "time of the point, seconds since 1970 or ISO 8601 text"},
				{name: "lat", is: "latitude, degrees (**public** from now on)"},
				{name: "lon", is: "longitude, degrees (**public** from now on)"},
				{name: "domain", is: "name of a domain; NULL for the only one"},
				{name: "cell_m", is: "side of a square cell, metres: a multiple of the domain's step; at most 1048576 cells"},
				{name: "period_seconds", is: "time that a transition takes"},
			},
			does: "Trains a model of how people move on a grid of cells, a Markov chain, from public traces; the answer is a BLOB for markov_store.",
			notes: "**A model is public, and training adds no noise: training it on secrets releases them.** " +
				"Time is cut into slots of one period from each trace's first point on. The first point in a slot is a visit of its cell; two slots in succession that both have points are a transition. " +
				"The order of rows does not matter. A row whose location or time is NULL contributes nothing; without any other row the answer is NULL. " +
				"domain, cell_m and period_seconds are constant within a group. Cells without transitions have those to their neighbours, and nothing has probability 0. Charges nothing.",
			example: []string{
				"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
					"SELECT typeof(markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
			},
			aggregate: newTrainGroup,
		},
		{
			name: "markov_store", section: declared, flags: ownerOnly,
			args: []argument{{name: "name", is: "TEXT"}, {name: "model", is: "BLOB that markov_train answered"}},
			does: "Stores a model under a name, for policies of mechanism pim and for markov_info.",
			notes: "Answers one line. **A model is public**: its counts may be read, and what pim_step does rests on them. " +
				"A model never changes: storing it again unchanged is harmless.",
			example: []string{
				"WITH fix(trace, t, lat, lon) AS (VALUES ('tram', 0, 39.95, 116.25), ('tram', 60, 39.96, 116.26), ('tram', 120, 39.97, 116.27), ('tram', 180, 39.96, 116.26))\n" +
					"SELECT markov_store('popular', markov_train(trace, t, lat, lon, 'haidian', 1000, 60)) FROM fix",
			},
			scalar: markovStore,
		},
		{
			name: "optql_build", section: declared, flags: ownerOnly, reads: true,
			args: []argument{
				{name: "lat", is: "latitude of a place, degrees (**public** from now on)"},
				{name: "lon", is: "longitude of a place, degrees (**public** from now on)"},
				{name: "weight", is: "how often the place is where somebody is, above 0; only ratios matter (**public** from now on)"},
				{name: "epsilon", is: "distinguishability per metre"},
				{name: "dilation", is: "1 for the best there is; up to 1000, such as 1.1, for an answer sooner, at a somewhat greater loss"},
				argDomain,
				{name: "metric", is: "the distances that epsilon is per: 'euclid' (default), 'manhattan', or JSON text in each row, the distances from its place to all others: [[lat, lon, metres], ..] (**public** from now on)", optional: true},
			},
			does: "Builds the optimal mechanism on 2 to 256 places: of all that keep epsilon, the one whose releases are the fewest metres away on average; the answer is a BLOB for optql_store.",
			notes: "**Places, weights and the mechanism are public: weights that come from secrets release them.** " +
				"A place is the lattice point of its location. Two rows of one place, a weight that is not above 0 and a NULL are errors. The order of rows does not matter. " +
				"epsilon, dilation and domain are constant within a group, and so is the kind of metric. " +
				"The loss is within 0.01 % of the least possible with a dilation of 1, where that is not next to nothing; above, the constraints are those of a spanner with this dilation, of which there are fewer. " +
				"The distances of 'euclid' are those of the domain's frame divided by 1 + kappa: not above those along the Earth. " +
				"Those of 'manhattan' are |di| + |dj| steps for places that are di and dj steps of the lattice apart, whose directions are east and north at the middle of the box. " +
				"Distances that rows give, such as along roads, have to be a metric: one from each place to each other, above 0, the same both ways, and none longer than by way of a third; " +
				"the place itself may be among them with 0. " +
				"With 'manhattan' and given distances those are also what is lost, and geoind_optimal charges in a unit of its own, m:NAME, " +
				"unless all of them are certified to be no longer than the geodesics. " +
				"Time grows with the fourth power of the number of places: about a second for 50, ten for 100, minutes for 200; an interrupt ends it within two steps of the solver. Charges nothing.",
			example: []string{
				"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
					"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
				"WITH home(lat, lon, people, roads) AS (VALUES (39.92, 116.25, 300, '[[39.95, 116.32, 9000]]'), (39.95, 116.32, 120, '[[39.92, 116.25, 9000]]'))\n" +
					"SELECT typeof(optql_build(lat, lon, people, 0.0004, 1, 'haidian', roads)) FROM home",
			},
			aggregate: newBuildGroup,
		},
		{
			name: "optql_store", section: declared, flags: ownerOnly,
			args: []argument{{name: "name", is: "TEXT"}, {name: "mechanism", is: "BLOB that optql_build answered"}},
			does: "Stores a mechanism under a name, for geoind_optimal, geoind_remap and optql_report.",
			notes: "Answers one line. What is stored is certified before, and each time it is read: a BLOB that was changed is refused, or keeps its epsilon. " +
				"**Its places, weights and matrix are public.** " +
				"A mechanism never changes: storing again one that was built from the same places, weights, metric, epsilon and dilation is harmless and leaves the first. " +
				"The name is that of a unit too, m:NAME, if the metric wants one.",
			example: []string{
				"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
					"SELECT optql_store('homes', optql_build(lat, lon, people, 0.0004, 1, 'haidian')) FROM home",
				"WITH home(lat, lon, people) AS (VALUES (39.92, 116.25, 300), (39.95, 116.32, 120), (40.05, 116.30, 80))\n" +
					"SELECT optql_store('blocks', optql_build(lat, lon, people, 0.0004, 1, 'haidian', 'manhattan')) FROM home",
			},
			scalar: optqlStore,
		},
		{
			name: "trace_policy", section: declared, flags: ownerOnly,
			args: []argument{
				{name: "trace", is: "TEXT or INTEGER; '*' is the default of traces without a policy"},
				{name: "account", is: "TEXT or INTEGER: whose budget pays, of unit m, or of unit set for pim; '*', for trace '*': the account of the trace's name"},
				{name: "mechanism", is: "'predictive', or 'independent': noise for every point (predictive_step); or 'pim' (pim_step)"},
				{name: "json", is: "JSON object with the settings, see below"},
			},
			does: "Declares what predictive_step or pim_step does with a trace.",
			notes: "Settings of the first two: `epsilon` per metre for the whole trace (required); `domain`, the only one if there is one; " +
				"`steps`, for manager `fixed-rate`: how many points the budget is to last for, or `alpha`, for manager `fixed-utility`: the radius in metres that noise stays within with probability 0.9; " +
				"of the predictive mechanism also `eta` (0.6 for fixed-rate, 0.5 for fixed-utility) and `gamma` (0.8), which weigh a test against its noise, " +
				"`prediction_rate` (0.75; fixed-rate), `skip_speed` in m/s (predictions that the secret cannot have left behind at that speed are not tested; 0), " +
				"`predictor` ('parrot': the last report, 'linear', 'mixture') and `after` ('stop', or 'predict': untested predictions once the budget is used up). " +
				"Settings of pim: `model`, the name of one that markov_store has stored (required); `epsilon`, of each step (required); " +
				"`delta` (0.01): a step's set has the cells that the public knows the trace to be in with probability 1 - delta; " +
				"`min_set` (1): it has at least so many. The domain of the model must not have a region. " +
				"A policy never changes: declaring it again unchanged is harmless.",
			example: []string{
				`SELECT trace_policy('*', '*', 'predictive', '{"domain": "beijing", "epsilon": 0.023, "steps": 30}')`,
				`SELECT trace_policy('walk', 'ana', 'predictive', '{"domain": "beijing", "epsilon": 0.02, "alpha": 3000, "skip_speed": 8}')`,
				`SELECT trace_policy('ride', 'ana', 'pim', '{"model": "popular", "epsilon": 1, "delta": 0.01, "min_set": 3}')`,
			},
			scalar: tracePolicy,
		},
		{
			name: "cip_policy", section: declared, flags: ownerOnly,
			args: []argument{{name: "name", is: "TEXT"}, {name: "json", is: "JSON object with the settings, see below"}},
			does: "Declares what is assumed and what is protected when whole traces are released: conditional inferential privacy under Gaussian-process priors.",
			notes: "Settings: `kernel` ('rbf', 'exponential' or 'periodic': how coordinates at two times are correlated), `variance` (of a coordinate, square metres), " +
				"`length_scale` (of the kernel, seconds) or `length_scale_max` (all up to it), `period` (seconds, of the periodic kernel), " +
				"`radius` (how far apart two locations of one point are that must not be told apart, metres), `lambda` (order of the Rényi divergence, above 1), " +
				"`epsilon` (the loss allowed), `domain` (of the locations; the only one if there is one), `sigma2` (variance of the noise, for cip_loss), " +
				"and `family`, the sets of points that are protected together: 'singles', 'every-other', 'windows:W' (any 1 to W points that follow one another) or lists of indices in the order of time such as [[0, 1], [5]]. " +
				"**Only the sets of the family are protected, and only against one who knows no more than such a prior**; other sets may lose far more. " +
				"A policy cannot change once declared.",
			example: []string{`SELECT cip_policy('day', '{"kernel": "rbf", "variance": 1000000, "length_scale_max": 600, "radius": 100, "lambda": 2, "epsilon": 1, "family": "windows:3", "domain": "beijing"}')`,
				"SELECT budget_limit('*', 'cip:day', 1)"},
			scalar: cipPolicy,
		},

		{
			name: "geoind_laplace", section: released,
			args:    []argument{argAccount, argLat, argLon, argEpsMetre, argDomain},
			columns: locationColumns,
			does:    "Releases a location by planar Laplace noise on the domain's lattice (geo-indistinguishability).",
			charges: "the account epsilon in unit m, per evaluation",
			notes: "The scalar answers WKT; the table-valued form has one row per call. " +
				"Two locations d metres apart are distinguishable by at most epsilon*(d + a cell's diagonal), within a cell not at all. " +
				"SQLite may evaluate the scalar more often than it shows rows, and each evaluation is a draw and a charge; " +
				"the table-valued form is evaluated once for each row that its arguments come from, and once in all if they name no column. Inside its call write t.lat, since lat alone would be its own column. " +
				"A NULL location yields NULL and charges nobody.",
			example: []string{"SELECT geoind_laplace('ana', 39.984, 116.318, 0.005, 'beijing')",
				"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_laplace(t.who, t.y, t.x, 0.005, 'beijing') g"},
			scalar: geoindLaplace.scalar,
			table:  geoindLaplace.table,
		},
		{
			name: "geoind_optimal", section: released,
			args:    []argument{argAccount, argLat, argLon, {name: "mechanism", is: "name of a mechanism that optql_store has stored"}},
			columns: locationColumns,
			does:    "Releases a location as one of the places of a stored mechanism, which loses least on average among those that protect the places as well.",
			charges: "the account the mechanism's epsilon, per evaluation: in unit m if none of its distances is longer than the geodesic, as with metric 'euclid', otherwise in unit m:NAME, after the mechanism (optql_report says which)",
			notes: "Forms and evaluations are those of geoind_laplace; what is released is a place, with probabilities that are certified in integers. " +
				"A location stands for its nearest place, in the domain's frame from lattice point to lattice point whatever the mechanism's metric, " +
				"since a road's length between places says nothing of locations elsewhere; of equally near ones the first from the south-west. " +
				"**It protects places**: two whose places are d metres apart are distinguishable by at most epsilon*(d + a cell's diagonal), " +
				"in unit m:NAME by epsilon*d with d by the mechanism's own distances, so that two locations a metre apart, " +
				"across a border between places, may be told apart as well as their places may, which can be far from each other; locations of one place are not told apart at all. " +
				"optql_report says how far a location can be from its place. " +
				"**Budgets of m and of each m:NAME are apart**, and what they pay for about the same location adds up. " +
				"A NULL location yields NULL and charges nobody.",
			example: []string{"SELECT geoind_optimal('ana', 39.984, 116.318, 'homes')",
				"SELECT budget_limit('ana', 'm:blocks', 0.01)", "SELECT geoind_optimal('ana', 39.984, 116.318, 'blocks')",
				"SELECT g.lat, g.lon FROM (SELECT 'ana' AS who, 39.984 AS y, 116.318 AS x) t, geoind_optimal(t.who, t.y, t.x, 'homes') g"},
			scalar: geoindOptimal.scalar,
			table:  geoindOptimal.table,
		},
		{
			name: "predictive_step", section: released,
			args: []argument{
				{name: "trace", is: "TEXT or INTEGER, with a policy: see trace_policy"},
				argFix, argLat, argLon,
			},
			does:    "Reports a trace step by step: a prediction made from earlier reports where a private test finds it good enough, else the location with noise; WKT, NULL once the trace's budget is used up.",
			charges: "what the step spends, in unit m, to the policy's account: the test, and the noise if the test failed",
			notes: "Over a table: `predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING)`; to sort by it, sort outside of a subquery. " +
				"On line: one row at a time, without OVER. The trace's epsilon bounds all of its points together: traces whose points are at most d apart, each from its counterpart, are told apart by at most epsilon*(d + a lattice cell's diagonal). " +
				"Times, which tests passed and where the trace stops are public. The run is kept in the ledger; after a crash see trace_restart.",
			example: []string{
				"SELECT predictive_step('walk', 1000, 40.0, 116.3)",
				"WITH fix(trace, t, lat, lon) AS (VALUES ('bus', 0, 40, 116.3), ('bus', 60, 40.001, 116.3), ('bus', 120, 40.002, 116.301)) " +
					"SELECT trace, t, predictive_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix",
			},
			window: newStepPartition,
		},
		{
			name: "pim_step", section: released,
			args: []argument{
				{name: "trace", is: "TEXT or INTEGER, with a policy of mechanism pim: see trace_policy"},
				argFix, argLat, argLon,
			},
			does:    "Reports a trace step by step, each hidden among the cells where the public knows the trace to be likely (planar isotropic mechanism); WKT.",
			charges: "the policy's epsilon in unit set, for each step with a location, to the policy's account",
			notes: "In the forms of predictive_step. What the public knows is a model of how people move (markov_store) and the reports so far; " +
				"from them follows the set of the step, public too: the most likely cells, of probability 1 - delta in all and min_set at least. " +
				"The location's cell is reported with noise that fits the set. A location outside of the set is reported as the cell of the set nearest to it. " +
				"So at each step **all pairs of locations in the domain are told apart by at most epsilon**, however far apart and whatever the model is worth; steps add up. " +
				"What is protected is the location rounded to its cell. What accuracy is had depends on the set: the noise is as wide as the set is. " +
				"A set of one cell hides nothing because nothing is left to hide: the report is that cell, wherever the trace is. min_set keeps sets from becoming so small. " +
				"A NULL location yields NULL and charges nobody; the next step knows how much time has passed. " +
				"The run is kept in the ledger. After a crash see trace_restart; the run goes on without the points lost, of which its belief knows nothing.",
			example: []string{
				"SELECT pim_step('ride', 1000, 39.984, 116.318)",
				"WITH fix(trace, t, lat, lon) AS (VALUES ('ride', 2000, 39.96, 116.26), ('ride', 2060, NULL, NULL), ('ride', 2120, 39.97, 116.27)) " +
					"SELECT trace, t, pim_step(trace, t, lat, lon) OVER (PARTITION BY trace ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix",
			},
			window: newStepPartition,
		},
		{
			name: "dx_value", section: released,
			args:    []argument{argAccount, argX, {name: "epsilon", is: "distinguishability per unit of the universe"}, argUniverse},
			does:    "Releases one reading by the truncated geometric mechanism.",
			charges: "the account epsilon in the universe's unit, per evaluation",
			notes:   "A NULL reading yields NULL and charges nobody.",
			example: []string{"SELECT dx_value('ana', 0.412, 5, 'halfhour')"},
			scalar:  dxValue,
		},
		{
			name: "dx_count", section: released,
			args:      []argument{argAccount, {name: "epsilon", is: "distinguishability per record"}},
			does:      "Counts rows, with geometric noise, clamped at 0.",
			charges:   "each account epsilon per row of its own, in unit record",
			notes:     "A row whose account is NULL is not counted and charges nobody, but its group answers.",
			example:   []string{"SELECT dx_count(account, 0.5) FROM (SELECT 'ana' AS account UNION SELECT 'bo')"},
			aggregate: newQueryGroup(shapeCount),
		},
		{
			name: "dx_sum", section: released,
			args:    []argument{argAccount, argX, argEpsQuery, argUniverse, argMetric},
			does:    "Sums readings exactly and adds geometric noise.",
			charges: chargesMetric,
			notes: "Readings are moved into the universe first. The answer is clamped at 0 where lo >= 0 and nowhere else. " +
				"Under d1 a reading that a join repeats m times, or that is passed as c*x, is protected m or c times less. " + perGroup,
			example:   []string{"SELECT dx_sum('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"},
			aggregate: newQueryGroup(shapeOf(scalar.Sum)),
		},
		query("dx_avg", "Averages readings and rounds to the universe's values.", scalar.Avg,
			"SELECT dx_avg('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
		query("dx_min", "The smallest reading.", scalar.Min,
			"SELECT dx_min('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
		query("dx_max", "The largest reading.", scalar.Max,
			"SELECT dx_max('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
		query("dx_median", "The median, dx_percentile with p = 50.", scalar.Median,
			"SELECT dx_median('ana', x, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
		{
			name: "dx_percentile", section: released,
			args:    []argument{argAccount, argX, {name: "p", is: "0..100"}, argEpsQuery, argUniverse, argMetricAll},
			does:    "The p-percentile: the reading of rank min(m, floor(p*m/100)+1) among m, without interpolation.",
			charges: chargesGroup,
			notes:   truncated + perGroup,
			example: []string{"SELECT dx_percentile('ana', x, 95, 2, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"},

			aggregate: newQueryGroup(shapePercentile),
		},
		{
			name: "dx_centroid", section: released,
			args:    []argument{argAccount, argLat, argLon, argEpsMetre, argDomain},
			does:    "Releases the centroid of a set of locations by planar Laplace noise on the domain's lattice; WKT.",
			charges: "each account with a location in the group epsilon in unit m, once per group",
			notes: "Two sets whose locations are at most d metres apart, each from its counterpart, are distinguishable by at most epsilon*(d + two diagonals of a cell), since locations and centroid are rounded. " +
				"How many locations there are, and whose, is public. To release the whole set, release each location with geoind_laplace, which costs epsilon for each. " +
				"epsilon and domain are constant within a group; a group charges all its accounts or none. " +
				"A NULL location contributes nothing and charges nobody; rows without any location answer noise about the middle of the box; a group without rows is NULL.",
			example:   []string{"SELECT dx_centroid('ana', lat, lon, 0.005, 'beijing') FROM (SELECT 39.98 AS lat, 116.31 AS lon UNION SELECT 39.99, 116.32)"},
			aggregate: newCentroidGroup,
		},
		{
			name: "cip_trace", section: released,
			args: []argument{argAccount, {name: "t", is: "time of the point, seconds since 1970 or ISO 8601 text; no two alike"}, argLat, argLon,
				{name: "policy", is: "name of a policy that cip_policy has declared"}},
			does:    "Releases a whole trace with Gaussian noise whose variance the times and the policy demand; a JSON array of objects with t, lat and lon, in the order of time.",
			charges: "the account the policy's epsilon in unit cip:NAME, **once**: a second trace of an account under a policy is refused, whatever its limit",
			notes: "Under the policy's prior, for every set of its family, the Rényi divergence of the released trace between any two assumptions about the locations of that set, each within the radius of its counterpart, is at most epsilon. " +
				"The variance is a little above that of cip_sigma: the radius is along the ellipsoid, and the frame may stretch it. " +
				"Times, and which locations are NULL, are public; such points are left out. At most 256 points, all of one account. " +
				"Traces of an account do not simply add up under such a prior, so that nothing more is released, also after a crash or a rollback that lost the first. " +
				"**What is promised is promised to one who sees this release of the account's locations and no other**: " +
				"traces under other policies, and what other functions release, have budgets of their own, whose sum bounds nothing here.",
			example:   []string{"SELECT cip_trace('ana', t, lat, lon, 'day') FROM (SELECT 0 AS t, 39.984 AS lat, 116.318 AS lon UNION ALL SELECT 300, 39.99, 116.32 UNION ALL SELECT 600, 39.99, 116.33)"},
			aggregate: newCIPGroup,
		},

		{
			name: "geoind_epsilon", section: free, flags: pure,
			args:    []argument{{name: "level", is: "distinguishability allowed within the radius, such as 1.386 (ln 4: a factor of 4)"}, argRadius},
			does:    "Epsilon per metre for a level of privacy within a radius: level/radius_m.",
			example: []string{"SELECT geoind_epsilon(1.386, 200)"},
			scalar:  geoindEpsilon,
		},
		{
			name: "geoind_radius", section: free,
			args:    []argument{argEpsMetre, {name: "p", is: "probability, 0 <= p < 1"}, argBall},
			does:    "Radius in metres that holds the released point with probability p.",
			example: []string{"SELECT geoind_radius(0.005, 0.95)", "SELECT geoind_radius(0.005, 0.95, 'beijing')"},
			notes:   "Without a domain it describes the continuous mechanism; with one it adds half a cell's diagonal and the frame's scale error.",
			scalar:  geoindRadius,
		},
		{
			name: "geoind_confidence", section: free,
			args:    []argument{argEpsMetre, argRadius, argBall},
			does:    "Probability that the released point lies within a radius of the true one.",
			notes:   "The inverse of geoind_radius.",
			example: []string{"SELECT geoind_confidence(0.005, 1000)"},
			scalar:  geoindConfidence,
		},
		{
			name: "lbs_radius", section: free,
			args: []argument{argEpsMetre, {name: "confidence", is: "probability that everything of interest is found, 0 <= c < 1"},
				{name: "radius_m", is: "radius of interest about the true place, metres"}, argBall},
			does: "Radius in metres to ask a location service for about the released point.",
			notes: "A constant of the query, never of the noise: a radius that followed the distance between true and released point " +
				"would give the true one away.",
			example: []string{"SELECT lbs_radius(0.005, 0.95, 300)"},
			scalar:  lbsRadius,
		},
		{
			name: "dx_radius", section: free,
			args: []argument{{name: "aggregate", is: "'sum', 'avg', 'min', 'max', 'median', 'percentile', 'count' or 'value'"},
				{name: "p", is: "probability, 0 < p < 1"}, argEpsQuery,
				{name: "universe", is: "name of a universe; NULL for 'count'"}, argMetricAll},
			does:    "Accuracy before anything is spent: the answer lies within this distance of the true one with probability p.",
			example: []string{"SELECT dx_radius('sum', 0.95, 2, 'halfhour')"},
			scalar:  dxRadius,
		}, {
			name: "cip_loss", section: free,
			args: []argument{{name: "times_json", is: "JSON array of numbers, in the unit of the policy's length scale"}, {name: "policy", is: "name of a policy, or its JSON; with sigma2"}},
			does: "How much a trace with these times loses at the most if noise of variance sigma2 is added to each coordinate: the greatest over the policy's family and length scales.",
			notes: "Computed with as many digits as it takes, and rounded up; an error where that cannot be vouched for. " +
				"Between length scales it is a search, see the introduction of package cip. The radius is Euclidean for each point, so that the loss covers both coordinates.",
			example: []string{`SELECT round(cip_loss('[0,1,2,3,4,5,6,7,8,9]', '{"kernel":"rbf","variance":1,"length_scale":1,"radius":1,"lambda":2,"family":"every-other","sigma2":1}'), 5)`},
			scalar:  cipLoss,
		},
		{
			name: "cip_sigma", section: free,
			args:    []argument{{name: "times_json", is: "JSON array of numbers, in the unit of the policy's length scale"}, {name: "policy", is: "name of a policy, or its JSON; with epsilon"}},
			does:    "The least variance of the noise in each coordinate with which a trace with these times loses no more than epsilon.",
			example: []string{`SELECT round(cip_sigma('[0,300,600]', '{"kernel":"rbf","variance":1000000,"length_scale":600,"radius":100,"lambda":2,"family":"singles","epsilon":1}'))`},
			scalar:  cipSigma,
		},

		{
			name: "markov_info", section: free,
			args:    []argument{{name: "name", is: "name of a model"}},
			does:    "Describes a model, as a JSON object.",
			notes:   "Keys: name, domain, cell_m, period_seconds, width and height of the grid and its cells, traces trained on, visits, visited_cells, transitions, and nonzero, the pairs of cells that have any.",
			example: []string{"SELECT markov_info('popular')", "SELECT markov_info('popular') ->> 'transitions'"},
			scalar:  markovInfo,
		},
		{
			name: "optql_report", section: free,
			args: []argument{{name: "name", is: "name of a mechanism"}},
			does: "Describes a mechanism, as a JSON object.",
			notes: "Keys: name, domain, places, metric ('euclid', 'manhattan' or 'given'), unit (what a release is charged in: m or m:NAME), epsilon, certified_epsilon (what the matrix was checked for: epsilon as a float, rounded down), " +
				"dilation, true_dilation (of the spanner), constraints, gap (the share of its loss that a better solution might save), " +
				"quality_loss (metres from place to release, on average: in the domain's frame, or by the mechanism's own metric), adv_error (the same from place to the best guess of somebody who knows the weights), " +
				"largest_snap (metres in the domain's frame from a location to its place, at the most), seconds (that the solution took).",
			example: []string{"SELECT optql_report('homes') ->> 'quality_loss', optql_report('homes') ->> 'largest_snap'"},
			scalar:  optqlReport,
		},
		{
			name: "geoind_remap", section: free,
			args: []argument{{name: "wkt", is: "POINT(lon lat), such as geoind_optimal released"}, {name: "name", is: "name of a mechanism"}},
			does: "The place that a released point is best taken for by somebody who knows the mechanism's weights: the one with the least expected distance.",
			notes: "What geoind_optimal released costs no more when it is remapped, whoever does it. A point that is none of the mechanism's places is taken for its nearest one first. " +
				"NULL yields NULL.",
			example: []string{"SELECT geoind_remap(geoind_optimal('ana', 39.984, 116.318, 'homes'), 'homes')"},
			scalar:  geoindRemap,
		},
		{
			name: "geosql_help", section: free,
			args:    []argument{{name: "name", is: "name of a function; without one, the list of all", optional: true}},
			does:    "Explains a function.",
			example: []string{"SELECT geosql_help('dx_sum')"},
			scalar:  geosqlHelp,
		},
		{
			name: "geosql_version", section: free, flags: pure,
			does:    "Version of geosql.",
			example: []string{"SELECT geosql_version()"},
			scalar:  geosqlVersion,
		},
		{
			name: "geosql_debug", section: free, flags: sqlite.Innocuous,
			does:   "Versions of geosql, SQLite and Go, and the platform.",
			scalar: geosqlDebug,
		},

		{
			name: "budget_spent", section: owners, flags: ownerOnly, reads: true,
			args:    []argument{argAccount, argUnit},
			does:    "What an account has spent since the beginning, reservations counted; 0 where nothing was, never NULL.",
			example: []string{"SELECT budget_spent('ana', 'm')"},
			scalar:  budgetSpent,
		},
		{
			name: "budget_remaining", section: owners, flags: ownerOnly, reads: true,
			args:    []argument{argAccount, argUnit},
			does:    "What an account has left, of a limit with a window in the current one; 0 without a limit.",
			example: []string{"SELECT budget_remaining('ana', 'm')"},
			scalar:  budgetRemaining,
		},
		{
			name: "budget_cost", section: owners, flags: ownerOnly,
			args:    []argument{{name: "sql", is: "TEXT: one SELECT, VALUES, INSERT, REPLACE, UPDATE, DELETE or CREATE TABLE AS, without parameters"}},
			columns: costColumns,
			does:    "Tells what a statement will charge to whom, by a dry run: it charges nothing, draws nothing, and undoes what it writes.",
			notes: "One row per function, account and unit, which epsilon and evaluations add up. " +
				"at_most equals epsilon where it is proved, from the statement as SQLite has compiled it, that released values do not decide " +
				"what is evaluated; then the statement charges exactly that if it runs to its end, and if neither data nor clock change in between. " +
				"Else, such as with a condition on a released value, DISTINCT, or a trigger, epsilon is a guess: " +
				"a dry run releases the middle of the domain's box, lo, or 0 for a sum or count. at_most is then what the account has left, its reservations included, " +
				"which the ledger does not exceed before a window reopens or a limit is raised, and a last row '*' says that others may be charged too. " +
				"A dry run is refused nothing: compare epsilon with remaining, which is what budget_remaining answers. " +
				"Functions that declare something or change the ledger cannot be dry-run; those of the application run as always.",
			example: []string{"SELECT function, account, unit, evaluations, epsilon, at_most FROM budget_cost(\n" +
				"  'SELECT dx_sum(who, x, 2, ''halfhour'') FROM (SELECT ''ana'' AS who, 0.412 AS x UNION SELECT ''bo'', 0.388)')"},
			table: newCostCursor,
		},
		{
			name: "ledger_balance", section: owners, flags: ownerOnly, reads: true,
			columns: balanceColumns,
			does:    "Balances: one row per account and unit that has a limit or was charged.",
			notes: "spent and reserved are since the beginning, spent without what is still reserved; epsilon_limit is NULL without a limit. " +
				"Of a limit with a window, remaining and window_spent (reservations counted) are those of the current one, which ends at reopens: NULL before its first charge.",
			example: []string{"SELECT account, unit, epsilon_limit, spent FROM ledger_balance"},
			table:   newBalanceCursor,
		},
		{
			name: "ledger_charges", section: owners, flags: ownerOnly, reads: true,
			columns: chargeColumns,
			does:    "Charges: one row per statement, function, account and unit.",
			example: []string{"SELECT function, account, unit, epsilon, evaluations FROM ledger_charges"},
			table:   newChargeCursor,
		},
		{
			name: "ledger_limits", section: owners, flags: ownerOnly, reads: true,
			columns: limitColumns,
			does:    "The limits that were set, one row each time.",
			notes:   "Ids are in one order with those of ledger_charges.",
			example: []string{"SELECT account, unit, epsilon_limit, window_seconds FROM ledger_limits"},
			table:   newLimitCursor,
		},
		{
			name: "ledger_head", section: owners, flags: ownerOnly, reads: true,
			does:    "The head of the ledger's chain of entries: the number of the last one, and a hash of it and all before it.",
			notes:   "Note it where whoever can write the ledger's file cannot: with ledger_verify it is evidence that the file was not put back or rewritten since. NULL without a ledger.",
			example: []string{"SELECT ledger_head()"},
			scalar:  ledgerHead,
		},
		{
			name: "ledger_verify", section: owners, flags: ownerOnly, reads: true,
			args: []argument{
				{name: "head", is: "an earlier answer of ledger_head()", optional: true},
				{name: "archive", is: "the file of ledger_archive, if there is one", optional: true},
			},
			columns: verifyColumns,
			does:    "Reads the whole ledger and makes sure that no charge and no limit was changed, removed, inserted or moved, and that balances are what the charges say; else it is an error that says what is wrong.",
			notes: "With an earlier head it also finds an older file that was put back, and a history that was written anew. " +
				"It is no more than evidence: there is no secret in the hashes, so without a head noted elsewhere whoever can write the file can write another history.",
			example: []string{"SELECT entries > 0, balances, limits FROM ledger_verify(ledger_head())"},
			table:   newVerifyCursor,
		},
		{
			name: "ledger_archive", section: owners, flags: ownerOnly,
			args: []argument{
				{name: "file", is: "TEXT: an SQLite file, made where it is missing, which can take entries time after time"},
				{name: "before", is: "seconds since 1970 or ISO 8601 text: older entries go"},
			},
			does: "Moves old entries of the ledger to an archive and answers how many; balances, limits and the chain stay.",
			notes: "For each account one charge of function ledger_archive carries the sum of what went over. " +
				"Commits at once. The archive has the table entry: `geosql FILE 'SELECT * FROM entry'` shows it.",
			example: []string{"SELECT ledger_archive('old-charges.db', '2020-01-01')"},
			scalar:  ledgerArchive,
		},
		{
			name: "trace_run", section: owners, flags: ownerOnly, reads: true,
			args:    []argument{{name: "trace", is: "TEXT or INTEGER"}},
			columns: runColumns,
			does:    "The public run of a trace: every point that was reported, whether it was tested and hard, what it spent, and of pim_step how many cells its set had.",
			notes:   "A row of NULLs is a gap: points that a crash has lost, and what was reserved for them.",
			example: []string{"SELECT t, hard, tested, epsilon FROM trace_run('walk')", "SELECT t, lat, lon, epsilon, set_size FROM trace_run('ride')"},
			table:   newRunCursor,
		},
		{
			name: "trace_restart", section: owners, flags: ownerOnly,
			args:    []argument{{name: "trace", is: "TEXT or INTEGER"}},
			does:    "Lets a trace go on that a crash has left; what was reserved counts as spent. Not for a trace that another connection is using: its points would be lost.",
			example: []string{"SELECT trace_restart('walk')"},
			scalar:  traceRestart,
		},
		{
			name: "geo_outside", section: owners, flags: ownerOnly, reads: true,
			args:    []argument{{name: "domain", is: "name of a domain"}, argLat, argLon},
			does:    "1 if a location lies outside the domain's box and would be moved, else 0.",
			example: []string{"SELECT geo_outside('beijing', 42.5, 116.3)"},
			scalar:  geoOutside,
		},
		{
			name: "dx_outside", section: owners, flags: ownerOnly, reads: true,
			args:    []argument{argUniverse, argX},
			does:    "1 if a reading lies outside the universe and would be clamped, else 0.",
			example: []string{"SELECT dx_outside('halfhour', 11.2)"},
			scalar:  dxOutside,
		},
	}
}
