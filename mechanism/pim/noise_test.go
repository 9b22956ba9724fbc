package pim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// noiseOf returns the law for a set of cells on a lattice refined k times.
func noiseOf(law string, set []vector, k int64, eps budget.Amount) noise {
	p := Plan{mechanism: &Mechanism{law: law, policy: Policy{Epsilon: eps}}, cells: set}
	return p.law(k)
}

var laws = []string{PIM, Laplace, LaplaceTight}

// Every pair of a set is within epsilon at every output, by the exponents, which
// differ from the logarithms of the probabilities by the same constant for all
// cells; and it would not be for an epsilon half as large.
func TestEpsilonOfEveryPair(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		k := rapid.Int64Range(1, 4).Draw(t, "k")
		law := rapid.SampledFrom(laws).Draw(t, "law")
		eps := budget.Amount(rapid.Int64Range(int64(minEpsilon), int64(maxEpsilon)).Draw(t, "epsilon"))
		n := noiseOf(law, set, k, eps)
		z := set[rapid.IntRange(0, len(set)-1).Draw(t, "origin")].times(k)
		if _, line := n.(*segment); !line {
			z = z.add(vector{rapid.Int64Range(-300, 300).Draw(t, "dx"), rapid.Int64Range(-300, 300).Draw(t, "dy")})
		}
		var largest float64
		for _, x := range set {
			for _, y := range set {
				difference := n.exponent(z.sub(x.times(k))) - n.exponent(z.sub(y.times(k)))
				if difference > eps.Float64()*(1+1e-12) {
					t.Fatalf("%s for %v: %v and %v differ by %v at %v, epsilon is %v", law, set, x, y, difference, z, eps)
				}
				largest = max(largest, n.exponent(x.sub(y).times(k)))
			}
		}
		// The norm is that of the set: a pair is at the distance epsilon itself.
		if law != Laplace && largest < eps.Float64()*(1-1e-12) {
			t.Fatalf("%s for %v: no pair is further apart than %v, epsilon is %v", law, set, largest, eps)
		}
	})
}

func (a vector) times(k int64) vector { return vector{k * a.x, k * a.y} }

// The K-norm against the definition, its symmetry, and that K holds every
// difference.
func TestKNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		k := rapid.Int64Range(1, 4).Draw(t, "k")
		n, plane := noiseOf(PIM, set, k, budget.One).(*knorm)
		if !plane {
			t.Skip("on a line")
		}
		hull := whole(sensitivity(set))
		d := vector{rapid.Int64Range(-200, 200).Draw(t, "dx"), rapid.Int64Range(-200, 200).Draw(t, "dy")}
		want := gauge(hull, d) / float64(k)
		if got := n.exponent(d); math.Abs(got-want) > 1e-12*(1+want) || got != n.exponent(d.negative()) {
			t.Fatalf("%v: |%v| is %v, and %v for the negative, not %v", set, d, got, n.exponent(d.negative()), want)
		}
		for _, x := range set {
			for _, y := range set {
				if out := n.exponent(x.sub(y).times(k)); out > 1+1e-12 {
					t.Fatalf("%v: %v - %v has the norm %v", set, x, y, out)
				}
			}
		}
	})
}

// Rates are never above epsilon over the length that costs it.
func TestRates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := budget.Amount(rapid.Int64Range(1, int64(budget.Max)).Draw(t, "epsilon"))
		length := rapid.Int64Range(1, 1<<42).Draw(t, "length")
		spent := new(big.Rat).SetFloat64(rateOf(eps, length))
		spent.Mul(spent, new(big.Rat).SetInt64(length))
		if spent.Cmp(eps.Rat()) > 0 || spent.Mul(spent, big.NewRat(1<<52+1, 1<<52)).Cmp(eps.Rat()) < 0 {
			t.Fatalf("epsilon %v over %d", eps, length)
		}
	})
}

