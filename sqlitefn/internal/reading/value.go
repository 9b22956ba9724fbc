package reading

import (
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

var argEpsValue = &frame.Arg{Name: "epsilon", Is: "distinguishability per unit of the universe", Kind: frame.Positive, Setting: true}

// valuePlan is a query for single readings, with an accumulator for one.
type valuePlan struct {
	*scalar.Query
	reading scalar.Accumulator
}

// dxValue releases one reading.
func dxValue(c frame.Call) error {
	plan, err := frame.Plan(c, newValuePlan)
	if err != nil {
		return err
	}
	x, absent := c.Reading(frame.ArgX)
	if absent {
		return nil
	}
	paid, err := c.Pay(c.Bytes(frame.ArgAccount), plan.Price())
	if err != nil {
		return err
	}
	plan.Reset(&plan.reading)
	plan.Add(&plan.reading, x)
	c.ResultFloat(0, drawReading(c, paid, plan.Query, &plan.reading))
	return nil
}

func newValuePlan(c frame.Call) (*valuePlan, error) {
	q, err := valueQuery.newQuery(c)
	return &valuePlan{Query: q}, err
}
