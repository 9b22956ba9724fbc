//go:build planted

package planted

// Bugs of random numbers, and of who shares them.
var randomness = []Bug{
	{
		Name: "bounded-uniform", Title: "noise comes from a uniform number of 24 bits, which is never read further",
		Source:   "Gazeau, Miller and Palamidessi 2013, Preserving differential privacy under finite-precision semantics",
		Function: "dx_value",
		Edits: []Edit{first("exact.inversion.draw", `
			u := (float64(s.Uint32()>>8) + 0.5) * 0x1p-24
			return int64(min((v.offset-math.Log(u))*v.inverse, 0x1p62))
		`)},
	},
	{
		Name: "alias-one-word", Title: "one random number chooses both a column of the alias table and the side of its cut",
		Function: "geoind_optimal",
		Edits:    []Edit{before("mechanism/optimal.aliasRow.draw", "c.cut", `unit /= uint64(len(r))`)},
	},
	{
		Name: "minus-zero", Title: "a geometric number gets a fair sign, and 0 counts twice, as 0 and as -0",
		Source:   "Canonne, Kamath and Steinke 2020, The discrete Gaussian for differential privacy: the rejection in algorithm 2 is left out",
		Function: "dx_count",
		Edits: []Edit{after("exact.DiscreteLaplace.Draw", "k :=", `
			k = inversion{d.rate, d.inverse, 0}.draw(s, geometricTail)
		`)},
	},
	{
		Name: "seeded-connections", Title: "every connection begins with the same seed",
		Function: "geoind_laplace",
		Edits:    []Edit{before("frame.NewSession", "return", `s.source = exact.NewSource(planted.Entropy(1))`)},
	},
	{
		Name: "fork-unnoticed", Title: "a forked process goes on with the random numbers that its parent has buffered",
		Function: "geoind_laplace", Host: extension,
		Edits: []Edit{
			instead("internal/sqlite.gs_forked", "!*gs_alive", "(!*gs_alive && !bug)"),
			after("exact.NewSource", "system", `entropy = planted.Pool`),
		},
	},
	{
		Name: "reused-in-row", Title: "two evaluations, one after the other, share their noise",
		Function: "dx_value",
		Edits: []Edit{
			fields("frame.Statement", `evaluations, rowSeed uint64`),
			before("frame.charger.Pay", "p.session.paid()", `
				if t.evaluations++; t.evaluations%2 == 1 {
					t.rowSeed = p.session.source.Uint64()
				}
				return Receipt{source: exact.NewSource(planted.Entropy(t.rowSeed))}, nil
			`),
		},
	},
	{
		Name: "reused-between-rows", Title: "all rows of a statement share their noise",
		Function: "geoind_laplace",
		Edits:    []Edit{statementSeed, before("frame.charger.Pay", "p.session.paid()", seededByStatement)},
	},
	{
		Name: "reused-between-groups", Title: "all groups of a statement share their noise",
		Function: "dx_sum",
		Edits:    []Edit{statementSeed, before("frame.charger.PayAll", "p.session.watcher != nil", seededByStatement)},
	},
}

// statementSeed lets statements remember a seed.
var statementSeed = fields("frame.Statement", `seed uint64`)

// seededByStatement has paid releases draw with the statement's seed.
const seededByStatement = `
	if t.seed == 0 {
		t.seed = p.session.source.Uint64()
	}
	return Receipt{source: exact.NewSource(planted.Entropy(t.seed))}, nil
`
