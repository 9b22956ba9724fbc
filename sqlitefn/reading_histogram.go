package sqlitefn

import (
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

var argBins = &argument{
	name: "bins", is: "INTEGER: how many runs to cut the values of the universe into, at most 10000 and at most as many as values",
	kind: wholeNumber(scalar.MaxBins, ""), setting: true,
}

var histogramFunctions = []*function{
	&function{
		name: "dx_histogram", section: released,
		args:    []*argument{argContributor, argX, argEpsRecord, argUniverse, argBins},
		does:    "Counts readings in the bins of a universe, with geometric noise on each count; answers a JSON array.",
		charges: "epsilon in unit record to each account, for each of its readings",
		notes: "The values lo, lo+step, .., hi are cut into runs whose lengths differ by one at most; the array has all of them in order, each as {\"lo\":..,\"hi\":..,\"count\":..} with its first and its last value. " +
			"A reading that is replaced by another changes two counts, so each has noise of rate epsilon/2; it is clamped at 0. Readings are first moved into the universe. " +
			"epsilon, universe and bins must be constant within a group. A group charges all its accounts or none. " +
			"A row whose reading is NULL contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL.",
		example: []string{
			"SELECT dx_histogram('ana', x, 1, 'halfhour', 4) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
			"SELECT bin.value ->> 'lo' AS lo, bin.value ->> 'count' AS n FROM (SELECT dx_histogram('ana', x, 1, 'halfhour', 4) AS h FROM (SELECT 0.412 AS x UNION SELECT 0.388)), json_each(h) AS bin",
		},
		aggregate: newHistogramGroup,
	},
}

// histogramKey is what a histogram is built from.
type histogramKey struct {
	universe      *scalar.Universe
	epsilon, bins float64
}

var histograms = newMemo[histogramKey, *scalar.Histogram]()

// histogramGroup is a group of dx_histogram. Nothing is charged or drawn before it is
// complete.
type histogramGroup struct {
	histogram *scalar.Histogram
	counts    scalar.BinCounts
	paying    contributors
}

func newHistogramGroup(*session) group { return new(histogramGroup) }

func (g *histogramGroup) begin(c call) error {
	universe, err := c.universe(argUniverse)
	if err != nil {
		return err
	}
	g.histogram, err = c.histogram(universe)
	return err
}

// histogram returns the histogram for the settings of a call on a universe.
func (c call) histogram(universe *scalar.Universe) (*scalar.Histogram, error) {
	key := histogramKey{universe, c.number(argEpsRecord), c.number(argBins)}
	return histograms.get(c.session, key, func() (*scalar.Histogram, error) {
		return scalar.NewHistogram(universe, c.decimal(argEpsRecord), int64(key.bins))
	})
}

func (g *histogramGroup) row(c call) error {
	x, absent := c.reading(argX)
	if absent {
		return nil
	}
	if err := g.paying.contribute(c); err != nil {
		return err
	}
	g.histogram.Add(&g.counts, x)
	return nil
}

// final charges all accounts in one transaction and draws.
func (g *histogramGroup) final(c call) error {
	paid, err := g.paying.pay(c, g.histogram.Price(), true)
	if err != nil {
		return err
	}
	c.result(histogramAnswer(paid, g.histogram, &g.counts))
	return nil
}

// histogramAnswer draws the answer of a histogram.
func histogramAnswer(paid receipt, h *scalar.Histogram, counted *scalar.BinCounts) answer {
	counts := drawOrStandIn(paid, func(source *exact.Source) []int64 { return h.Draw(source, counted) }, h.StandIn())
	return answer{kind: ofText, text: h.AppendJSON(nil, counts)}
}
