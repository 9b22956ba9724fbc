//go:build planted

package planted

// Bugs of charges, errors, dry runs, and what statements remember.
var frame = []Bug{
	{
		Name: "range-error", Title: "a reading outside its universe is an error",
		Source:   "Haeberlen, Pierce and Narayan 2011, Differential privacy under fire",
		Function: "dx_value",
		Edits: []Edit{{
			File: "sqlitefn/reading_value.go",
			Old:  "	paid, err := t.session.payer.pay(t,",
			New: `
	if u, err := c.universe(argUniverse); planted.Is("range-error") && err == nil && u.Outside(x) {
		return c.argErrorf(argX, "must be a value of %s", u)
	}
` + "	paid, err := t.session.payer.pay(t,",
		}},
	},
	{
		Name: "free-zeros", Title: "a reading of 0 is released without a charge",
		Source:   "Haeberlen, Pierce and Narayan 2011, Differential privacy under fire: what is left of a budget shows a secret",
		Function: "dx_value",
		Edits: []Edit{{
			File: "sqlitefn/reading_value.go",
			Old:  "	x, absent := c.reading(argX)\n",
			New: "	x, absent := c.reading(argX)\n" + `
	if planted.Is("free-zeros") && !absent && x == 0 && t.session.dry == nil {
		plan.Reset(&plan.reading)
		plan.Add(&plan.reading, x)
		c.ResultFloat(0, drawReading(t, receipt{source: t.session.source}, plan.Query, &plan.reading))
		return nil
	}
`,
		}},
	},
	{
		Name: "stale-plan", Title: "a statement draws with the epsilon of its first call, and charges that of each call",
		Function: "dx_value",
		Edits: []Edit{
			{
				File: "sqlitefn/statement.go",
				Old:  "		return s.given && s.text == nil && v.Float() == s.number\n",
				New:  `		return s.given && s.text == nil && (v.Float() == s.number || planted.Is("stale-plan"))` + "\n",
			},
			{
				File: "sqlitefn/reading_value.go",
				Old:  "c.bytes(argAccount), plan.Price())\n",
				New:  "c.bytes(argAccount), priceOfCall(c, plan))\n",
			},
			{
				File: "sqlitefn/reading_value.go",
				Old:  "func newValuePlan(c call) (*valuePlan, error) {\n",
				New: `
func priceOfCall(c call, plan *valuePlan) budget.Price {
	price := plan.Price()
	if planted.Is("stale-plan") {
		price.Amount, _ = budget.Cost(c.decimal(argEpsValue))
	}
	return price
}

` + "func newValuePlan(c call) (*valuePlan, error) {\n",
				Imports: []string{Module + "/budget"},
			},
		},
	},
	{
		Name: "first-call-free", Title: "the first call of a statement charges nothing",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "sqlitefn/payer.go",
			Old:  "	spender, err := t.spender(f, price.Unit)\n",
			New: `
	first := t.ledger == nil
` + "	spender, err := t.spender(f, price.Unit)\n" + `
	if planted.Is("first-call-free") && first && err == nil {
		return receipt{source: p.session.source}, nil
	}
`,
		}},
	},
	{
		Name: "rows-charged-once", Title: "an account is charged once, however many rows it has",
		Function: "dx_count",
		Edits: []Edit{{
			File: "sqlitefn/contributors.go",
			Old:  "		if perRow {\n",
			New:  `		if perRow && !planted.Is("rows-charged-once") {` + "\n",
		}},
	},
	{
		Name: "groups-taken-for-disjoint", Title: "groups that share rows are charged as if they did not",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "internal/vdbe/disjoint.go",
			Old:  "	switch {\n	case p.has(func(op *Op) bool { return op.Name == \"Program\" }):\n",
			New: `
	if planted.Is("groups-taken-for-disjoint") {
		return nil
	}
` + "	switch {\n	case p.has(func(op *Op) bool { return op.Name == \"Program\" }):\n",
		}},
	},
	{
		Name: "dry-run-draws", Title: "a dry run draws, so that what it counts depends on secrets and nobody has paid",
		Function: "dx_value",
		Edits: []Edit{{
			File: "sqlitefn/payer.go",
			Old:  "	return receipt{dry: d}, nil\n",
			New: `
	if planted.Is("dry-run-draws") {
		return receipt{source: d.session.source}, nil
	}
` + "	return receipt{dry: d}, nil\n",
		}},
	},
}
