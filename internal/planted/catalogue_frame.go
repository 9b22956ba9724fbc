//go:build planted

package planted

// Bugs of charges, errors, dry runs, and the memory of statements.
var frame = []Bug{
	{
		Name: "range-error", Title: "a reading outside its universe is an error",
		Source:   "Haeberlen, Pierce and Narayan 2011, Differential privacy under fire",
		Function: "dx_value",
		Edits: []Edit{before("reading.dxValue", ".Pay(", `
			if u, err := declared.Universe(c, frame.ArgUniverse); err == nil && u.Outside(x) {
				return c.Errorf(frame.ArgX, "must be a value of %s", u)
			}
		`)},
	},
	{
		Name: "free-zeros", Title: "a reading of 0 is released without a charge",
		Source:   "Haeberlen, Pierce and Narayan 2011, Differential privacy under fire: what is left of a budget shows a secret",
		Function: "dx_value",
		Edits: []Edit{after("reading.dxValue", "c.Reading(", `
			if !absent && x == 0 {
				plan.Reset(&plan.reading)
				plan.Add(&plan.reading, x)
				free, err := c.PayAll(frame.Bill{})
				c.ResultFloat(0, drawReading(c, free, plan.Query, &plan.reading).Value)
				return err
			}
		`)},
	},
	{
		Name: "stale-plan", Title: "a statement draws with the epsilon of its first call, and charges that of each call",
		Function: "dx_value",
		Edits: []Edit{
			instead("frame.setting.equals", "v.Float() == s.number", "(bug || v.Float() == s.number)"),
			instead("reading.dxValue", "plan.Price()", `func() budget.Price {
				price := plan.Price()
				if epsilon := c.Arg(2); bug && epsilon.Float() > 0 { // which the frame has not decoded
					price.Amount, _ = budget.Cost(budget.Decimal(epsilon.Float()))
				}
				return price
			}()`),
		},
	},
	{
		Name: "first-call-free", Title: "the first call of a statement charges nothing",
		Function: "geoind_laplace",
		Edits: []Edit{before("frame.charger.Pay", "t.spender(", `
			if t.ledger == nil {
				if _, err := t.spender(f, price.Unit); err == nil {
					return p.session.paid(), nil
				}
			}
		`)},
	},
	{
		Name: "rows-charged-once", Title: "an account is charged once, however many rows it has",
		Function: "dx_count",
		Edits:    []Edit{instead("frame.Contributors.Bill", "if perRow", "if perRow && !bug")},
	},
	{
		Name: "accumulator-written-anew", Title: "a step of an aggregate is taken to make the steps before it forgotten, so that a count that a released value decides is taken for certain",
		Function: "geoind_laplace", Package: "internal/vdbe", Test: "TestDecisions",
		Edits: []Edit{first("vdbe.opcode.overwrites", `return true`)},
	},
	{
		Name: "groups-taken-for-disjoint", Title: "groups that share rows are charged as if they did not",
		Function: "dx_sum",
		Edits:    []Edit{first("vdbe.Program.Disjoint", `return nil`)},
	},
	{
		Name: "sorter-started-anew", Title: "a sorter or subquery that is read once more for each row of a join is taken for one that is read once",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupsThatAReadingReachesAreCharged",
		Edits: []Edit{
			first("vdbe.disjointness.onePass", `
				if d.cursors[cursor].own {
					return true
				}
			`),
		},
	},
	{
		Name: "sorter-filled-twice", Title: "a row that two loops put into one sorter is taken for one step",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupsThatAReadingReachesAreCharged",
		Edits: []Edit{before("vdbe.disjointness.ways", "total[table] += n", `total[table] = 0`)},
	},
	{
		Name: "choice-forgotten", Title: "a value that a condition on a looked-up row chooses is taken for one of its own row",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{first("vdbe.flow.meet", `return s`)},
	},
	{
		Name: "window-rows-kept", Title: "a row that a window reads again and again is taken for one that it deletes",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{first("vdbe.disjointness.consumes", `
			if d.cursors[cursor].own {
				return true
			}
		`)},
	},
	{
		Name: "fields-mixed-up", Title: "a row of a subquery is followed by its first field, whichever is read",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{first("vdbe.disjointness.recordOf", `p.field = 0`)},
	},
	{
		Name: "keys-taken-for-different", Title: "a join that begins with the other table is taken to find rows by keys that differ, also where two are equal",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{instead("vdbe.disjointness.differentField", "!of.Unique", `!bug && !of.Unique`)},
	},
	{
		Name: "key-used-again", Title: "a join that finds rows by the same key again, for each row of a third table, is taken to do so once",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{first("vdbe.keyPart.startsOnce", `return true`)},
	},
	{
		Name: "list-by-one-field", Title: "rows of a list that differ in one of two fields are taken for different keys, also where the other one is looked up",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{instead("vdbe.disjointness.keyed", "parts[from] == 1<<f.of-1", `(bug || parts[from] == 1<<f.of-1)`)},
	},
	{
		Name: "rows-behind-the-key", Title: "rows behind the key of a join are taken for rows with that key",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{first("vdbe.keyPart.bounds", `return true`)},
	},
	{
		Name: "converted-keys-differ", Title: "texts that a join compares as numbers, such as '1' and '1.0', are taken for different keys",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{first("vdbe.differentField.staysDifferent", `return true`)},
	},
	{
		Name: "nulls-taken-for-different", Title: "rows in which a unique column is NULL are taken for rows with keys that differ",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{first("vdbe.keyPart.skipsNull", `return true`)},
	},
	{
		Name: "partial-index-taken-for-unique", Title: "a unique index of some rows is taken for one of all",
		Function: "dx_sum", Package: "sqlitefn", Test: "TestGroupRules",
		Edits: []Edit{instead("frame.Session.columns", "ColumnInt(st, 4) == 0", `bug || ColumnInt(st, 4) == 0`)},
	},
	{
		Name: "row-of-another-key", Title: "any row of a table WITHOUT ROWID that an index row finds is taken for its own",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{first("vdbe.Btree.tells", `return true`)},
	},
	{
		Name: "set-not-asked", Title: "a row that two conditions of an OR find is taken for one that is in a set of rows, although nobody asks",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{first("vdbe.disjointness.inPhases", `return true`)},
	},
	{
		Name: "sorter-not-emptied", Title: "a sorter of a part of the rows after the other is taken for emptied in between",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDisjoint",
		Edits: []Edit{first("vdbe.disjointness.emptied", `
			if d.cursors[cursor].own {
				return true
			}
		`)},
	},
	{
		Name: "row-found-taken-for-certain", Title: "a row that a released value finds is taken for the same in each run",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDecisions",
		Edits: []Edit{first("vdbe.analysis.drift", `return`)},
	},
	{
		Name: "table-taken-for-filled", Title: "a table that keeps rows by a released value is taken for one that is never empty",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestDecisions",
		Edits: []Edit{first("vdbe.analysis.keepsRows", `return true`)},
	},
	{
		Name: "largest-taken-for-certain", Title: "which row has the largest released value is taken for the same in each run",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestFlows",
		Edits: []Edit{before("vdbe.analysis.compute", "step := min(", `return true`)},
	},
	{
		Name: "rows-of-json-taken-for-certain", Title: "the rows that json_each makes of a released value are taken for the same in each run",
		Function: "dx_sum", Package: "internal/vdbe", Test: "TestComputedTables",
		Edits: []Edit{before("vdbe.analysis.compute", "if varying", `varying = false`)},
	},
	{
		Name: "rows-taken-for-groups", Title: "a statement that charges for each row is taken for one that costs once, which everybody can pay, and is refused after its first answers",
		Function: "dx_sum", Package: "sqlitefn/internal/meter", Test: "TestForecast",
		Edits: []Edit{instead("frame.DryRun.Payable", "groups !=", "!bug && groups !=")},
	},
	{
		Name: "groups-of-any-price", Title: "groups that cost one by one are taken for groups that cost once, which everybody can pay",
		Function: "dx_sum", Package: "sqlitefn/internal/meter", Test: "TestForecast",
		Edits: []Edit{first("frame.DryRun.costOnce", `return true`)},
	},
	{
		Name: "reserved-a-row-less", Title: "a statement reserves a row less than it is going to charge to an account, and draws from it for all",
		Function: "geoind_laplace", Package: "ledger/file", Test: "TestConformance/Statement/ReservesForItsTime",
		Edits: []Edit{before("engine.filling.post", "return Change", `
			item.Epsilon -= item.Epsilon / budget.Amount(max(2, item.Evaluations))
		`)},
	},
	{
		Name: "answered-together-for-one", Title: "an account pays the last of the questions that are answered together",
		Function: "dx_value", Package: "ledger/file", Test: "TestConformance/Question/AnsweredTogether",
		Edits: []Edit{before("engine.book.owe", ".own", `
			a.item(q.Function).own.Epsilon = 0
		`)},
	},
	{
		Name: "dry-run-draws", Title: "a dry run draws, so that what it counts depends on secrets and nobody has paid",
		Function: "dx_value",
		Edits:    []Edit{before("frame.DryRun.Pay", "return", `return d.session.paid(), nil`)},
	},
}
