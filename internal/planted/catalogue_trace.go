//go:build planted

package planted

// Bugs of traces.
var traces = []Bug{
	{
		Name: "test-without-noise", Title: "a prediction is tested without noise",
		Source:   "Lyu, Su and Li 2017, Understanding the sparse vector technique for differential privacy: its algorithm 5 has no noise on the query",
		Function: "predictive_step",
		Edits: []Edit{{
			File: "mechanism/trace/mechanism.go",
			Old:  "	rate := m.space.Rate(p.EpsTest)\n",
			New: `
	if planted.Is("test-without-noise") {
		return distance(x, p.Prediction)*m.space.Step() <= p.Threshold
	}
` + "	rate := m.space.Rate(p.EpsTest)\n",
		}},
	},
	{
		Name: "free-test", Title: "a test is charged only if it fails",
		Source:   "Lyu, Su and Li 2017, Understanding the sparse vector technique for differential privacy: its algorithms 5 and 6 answer without end",
		Function: "predictive_step",
		Edits: []Edit{
			{
				File: "mechanism/trace/mechanism.go",
				Old:  "			return Point{T: p.T, Z: p.Prediction, Tested: true, Spent: p.EpsTest}\n",
				New: `
			if planted.Is("free-test") {
				return Point{T: p.T, Z: p.Prediction, Tested: true}
			}
` + "			return Point{T: p.T, Z: p.Prediction, Tested: true, Spent: p.EpsTest}\n",
			},
			{
				File: "mechanism/trace/plan.go",
				Old:  "		return (p.Action == Test || p.Action == Predict) && q.Spent == p.EpsTest && q.Z == p.Prediction\n",
				New:  `		return (p.Action == Test || p.Action == Predict) && (q.Spent == p.EpsTest || planted.Is("free-test")) && q.Z == p.Prediction` + "\n",
			},
		},
	},
	{
		Name: "redrawn-reading", Title: "noise is drawn again until the report is a value of the universe",
		Function: "predictive_value",
		Edits: []Edit{{
			File: "mechanism/trace/space.go",
			Old:  "	k := noise.Draw(src)\n",
			New: "	k := noise.Draw(src)\n" + `
	for planted.Is("redrawn-reading") && (k < -x.I || k > l.universe.Last()-x.I) {
		k = noise.Draw(src)
	}
`,
		}},
	},
	{
		Name: "pim-radius", Title: "the radius of the noise has the law Gamma(1) in place of Gamma(3)",
		Source:   "the public demonstration of the planar isotropic mechanism",
		Function: "pim_step",
		Edits: []Edit{{
			File:    "mechanism/pim/plan.go",
			Imports: []string{"math"},
			Old:     "	return report(x, p.noise.draw(src))\n",
			New: `
	if planted.Is("pim-radius") { // Gamma(3) times Beta(1, 2) is Gamma(1)
		d := p.noise.draw(src)
		share := 1 - math.Sqrt(float64(src.Uint64()>>11)*0x1p-53)
		return report(x, vector{int64(math.Round(float64(d.x) * share)), int64(math.Round(float64(d.y) * share))})
	}
` + "	return report(x, p.noise.draw(src))\n",
		}},
	},
	{
		Name: "half-hull", Title: "the noise is for the hull of the locations, and not for that of their differences",
		Function: "pim_step",
		Edits: []Edit{{
			File: "mechanism/pim/plan.go",
			Old:  "	multiple := divisor * refinement\n",
			New: "	multiple := divisor * refinement\n" + `
	if planted.Is("half-hull") {
		multiple = (multiple + 1) / 2
	}
`,
		}},
	},
	{
		Name: "sigma-for-variance", Title: "the deviation is taken for the variance",
		Source:   "a misprint in the paper on conditional inferential privacy, whose main text adds sigma_z in place of its square",
		Function: "cip_trace",
		Edits: []Edit{{
			File: "mechanism/cip/trace.go",
			Old:  "	return d.Gaussian(variance)\n",
			New: `
	if planted.Is("sigma-for-variance") {
		variance = math.Sqrt(variance)
	}
` + "	return d.Gaussian(variance)\n",
			Imports: []string{"math"},
		}},
	},
}
