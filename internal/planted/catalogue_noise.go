//go:build planted

package planted

// Bugs of the noise of readings, counts and sums.
var noise = []Bug{
	{
		Name: "scale-value", Title: "the noise is 5 % too small",
		Function: "dx_value",
		Edits: []Edit{{
			File: "mechanism/scalar/query.go",
			Old:  "	perStep := new(big.Rat).SetFrac(big.NewInt(q.lattice.step), q.sensitivity())\n",
			New: "	perStep := new(big.Rat).SetFrac(big.NewInt(q.lattice.step), q.sensitivity())\n" + `
	if planted.Is("scale-value") && agg == Value {
		perStep.Mul(perStep, big.NewRat(21, 20))
	}
`,
		}},
	},
	{
		Name: "scale-sum", Title: "the noise is 5 % too small",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/query.go",
			Old:  "	perStep.Mul(perStep, eps)\n",
			New: "	perStep.Mul(perStep, eps)\n" + `
	if planted.Is("scale-sum") && agg == Sum {
		perStep.Mul(perStep, big.NewRat(21, 20))
	}
`,
		}},
	},
	{
		Name: "clamped-tails", Title: "noise is moved to within four times its scale",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/noise.go",
			Old:  "	k := n.Draw(src)\n	if -far",
			New: `	k := n.Draw(src)
	if planted.Is("clamped-tails") {
		most := int64(min(4/n.rate, far/2))
		k = max(-most, min(k, most))
	}
	if -far`,
		}},
	},
	{
		Name: "coarse-noise", Title: "noise is drawn in multiples of eight steps and added to an answer in steps",
		Source:   "Haney et al. 2022, Precision-based attacks and interval refining",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/noise.go",
			Old:  "		return z.add(fromInt64(k))\n",
			New: `
		if planted.Is("coarse-noise") {
			k &^= 7
		}
` + "		return z.add(fromInt64(k))\n",
		}},
	},
	{
		Name: "truncated-division", Title: "noise in half steps is divided by 2, which rounds towards 0",
		Function: "dx_value",
		Edits: []Edit{{
			File: "mechanism/scalar/deviation.go",
			Old:  "	z := q.noise.add(src, q.answer(a))\n",
			New: "	z := q.noise.add(src, q.answer(a))\n" + `
	if planted.Is("truncated-division") && q.agg == Value {
		half, _ := exact.NewDiscreteLaplace(q.noise.rate / 2)
		z = q.answer(a).add(fromInt64(half.Draw(src) / 2))
	}
`,
		}},
	},
	{
		Name: "low-bits", Title: "floating-point noise is added to the exact sum",
		Source:   "Mironov 2012, On significance of the least significant bits for differential privacy",
		Function: "dx_sum",
		Edits: []Edit{{
			File: "mechanism/scalar/deviation.go",
			Old:  "func (q *Query) Release(src *exact.Source, a *Accumulator) Release {\n",
			New: "func (q *Query) Release(src *exact.Source, a *Accumulator) Release {\n" + `
	if planted.Is("low-bits") && q.agg == Sum {
		u := (float64(src.Uint64()>>11) + 0.5) * 0x1p-53
		x := -math.Log(u) / q.noise.rate * float64(q.lattice.step) / q.lattice.scale
		if src.Bool() {
			x = -x
		}
		if x += q.lattice.number(q.answer(a)); q.universe.first >= 0 {
			x = max(x, 0)
		}
		return Release{x, 1}
	}
`,
		}},
	},
	{
		Name: "redrawn-universe", Title: "noise is drawn again until the answer is a value of the universe",
		Source:   "Holohan et al. 2020, The bounded Laplace mechanism in differential privacy",
		Function: "dx_value",
		Edits: []Edit{{
			File: "mechanism/scalar/deviation.go",
			Old:  "	case q.byScore(len(a.indices)):\n",
			New: `	case planted.Is("redrawn-universe") && q.agg == Value:
		for {
			if z := q.noise.add(src, q.answer(a)); q.lattice.clamp(z) == z {
				return Release{q.lattice.number(z), 1}
			}
		}
` + "	case q.byScore(len(a.indices)):\n",
		}},
	},
	{
		Name: "zero-without-noise", Title: "a count of 0 has no noise",
		Function: "dx_count",
		Edits: []Edit{{
			File: "sqlitefn/reading_count.go",
			Old:  "	var counted scalar.Accumulator\n",
			New: `
	if planted.Is("zero-without-noise") && n == 0 {
		return answer{kind: ofWhole}
	}
` + "	var counted scalar.Accumulator\n",
		}},
	},
	{
		Name: "one-sided", Title: "noise never makes a count smaller",
		Function: "dx_count",
		Edits: []Edit{{
			File: "sqlitefn/reading_count.go",
			Old:  "	return answer{kind: ofWhole, whole: int64(drawReading(t, paid, q, &counted))}",
			New: `
	if planted.Is("one-sided") && paid.source != nil {
		whole := int64(drawReading(t, paid, q, &counted))
		return answer{kind: ofWhole, whole: max(whole, 2*n-whole)}
	}
` + "	return answer{kind: ofWhole, whole: int64(drawReading(t, paid, q, &counted))}",
		}},
	},
	{
		Name: "histogram-full-rate", Title: "noise is for one count, although a replaced reading changes two",
		Function: "dx_histogram",
		Edits: []Edit{{
			File: "mechanism/scalar/histogram.go",
			Old:  "	noise, err := newNoise(new(big.Rat).Quo(eps, big.NewRat(2, 1)))\n",
			New: "	noise, err := newNoise(new(big.Rat).Quo(eps, big.NewRat(2, 1)))\n" + `
	if planted.Is("histogram-full-rate") {
		noise, err = newNoise(eps)
	}
`,
		}},
	},
	{
		Name: "histogram-inverse-scale", Title: "the rate of the noise is taken for its scale",
		Source:   "Ding et al. 2018, Detecting violations of differential privacy",
		Function: "dx_histogram",
		Edits: []Edit{{
			File: "mechanism/scalar/histogram.go",
			Old:  "	return &Histogram{u, bins, price, noise}, nil\n",
			New: `
	if planted.Is("histogram-inverse-scale") {
		noise, _ = newNoise(new(big.Rat).Quo(big.NewRat(2, 1), eps))
	}
` + "	return &Histogram{u, bins, price, noise}, nil\n",
		}},
	},
	{
		Name: "occupied-only", Title: "only cells with somebody in them are listed",
		Source:   "Korolova et al. 2009, Releasing search queries and clicks privately: its threshold needs a delta",
		Function: "dx_heatmap",
		Edits: []Edit{{
			File: "mechanism/exact/sparse.go",
			Old:  "	for cell := c.wait(s, c.cells); cell < c.cells;",
			New:  `	for cell := c.wait(s, c.cells); !planted.Is("occupied-only") && cell < c.cells;`,
		}},
	},
	{
		Name: "unsorted-heatmap", Title: "cells with somebody in them are listed first",
		Function: "dx_heatmap",
		Edits: []Edit{{
			File: "mechanism/exact/sparse.go",
			Old:  "	slices.SortFunc(listed, func(a, b Count) int { return compareCell(a, b.Cell) })\n",
			New: `	if !planted.Is("unsorted-heatmap") {
		slices.SortFunc(listed, func(a, b Count) int { return compareCell(a, b.Cell) })
	}
`,
		}},
	},
}
