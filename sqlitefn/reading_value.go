package sqlitefn

import "github.com/geosql/geosql/mechanism/scalar"

var argEpsValue = &argument{name: "epsilon", is: "distinguishability per unit of the universe", kind: kindPositive, setting: true}

// valuePlan is a query for single readings, with an accumulator for one.
type valuePlan struct {
	*scalar.Query
	reading scalar.Accumulator
}

// dxValue releases one reading.
func dxValue(c call) error {
	plan, err := cachedPlan(c, newValuePlan)
	if err != nil {
		return err
	}
	x, absent := c.reading(argX)
	if absent {
		return nil
	}
	paid, err := c.pay(c.bytes(argAccount), plan.Price())
	if err != nil {
		return err
	}
	plan.Reset(&plan.reading)
	plan.Add(&plan.reading, x)
	c.ResultFloat(0, drawReading(c, paid, plan.Query, &plan.reading))
	return nil
}

func newValuePlan(c call) (*valuePlan, error) {
	q, err := valueQuery.newQuery(c)
	return &valuePlan{Query: q}, err
}
