package reading

import (
	"math"
	"sync"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// Arguments of the functions that release readings.
var (
	argRank         = &frame.Arg{Name: "p", Is: "the percentile, 0..100", Kind: frame.Number, Setting: true}
	argEpsQuery     = &frame.Arg{Name: "epsilon", Is: "distinguishability per unit of the universe, or per record under nd1 and dh", Kind: frame.Positive, Setting: true}
	argMetric       = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records", Kind: frame.Text, Optional: true, Setting: true}
	argMetricSpread = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'dh': protects whole records", Kind: frame.Text, Optional: true, Setting: true}
	argMetricRank   = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'd1/score', 'd1/noise', 'd1/window': does so in a way that is named; 'nd1', 'dh': protect whole records; 'dinf': the accuracy of all values at once", Kind: frame.Text, Optional: true, Setting: true}
	argMetricAll    = &frame.Arg{Name: "metric", Is: "'d1' (default): protects the accuracy of each value; 'nd1', 'dh': protect whole records; 'dinf': the accuracy of all values at once", Kind: frame.Text, Optional: true, Setting: true}
)

// Notes that several functions share.
const (
	digitsNote = "It prints no digits that are noise alone: it is rounded to a power of ten, at most a thousandth of the noise's scale. "
	perGroup   = "epsilon, universe and metric must be constant within a group. " + groupNote + "Under d1 the" + disjointNote
	groupNote  = "A group charges all its accounts or none. " +
		"A row with NULL as reading contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL. "
	disjointNote = " groups of a GROUP BY cost an account the largest epsilon among them if it is proved that no row of a table is in two of them; otherwise each of them costs. " +
		"budget_cost says which and why."
	rankNote = "The answer is a value of the universe. Under dinf it has geometric noise and is clamped to lo..hi. " +
		"Under dh a value is the likelier, the fewer ranks it is off; under nd1, the less the readings would have to move to make it the answer. " +
		"Under d1 it is drawn in the latter way ('d1/score'), with noise ('d1/noise'), or as the mean of readings of neighbouring ranks, with noise ('d1/window'): " +
		"the number of readings, epsilon, universe and p choose, by the worst ratio of errors over readings that are even, near lo, near hi and lognormal, unless the metric names one. "
	maxNote = "Under dh it is aimed a few ranks inside, 2 ln(U)/epsilon of U values of the universe, rounded up, and half of them at most, " +
		"since values above the largest reading are many, and all are one rank off. dx_percentile with p = 100 is not. "
)

// stairsNote says from which epsilon on sums have which noise under dh.
func stairsNote(epsilon, of string) string {
	return "Under dh and from an epsilon of " + epsilon + " on the noise of " + of + " is a staircase, which has the least mean error: at epsilon 5 a sum is 2.4 times nearer to the truth than with geometric noise. "
}

// Accuracy of numbers.
const (
	queryAccuracy  = "dx_radius(aggregate, p, epsilon, universe, metric, rows) before, dx_within(answer) after"
	spreadAccuracy = "dx_radius before and dx_within(answer) after under d1; under dh no radius, as it depends on the readings"
	rankAccuracy   = "dx_rank_radius(p, epsilon, universe) before under dh and dx_rank_within(answer) after; dx_radius and dx_within where there is noise"
)

const (
	chargesGroup  = "epsilon to each account, once for all disjoint groups (d1) or once per group (dinf) in the universe's unit, or once per contributed row in unit record (nd1, dh)"
	chargesMetric = "epsilon to each account, once for all disjoint groups in the universe's unit (d1), or once per contributed row in unit record (nd1, dh)"
)

// queryRows are the aggregates that answer a number.
var queryRows = []*row{
	{
		name: "dx_sum", returns: "REAL", aggregate: always(scalar.Sum), epsilon: argEpsQuery, metric: argMetric, accuracy: queryAccuracy,
		plain: words{"Sums readings exactly and adds geometric noise.", chargesMetric,
			"Readings are first moved into the universe. The answer is clamped at 0 if lo >= 0, and not otherwise. " + stairsNote("1", "answers") +
				"Under d1 a reading that a join repeats m times, or that is passed as c*x, is protected m or c times less. " + perGroup,
			[]string{"SELECT dx_sum('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"}},
		sealed: words{"Sums sealed readings exactly and adds geometric noise.", chargesSealed, sealedNotes,
			[]string{"SELECT dx_sum(kwh, 5) FROM reading"}},
	}, {
		name: "dx_avg", returns: "REAL", aggregate: always(scalar.Avg), epsilon: argEpsQuery, metric: argMetricAll, accuracy: queryAccuracy,
		plain: words{"Averages readings: their sum with geometric noise, divided by how many there are, and moved into lo..hi.", chargesGroup,
			"Under d1 and dinf it is public how many readings there are: the noise has scale 1/(epsilon*readings) under d1 and 1/epsilon under dinf, and without a reading the answer is lo. " +
				"Under nd1 and dh half of epsilon pays for the sum of the distances from the middle of the universe, with noise of scale (hi - lo)/epsilon, and half for the number of readings, with noise of scale 2/epsilon. " + stairsNote("2", "sums") + digitsNote + perGroup,
			[]string{"SELECT dx_avg('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"}},
		sealed: words{"Averages sealed readings: their sum with geometric noise, divided by how many there are.", chargesSealedUnits, sealedNotes,
			[]string{"SELECT dx_avg(kwh, 5) FROM reading"}},
	},
	spreadRow(scalar.Variance, "dx_variance", "Releases the variance of readings, in the universe's unit squared.",
		"Releases the variance of sealed readings, in the universe's unit squared.",
		"SELECT dx_variance('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	spreadRow(scalar.StdDev, "dx_stddev", "Releases the standard deviation of readings, which is the root of dx_variance.",
		"Releases the standard deviation of sealed readings.",
		"SELECT dx_stddev('ana', x, 5, 'halfhour', 'dh') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankRow(scalar.Min, "dx_min", "Releases the smallest reading.", "", "Releases the smallest sealed reading.",
		"SELECT dx_min('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankRow(scalar.Max, "dx_max", "Releases the largest reading.", maxNote, "Releases the largest sealed reading.",
		"SELECT dx_max('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	rankRow(scalar.Median, "dx_median", "Releases the median, which is dx_percentile with p = 50.", "", "Releases the median of sealed readings.",
		"SELECT dx_median('ana', x, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"),
	{
		name: "dx_percentile", returns: "REAL",
		aggregate: percentile,
		first:     argRank, epsilon: argEpsQuery, metric: argMetricRank, accuracy: rankAccuracy,
		plain: words{"Releases the p-percentile: the reading of rank min(m, floor(p*m/100)+1) among m, without interpolation.", chargesGroup,
			rankNote + perGroup, []string{"SELECT dx_percentile('ana', x, 95, 20, 'halfhour') FROM (SELECT 0.412 AS x UNION SELECT 0.388)"}},
		sealed: words{"Releases the p-percentile of sealed readings.", chargesSealedUnits, sealedNotes, []string{"SELECT dx_percentile(kwh, 95, 5) FROM reading"}},
	},
}

// spreadRow returns the row of a variance or its root.
func spreadRow(a scalar.Aggregate, name, does, sealed, example string) *row {
	return &row{
		name: name, returns: "REAL", aggregate: always(a), epsilon: argEpsQuery, metric: argMetricSpread, accuracy: spreadAccuracy,
		plain: words{does, chargesMetric,
			"Noisy sums, divided by the number of readings and moved into the range that the universe allows. " +
				"Under d1, where that number is public, these are the sums of the squared distances from both ends of the universe, which no reading can move by more than 2*(hi - lo) together for each unit: " +
				"the noise of the variance has scale (hi - lo)/(epsilon*readings) for readings around the middle, and twice that for readings at an end. " +
				"Under dh the sum of the squared distances from the middle, that of the distances and the number have a third of epsilon each. " + digitsNote + perGroup, []string{example}},
		sealed: words{sealed, chargesSealed, sealedNotes, []string{"SELECT " + name + "(kwh, 5) FROM reading"}},
	}
}

// rankRow returns the row of a percentile of fixed p.
func rankRow(a scalar.Aggregate, name, does, notes, sealed, example string) *row {
	return &row{
		name: name, returns: "REAL", aggregate: always(a), epsilon: argEpsQuery, metric: argMetricRank, accuracy: rankAccuracy,
		plain:  words{does, chargesGroup, rankNote + notes + perGroup, []string{example}},
		sealed: words{sealed, chargesSealedUnits, sealedNotes, []string{"SELECT " + name + "(kwh, 0.5, 'dh') FROM reading"}},
	}
}

// queryGroup is a group of a dx_ aggregate: its exact accumulator and the accounts that
// contributed. Nothing is charged or drawn before the group is complete.
type queryGroup struct {
	*row
	query  *scalar.Query
	acc    scalar.Accumulator
	paying frame.Contributors
	names  [][]byte // room for the accounts of rows that are taken
}

// queryGroupPool holds the memory of complete groups.
var queryGroupPool = sync.Pool{New: func() any { return new(queryGroup) }}

func (r *row) newGroup(*frame.Session) frame.Group {
	g := queryGroupPool.Get().(*queryGroup)
	g.row = r
	return g
}

// recycle gives the group's memory to a later one.
func (g *queryGroup) recycle() {
	g.paying.Reset()
	g.query = nil
	queryGroupPool.Put(g)
}

func (g *queryGroup) Begin(c frame.Call) (err error) {
	if g.query, err = frame.Plan(c, g.newQuery); err != nil {
		return err
	}
	g.query.Reset(&g.acc)
	return nil
}

func (g *queryGroup) Row(c frame.Call) error {
	x, absent := c.Reading(frame.ArgX)
	if absent {
		return nil
	}
	if err := g.paying.Contribute(c); err != nil {
		return err
	}
	g.query.Add(&g.acc, x)
	return nil
}

// Take adds rows whose account is TEXT and may be charged, and whose reading is a finite REAL. The
// accounts come first, and are counted together.
func (g *queryGroup) Take(values []sqlite.Value, each int) int {
	names := g.names[:0]
	for at := 0; at < len(values); at += each {
		account, x := &values[at], &values[at+1] // see row.forms
		if account.Type() != sqlite.Text || x.Type() != sqlite.Float || math.IsInf(x.Float(), 0) {
			break
		}
		name := account.Bytes()
		if string(name) == "*" {
			break
		}
		names = append(names, name)
	}
	g.names = names
	g.paying.AddAll(names)
	for i := range names {
		g.query.Add(&g.acc, values[i*each+1].Float())
	}
	return len(names)
}

// Final charges all accounts in one transaction and draws.
func (g *queryGroup) Final(c frame.Call) error {
	defer g.recycle()
	paid, err := g.pay(c)
	if err != nil {
		return err
	}
	return c.Result(answerTo(drawReading(c, paid, g.query, &g.acc)), nil)
}

// pay pays for the group. Under d1 the groups of a statement may cost once.
func (g *queryGroup) pay(c frame.Call) (frame.Receipt, error) {
	if !g.query.Disjoint() {
		return g.paying.Pay(c, g.query.Price(), g.query.PerRow())
	}
	b, err := g.paying.Bill(g.query.Price(), false)
	if err != nil {
		return frame.Receipt{}, err
	}
	return c.PayDisjoint(b)
}

// percentile returns the aggregate of a call of dx_percentile.
func percentile(c frame.Call) (scalar.Aggregate, error) {
	return scalar.PercentileAt(c.Number(argRank))
}
