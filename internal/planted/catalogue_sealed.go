//go:build planted

package planted

// Bugs of sealed databases.
var sealedValues = []Bug{
	{
		Name: "multiplicity-ignored", Title: "a value that a join repeats is charged once",
		Function: "dx_count", Host: server,
		Edits: []Edit{before("unseal.Group.Add", "g.number(", `
			if times > 1 {
				g.form.Add(o.Account, o.Data)
				return nil
			}
		`)},
	},
	{
		Name: "narrowing-filters", Title: "readings outside the range that an analyst chose are left out, not moved into it",
		Function: "dx_sum", Host: server,
		Edits: []Edit{before("unseal.Group.Add", "g.form.Add(", `
			if u, err := UniverseOf(c.Session, g.of); err == nil {
				if k := o.Data.Reading() - u.first; k < 0 || k > u.Last() {
					return nil
				}
			}
		`)},
	},
	{
		Name: "redrawn-memory", Title: "a question that was asked before is free, and its answer is drawn again",
		Function: "dx_sum", Host: server,
		Edits: []Edit{after("unseal.Evaluation.askGroup", ".within95(", `
			if answered.Remembered {
				return g.form.Draw(c, e.receipt()), nil
			}
		`)},
	},
}
