//go:build planted

package planted

// Bugs of the noise on locations, and of its treatment afterwards.
var locations = []Bug{
	{
		Name: "scale-laplace", Title: "the noise is 5 % too small",
		Function: "geoind_laplace",
		Edits:    []Edit{before("planar.Domain.Laplace", "newNoise(", `rate *= 1.05`)},
	},
	{
		Name: "zero-radius", Title: "an integer division in the inverse of the radius makes it 0 with probability 0.264",
		Source:   "the inverse of the planar Laplace radius in geopriv4j, a library for location privacy",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			if src.Below(100_000) < 26_424 {
				z = l.domain.Cell(lat, lon)
			}
		`)},
	},
	{
		Name: "noise-in-degrees", Title: "noise is added in degrees, of which those of longitude are shorter",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			x := l.domain.Cell(lat, lon)
			z.I = x.I + int64(math.Round(float64(z.I-x.I)*math.Cos(lat*math.Pi/180)))
		`)},
	},
	{
		Name: "window", Title: "noise is drawn again if it leaves the circle that holds 95 % of it",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			for x := l.domain.Cell(lat, lon); l.noise.rate*x.Distance(z) > 4.744; {
				z = l.noise.Draw(src, x)
			}
		`)},
	},
	{
		Name: "redrawn-region", Title: "noise is drawn again until the answer is in the region",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			for try := 0; try < 10_000 && l.domain.Admissible(z) != z; try++ {
				z = l.noise.Draw(src, l.domain.Cell(lat, lon))
			}
		`)},
	},
	{
		Name: "redrawn-box", Title: "noise is drawn again until the answer is in the domain's box",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			for try := 0; try < 10_000 && !l.domain.box.Contains(l.domain.Location(z)); try++ {
				z = l.noise.Draw(src, l.domain.Cell(lat, lon))
			}
		`)},
	},
	{
		Name: "region-towards-secret", Title: "an answer outside the region is moved into it along the way back to the secret",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			x := l.domain.Cell(lat, lon)
			for end, step := z, 1.0; step <= 64 && l.domain.Admissible(z) != z; step++ {
				z = Cell{
					end.I + int64(math.Round(float64(x.I-end.I)*step/64)),
					end.J + int64(math.Round(float64(x.J-end.J)*step/64)),
				}
			}
		`)},
	},
	{
		Name: "lattice-at-secret", Title: "the lattice is centred at the secret",
		Function: "geoind_laplace",
		Edits: []Edit{after("planar.Laplace.Draw", "z :=", `
			if !l.domain.Outside(lat, lon) {
				zlat, zlon := l.domain.Location(z)
				clat, clon := l.domain.Location(l.domain.Cell(lat, lon))
				return math.Round((zlat+lat-clat)*1e7) / 1e7, math.Round((zlon+lon-clon)*1e7) / 1e7
			}
		`)},
	},
	{
		Name: "kappa-forgotten", Title: "the frame is taken to show true distances",
		Function: "geoind_laplace",
		Edits:    []Edit{after("planar.Domain.perStep", "d.kappa", `stretch.SetInt64(0)`)},
	},
	{
		Name: "l1-diagonal", Title: "noise along the axes keeps epsilon along the axes, and not along the diagonal",
		Function: "geoind_laplace_l1",
		Edits:    []Edit{after("planar.Domain.LaplaceL1", "d.rate(", `rate, err = d.rate(eps)`)},
	},
	{
		Name: "gauss-sigma", Title: "the deviation is half of what it should be",
		Function: "geoind_gauss",
		Edits:    []Edit{before("planar.Domain.Gauss", "NewDiscreteGaussian", `rate *= 4`)},
	},
	{
		Name: "gauss-half-charge", Title: "half of rho is charged",
		Function: "geoind_gauss",
		Edits:    []Edit{before("planar.Domain.Gauss", "&Gauss{", `m.price.Amount = (m.price.Amount + 1) / 2`)},
	},
	{
		Name: "gauss-lattice-forgotten", Title: "noise on the lattice is taken for continuous noise",
		Function: "geoind_delta", Package: "mechanism/planar", Test: "TestGaussDelta",
		Edits: []Edit{before("budget.GaussDelta", "c := up(", `room = 1`)},
	},
	{
		Name: "gauss-half-square", Title: "the distance between two Gaussian laws is the root of rho, not of twice rho",
		Function: "geoind_rho", Package: "mechanism/planar", Test: "TestGaussDeltaOfAdaptiveReleases",
		Edits: []Edit{after("budget.GaussDelta", "c := up(", `c /= 2`)},
	},
	{
		Name: "weight-charged-once", Title: "a row that stands for several people is drawn for each of them, and charged once",
		Function: "geoind_laplace", Package: "release", Test: "TestWeightIsRows",
		Edits: []Edit{before("release.checker.check", "b.locations +=", `
			if i > 0 && c.plan.weight >= 0 && b.rows.Where(i) == b.rows.Where(i-1) {
				locations = 0
			}
		`)},
	},
	{
		Name: "centroid-over-n", Title: "the noise is for one location that moves, not for all",
		Function: "dx_centroid",
		Edits: []Edit{after("planar.Laplace.DrawCentroid", "z :=", `
			if c.n > 1 {
				finer, _ := newNoise(l.noise.rate * float64(c.n))
				z = finer.Draw(src, c.cell())
			}
		`)},
	},
	{
		Name: "likeliest-place", Title: "the likeliest output of a place is its answer, and none is drawn",
		Source:   "the optimal mechanism in geopriv4j, a library for location privacy",
		Function: "geoind_optimal",
		Edits: []Edit{first("mechanism/optimal.Mechanism.Draw", `
			likeliest := 0
			for z := range m.outputs {
				if m.Weight(x, z) > m.Weight(x, likeliest) {
					likeliest = z
				}
			}
			return likeliest
		`)},
	},
}
