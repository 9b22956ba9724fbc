//go:build planted

package planted

// Bugs of sealed databases.
var sealedValues = []Bug{
	{
		Name: "multiplicity-ignored", Title: "a value that a join repeats is charged once",
		Function: "dx_count", Host: server,
		Edits: []Edit{before("sqlitefn.sealedGroup.add", "g.number(", `
			if times > 1 {
				g.form.add(o.Account, o.Data)
				return nil
			}
		`)},
	},
	{
		Name: "narrowing-filters", Title: "readings outside the range that an analyst chose are left out, not moved into it",
		Function: "dx_sum", Host: server,
		Edits: []Edit{first("sqlitefn.sealedQueryForm.add", `
			if k := d.Reading() - f.universe.first; k < 0 || k > f.universe.Last() {
				return
			}
		`)},
	},
	{
		Name: "redrawn-memory", Title: "a question that was asked before is free, and its answer is drawn again",
		Function: "dx_sum", Host: server,
		Edits: []Edit{after("sqlitefn.Evaluation.askGroup", ".within95(", `
			if answered.Remembered {
				return g.form.draw(t, e.receipt()), nil
			}
		`)},
	},
}
