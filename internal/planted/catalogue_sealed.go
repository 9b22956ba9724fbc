//go:build planted

package planted

// Bugs of sealed databases.
var sealedValues = []Bug{
	{
		Name: "multiplicity-ignored", Title: "a value that a join repeats is charged once",
		Function: "dx_count", Host: server,
		Edits: []Edit{before("unseal.Group.add", "r.member(", `
			if times > 1 {
				times = 1
				r.members[row.Account].rows--
			}
		`)},
	},
	{
		Name: "narrowing-filters", Title: "readings outside the range that an analyst chose are left out, not moved into it",
		Function: "dx_sum", Host: server,
		Edits: []Edit{before("unseal.Group.add", "g.form.Add(", `
			if u, err := UniverseOf(g.evaluates.evaluator.session, g.of); err == nil {
				if k := row.Data.Reading() - u.first; k < 0 || k > u.Last() {
					continue
				}
			}
		`)},
	},
	{
		Name: "record-per-pseudonym", Title: "an account has a record for each of its pseudonyms, and is charged for one",
		Function: "dx_sum", Host: server,
		Edits: []Edit{before("unseal.Group.add", "g.form.Add(", `
			g.form.Add(int(row.Number>>1), row.Data)
			continue
		`)},
	},
	{
		Name: "moved-before-added", Title: "readings of an account are moved into the range of sums, and their sum is not",
		Function: "dx_sum", Host: server,
		Edits: []Edit{
			first("reading.sealedQueryForm.Add", `
				if f.persons != nil {
					var one scalar.Total
					one.Add(f.universe.Index(d))
					f.query.AddIndex(&f.acc, f.persons.IndexOf(one))
					return
				}
			`),
			instead("reading.sealedQueryForm.Draw", "f.persons != nil", "f.persons != nil && !bug"),
		},
	},
	{
		Name: "ends-not-in-question", Title: "the same question with other ends of the range of sums gets the earlier answer",
		Function: "dx_sum", Host: server,
		Edits: []Edit{instead("unseal.questionKey.name", "of.person.given", "of.person.given && !bug")},
	},
	{
		Name: "known-rows-of-plain-tables", Title: "the number of rows of a plain table is taken for public under dh",
		Function: "dx_avg",
		Edits:    []Edit{instead("scalar.setting.secretRows", "!s.known", "!s.known && !bug")},
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
