//go:build planted

package planted

// Bugs of what is computed from readings, and of how much noise that needs.
var aggregates = []Bug{
	{
		Name: "forgotten-corner", Title: "the sensitivity is that of a record more or less, and not of one that is replaced",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/universe.go",
			Old:  "	return max(-u.first, u.first+u.width(), u.width())\n",
			New: `
	if planted.Is("forgotten-corner") {
		return max(-u.first, u.first+u.width())
	}
` + "	return max(-u.first, u.first+u.width(), u.width())\n",
		}},
	},
	{
		Name: "forgotten-end", Title: "the sensitivity is the width of the universe, wherever that lies",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/universe.go",
			Old:  "	return max(-u.first, u.first+u.width(), u.width())\n",
			New: `
	if planted.Is("forgotten-end") {
		return u.width()
	}
` + "	return max(-u.first, u.first+u.width(), u.width())\n",
		}},
	},
	{
		Name: "nd1-unscaled", Title: "under nd1 the sensitivity is that of d1",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/query.go",
			Old:  "	case q.metric == budget.D1 || q.metric == budget.DInf:\n",
			New:  `	case q.metric == budget.D1 || q.metric == budget.DInf || q.agg == Sum && q.metric == budget.ND1 && planted.Is("nd1-unscaled"):` + "\n",
		}},
	},
	{
		Name: "unclamped-sum", Title: "a reading above the universe is not moved into it",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/accumulator.go",
			Old:  "	q.AddIndex(a, q.universe.Index(x))\n",
			New: `
	if planted.Is("unclamped-sum") && q.agg == Sum && x > q.universe.hi {
		q.AddIndex(a, int64(min((x-q.universe.lo)*q.universe.perStep, 0x1p50)))
		return
	}
` + "	q.AddIndex(a, q.universe.Index(x))\n",
		}},
	},
	{
		Name: "clamped-at-rows", Title: "a noisy sum is moved below the largest that so many rows can have",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/deviation.go",
			Old:  "	return Release{q.lattice.number(q.lattice.clamp(z)), 1}\n",
			New: `
	if planted.Is("clamped-at-rows") && q.agg == Sum {
		if most := q.universe.total(a.rows, uint128{0, uint64(a.rows) * uint64(q.universe.last)}); most.less(z) {
			z = most
		}
	}
` + "	return Release{q.lattice.number(q.lattice.clamp(z)), 1}\n",
		}},
	},
	{
		Name: "arg-max", Title: "the value with the best score is the answer, and none is drawn",
		Function: "dx_median",
		Edits: []Edit{{
			File: "mechanism/scalar/rank.go",
			Old:  "	return a.choice.draw(src)\n",
			New: `
	if planted.Is("arg-max") {
		return q.percentile(a.indices)
	}
` + "	return a.choice.draw(src)\n",
		}},
	},
	{
		Name: "score-not-halved", Title: "scores weigh exp(-epsilon*score), although all the others move too",
		Function: "dx_median",
		Edits: []Edit{{
			File: "mechanism/scalar/rank.go",
			Old:  "	a.choice.prepare(q.noise.rate/2, q.runs(a.indices)) // halving is exact\n",
			New: `	rate := q.noise.rate / 2
	if planted.Is("score-not-halved") {
		rate = q.noise.rate
	}
	a.choice.prepare(rate, q.runs(a.indices))
`,
		}},
	},
	{
		Name: "accounts-count-rows", Title: "rows are counted in place of accounts, for the price of an account",
		Function: "dx_accounts",
		Edits: []Edit{{
			File: "sqlitefn/reading_count.go",
			Old:  "	if g.accounts {\n		return",
			New:  "	if g.accounts && !planted.Is(\"accounts-count-rows\") {\n		return",
		}},
	},
	{
		Name: "true-divisor", Title: "the noisy sum is divided by the true number of readings",
		Function: "dx_avg",
		Edits: []Edit{{
			File: "mechanism/scalar/mean.go",
			Old:  "	count := v.count.drawCount(src, a.rows)\n",
			New: "	count := v.count.drawCount(src, a.rows)\n" + `
	if planted.Is("true-divisor") {
		count.SetInt64(max(1, a.rows))
	}
`,
		}},
	},
	{
		Name: "average-on-grid", Title: "the average is rounded down to the universe before noise for an average that is not",
		Source:   "Casacuberta et al. 2022, Widespread underestimation of sensitivity in differentially private libraries (rounding)",
		Function: "dx_avg",
		Edits: []Edit{{
			File: "mechanism/scalar/mean.go",
			Old:  "	s := v.sumNoise(a.rows).add(src, a.sum.times(1))\n",
			New: "	s := v.sumNoise(a.rows).add(src, a.sum.times(1))\n" + `
	if planted.Is("average-on-grid") && v.perStep == nil {
		finer, _ := noiseAt(new(big.Rat).Mul(new(big.Rat).SetFloat64(v.sum.rate), new(big.Rat).SetInt64(a.rows)))
		k, _ := a.sum.times(1).int64()
		return Release{v.universe.quotient(finer.add(src, fromInt64(k/a.rows)).big(), big.NewInt(1)), float64(a.rows)}
	}
`,
		}},
	},
	{
		Name: "average-for-one", Title: "under dinf the noise of the sum is for one reading that moves, not for all",
		Function: "dx_avg",
		Edits: []Edit{{
			File: "mechanism/scalar/mean.go",
			Old:  "	n, err := noiseAt(new(big.Rat).Quo(v.perStep, new(big.Rat).SetInt64(m)))\n",
			New: `
	if planted.Is("average-for-one") {
		m = 1
	}
` + "	n, err := noiseAt(new(big.Rat).Quo(v.perStep, new(big.Rat).SetInt64(m)))\n",
		}},
	},
	{
		Name: "squares-without-noise", Title: "the sum of squares has no noise",
		Function: "dx_variance",
		Edits: []Edit{{
			File: "mechanism/scalar/variance.go",
			Old:  "	squares := v.squares.add(src, int128{}).big()\n",
			New: "	squares := v.squares.add(src, int128{}).big()\n" + `
	if planted.Is("squares-without-noise") {
		squares.SetInt64(0)
	}
`,
		}},
	},
	{
		Name: "exact-without-rows", Title: "a group in which every reading is NULL has an exact answer",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "sqlitefn/reading_query.go",
			Old:  "	paid, err := g.pay(c)\n",
			New: "	paid, err := g.pay(c)\n" + `
	if planted.Is("exact-without-rows") && err == nil && len(g.paying.rows) == 0 {
		c.ResultFloat(0, g.query.StandIn().Value)
		return nil
	}
`,
		}},
	},
}
