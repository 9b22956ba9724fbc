//go:build planted

package planted

// Bugs of traces.
var traces = []Bug{
	{
		Name: "test-without-noise", Title: "a prediction is tested without noise",
		Source:   "Lyu, Su and Li 2017, Understanding the sparse vector technique for differential privacy: its algorithm 5 has no noise on the query",
		Function: "predictive_step",
		Edits: []Edit{first("mechanism/trace.Mechanism.passes", `
			return distance(x, p.Prediction)*m.space.Step() <= p.Threshold
		`)},
	},
	{
		Name: "free-test", Title: "a test is charged only if it fails",
		Source:   "Lyu, Su and Li 2017, Understanding the sparse vector technique for differential privacy: its algorithms 5 and 6 answer without end",
		Function: "predictive_step",
		Edits: []Edit{
			before("mechanism/trace.Mechanism.Draw", "Spent: p.EpsTest}", `return Point{T: p.T, Z: p.Prediction, Tested: true}`),
			instead("mechanism/trace.Plan.allows", "q.Spent == p.EpsTest &&", "(bug || q.Spent == p.EpsTest) &&"),
		},
	},
	{
		Name: "redrawn-reading", Title: "noise is drawn again until the report is a value of the universe",
		Function: "predictive_value",
		Edits: []Edit{after("mechanism/trace.Line.Draw", "noise.Draw", `
			for k < -x.I || k > l.universe.Last()-x.I {
				k = noise.Draw(src)
			}
		`)},
	},
	{
		Name: "pim-radius", Title: "the radius of the noise has the law Gamma(1) in place of Gamma(3)",
		Source:   "the public demonstration of the planar isotropic mechanism",
		Function: "pim_step",
		Edits: []Edit{before("mechanism/pim.Plan.Draw", "return", `
			d := p.noise.draw(src) // Gamma(3) times Beta(1, 2) is Gamma(1)
			share := 1 - math.Sqrt(float64(src.Uint64()>>11)*0x1p-53)
			return report(x, vector{int64(math.Round(float64(d.x) * share)), int64(math.Round(float64(d.y) * share))})
		`)},
	},
	{
		Name: "half-hull", Title: "the noise is for the hull of the locations, and not for that of their differences",
		Function: "pim_step",
		Edits:    []Edit{after("mechanism/pim.Plan.hullNoise", "multiple :=", `multiple = (multiple + 1) / 2`)},
	},
	{
		Name: "sigma-for-variance", Title: "the deviation is taken for the variance",
		Source:   "a misprint in the paper on conditional inferential privacy, whose main text adds sigma_z in place of its square",
		Function: "cip_trace",
		Edits:    []Edit{before("mechanism/cip.Policy.Noise", "d.Gaussian(", `variance = math.Sqrt(variance)`)},
	},
}
