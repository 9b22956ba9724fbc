package pim

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A noise is a law on the lattice, the same for every cell of a set: P(d) is proportional
// to exp(-exponent(d)). For cells x and x' of the set, the exponents of d and d + x - x'
// differ by at most the epsilon of the noise.
type noise interface {
	// draw returns a difference, saturated.
	draw(src *exact.Source) vector

	// exponent returns the exponent of d, rounded. Draws do not depend on it.
	exponent(d vector) float64
}

// saturation bounds the coordinates of reports: a draw beyond it is moved to it, far
// outside of any map.
const saturation = 1 << 40

func saturated(x int64) int64 { return max(-saturation, min(x, saturation)) }

// report returns the report for a lattice point of the grid plus noise. It is monotone in
// each coordinate, and so the same as if the noise had not been saturated before.
func report(x planar.Cell, d vector) planar.Cell {
	return planar.Cell{I: saturated(x.I + d.x), J: saturated(x.J + d.y)}
}

// rateOf returns the rate per unit of length at which a length costs epsilon.
func rateOf(eps budget.Amount, length int64) float64 {
	// Neither factor is 0 or large enough for the quotient to underflow.
	rate, _ := exact.RateFloor(new(big.Rat).Quo(eps.Rat(), new(big.Rat).SetInt64(length)))
	return rate
}

// mustLaw returns the law with a rate that is positive and finite.
func mustLaw[L any](newLaw func(rate float64) (L, error), rate float64) L {
	law, err := newLaw(rate)
	if err != nil {
		panic(fmt.Sprintf("pim: %v", err))
	}
	return law
}

// A point is the absence of noise, for a set of one cell, which already tells all.
type point struct{}

func (point) draw(*exact.Source) vector { return vector{} }

func (point) exponent(vector) float64 { return 0 }

// A segment is the K-norm law of a set with cells on one line, so that the
// sensitivity hull has no area: noise along the line. The hull ends at multiple times the
// generator, a primitive vector of the lattice. The lattice points of the line are the
// multiples of the generator, so the differences of cells are among them.
type segment struct {
	generator vector
	rate      float64
	law       exact.DiscreteLaplace
}

func newSegment(generator vector, multiple int64, eps budget.Amount) *segment {
	rate := rateOf(eps, multiple)
	return &segment{generator, rate, mustLaw(exact.NewDiscreteLaplace, rate)}
}

func (s *segment) draw(src *exact.Source) vector {
	n := clamped(s.law.Draw(src)) // beyond, every coordinate that moves at all is saturated
	return vector{n * s.generator.x, n * s.generator.y}
}

func (s *segment) exponent(d vector) float64 {
	g := s.generator
	along := float64(float64(d.x)*float64(g.x)) + float64(float64(d.y)*float64(g.y))
	return s.rate * abs(along/float64(dot(g, g)))
}

// An l1 is the Laplace mechanism on both axes, the paper's baseline: the l1 ball of the
// set's sensitivity replaces the sensitivity hull.
type l1 struct {
	rate float64
	law  exact.DiscreteLaplace
}

func newL1(sensitivity int64, eps budget.Amount) *l1 {
	rate := rateOf(eps, sensitivity)
	return &l1{rate, mustLaw(exact.NewDiscreteLaplace, rate)}
}

func (l *l1) draw(src *exact.Source) vector {
	return vector{clamped(l.law.Draw(src)), clamped(l.law.Draw(src))}
}

// clamped limits x so that a point of the grid can be added.
func clamped(x int64) int64 { return max(-2*saturation, min(x, 2*saturation)) }

func (l *l1) exponent(d vector) float64 { return l.rate * (abs(float64(d.x)) + abs(float64(d.y))) }

func abs(x float64) float64 { return max(x, -x) }