// The proposals of a cone are as many different points as its area, and every
// lattice point but the origin is, in one cone and no other, one of them plus
// multiples of the generators, where the exponents add up: then a draw has the law
// that is written beside it.
func TestProposals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := anySet(t)
		n, plane := noiseOf(PIM, set, rapid.Int64Range(1, 3).Draw(t, "k"), budget.One).(*knorm)
		if !plane {
			t.Skip("on a line")
		}
		const window = 6
		ways := map[vector]int{}
		for i := range n.until {
			g, h := n.generators[i], n.generators[i+1]
			area := cross(g, h)
			proposed := map[vector]bool{}
			for j := range area {
				s, u := coset(g, h, j)
				if s <= 0 || s > area || u < 0 || u >= area || (s*g.x+u*h.x)%area != 0 || (s*g.y+u*h.y)%area != 0 {
					t.Fatalf("cone of %v and %v: point %d is (%d g + %d h)/%d", g, h, j, s, u, area)
				}
				proposed[vector{s, u}] = true
			}
			if int64(len(proposed)) != area {
				t.Fatalf("cone of %v and %v: %d points, not %d", g, h, len(proposed), area)
			}
			for z := range points(window) {
				s, u := cross(z, h), cross(g, z) // z = (s g + u h)/area
				if s <= 0 || u < 0 {
					continue
				}
				rest := vector{(s-1)%area + 1, u % area}
				if proposed[rest] {
					ways[z]++
				}
				if got, want := n.exponent(z), n.rate*float64(s+u)/float64(area); math.Abs(got-want) > 1e-12*(1+want) {
					t.Fatalf("%v: exponent %v, not %v", z, got, want)
				}
			}
		}
		for z := range points(window) {
			if (ways[z] == 1) == (z == vector{}) {
				t.Fatalf("%v: %v is drawn in %d ways", set, z, ways[z])
			}
		}
	})
}

// points are those of a square around the origin.
func points(window int64) func(yield func(vector) bool) {
	return func(yield func(vector) bool) {
		for x := -window; x <= window; x++ {
			for y := -window; y <= window; y++ {
				if !yield(vector{x, y}) {
					return
				}
			}
		}
	}
}

// lawOfNoise sums exp(-exponent) over a window that holds all but 1e-9 of it.
func lawOfNoise(n noise, window int64) map[vector]float64 {
	law := map[vector]float64{}
	var sum float64
	for z := range points(window) {
		law[z] = math.Exp(-n.exponent(z))
		sum += law[z]
	}
	for z := range law {
		law[z] /= sum
	}
	return law
}

func momentsOf(law map[vector]float64, n noise, eps float64) (rmse, mean, variance float64) {
	for z, p := range law {
		length := n.exponent(z) / eps
		rmse += p * float64(dot(z, z))
		mean += p * length
		variance += p * length * length
	}
	return math.Sqrt(rmse), mean, variance - mean*mean
}

// R41 on the cell lattice and on quarter cells; the Gamma law of R43 as their limit.
func TestLatticeMoments(t *testing.T) {
	for _, c := range []struct {
		k              int64
		rmse, accuracy float64
	}{{1, 2.51515, 1e-5}, {4, 2.57794, 1e-5}, {16, 2.581989, 3e-4}} {
		n := noiseOf(PIM, oracles[0].set, c.k, budget.One)
		rmse, mean, variance := momentsOf(lawOfNoise(n, 32*c.k), n, 1)
		if got := rmse / float64(c.k); math.Abs(got-c.rmse) > c.accuracy {
			t.Errorf("1/%d cells: %v, not %v", c.k, got, c.rmse)
		}
		if c.k == 16 && (math.Abs(mean-2) > 1e-3 || math.Abs(variance-2) > 1e-3) {
			t.Errorf("the norm has mean %v and variance %v, not 2 and 2", mean, variance)
		}
	}
}

// The Laplace baselines of R42.
func TestLaplaceMoments(t *testing.T) {
	for _, o := range oracles {
		for law, want := range map[string]float64{Laplace: o.paper, LaplaceTight: o.tight} {
			const k = 8
			// One axis: 2/rate^2 in the limit.
			rate := noiseOf(law, o.set, k, budget.One).(*l1).rate
			if got := 2 / rate / k; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s, %s: %v, not %v", o.name, law, got, want)
			}
		}
	}
}

// Thin hulls (R44): half sides 10 and 0.1, where the error is that of the long side
// though the area is small.
func TestThinHull(t *testing.T) {
	hull := []vector{{-100, -1}, {100, -1}, {100, 1}, {-100, 1}}
	rmse := math.Sqrt(12*secondMoment(hull)) / 10
	area := float64(twiceArea(hull)) / 2 / 100
	if math.Abs(rmse-20.0010) > 1e-4 || math.Abs(rmse/math.Sqrt(area)-10) > 1e-3 {
		t.Errorf("error %v, area %v", rmse, area)
	}
}

const samples = 300_000

