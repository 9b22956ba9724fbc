//go:build planted

package planted

// Bugs of the noise of readings, counts and sums.
var noise = []Bug{
	{
		Name: "scale-value", Title: "the noise is 5 % too small",
		Function: "dx_value",
		Edits:    []Edit{before("scalar.newValue", "newNoised(", `s.epsilon = new(big.Rat).Mul(s.epsilon, big.NewRat(21, 20))`)},
	},
	{
		Name: "scale-sum", Title: "the noise is 5 % too small",
		Function: "dx_sum",
		Edits:    []Edit{first("scalar.newSum", `s.epsilon = new(big.Rat).Mul(s.epsilon, big.NewRat(21, 20))`)},
	},
	{
		Name: "clamped-tails", Title: "noise is moved to within four times its scale",
		Function: "dx_sum",
		Edits: []Edit{after("scalar.noise.add", "k :=", `
			most := int64(min(4/n.rate, far/2))
			k = max(-most, min(k, most))
		`)},
	},
	{
		Name: "coarse-noise", Title: "noise is drawn in multiples of eight steps and added to an answer in steps",
		Source:   "Haney et al. 2022, Precision-based attacks and interval refining",
		Function: "dx_sum",
		Edits:    []Edit{before("scalar.noise.add", "fromInt64(k)", `k &^= 7`)},
	},
	{
		Name: "truncated-division", Title: "noise in half steps is divided by 2, which rounds towards 0",
		Function: "dx_value",
		Edits: []Edit{first("scalar.value.draw", `
			half, _ := exact.NewDiscreteLaplace(v.noise.rate / 2)
			return Release{Value: v.number(v.clamp(v.answer(a).add(fromInt64(half.Draw(src) / 2)))), Readings: 1}
		`)},
	},
	{
		Name: "low-bits", Title: "floating-point noise is added to the exact sum",
		Source:   "Mironov 2012, On significance of the least significant bits for differential privacy",
		Function: "dx_sum",
		Edits: []Edit{first("scalar.sum.draw", `
			u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
			x := -math.Log(u) / v.noise.rate * float64(v.step) / v.scale
			if src.Bool() {
				x = -x
			}
			if x += v.number(v.answer(a)); v.universe.first >= 0 {
				x = max(x, 0)
			}
			return Release{Value: x, Readings: 1}
		`)},
	},
	{
		Name: "redrawn-universe", Title: "noise is drawn again until the answer is a value of the universe",
		Source:   "Holohan et al. 2020, The bounded Laplace mechanism in differential privacy",
		Function: "dx_value",
		Edits: []Edit{first("scalar.value.draw", `
			for {
				if z := v.noise.add(src, v.answer(a)); v.clamp(z) == z {
					return Release{Value: v.number(z), Readings: 1}
				}
			}
		`)},
	},
	{
		Name: "zero-without-noise", Title: "a count of 0 has no noise",
		Function: "dx_count",
		Edits: []Edit{first("reading.countAnswer", `
			if n == 0 {
				return frame.WholeAnswer(0)
			}
		`)},
	},
	{
		Name: "one-sided", Title: "noise never makes a count smaller",
		Function: "dx_count",
		Edits: []Edit{before("reading.countAnswer", "return", `
			if paid.Randomness() != nil {
				whole := int64(drawReading(c, paid, q, &counted).Value)
				return frame.WholeAnswer(max(whole, 2*n-whole))
			}
		`)},
	},
	{
		Name: "histogram-full-rate", Title: "noise is for one count, although a replaced reading changes two",
		Function: "dx_histogram",
		Edits:    []Edit{after("scalar.binning.law", "newNoise(", `noise, err = newNoise(s.epsilon)`)},
	},
	{
		Name: "histogram-inverse-scale", Title: "the rate of the noise is taken for its scale",
		Source:   "Ding et al. 2018, Detecting violations of differential privacy",
		Function: "dx_histogram",
		Edits: []Edit{before("scalar.binning.law", "&histogram{", `
			noise, _ = newNoise(new(big.Rat).Quo(big.NewRat(2, 1), s.epsilon))
		`)},
	},
	{
		Name: "curve-one-noise", Title: "the sums of all blocks have the same noise",
		Function: "dx_curve",
		Edits: []Edit{
			fields("scalar.Accumulator", `same int128`),
			first("scalar.sortedSums.release", `a.same = l.noise.add(src, int128{})`),
			after("scalar.sortedSums.release", "sums[b] =", `sums[b] = sum.times(1).add(a.same)`),
		},
	},
	{
		Name: "curve-of-averages", Title: "the noise of the sum of a block is that of its average",
		Function: "dx_curve",
		Edits: []Edit{after("scalar.sortedSums.release", "sums[b] =", `
			rate := new(big.Rat).SetFloat64(l.noise.rate)
			average, _ := newNoise(rate.Mul(rate, new(big.Rat).SetInt64(ends[b+1]-ends[b])))
			sums[b] = average.add(src, sum.times(1))
		`)},
	},
	{
		Name: "curve-without-zeros", Title: "readings of 0 have a block of their own",
		Function: "dx_curve",
		Edits: []Edit{after("scalar.sortedSums.release", "ends :=", `
			zeros, _ := slices.BinarySearch(sorted, 1)
			ends = append(ends, int64(zeros))
			slices.Sort(ends)
			ends = slices.Compact(ends)
		`)},
	},
	{
		Name: "occupied-only", Title: "only cells with somebody in them are listed",
		Source:   "Korolova et al. 2009, Releasing search queries and clicks privately: its threshold needs a delta",
		Function: "dx_heatmap",
		Edits:    []Edit{instead("exact.SparseCounts.Draw", "cell < c.cells", "!bug && cell < c.cells")},
	},
	{
		Name: "unsorted-heatmap", Title: "cells with somebody in them are listed first",
		Function: "dx_heatmap",
		Edits:    []Edit{before("exact.SparseCounts.Draw", "slices.SortFunc", `return listed`)},
	},
	{
		Name: "one-noise-for-squares", Title: "the same noise decides which squares of an adaptive map are split",
		Function: "dx_heatmap",
		Edits: []Edit{
			fields("exact.Splits", `same int64`),
			before("exact.Splits.Split", "s.noise.Draw", `
				if depth == 0 {
					s.same = s.noise.Draw(src)
				}
				return s.same > -max(count-int64(depth)*s.delta, -s.delta)
			`),
		},
	},
	{
		Name: "splits-at-twice-the-rate", Title: "the noise that decides which squares are split is half of the certified noise",
		Function: "dx_heatmap", Package: "mechanism/exact", Test: "TestSplitsSpendWhatTheyMay",
		Edits: []Edit{after("exact.NewSplits", "delta, _ := splitBound", `low *= 2`)},
	},
	{
		Name: "real-delta", Title: "on the way down the counts of squares are lowered by ln(4)/rate, although they and the noise are integers",
		Function: "dx_heatmap", Package: "mechanism/exact", Test: "TestSplitsFollowTheirLaw",
		Edits: []Edit{before("exact.Splits.Split", "s.noise.Draw", `
			delta := 2 * math.Ln2 / s.noise.rate
			return float64(s.noise.Draw(src)) > -max(float64(count)-float64(depth)*delta, -delta)
		`)},
	},
}
