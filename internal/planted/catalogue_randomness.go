//go:build planted

package planted

// Bugs of random numbers, and of who shares them.
var randomness = []Bug{
	{
		Name: "bounded-uniform", Title: "noise comes from a uniform number of 24 bits, which is never read further",
		Source:   "Gazeau, Miller and Palamidessi 2013, Preserving differential privacy under finite-precision semantics",
		Function: "dx_value",
		Edits: []Edit{{
			File: "mechanism/exact/inversion.go",
			Old:  "func (v inversion) draw(s *Source, tail tailFunc) int64 {\n",
			New: "func (v inversion) draw(s *Source, tail tailFunc) int64 {\n" + `
	if planted.Is("bounded-uniform") {
		u := (float64(s.Uint32()>>8) + 0.5) * 0x1p-24
		return int64(min((v.offset-math.Log(u))*v.inverse, 0x1p62))
	}
`,
		}},
	},
	{
		Name: "alias-one-word", Title: "one random number chooses both a column of the alias table and the side of its cut",
		Function: "geoind_optimal",
		Edits: []Edit{{
			File: "mechanism/optimal/alias.go",
			Old:  "	if unit&(1<<b-1) < c.cut {\n",
			New: `
	if planted.Is("alias-one-word") {
		unit /= uint64(len(r))
	}
` + "	if unit&(1<<b-1) < c.cut {\n",
		}},
	},
	{
		Name: "minus-zero", Title: "a geometric number gets a fair sign, and 0 counts twice, as 0 and as -0",
		Source:   "Canonne, Kamath and Steinke 2020, The discrete Gaussian for differential privacy: the rejection in algorithm 2 is left out",
		Function: "dx_count",
		Edits: []Edit{{
			File: "mechanism/exact/laplace.go",
			Old:  "	k := d.draw(s, laplaceTail)\n",
			New: "	k := d.draw(s, laplaceTail)\n" + `
	if planted.Is("minus-zero") {
		k = inversion{d.rate, d.inverse, 0}.draw(s, geometricTail)
	}
`,
		}},
	},
	{
		Name: "seeded-connections", Title: "every connection begins with the same seed",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "sqlitefn/session.go",
			Old:  "	s.payer = charger{s}\n",
			New: "	s.payer = charger{s}\n" + `
	if planted.Is("seeded-connections") {
		s.source = exact.NewSource(planted.Entropy(1))
	}
`,
		}},
	},
	{
		Name: "fork-unnoticed", Title: "a forked process goes on with the random numbers that its parent has buffered",
		Function: "geoind_laplace", Host: extension,
		Edits: []Edit{
			{
				File: "internal/sqlite/shim.c",
				Old:  "int gs_forked(void) { return !*gs_alive; }\n",
				New: `int gs_forked(void) {
  const char *planted = getenv("GEOSQL_PLANTED");
  return !*gs_alive && !(planted && strcmp(planted, "fork-unnoticed") == 0);
}
`,
			},
			{
				File: "mechanism/exact/source.go",
				Old:  "		entropy = rand.Reader\n",
				New: "		entropy = rand.Reader\n" + `
		if planted.Is("fork-unnoticed") {
			entropy = planted.Pool
		}
`,
			},
		},
	},
	{
		Name: "reused-in-row", Title: "two evaluations, one after the other, share their noise",
		Function: "dx_value",
		Edits: []Edit{
			{
				File: "sqlitefn/reading_value.go",
				Old:  "	reading scalar.Accumulator\n",
				New:  "	reading scalar.Accumulator\n	evaluations, seed uint64\n",
			},
			{
				File: "sqlitefn/reading_value.go",
				Old:  "	plan.Reset(&plan.reading)\n",
				New: `
	if planted.Is("reused-in-row") && paid.source != nil {
		if plan.evaluations++; plan.evaluations%2 == 1 {
			plan.seed = paid.source.Uint64()
		}
		paid.source = exact.NewSource(planted.Entropy(plan.seed))
	}
` + "	plan.Reset(&plan.reading)\n",
				Imports: []string{Module + "/mechanism/exact"},
			},
		},
	},
	{
		Name: "reused-between-rows", Title: "all rows of a statement share their noise",
		Function: "geoind_laplace",
		Edits: []Edit{
			statementSeed,
			{
				File: "sqlitefn/location_release.go",
				Old:  "	lat, lon = paid.drawLocation(m, lat, lon)\n",
				New: `
	if planted.Is("reused-between-rows") && paid.source != nil {
		if t.seed == 0 {
			t.seed = paid.source.Uint64()
		}
		paid.source = exact.NewSource(planted.Entropy(t.seed))
	}
` + "	lat, lon = paid.drawLocation(m, lat, lon)\n",
				Imports: []string{Module + "/mechanism/exact"},
			},
		},
	},
	{
		Name: "reused-between-groups", Title: "all groups of a statement share their noise",
		Function: "dx_sum",
		Edits: []Edit{
			statementSeed,
			{
				File: "sqlitefn/reading_query.go",
				Old:  "	c.ResultFloat(0, drawReading(c.statement(), paid, g.query, &g.acc))\n",
				New: `
	if t := c.statement(); planted.Is("reused-between-groups") && paid.source != nil && g.aggregate == scalar.Sum {
		if t.seed == 0 {
			t.seed = paid.source.Uint64()
		}
		paid.source = exact.NewSource(planted.Entropy(t.seed))
	}
` + "	c.ResultFloat(0, drawReading(c.statement(), paid, g.query, &g.acc))\n",
			},
		},
	},
}

// statementSeed lets statements remember a seed.
var statementSeed = Edit{
	File: "sqlitefn/statement.go",
	Old:  "type statement struct {\n",
	New:  "type statement struct {\n	seed uint64\n",
}
