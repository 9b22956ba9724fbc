package trace

import (
	"encoding/json"
	"time"

	"github.com/paulmach/orb"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/pim"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var (
	argBelievedTrace = &frame.Arg{Name: "trace", Is: "TEXT or INTEGER; the trace's policy must be of mechanism 'pim'", Kind: frame.Account}
	argBelieved      = &frame.Arg{Name: "p", Is: "probability of the area, 0 <= p < 1; 0.9 if it is not given", Kind: frame.Probability, Optional: true}
)

// usualArea is the probability of an area if the call says none.
const usualArea = 9 * budget.One / 10

var estimateFunctions = []*frame.Function{
	{
		Name: "pim_estimate", Section: frame.Free, Returns: "TEXT", OfRun: true,
		Args:     []*frame.Arg{argBelievedTrace, argBelieved},
		Columns:  []string{"t TEXT", "lat REAL", "lon REAL", "cell_lat REAL", "cell_lon REAL", "cell_probability REAL", "area TEXT", "area_probability REAL"},
		Does:     "Says where a trace of pim_step is likely to be, from public facts: as a scalar after the last report, as a JSON object; as a table after each report.",
		Accuracy: "the area holds the trace with its probability, if the model is right",
		Notes: "It takes the public model and the reports only, and no location, so that it costs nothing and may be used in views. " +
			"**The mean of the belief is mostly much nearer to the truth than the last report**, which is noise as wide as the set of its step: use it where one point is wanted. " +
			"Keys: t, the time of the last report; lat and lon, the mean; cell, the centre of the most probable cell and its probability; " +
			"area, a GeoJSON MultiPolygon of the fewest cells that together have at least probability p, and the probability that they have. " +
			"The object is NULL, and the table empty, before the first report. " +
			"The probabilities are the model's: they are as right as the model is. " +
			"The table works the reports through again, which takes as long as the steps took. It is an error if the trace has taken steps under another policy.",
		Examples: []string{
			"SELECT pim_estimate('ride') ->> 'lat', pim_estimate('ride') ->> 'lon'",
			"SELECT pim_estimate('ride', 0.5) ->> '$.area.probability'",
			"SELECT t, lat, lon, cell_probability FROM pim_estimate('ride')",
		},
		Scalar: pimEstimate,
		Table:  newEstimatesCursor,
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
func pimEstimate(c frame.Call) error {
	_, r, err := believedRun(c)
	if err != nil || r == nil {
		return err
	}
	if _, begun := r.run.Last(); !begun {
		return nil
	}
	return c.ResultJSON(estimateOf(r.run, r.mechanism.Model().Grid(), share(c)))
}

// share returns the probability of the area that a call asks for.
func share(c frame.Call) budget.Amount {
	if !c.Given(argBelieved) {
		return usualArea
	}
	return budget.Amount(c.Number(argBelieved) * float64(budget.One))
}

// believedRun returns the ledger and the saved run of the call's trace, which is the one that the
// next step goes on with, or nil if there is no ledger. Like a step it insists on the trace's
// policy, and on nobody else using the trace.
func believedRun(c frame.Call) (ledger.Ledger, *pimRun, error) {
	name, step := c.Text(argBelievedTrace), c.Session.Table.Lookup("pim_step")
	plan, account, err := planOfTrace(c.Session, nil, name, step)
	if err != nil {
		return nil, nil, err
	}
	l, err := c.Session.Ledger()
	if err != nil {
		return nil, nil, frame.IgnoreNoLedger(err)
	}
	t, run, err := frame.OpenRun(l, step, name, account, &plan.TraceTerms)
	if err != nil {
		return nil, nil, err
	}
	return l, run.(*pimRun), t.Close(nil) // nothing was done: nothing is saved
}

func newEstimatesCursor(*frame.Session) frame.Cursor {
	return &frame.RowsCursor[estimate]{Read: readEstimates, Show: showEstimate}
}

// readEstimates returns the estimates after each report. Lost points of a crash are in no
// estimate, as they are in no set of a later step.
func readEstimates(c frame.Call) (all []estimate, err error) {
	c.Session.ReadsLedger()
	l, r, err := believedRun(c)
	if err != nil || r == nil {
		return nil, err
	}
	name := c.Text(argBelievedTrace)
	points, err := l.TraceRun(name)
	if err != nil {
		return nil, err
	}
	grid, share := r.mechanism.Model().Grid(), share(c)
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
			return nil, c.Errorf(argBelievedTrace, "%s has taken a step at %s under another policy than it has now",
				frame.Quoted(name), p.Time.UTC().Format(time.RFC3339Nano))
		}
		run.Add(plan, grid.Domain().Reported(p.Lat, p.Lon))
		all = append(all, estimateOf(run, grid, share))
	}
	return all, nil
}

// showEstimate sets the columns of a row.
func showEstimate(c frame.Call, e estimate) {
	c.ResultString(0, e.T)
	for i, x := range []float64{e.Lat, e.Lon, e.Cell.Lat, e.Cell.Lon, e.Cell.Probability} {
		c.ResultFloat(1+i, x)
	}
	area, _ := json.Marshal(e.Area) // never fails
	c.ResultText(6, area)
	c.ResultFloat(7, e.Area.Probability)
}
