package reading

import (
	"github.com/geosql/geosql/mechanism/scalar"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

var argEpsUnit = &frame.Arg{Name: "epsilon", Is: "distinguishability per unit of the universe", Kind: frame.Positive, Setting: true}

var valueFunctions = []*frame.Function{
	{
		Name: "dx_value", Section: frame.ReleasedValues, Returns: "REAL",
		Args:     []*frame.Arg{frame.ArgAccount, frame.ArgX, argEpsUnit, frame.ArgUniverse},
		Does:     "Releases one reading with the truncated geometric mechanism.",
		Accuracy: "dx_radius('value', p, epsilon, universe) before, dx_within(answer) after",
		Charges:  "epsilon in the universe's unit to the account, for each evaluation",
		Notes:    "A NULL reading gives NULL and charges nobody.",
		Examples: []string{"SELECT dx_value('ana', 0.412, 5, 'halfhour')"},
		Scalar:   dxValue,
	}, {
		Name: "dx_value", Section: frame.OverSealed, Returns: "REAL",
		Args:     []*frame.Arg{unseal.ArgSealed, argEpsUnit},
		Does:     "Releases one sealed reading with the truncated geometric mechanism.",
		Accuracy: "dx_radius('value', p, epsilon, universe) before, dx_within(answer) after",
		Charges:  "epsilon in the universe's unit to the value's account, for each evaluation",
		Notes:    "NULL, and an erased or revoked value, gives NULL and charges nobody.",
		Examples: []string{"SELECT dx_value(kwh, 5) FROM reading LIMIT 1"},
		Answer:   sealedValue,
	},
}

var valueQuery = row{aggregate: always(scalar.Value), epsilon: argEpsUnit}

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
	c.ResultFloat(0, drawReading(c, paid, plan.Query, &plan.reading).Value)
	return nil
}

func newValuePlan(c frame.Call) (*valuePlan, error) {
	q, err := valueQuery.newQuery(c)
	return &valuePlan{Query: q}, err
}

// sealedValue pays for a sealed reading and draws.
func sealedValue(c frame.Call) (frame.Answer, error) {
	o, present, err := unseal.Open(c, unseal.ArgSealed)
	if err != nil || !present {
		return frame.Answer{}, err
	}
	u, err := unseal.UniverseOf(c.Session, o.Of)
	if err != nil {
		return frame.Answer{}, c.Errorf(unseal.ArgSealed, "%w", err)
	}
	query, err := valueQuery.newQueryOn(c, u.Universe)
	if err != nil {
		return frame.Answer{}, err
	}
	return unseal.PayOne(c, o, query.Price(), func(paid frame.Receipt) frame.Answer {
		var reading scalar.Accumulator
		query.AddIndex(&reading, u.Index(o.Data))
		return frame.NumberAnswer(drawReading(c, paid, query, &reading).Value)
	})
}
