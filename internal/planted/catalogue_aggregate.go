//go:build planted

package planted

// Bugs of what is computed from readings, and of how much noise that needs.
var aggregates = []Bug{
	{
		Name: "forgotten-corner", Title: "the sensitivity is that of a record more or less, and not of one that is replaced",
		Function: "dx_sum",
		Edits:    []Edit{first("scalar.Universe.reach", `return max(-u.first, u.first+u.width())`)},
	},
	{
		Name: "forgotten-end", Title: "the sensitivity is the width of the universe, wherever that lies",
		Function: "dx_sum",
		Edits:    []Edit{first("scalar.Universe.reach", `return u.width()`)},
	},
	{
		Name: "nd1-unscaled", Title: "under nd1 the sensitivity is that of d1",
		Function: "dx_sum",
		Edits: []Edit{before("scalar.newSum", "newRecordNoise(", `
			if s.metric == budget.ND1 {
				width = s.universe.one().Int64()
			}
		`)},
	},
	{
		Name: "nd1-staircase", Title: "under nd1, where small moves cost little, a sum has the staircase of dh, on which each move may cost all of epsilon",
		Function: "dx_sum",
		Edits:    []Edit{instead("scalar.setting.newRecordNoise", "s.metric != budget.DH", "(s.metric != budget.DH && !bug)")},
	},
	{
		Name: "steep-staircase", Title: "the outer places of a stair are less likely than its inner ones by twice epsilon, and so less likely than those of the next stair",
		Function: "dx_sum",
		Edits:    []Edit{first("scalar.newStaircase", `rate *= 2`)},
	},
	{
		Name: "unclamped-sum", Title: "a reading above the universe is not moved into it",
		Function: "dx_sum",
		Edits: []Edit{first("scalar.Query.Add", `
			if _, sums := q.law.(*sum); sums && x > q.universe.hi {
				q.AddIndex(a, int64(min((x-q.universe.lo)*q.universe.perStep, 0x1p50)))
				return
			}
		`)},
	},
	{
		Name: "clamped-at-rows", Title: "a noisy sum is moved below the largest that so many rows can have",
		Function: "dx_sum",
		Edits: []Edit{first("scalar.sum.draw", `
			z := v.noise.add(src, v.answer(a))
			if most := v.universe.total(a.rows, uint128{0, uint64(a.rows) * uint64(v.universe.last)}); most.less(z) {
				z = most
			}
			return Release{Value: v.number(v.clamp(z)), Readings: 1}
		`)},
	},
	{
		Name: "arg-max", Title: "the value with the best score is the answer, and none is drawn",
		Function: "dx_median",
		Edits: []Edit{first("scalar.scored.choose", `
			k, _ := l.answer(a).int64()
			return k
		`)},
	},
	{
		Name: "score-not-halved", Title: "scores weigh exp(-epsilon*score), although all the others move too",
		Function: "dx_median",
		Edits:    []Edit{after("scalar.scored.choose", "prepare(", `a.choice.prepare(l.noise.rate, a.choice.scores)`)},
	},
	{
		Name: "window-one-wider", Title: "the noise of a mean of neighbouring ranks is for one more of them",
		Function: "dx_median",
		Edits: []Edit{before("scalar.scored.drawWindow", "l.noise.add", `
			wider := new(big.Rat).SetFloat64(l.noise.rate)
			n, _ := noiseAt(wider.Mul(wider, big.NewRat(int64(2*h+2), int64(2*h+1))))
			l = &scored{ranked: l.ranked}
			l.noise = n
		`)},
	},
	{
		Name: "window-without-outliers", Title: "a mean of neighbouring ranks leaves out those that are far from the middle one",
		Function: "dx_median",
		Edits: []Edit{before("scalar.scored.drawWindow", "var sum", `
			for h > 0 && sorted[k+h]-sorted[k-h] > 4 {
				h--
			}
		`)},
	},
	{
		Name: "aimed-by-data", Title: "a maximum is aimed inside only if the largest reading is alone",
		Function: "dx_max",
		Edits: []Edit{after("scalar.scored.scores", "k = l.below", `
			if n := len(sorted); l.inside > 0 && n > 1 && sorted[n-1] == sorted[n-2] {
				k = n - 1
			}
		`)},
	},
	{
		Name: "halved-at-rows", Title: "halving divides the rows at the middle one, and no value is drawn",
		Function: "dx_percentiles",
		Edits: []Edit{after("scalar.question.ask", "v :=", `
			if len(rows) > 0 {
				v = rows[len(rows)/2]
			}
		`)},
	},
	{
		Name: "each-level-all-epsilon", Title: "every question of halving has all of epsilon, as if a row were in one of them only",
		Function: "dx_percentiles",
		Edits: []Edit{after("scalar.halve", "rest :=", `
			e.Set(epsilon)
			rest.Set(epsilon)
		`)},
	},
	{
		Name: "leaving-is-free", Title: "a row that leaves a question of halving for another is counted in one of them only",
		Function: "dx_percentiles", Package: "mechanism/scalar", Test: "TestTreesSpendEpsilon",
		Edits: []Edit{before("scalar.halve", "exact.RateFloor(", `
			if !root {
				part.Rsh(part, 1)
			}
		`)},
	},
	{
		Name: "rounded-target", Title: "the share of rows below a percentile is rounded to a whole number of rows",
		Function: "dx_percentiles", Package: "mechanism/scalar", Test: "TestRunsOfAnyShares",
		Edits: []Edit{after("scalar.question.scores", "s.least, s.cap", `
			whole := new(big.Int).Quo(s.most.big(), new(big.Int).SetUint64(q.den)).Uint64()
			s.most = uint128{lo: q.den}.times(whole)
			s.least = s.most.add(int128{lo: q.den})
		`)},
	},
	{
		Name: "accounts-count-rows", Title: "rows are counted in place of accounts, for the price of an account",
		Function: "dx_accounts",
		Edits:    []Edit{instead("reading.countGroup.counted", "g.accounts", "g.accounts && !bug")},
	},
	{
		Name: "true-divisor", Title: "the noisy sum is divided by the true number of readings",
		Function: "dx_avg",
		Edits:    []Edit{after("scalar.recordsMean.draw", "drawCount", `count.SetInt64(max(1, a.rows))`)},
	},
	{
		Name: "average-on-grid", Title: "the average is rounded down to the universe before noise for an average that is not",
		Source:   "Casacuberta et al. 2022, Widespread underestimation of sensitivity in differentially private libraries (rounding)",
		Function: "dx_avg",
		Edits: []Edit{after("scalar.mean.draw", "v.sumNoise(", `
			if v.perStep == nil {
				finer, _ := noiseAt(new(big.Rat).Mul(new(big.Rat).SetFloat64(v.sum.rate), new(big.Rat).SetInt64(a.rows)))
				k, _ := a.sum.times(1).int64()
				return Release{Value: v.universe.quotient(finer.add(src, fromInt64(k/a.rows)).big(), big.NewInt(1), v.universe.averageScale(v.sum, rows)), Readings: rows}
			}
		`)},
	},
	{
		Name: "average-for-one", Title: "under dinf the noise of the sum is for one reading that moves, not for all",
		Function: "dx_avg",
		Edits:    []Edit{first("scalar.mean.sumNoise", `m = 1`)},
	},
	{
		Name: "squares-without-noise", Title: "the sum of squares has no noise",
		Function: "dx_variance",
		Edits:    []Edit{after("scalar.recordsVariance.drawExactly", "noise :=", `noise.SetInt64(0)`)},
	},
	{
		Name: "one-end-without-noise", Title: "of the two sums of squares under d1 only one has noise",
		Function: "dx_variance",
		Edits:    []Edit{after("scalar.variance.draw", "q.Add(", `_, q = v.universe.squares(a)`)},
	},
	{
		Name: "squares-for-a-step", Title: "under d1 the noise of sums of squares is for sums that move by one",
		Function: "dx_variance",
		Edits:    []Edit{before("scalar.newVariance", "newNoise(", `perStep.Mul(perStep, big.NewRat(2*s.universe.last, 1))`)},
	},
	{
		Name: "exact-without-rows", Title: "a group in which every reading is NULL has an exact answer",
		Function: "dx_sum",
		Edits: []Edit{after("reading.queryGroup.Final", "g.pay(", `
			if err == nil && g.paying.Accounts() == 0 {
				return c.Result(answerTo(g.query.StandIn()), nil)
			}
		`)},
	},
}