// misfit compares so many draws with a law: the frequencies of the 60 likeliest
// outcomes with their bounds by Bernstein. The probability of a false alarm is at
// most 1e-10 in all.
func misfit(law map[vector]float64, draw func() vector) error {
	counts := map[vector]int{}
	for range samples {
		counts[draw()]++
	}
	const outcomes, tails = 60, 2
	likeliest := slices.SortedFunc(maps.Keys(law), func(a, b vector) int { return cmp.Compare(law[b], law[a]) })
	l := math.Log(outcomes * tails / 1e-10)
	for _, z := range likeliest[:outcomes] {
		p, f := law[z], float64(counts[z])/samples
		// Bernstein: P(|f-p| >= e) <= 2 exp(-n e^2/(2 p(1-p) + 2e/3)).
		bound := l/(3*samples) + math.Sqrt(l*l/(9*samples*samples)+2*l*p*(1-p)/samples)
		if math.Abs(f-p) > bound {
			return fmt.Errorf("%v has the frequency %v, not %v to within %v", z, f, p, bound)
		}
	}
	return nil
}

// The draws of all laws, in fewer than 40 comparisons.
func TestDraws(t *testing.T) {
	src := exact.NewSource(nil)
	for _, o := range oracles {
		for _, law := range laws {
			for _, k := range []int64{1, 2} {
				n := noiseOf(law, o.set, k, 2*budget.One)
				if err := misfit(lawOfNoise(n, 60), func() vector { return n.draw(src) }); err != nil {
					t.Errorf("%s, %s, 1/%d cells: %v", o.name, law, k, err)
				}
			}
		}
	}
	line := noiseOf(PIM, []vector{{0, 0}, {2, 1}, {6, 3}}, 2, 2*budget.One)
	along := map[vector]float64{}
	q := math.Exp(-2.0 / 6)
	for n := int64(-200); n <= 200; n++ {
		along[vector{2 * n, n}] = (1 - q) / (1 + q) * math.Pow(q, math.Abs(float64(n)))
	}
	if err := misfit(along, func() vector { return line.draw(src) }); err != nil {
		t.Errorf("line: %v", err)
	}
}

// Of every planted law some outcome is 50 standard deviations or more beyond its bound.
func TestDrawsCatchPlantedBugs(t *testing.T) {
	src := exact.NewSource(nil)
	n := noiseOf(PIM, []vector{{0, 0}, {3, 0}, {1, 2}, {4, 5}}, 1, 2*budget.One).(*knorm)
	law := lawOfNoise(n, 60)
	if err := misfit(law, func() vector { return n.draw(src) }); err != nil {
		t.Fatal(err)
	}
	for name, draw := range map[string]func() vector{
		"no origin": func() vector {
			for {
				if d := n.draw(src); d != (vector{}) {
					return d
				}
			}
		},
		"a rate half as high again": func() vector {
			wrong := *n
			wrong.rate *= 1.5
			wrong.inner = mustLaw(exact.NewGeometric, wrong.rate)
			return wrong.draw(src)
		},
		"cones equally likely": func() vector {
			wrong := *n
			wrong.until = make([]uint64, len(n.until))
			for i := range wrong.until {
				wrong.until[i] = uint64(i+1) * 2
			}
			return wrong.draw(src)
		},
		"boundary sampling, erratum 20": func() vector { // Gamma(1) on the boundary
			i := int(src.Below(uint64(len(n.until))))
			g := mustLaw(exact.NewGeometric, n.rate).Draw(src)
			return n.generators[i].times(g)
		},
	} {
		if misfit(law, draw) == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
}

// A point far out is saturated, coordinate by coordinate, and exact before.
func TestSaturation(t *testing.T) {
	g, h := vector{1, 0}, vector{-1, 1}
	const far = saturation * 8
	if got := (vector{3, 4}).addMultiples(g, far, h, far); got != (vector{3, 2 * saturation}) {
		t.Errorf("%v", got)
	}
	if got := (vector{3, 4}).addMultiples(g, math.MaxInt64, h, 5); got != (vector{2 * saturation, 9}) {
		t.Errorf("%v", got)
	}
}

// Noise along a line leaves the map by the corner that the line leads to, however far
// the multiple would reach. At this rate, 1e-21, fewer than the 2^21 multiples that
// lead there have a probability of 4e-15, and most draws do not fit into 64 bits.
func TestSegmentSaturates(t *testing.T) {
	s := newSegment(vector{1 << 19, -1 << 19}, 1<<30, 1)
	src := exact.NewSource(nil)
	for range 20 {
		z := report(planar.Cell{I: 5, J: -7}, s.draw(src))
		if z != (planar.Cell{I: saturation, J: -saturation}) && z != (planar.Cell{I: -saturation, J: saturation}) {
			t.Fatalf("%v", z)
		}
	}
}
