package reading

import (
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/declared"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argBins = &frame.Arg{
	Name: "bins", Is: "INTEGER: how many runs to cut the values of the universe into, at most 10000 and at most as many as values",
	Kind: frame.WholeNumber(scalar.MaxBins, ""), Setting: true,
}

var histogramFunctions = []*frame.Function{
	{
		Name: "dx_histogram", Section: frame.ReleasedValues, Returns: "TEXT",
		Args:    []*frame.Arg{frame.ArgContributor, frame.ArgX, frame.ArgEpsRecord, frame.ArgUniverse, argBins},
		Does:    "Counts readings in the bins of a universe, with geometric noise on each count; answers a JSON array.",
		Charges: "epsilon in unit record to each account, for each of its readings",
		Notes: "The values lo, lo+step, .., hi are cut into runs with lengths that differ by one at most; the array has all of them in order, each as {\"lo\":..,\"hi\":..,\"count\":..} with its first and its last value. " +
			"A reading that is replaced by another changes two counts, so each has noise of rate epsilon/2; it is clamped at 0. Readings are first moved into the universe. " +
			"epsilon, universe and bins must be constant within a group. A group charges all its accounts or none. " +
			"A row with NULL as reading contributes nothing and charges nobody, but its group still has an answer; a group without rows gives NULL.",
		Examples: []string{
			"SELECT dx_histogram('ana', x, 1, 'halfhour', 4) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
			"SELECT bin.value ->> 'lo' AS lo, bin.value ->> 'count' AS n FROM (SELECT dx_histogram('ana', x, 1, 'halfhour', 4) AS h FROM (SELECT 0.412 AS x UNION SELECT 0.388)), json_each(h) AS bin",
		},
		Aggregate: newHistogramGroup,
	},
}

// histogramKey is what a histogram is built from.
type histogramKey struct {
	universe      *scalar.Universe
	epsilon, bins float64
}

var histograms = frame.NewMemo[histogramKey, *scalar.Histogram]()

// histogramGroup is a group of dx_histogram. Nothing is charged or drawn before it is
// complete.
type histogramGroup struct {
	histogram *scalar.Histogram
	counts    scalar.BinCounts
	paying    frame.Contributors
}

func newHistogramGroup(*frame.Session) frame.Group { return new(histogramGroup) }

func (g *histogramGroup) Begin(c frame.Call) error {
	universe, err := declared.Universe(c, frame.ArgUniverse)
	if err != nil {
		return err
	}
	g.histogram, err = histogram(c, universe)
	return err
}

// histogram returns the histogram for the settings of a call on a universe.
func histogram(c frame.Call, universe *scalar.Universe) (*scalar.Histogram, error) {
	key := histogramKey{universe, c.Number(frame.ArgEpsRecord), c.Number(argBins)}
	return histograms.Get(c.Session, key, func() (*scalar.Histogram, error) {
		return scalar.NewHistogram(universe, c.Decimal(frame.ArgEpsRecord), int64(key.bins))
	})
}

func (g *histogramGroup) Row(c frame.Call) error {
	x, absent := c.Reading(frame.ArgX)
	if absent {
		return nil
	}
	if err := g.paying.Contribute(c); err != nil {
		return err
	}
	g.histogram.Add(&g.counts, x)
	return nil
}

// Final charges all accounts in one transaction and draws.
func (g *histogramGroup) Final(c frame.Call) error {
	paid, err := g.paying.Pay(c, g.histogram.Price(), true)
	if err != nil {
		return err
	}
	c.Result(histogramAnswer(paid, g.histogram, &g.counts))
	return nil
}

// histogramAnswer draws the answer of a histogram.
func histogramAnswer(paid frame.Receipt, h *scalar.Histogram, counted *scalar.BinCounts) frame.Answer {
	counts := frame.Draw(paid, func(source *exact.Source) []int64 { return h.Draw(source, counted) }, h.StandIn())
	return frame.TextAnswer(h.AppendJSON(nil, counts))
}
