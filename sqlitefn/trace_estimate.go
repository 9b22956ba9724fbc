package sqlitefn

import (
	"encoding/json"
	"time"

	"github.com/paulmach/orb"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
)

var (
	argBelievedTrace = &argument{name: "trace", is: "TEXT or INTEGER; the trace's policy must be of mechanism 'pim'", kind: kindAccount}
	argBelieved      = &argument{name: "p", is: "probability of the area, 0 <= p < 1; 0.9 if it is not given", kind: kindProbability, optional: true}
)

// usualArea is the probability of an area if the call says none.
const usualArea = 9 * budget.One / 10

var estimateFunctions = []*function{
	&function{
		name: "pim_estimate", section: free,
		args:    []*argument{argBelievedTrace, argBelieved},
		columns: []string{"t TEXT", "lat REAL", "lon REAL", "cell_lat REAL", "cell_lon REAL", "cell_probability REAL", "area TEXT", "area_probability REAL"},
		does:    "Says where a trace of pim_step is likely to be, from what everybody knows: as a scalar after the last report, as a JSON object; as a table after each report.",
		notes: "It takes the public model and the reports only, and no location, so that it costs nothing and may be used in views. " +
			"**The mean of the belief is mostly much nearer to the truth than the last report**, which is noise as wide as the set of its step: use it where one point is wanted. " +
			"Keys: t, the time of the last report; lat and lon, the mean; cell, the centre of the most probable cell and its probability; " +
			"area, a GeoJSON MultiPolygon of the fewest cells that together have at least probability p, and the probability that they have. " +
			"The object is NULL, and the table empty, before the first report. " +
			"The probabilities are the model's: they are as right as the model is. " +
			"The table works the reports through again, which takes as long as the steps took. It is an error if the trace has taken steps under another policy.",
		example: []string{
			"SELECT pim_estimate('ride')",
			"SELECT pim_estimate('ride', 0.5) -> 'area'",
			"SELECT t, lat, lon, cell_probability FROM pim_estimate('ride')",
		},
		scalar: pimEstimate,
		table:  newEstimatesCursor,
	},
}

// An estimate says where the public believes a trace to be after a report.
type estimate struct {
	T    string        `json:"t"`
	Lat  float64       `json:"lat"`
	Lon  float64       `json:"lon"`
	Cell estimatedCell `json:"cell"`
	Area estimatedArea `json:"area"`
}

type estimatedCell struct {
	Lat         float64 `json:"lat"`
	Lon         float64 `json:"lon"`
	Probability float64 `json:"probability"`
}

// An estimatedArea is a GeoJSON geometry with one more member.
type estimatedArea struct {
	Type        string           `json:"type"`
	Coordinates orb.MultiPolygon `json:"coordinates"`
	Probability float64          `json:"probability"`
}

// estimateOf returns the estimate of a run that has begun, with an area of probability p.
func estimateOf(r *pim.Run, grid *markov.Grid, p budget.Amount) (e estimate) {
	last, _ := r.Last()
	e.T = time.UnixMicro(last).UTC().Format(time.RFC3339Nano)
	e.Lat, e.Lon = r.Mean()
	cell, probability := r.Likeliest()
	e.Cell.Lat, e.Cell.Lon = grid.Domain().Location(grid.Centre(cell))
	e.Cell.Probability = probability
	cells, covered := r.Area(p)
	e.Area = estimatedArea{"MultiPolygon", grid.Outline(cells), covered}
	return e
}

// pimEstimate answers the estimate after the last report.
func pimEstimate(c call) error {
	_, r, err := c.believedRun()
	if err != nil || r == nil {
		return err
	}
	if _, begun := r.run.Last(); !begun {
		return nil
	}
	return c.resultJSON(estimateOf(r.run, r.mechanism.Model().Grid(), c.share()))
}

// share returns the probability of the area that a call asks for.
func (c call) share() budget.Amount {
	if !c.given(argBelieved) {
		return usualArea
	}
	return budget.Amount(c.number(argBelieved) * float64(budget.One))
}

// believedRun returns the ledger and the saved run of the call's trace, which is the one that the
// next step goes on with, or nil if there is no ledger. Like a step it insists on the trace's
// policy, and on nobody else using the trace.
func (c call) believedRun() (ledger.Ledger, *pimRun, error) {
	name, step := c.text(argBelievedTrace), c.session.table.lookup("pim_step")
	plan, account, err := c.session.planOfTrace(name, step)
	if err != nil {
		return nil, nil, err
	}
	book, err := c.session.ledger()
	if err != nil {
		return nil, nil, ignoreNoLedger(err)
	}
	t, run, err := openRun(book, step, name, account, &plan.traceTerms)
	if err != nil {
		return nil, nil, err
	}
	return book, run.(*pimRun), t.Close(nil) // nothing was done: nothing is saved
}

func newEstimatesCursor(*session) cursor {
	return &rowsCursor[estimate]{read: readEstimates, show: showEstimate}
}

// readEstimates returns the estimates after each report. Lost points of a crash are in no
// estimate, as they are in no set of a later step.
func readEstimates(c call) (all []estimate, err error) {
	c.session.readsLedger()
	book, r, err := c.believedRun()
	if err != nil || r == nil {
		return nil, err
	}
	name := c.text(argBelievedTrace)
	points, err := book.TraceRun(name)
	if err != nil {
		return nil, err
	}
	grid, share := r.mechanism.Model().Grid(), c.share()
	run := r.mechanism.Start()
	for _, p := range points {
		if p.Gap {
			continue
		}
		plan, err := run.Plan(p.Time.UnixMicro())
		if err != nil {
			return nil, err
		}
		if len(plan.Set()) != p.SetSize || r.mechanism.Policy().Epsilon != p.Spent {
			return nil, c.argErrorf(argBelievedTrace, "%s has taken a step at %s under another policy than it has now",
				quoted(name), p.Time.UTC().Format(time.RFC3339Nano))
		}
		run.Add(plan, grid.Domain().Reported(p.Lat, p.Lon))
		all = append(all, estimateOf(run, grid, share))
	}
	return all, nil
}

// showEstimate sets the columns of a row.
func showEstimate(c call, e estimate) {
	c.ResultString(0, e.T)
	for i, x := range []float64{e.Lat, e.Lon, e.Cell.Lat, e.Cell.Lon, e.Cell.Probability} {
		c.ResultFloat(1+i, x)
	}
	area, _ := json.Marshal(e.Area) // never fails
	c.ResultText(6, area)
	c.ResultFloat(7, e.Area.Probability)
}
