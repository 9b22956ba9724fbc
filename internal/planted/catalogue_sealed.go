//go:build planted

package planted

// Bugs of sealed databases.
var sealedValues = []Bug{
	{
		Name: "multiplicity-ignored", Title: "a value that a join repeats is charged once",
		Function: "dx_count", Host: server,
		Edits: []Edit{{
			File: "sqlitefn/sealed_group.go",
			Old:  "	number := g.number(o.Account)\n",
			New: `
	if times > 1 && planted.Is("multiplicity-ignored") {
		g.form.add(o.Account, o.Data)
		return nil
	}
` + "	number := g.number(o.Account)\n",
		}},
	},
	{
		Name: "narrowing-filters", Title: "readings outside the range that an analyst chose are left out, not moved into it",
		Function: "dx_sum", Host: server,
		Edits: []Edit{{
			File: "sqlitefn/sealed_reading.go",
			Old:  "func (f *sealedQueryForm) add(_ int, d sealed.Data) { f.query.AddIndex(&f.acc, f.universe.index(d)) }\n",
			New: `func (f *sealedQueryForm) add(_ int, d sealed.Data) {
	if k := d.Reading() - f.universe.first; planted.Is("narrowing-filters") && (k < 0 || k > f.universe.Last()) {
		return
	}
	f.query.AddIndex(&f.acc, f.universe.index(d))
}
`,
		}},
	},
	{
		Name: "redrawn-memory", Title: "a question that was asked before is free, and its answer is drawn again",
		Function: "dx_sum", Host: server,
		Edits: []Edit{{
			File: "sqlitefn/sealed_question.go",
			Old:  "	e.asked.within95(c.name, g)\n",
			New: "	e.asked.within95(c.name, g)\n" + `
	if planted.Is("redrawn-memory") && answered.Remembered {
		return g.form.draw(t, e.receipt()), nil
	}
`,
		}},
	},
}
