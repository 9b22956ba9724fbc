package reading

import (
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var (
	argBlocks = &frame.Arg{
		Name: "blocks", Kind: kindBlocks, Optional: true, Setting: true,
		Is: fmt.Sprintf("INTEGER: how many blocks, at most %d; or TEXT: a JSON list of percentiles between which blocks lie, such as '[50, 90, 99]'", scalar.MaxBlocks),
	}

	argCurve  = &frame.Arg{Name: "curve", Is: "TEXT: a release of dx_curve", Kind: frame.OrNull(frame.Text), Setting: true}
	argCurveP = &frame.Arg{Name: "p", Is: "the percentile, 0..100", Kind: frame.Number}
	argShared = &frame.Arg{Name: "v", Is: "a value in the universe's unit", Kind: frame.Number}
	argFromP  = &frame.Arg{Name: "from_p", Is: "the percentile with which the readings begin, 0..100", Kind: frame.Number}
	argToP    = &frame.Arg{Name: "to_p", Is: "the percentile before which they end, 0..100, not below from_p; 100 is behind all readings", Kind: frame.Number}
)

var kindBlocks = frame.Kind{Public: true, Decode: func(in *sqlite.Value, out *frame.Value) error {
	if out.Text = nil; in.Type() == sqlite.Text && len(in.Bytes()) > 0 {
		return frame.Text.Decode(in, out)
	}
	if frame.WholeNumber(scalar.MaxBlocks, "").Decode(in, out) != nil {
		return errBlocks
	}
	return nil
}}

var errBlocks = fmt.Errorf("must be a whole number from 1 to %d, or TEXT: a JSON list of percentiles", scalar.MaxBlocks)

var curveRow = &row{
	name: "dx_curve", returns: "TEXT",
	aggregate: func(c frame.Call) (scalar.Aggregate, error) {
		list := c.Text(argBlocks)
		if m, err := budget.ParseMetric(list); err == nil && m != budget.D1 { // written where other aggregates take one
			return nil, errCurveMetric(m)
		}
		if list != "" {
			return scalar.CurveAt(list), nil
		}
		return scalar.Curve(int64(c.Number(argBlocks))), nil
	},
	epsilon: argEpsUnit, last: argBlocks,
	accuracy: "dx_radius('sum', p, epsilon, universe) for the sum of a block, before it is divided by the step; that of percentiles depends on the readings",
	plain: words{"Sorts readings, cuts them into blocks and releases the sum of each block with geometric noise, as JSON, from which all percentiles, shares and averages of tails follow for free.",
		"epsilon to each account in the universe's unit, once for all disjoint groups",
		"All sums together cost as much as dx_sum under d1, since sorting moves readings no further apart. " +
			"The answer is {\"m\":..,\"lo\":..,\"hi\":..,\"step\":..,\"epsilon\":..,\"edges\":[0,..,m],\"sums\":[..]}: the number of readings, the universe, how many of the sorted readings there are up to the end of each block, " +
			"and the sum of (x-lo)/step in each, as drawn. dx_curve_percentile, dx_curve_share and dx_curve_mean read it. " +
			"Without blocks their number follows from m, epsilon and the universe, and the outer ones are finer. An average of a tail that begins at the end of a block has the noise of its sum alone. " +
			"There is no other metric than d1: under nd1 and dh the number of readings is secret, and one more or less moves the ends of all blocks; under dinf all readings move at once. " +
			"Readings are first moved into the universe. A reading that a join repeats m times, or that is passed as c*x, is protected m or c times less. " +
			"epsilon, universe and blocks must be constant within a group. " + groupNote + "The" + disjointNote,
		[]string{
			"SELECT dx_curve('ana', x, 20, 'halfhour', 2) FROM (SELECT 0.412 AS x UNION SELECT 0.388)",
			"SELECT dx_curve_percentile(c, 50), dx_curve_percentile(c, 95), dx_curve_share(c, 0.4), dx_curve_mean(c, 90, 100) FROM (SELECT dx_curve('ana', x, 20, 'halfhour') AS c FROM (SELECT 0.412 AS x UNION SELECT 0.388))",
		}},
	sealed: words{"Sorts sealed readings, cuts them into blocks and releases the sum of each block with geometric noise, as JSON.",
		"epsilon to each account: for its values together in the universe's unit",
		unseal.RowNote + "epsilon and blocks must be constant within a group. An" + sealedCharges,
		[]string{"SELECT dx_curve(kwh, 5, 4) FROM reading"}},
}

func errCurveMetric(m budget.Metric) error {
	why := "the number of readings is secret, and one more or less moves the ends of all blocks"
	if m == budget.DInf {
		why = "all readings move at once, so its sums have no finite sensitivity"
	}
	return fmt.Errorf("metric %v: curve is released under d1 only: %s", m, why)
}

// exampleCurve is the curve of 100 readings from 0 to 10.
const exampleCurve = `'{"m":100,"lo":0,"hi":10,"step":0.1,"epsilon":1,"edges":[0,25,50,75,90,100],"sums":[51,118,310,397,684]}'`

var curveFunctions = []*frame.Function{
	{
		Name: "dx_curve_percentile", Section: frame.Free, Returns: "REAL", Flags: frame.Pure, Scoped: true,
		Args:     []*frame.Arg{argCurve, argCurveP},
		Does:     "Returns a percentile of the readings from a release of dx_curve.",
		Accuracy: "no radius, as it depends on the readings; dx_percentile has one in ranks",
		Notes: "The averages of blocks, moved into the universe and pooled where they fall, are joined by straight lines from the middle of each block to that of the next; beyond the outer ones the curve is level. " +
			"The answer is a value of the universe, and never falls while p grows. It is lo if there are no readings, and NULL for NULL.",
		Examples: []string{"SELECT dx_curve_percentile(" + exampleCurve + ", 95)"},
		Scalar: curveReader(func(curve *scalar.ReleasedCurve, c frame.Call) (float64, error) {
			return curve.Percentile(c.Number(argCurveP))
		}),
	}, {
		Name: "dx_curve_share", Section: frame.Free, Returns: "REAL", Flags: frame.Pure, Scoped: true,
		Args:     []*frame.Arg{argCurve, argShared},
		Does:     "Returns the share of readings that are at most v, from a release of dx_curve.",
		Accuracy: "no radius, as it depends on the readings",
		Notes: "It is the inverse of dx_curve_percentile: from 0 to 1, the share up to which percentiles are at most v, with one decimal more than the number of readings has digits. " +
			"Without readings it is 1 from lo on. It is NULL for a NULL curve.",
		Examples: []string{"SELECT dx_curve_share(" + exampleCurve + ", 4)"},
		Scalar: curveReader(func(curve *scalar.ReleasedCurve, c frame.Call) (float64, error) {
			return curve.Share(c.Number(argShared)), nil
		}),
	}, {
		Name: "dx_curve_mean", Section: frame.Free, Returns: "REAL", Flags: frame.Pure, Scoped: true,
		Args:     []*frame.Arg{argCurve, argFromP, argToP},
		Does:     "Returns the average of the readings between two percentiles, from a release of dx_curve.",
		Accuracy: "dx_radius('sum', p, epsilon, universe), divided by the number of readings, for a block; elsewhere no radius, as it depends on the readings",
		Notes: "From a percentile that ends a block to another one it is the sum of the blocks between, with noise of scale 1/epsilon for each, divided by the number of their readings; parts of blocks are those of the curve that dx_curve_percentile reads. " +
			"The answer is a value of the universe. It is lo if there are no readings, and NULL for a NULL curve.",
		Examples: []string{"SELECT dx_curve_mean(" + exampleCurve + ", 90, 100)"},
		Scalar: curveReader(func(curve *scalar.ReleasedCurve, c frame.Call) (float64, error) {
			return curve.Mean(c.Number(argFromP), c.Number(argToP))
		}),
	},
}

// curveReader returns a function of a released curve, and of public arguments.
func curveReader(read func(*scalar.ReleasedCurve, frame.Call) (float64, error)) func(frame.Call) error {
	return func(c frame.Call) error {
		if !c.Given(argCurve) {
			return nil
		}
		curve, err := frame.Plan(c, releasedCurve)
		if err != nil {
			return err
		}
		x, err := read(curve, c)
		if err != nil {
			return err
		}
		c.ResultFloat(0, x)
		return nil
	}
}

func releasedCurve(c frame.Call) (*scalar.ReleasedCurve, error) {
	curve, err := scalar.ParseCurve(c.Text(argCurve))
	if err != nil {
		return nil, c.Errorf(argCurve, "%w", err)
	}
	return curve, nil
}
