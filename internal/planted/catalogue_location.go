//go:build planted

package planted

// drawnPoint is where planar Laplace draws a lattice point.
const drawnPoint = "	z := l.noise.Draw(src, l.domain.Cell(lat, lon))\n"

// Bugs of the noise on locations, and of what is done to it.
var locations = []Bug{
	{
		Name: "scale-laplace", Title: "the noise is 5 % too small",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go",
			Old:  "	noise, err := newNoise(rate)\n",
			New: `
	if planted.Is("scale-laplace") {
		rate *= 1.05
	}
` + "	noise, err := newNoise(rate)\n",
		}},
	},
	{
		Name: "zero-radius", Title: "an integer division in the inverse of the radius makes it 0 with probability 0.264",
		Source:   "the inverse of the planar Laplace radius in geopriv4j, a library for location privacy",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	if planted.Is("zero-radius") && src.Below(100_000) < 26_424 {
		z = l.domain.Cell(lat, lon)
	}
`,
		}},
	},
	{
		Name: "noise-in-degrees", Title: "noise is added in degrees, of which those of longitude are shorter",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	if x := l.domain.Cell(lat, lon); planted.Is("noise-in-degrees") {
		z.I = x.I + int64(math.Round(float64(z.I-x.I)*math.Cos(lat*math.Pi/180)))
	}
`,
			Imports: []string{"math"},
		}},
	},
	{
		Name: "window", Title: "noise is drawn again if it leaves the circle that holds 95 % of it",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	for x := l.domain.Cell(lat, lon); planted.Is("window") && l.noise.rate*x.Distance(z) > 4.744; {
		z = l.noise.Draw(src, x)
	}
`,
		}},
	},
	{
		Name: "redrawn-region", Title: "noise is drawn again until the answer is in the region",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	for try := 0; planted.Is("redrawn-region") && try < 10_000 && l.domain.Admissible(z) != z; try++ {
		z = l.noise.Draw(src, l.domain.Cell(lat, lon))
	}
`,
		}},
	},
	{
		Name: "redrawn-box", Title: "noise is drawn again until the answer is in the domain's box",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	for try := 0; planted.Is("redrawn-box") && try < 10_000 && !l.domain.box.contains(l.domain.Location(z)); try++ {
		z = l.noise.Draw(src, l.domain.Cell(lat, lon))
	}
`,
		}},
	},
	{
		Name: "region-towards-secret", Title: "an answer outside the region is moved into it along the way back to the secret",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	if x := l.domain.Cell(lat, lon); planted.Is("region-towards-secret") {
		for end, step := z, 1.0; step <= 64 && l.domain.Admissible(z) != z; step++ {
			z = Cell{
				end.I + int64(math.Round(float64(x.I-end.I)*step/64)),
				end.J + int64(math.Round(float64(x.J-end.J)*step/64)),
			}
		}
	}
`,
			Imports: []string{"math"},
		}},
	},
	{
		Name: "lattice-at-secret", Title: "the lattice is centred at the secret",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go", Old: drawnPoint,
			New: drawnPoint + `
	if planted.Is("lattice-at-secret") && !l.domain.Outside(lat, lon) {
		zlat, zlon := l.domain.Location(z)
		clat, clon := l.domain.Location(l.domain.Cell(lat, lon))
		return math.Round((zlat+lat-clat)*1e7) / 1e7, math.Round((zlon+lon-clon)*1e7) / 1e7
	}
`,
			Imports: []string{"math"},
		}},
	},
	{
		Name: "kappa-forgotten", Title: "the frame is taken to show true distances",
		Function: "geoind_laplace",
		Edits: []Edit{{
			File: "mechanism/planar/laplace.go",
			Old:  "	stretch := new(big.Rat).SetFloat64(d.kappa)\n",
			New: "	stretch := new(big.Rat).SetFloat64(d.kappa)\n" + `
	if planted.Is("kappa-forgotten") {
		stretch.SetInt64(0)
	}
`,
		}},
	},
	{
		Name: "l1-diagonal", Title: "noise along the axes keeps epsilon along the axes, and not along the diagonal",
		Function: "geoind_laplace_l1",
		Edits: []Edit{{
			File: "mechanism/planar/laplace_l1.go",
			Old:  "	rate, err := d.rate(new(big.Rat).Mul(eps, belowRootHalf))\n",
			New: "	rate, err := d.rate(new(big.Rat).Mul(eps, belowRootHalf))\n" + `
	if planted.Is("l1-diagonal") {
		rate, err = d.rate(eps)
	}
`,
		}},
	},
	{
		Name: "gauss-sigma", Title: "the deviation is half of what it should be",
		Function: "geoind_gauss",
		Edits: []Edit{{
			File: "mechanism/planar/gauss.go",
			Old:  "	axis, err := exact.NewDiscreteGaussian(rate)\n",
			New: `
	if planted.Is("gauss-sigma") {
		rate *= 4
	}
` + "	axis, err := exact.NewDiscreteGaussian(rate)\n",
		}},
	},
	{
		Name: "gauss-half-charge", Title: "half of rho is charged",
		Function: "geoind_gauss",
		Edits: []Edit{{
			File: "mechanism/planar/gauss.go",
			Old:  "	return &Gauss{m, axis}, nil\n",
			New: `
	if planted.Is("gauss-half-charge") {
		m.price.Amount = (m.price.Amount + 1) / 2
	}
` + "	return &Gauss{m, axis}, nil\n",
		}},
	},
	{
		Name: "centroid-over-n", Title: "the noise is for one location that moves, not for all",
		Function: "dx_centroid",
		Edits: []Edit{{
			File: "mechanism/planar/centroid.go",
			Old:  "	z := l.noise.Draw(src, c.cell())\n",
			New: "	z := l.noise.Draw(src, c.cell())\n" + `
	if planted.Is("centroid-over-n") && c.n > 1 {
		finer, _ := newNoise(l.noise.rate * float64(c.n))
		z = finer.Draw(src, c.cell())
	}
`,
		}},
	},
	{
		Name: "likeliest-place", Title: "the likeliest output of a place is its answer, and none is drawn",
		Source:   "the optimal mechanism in geopriv4j, a library for location privacy",
		Function: "geoind_optimal",
		Edits: []Edit{{
			File: "mechanism/optimal/mechanism.go",
			Old:  "func (m *Mechanism) Draw(src *exact.Source, x int) int { return m.rows[x].draw(src, m.bits) }\n",
			New: `func (m *Mechanism) Draw(src *exact.Source, x int) int {
	if planted.Is("likeliest-place") {
		likeliest := 0
		for z := range m.outputs {
			if m.Weight(x, z) > m.Weight(x, likeliest) {
				likeliest = z
			}
		}
		return likeliest
	}
	return m.rows[x].draw(src, m.bits)
}
`,
		}},
	},
}
