package sqlitefn

import (
	"bytes"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// queryShape says where a dx_ function has its arguments; -1 where it has none.
type queryShape struct {
	aggregate                       scalar.Aggregate
	x, p, epsilon, universe, metric int
}

var (
	shapeValue      = queryShape{scalar.Value, 1, -1, 2, 3, -1}
	shapeCount      = queryShape{scalar.Count, -1, -1, 1, -1, -1}
	shapePercentile = queryShape{scalar.Percentile, 1, 2, 3, 4, 5}
)

func shapeOf(a scalar.Aggregate) queryShape { return queryShape{a, 1, -1, 2, 3, 4} }

// queryPlan is a query with its public parameters, and what one charge of it is.
type queryPlan struct {
	query  *scalar.Query
	cost   budget.Amount
	public float64 // what a dry run answers: lo, or 0 for a sum or count

	epsilon, p       float64
	universe, metric []byte
}

// queryKey is what a plan is made from.
type queryKey struct {
	aggregate  scalar.Aggregate
	universe   *scalar.Universe
	metric     budget.Metric
	metricless bool // the metric is the default, not an argument
	epsilon, p float64
}

// queryPlan decodes the public parameters of the call. Groups mostly share them,
// so plans are kept.
func (s *session) queryPlan(c call, shape queryShape) (*queryPlan, error) {
	key := queryKey{aggregate: shape.aggregate, metricless: true}
	var err error
	if key.epsilon, err = c.epsilon(shape.epsilon); err != nil {
		return nil, err
	}
	if shape.p >= 0 {
		if key.p, err = c.number(shape.p); err != nil {
			return nil, err
		}
	}
	if shape.universe >= 0 {
		if key.universe, err = s.universe(c, shape.universe); err != nil {
			return nil, err
		}
	}
	if shape.metric >= 0 && c.given(shape.metric) {
		key.metricless = false
		if key.metric, err = c.metric(shape.metric); err != nil {
			return nil, err
		}
	}
	if plan := s.queries[key]; plan != nil {
		return plan, nil
	}
	plan, err := key.plan()
	if err != nil {
		return nil, err
	}
	remember(s.queries, key, plan)
	return plan, nil
}

func (k queryKey) plan() (*queryPlan, error) {
	eps := budget.Decimal(k.epsilon)
	cost, err := budget.Cost(eps)
	if err != nil {
		return nil, err
	}
	var p *big.Rat
	if k.aggregate == scalar.Percentile {
		p = budget.Decimal(k.p)
	}
	query, err := scalar.NewQuery(k.aggregate, k.universe, k.metric, eps, p)
	if err != nil {
		return nil, err
	}
	plan := &queryPlan{query: query, cost: cost, epsilon: k.epsilon, p: k.p}
	if k.universe != nil {
		plan.universe = []byte(k.universe.Name())
		if k.aggregate != scalar.Sum {
			plan.public = k.universe.Value(0)
		}
	}
	if !k.metricless {
		plan.metric = []byte(k.metric.String())
	}
	return plan, nil
}

func (c call) metric(i int) (budget.Metric, error) {
	name, err := c.text(i)
	if err != nil {
		return 0, err
	}
	return budget.ParseMetric(string(name))
}

// same checks that the parameters are what they were in the group's first row.
func (plan *queryPlan) same(c call, shape queryShape) error {
	switch {
	case !c.isNumber(shape.epsilon, plan.epsilon):
		return c.changes(shape.epsilon)
	case shape.p >= 0 && !c.isNumber(shape.p, plan.p):
		return c.changes(shape.p)
	case shape.universe >= 0 && !c.isText(shape.universe, plan.universe):
		return c.changes(shape.universe)
	case shape.metric >= 0 && !c.isText(shape.metric, plan.metric):
		return c.changes(shape.metric)
	}
	return nil
}

func (c call) changes(i int) error { return c.bad(i, "changes within a group") }

// isNumber reports whether argument i is the number x.
func (c call) isNumber(i int, x float64) bool {
	v := c.Arg(i)
	switch v.Type() {
	case sqlite.Float:
		return v.Float() == x
	case sqlite.Integer:
		return float64(v.Int()) == x
	}
	return false
}

// isText reports whether argument i is the text, nil meaning that it is not
// given.
func (c call) isText(i int, text []byte) bool {
	if text == nil || !c.given(i) {
		return text == nil && !c.given(i)
	}
	v := c.Arg(i)
	return v.Type() == sqlite.Text && bytes.Equal(v.Bytes(), text)
}

// dxValue releases one reading.
func dxValue(s *session, c call) error {
	t := c.Scope().(*statement)
	plan, err := t.valuePlan(c)
	if err != nil {
		return err
	}
	account, err := c.account(0, &t.account)
	if err != nil {
		return err
	}
	x, null, err := c.secret(shapeValue.x)
	if err != nil || null {
		return err
	}
	price := budget.Price{Unit: plan.query.Unit(), Amount: plan.cost}
	paid, err := s.payer.one(t, c.f, account, price)
	if err != nil {
		return err
	}
	acc := &s.reading
	plan.query.Reset(acc)
	plan.query.Add(acc, x)
	c.ResultFloat(0, drawn(paid, func(source *exact.Source) float64 { return plan.query.Release(acc, source) }, plan.public))
	return nil
}

// valuePlan keeps the statement's last plan while the parameters stay the same.
func (t *statement) valuePlan(c call) (*queryPlan, error) {
	if t.value != nil && t.value.same(c, shapeValue) == nil {
		return t.value, nil
	}
	plan, err := t.session.queryPlan(c, shapeValue)
	if err == nil {
		t.value = plan
	}
	return plan, err
}

// queryGroup is a group of a dx_ aggregate: the exact accumulator and who
// contributed. Nothing is charged or drawn before the group is complete.
type queryGroup struct {
	session *session
	shape   queryShape
	plan    *queryPlan // nil before the first row
	acc     scalar.Accumulator
	paying  contributors
}

// newQueryGroup starts groups of one dx_ function.
func newQueryGroup(shape queryShape) func(*session, *function) group {
	return func(s *session, _ *function) group {
		var g *queryGroup
		if n := len(s.groups); n > 0 {
			g = s.groups[n-1]
			s.groups = s.groups[:n-1]
		} else {
			g = &queryGroup{session: s}
		}
		g.shape = shape
		return g
	}
}

// recycle gives the group's memory to a later one.
func (g *queryGroup) recycle() {
	g.paying.reset()
	g.plan = nil
	g.session.groups = append(g.session.groups, g)
}

func (g *queryGroup) step(c call) error {
	if err := g.parameters(c); err != nil {
		return err
	}
	var x float64
	absent := false
	if g.shape.x >= 0 {
		var err error
		if x, absent, err = c.secret(g.shape.x); err != nil {
			return err
		}
	} else {
		absent = c.null(0) // dx_count: who is not there is not counted
	}
	if absent && c.null(0) {
		return nil
	}
	var room [20]byte
	account, err := c.account(0, &room)
	if err != nil || absent {
		return err
	}
	g.paying.add(account)
	g.plan.query.Add(&g.acc, x)
	return nil
}

func (g *queryGroup) parameters(c call) error {
	if g.plan != nil {
		return g.plan.same(c, g.shape)
	}
	plan, err := g.session.queryPlan(c, g.shape)
	if err != nil {
		return err
	}
	g.plan = plan
	plan.query.Reset(&g.acc)
	return nil
}

// final charges everybody in one transaction and draws.
func (g *queryGroup) final(c call) error {
	defer g.recycle()
	items, err := g.paying.items(g.plan.cost, g.plan.query.PerRow())
	if err != nil {
		return err
	}
	paid, err := g.session.payer.all(c.f, g.plan.query.Unit(), items)
	if err != nil {
		return err
	}
	y := drawn(paid, func(source *exact.Source) float64 { return g.plan.query.Release(&g.acc, source) }, g.plan.public)
	if g.shape.aggregate == scalar.Count {
		c.ResultInt(0, int64(y)) // whole, and at most 2^53
	} else {
		c.ResultFloat(0, y)
	}
	return nil
}

// dxRadius tells the accuracy of a query before anything is spent.
func dxRadius(s *session, c call) error {
	name, err := c.text(0)
	if err != nil {
		return err
	}
	a, err := scalar.ParseAggregate(string(name))
	if err != nil {
		return err
	}
	p, err := c.number(1)
	if err != nil {
		return err
	}
	eps, err := c.epsilon(2)
	if err != nil {
		return err
	}
	var u *scalar.Universe
	if a != scalar.Count {
		if u, err = s.universe(c, 3); err != nil {
			return err
		}
	}
	metric := budget.D1
	if c.given(4) {
		if metric, err = c.metric(4); err != nil {
			return err
		}
	}
	var rank *big.Rat
	if a == scalar.Percentile {
		rank = big.NewRat(50, 1) // the accuracy is the same for every rank
	}
	q, err := scalar.NewQuery(a, u, metric, budget.Decimal(eps), rank)
	if err != nil {
		return err
	}
	r, err := q.Radius(p)
	if err != nil {
		return err
	}
	c.ResultFloat(0, r)
	return nil
}
