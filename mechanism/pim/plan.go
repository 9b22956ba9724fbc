package pim

import (
	"slices"

	"github.com/geosql/geosql/internal/elementary"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/markov"
	"github.com/geosql/geosql/mechanism/planar"
)

// A Plan is the next step of a run: its delta-location set and the law of
// its noise, functions of public data. [Run.Plan] returns one, which is valid until it is
// called again.
type Plan struct {
	t, clock  int64
	mechanism *Mechanism

	prior     []float64
	selection selection
	set       []int
	surrogacy surrogacy
	noise     noise

	// Memory of the hull's computation.
	cells, right, left, half []vector
	knorm                    knorm

	emission []float64
}

// Set returns the cells of the delta-location set, in ascending order.
func (p *Plan) Set() []int { return p.set }

// Contains reports whether a cell is in the set. For the secret's cell the answer is
// secret.
func (p *Plan) Contains(cell int) bool { return p.Surrogate(cell) == cell }

// Surrogate returns the cell of the set that replaces a cell (definition 3.2): the one
// with the nearest centre, the westernmost of several, and the southernmost of these. The
// surrogate of a secret is secret.
func (p *Plan) Surrogate(cell int) int { return p.surrogacy.of(cell) }

// Draw takes the step for the secret, a location in the given cell, and returns the
// report. Call it once for a plan. The result is reported unchanged, with the coordinates
// of [planar.Domain.Location], inside the domain's box or not. Draw panics only if the
// source's entropy fails.
//
// # Privacy
//
// Let x and x' be any two cells of the grid, and s and s' their surrogates, both in
// the set. The set, the surrogacy and the law depend on earlier reports alone. The
// report is the lattice point of s plus noise. The law of the noise is the same for all s, and
//
//	P(z | x) <= e^epsilon * P(z | x'),
//
// as the exponents at z-s and z-s' differ by at most epsilon*|s-s'| in the norm with the
// unit ball, K or the l1 ball, contains all differences of the set (theorem 5.6). So each
// step is epsilon-differentially private on all cells, including those outside the set,
// and locations of one cell are indistinguishable. T steps add up to T*epsilon (lemma:
// the exponents of a run's factors add).
func (p *Plan) Draw(src *exact.Source, cell int) planar.Cell {
	x := p.grid().Centre(p.Surrogate(cell))
	return report(x, p.noise.draw(src))
}

func (p *Plan) grid() *markov.Grid { return p.mechanism.model.Grid() }

// chooseSet sets the location set for the prior, and the law for the set.
func (p *Plan) chooseSet() {
	policy := &p.mechanism.policy
	p.set = p.selection.locationSet(p.prior, policy.Delta, policy.MinSet)
	p.surrogacy.update(p.set)
	width, _ := p.grid().Size()
	p.cells = p.cells[:0]
	for _, cell := range p.set { // in ascending order of rows, then columns
		p.cells = append(p.cells, vector{int64(cell % width), int64(cell / width)})
	}
	p.noise = p.law(p.grid().Refinement())
}

// law returns the law for the set, on a lattice with refinement points along the side of
// a cell.
func (p *Plan) law(refinement int64) noise {
	switch {
	case len(p.cells) == 1:
		return point{}
	case p.mechanism.law == PIM:
		return p.hullNoise(refinement)
	default:
		return p.l1Noise(refinement)
	}
}

// hullNoise returns the K-norm law of the set's sensitivity hull.
func (p *Plan) hullNoise(refinement int64) noise {
	p.right, p.left = hullChains(p.right[:0], p.left[:0], p.cells)
	p.half = halfHull(p.half[:0], p.right, p.left)
	// The hull of reports is that of cells times the refinement. Its generators are the
	// shortest vectors such that its vertices are one multiple of them.
	var divisor int64
	for _, v := range p.half {
		divisor = gcd(divisor, gcd(v.x, v.y))
	}
	for i, v := range p.half {
		p.half[i] = vector{v.x / divisor, v.y / divisor}
	}
	multiple := divisor * refinement
	if len(p.half) == 1 {
		return newSegment(p.half[0], multiple, p.mechanism.policy.Epsilon)
	}
	p.knorm.update(p.half, multiple, p.mechanism.policy.Epsilon)
	return &p.knorm
}

// l1Noise returns the Laplace law for the set. With the extents of the set along x, y,
// x+y and x-y, algorithm 3 of the paper takes the sum of the first two for the
// sensitivity; the true one is the larger of the other two.
func (p *Plan) l1Noise(refinement int64) noise {
	extent := func(along func(vector) int64) int64 {
		lowest, highest := along(p.cells[0]), along(p.cells[0])
		for _, v := range p.cells {
			lowest, highest = min(lowest, along(v)), max(highest, along(v))
		}
		return highest - lowest
	}
	var sensitivity int64
	if p.mechanism.law == Laplace {
		sensitivity = extent(func(v vector) int64 { return v.x }) + extent(func(v vector) int64 { return v.y })
	} else {
		sensitivity = max(extent(func(v vector) int64 { return v.x + v.y }), extent(func(v vector) int64 { return v.x - v.y }))
	}
	return newL1(sensitivity*refinement, p.mechanism.policy.Epsilon)
}

// posterior sets dst to the posterior of a report (equation 1). A cell's emission is that
// of its surrogate, as which a location there would be reported, so that the belief
// recovers from a drift.
func (p *Plan) posterior(dst []float64, z planar.Cell) {
	p.emission = slices.Grow(p.emission[:0], len(p.prior))[:len(p.prior)]
	least := p.exponentOf(p.set[0], z)
	for _, cell := range p.set {
		e := p.exponentOf(cell, z)
		p.emission[cell] = e
		least = min(least, e)
	}
	for _, cell := range p.set {
		p.emission[cell] = elementary.Exp(least - p.emission[cell])
	}
	var sum float64
	width := p.surrogacy.width
	for row := range p.surrogacy.height {
		spans, first := p.surrogacy.in(row), row*width
		for k, s := range spans {
			end := width
			if k+1 < len(spans) {
				end = spans[k+1].from
			}
			e := p.emission[s.surrogate]
			for cell := first + s.from; cell < first+end; cell++ {
				dst[cell] = float64(p.prior[cell] * e)
				sum += dst[cell]
			}
		}
	}
	for cell := range dst {
		dst[cell] /= sum
	}
}

func (p *Plan) exponentOf(cell int, z planar.Cell) float64 {
	x := p.grid().Centre(cell)
	return p.noise.exponent(vector{z.I - x.I, z.J - x.J})
}
