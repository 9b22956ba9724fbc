package trace

import (
	"fmt"
	"math"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A Cell is a point of a space's lattice, in steps. Indices are at most 2^40
// either way.
type Cell struct{ I, J int64 }

// maxIndex bounds the indices of a cell.
const maxIndex = 1 << 40

func (c Cell) bounded() bool {
	return -maxIndex <= c.I && c.I <= maxIndex && -maxIndex <= c.J && c.J <= maxIndex
}

// A Space is the lattice of secrets and reports, with the Euclidean distance and a noise
// mechanism. The promise of a [Mechanism] rests on Rate and Draw, which must keep
// theirs for all cells. Implementations are immutable.
type Space interface {
	// Unit returns the unit of epsilon.
	Unit() budget.Unit

	// Step returns the distance between neighbouring cells, in the unit.
	Step() float64

	// Rate returns the rate per step that eps > 0 pays for: a mechanism that is
	// exp(rate*|x-x'|)-private for cells x and x' spends no more than eps per unit.
	Rate(eps budget.Amount) float64

	// Draw returns x with noise of eps > 0. A report is at most exp(Rate(eps)*|x-x'|)
	// times as likely for x as for x'.
	Draw(src *exact.Source, eps budget.Amount, x Cell) Cell

	// NoiseQuantile returns the radius, in the unit, within which Draw stays with
	// probability 0.9 at an epsilon of 1; at eps it is that over eps. It ignores steps
	// and stretching.
	NoiseQuantile() float64

	// Nearest returns the admissible cell nearest to a position in steps.
	Nearest(x, y float64) Cell
}

// A Plane is the space of locations in a domain. [NewPlane] returns one.
type Plane struct{ domain *planar.Domain }

// NewPlane returns the space of d; reports stay in its region.
func NewPlane(d *planar.Domain) Plane { return Plane{d} }

// Cell returns the cell of a location, in degrees; see [planar.Domain.Cell].
func (p Plane) Cell(lat, lon float64) Cell { return Cell(p.domain.Cell(lat, lon)) }

// Location returns the coordinates of a reported cell, in degrees.
func (p Plane) Location(z Cell) (lat, lon float64) { return p.domain.Location(planar.Cell(z)) }

// Unit implements [Space].
func (p Plane) Unit() budget.Unit { return budget.Metre }

// Step implements [Space]: metres of the frame.
func (p Plane) Step() float64 { return p.domain.Step() }

// Rate implements [Space]: per metre along the ellipsoid.
func (p Plane) Rate(eps budget.Amount) float64 { return p.domain.Rate(eps) }

// Draw implements [Space] by the planar Laplace mechanism.
func (p Plane) Draw(src *exact.Source, eps budget.Amount, x Cell) Cell {
	noise := p.domain.Noise(eps)
	z := noise.Draw(src, planar.Cell(x))
	return Cell(p.domain.Admissible(z))
}

// planarQuantile is C^-1(0.9) at epsilon 1 (Bordenabe, Measuring Privacy with
// Distinguishability Metrics, 2014, section 5.2.1): -W(-0.1/e) - 1 with the branch
// -1 of Lambert's function.
const planarQuantile = 3.889720169867429

// NoiseQuantile implements [Space].
func (p Plane) NoiseQuantile() float64 { return planarQuantile }

// Nearest implements [Space].
func (p Plane) Nearest(x, y float64) Cell {
	z := planar.Cell{I: index(x, -maxIndex, maxIndex), J: index(y, -maxIndex, maxIndex)}
	return Cell(p.domain.Admissible(z))
}

// A Line is the space of readings in a universe: the cell of a value is its index and 0.
// [NewLine] returns one.
type Line struct {
	universe    *scalar.Universe
	step        float64
	quantumRate float64 // per step, of the smallest amount
}

// NewLine returns the space of u.
func NewLine(u *scalar.Universe) Line {
	step := u.Step()
	l := Line{universe: u}
	l.step, _ = step.Float64()
	// A universe's steps are between 1e-22 and 1e15: no rate underflows.
	l.quantumRate, _ = exact.RateFloor(step.Mul(step, budget.Amount(1).Rat()))
	return l
}

// Cell returns the cell of a reading; see [scalar.Universe.Index].
func (l Line) Cell(x float64) Cell { return Cell{I: l.universe.Index(x)} }

// Value returns the value of a reported cell.
func (l Line) Value(z Cell) float64 { return l.universe.Value(z.I) }

// Unit implements [Space].
func (l Line) Unit() budget.Unit { return l.universe.Unit() }

// Step implements [Space].
func (l Line) Step() float64 { return l.step }

// Rate implements [Space]. Cells D indices apart are values d = D*step apart, and the rate is
// eps*step rounded down, so that exp(rate*D) <= exp(eps*d): the property of a metric that the proof at [Mechanism.Draw]
// (the paper's theorem 3.1) needs, here of the universe's metric.
func (l Line) Rate(eps budget.Amount) float64 { return exact.RateTimes(l.quantumRate, int64(eps)) }

// Draw implements [Space] by the truncated geometric mechanism: the discrete Laplace law
// has the same normaliser for every x, and the clamp sees only its sum with x. It panics
// unless eps > 0.
func (l Line) Draw(src *exact.Source, eps budget.Amount, x Cell) Cell {
	noise, err := exact.NewDiscreteLaplace(l.Rate(eps))
	if err != nil {
		panic(fmt.Sprintf("trace: noise of epsilon %v: %v", eps, err))
	}
	k := noise.Draw(src)
	return Cell{I: x.I + max(-x.I, min(k, l.universe.Last()-x.I))}
}

// NoiseQuantile implements [Space]: P(|N| > r) = e^-r.
func (l Line) NoiseQuantile() float64 { return math.Ln10 }

// Nearest implements [Space].
func (l Line) Nearest(x, _ float64) Cell {
	return Cell{I: index(x, 0, float64(l.universe.Last()))}
}

// index rounds a position to a whole number from lo to hi.
func index(x, lo, hi float64) int64 {
	if !(x > lo) {
		return int64(lo)
	}
	return int64(math.RoundToEven(min(x, hi)))
}
