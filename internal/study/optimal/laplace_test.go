package optimal

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/mechanism/optimal"
)

// On two places, and on a line, the sectors of PlanarLaplaceMatrix are known: a half-plane
// at distance b from the secret has the probability that a ray of noise crosses it.
func TestPlanarLaplaceOfTwoPlaces(t *testing.T) {
	const epsilon, apart = 0.7, 3.0
	k, err := PlanarLaplaceMatrix(t.Context(), epsilon, []Place{{0, 0, 1}, {apart, 0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	// 1/pi times the integral over |theta| < pi/2, halved by symmetry, of
	// 1 - C(b/cos theta), here by Simpson's rule.
	const steps = 20000
	f := func(theta float64) float64 {
		r := epsilon * apart / 2 / math.Cos(theta)
		return (1 + r) * math.Exp(-r)
	}
	sum, h := f(0), math.Pi/2/steps
	for n := 1; n < steps; n++ {
		sum += float64(2+2*(n%2)) * f(float64(n)*h)
	}
	want := sum * h / 3 / math.Pi
	near(t, "P(other)", k[0][1], want, 1e-6)
	near(t, "P(other)", k[1][0], want, 1e-6)
	near(t, "P(same)", k[0][0], 1-want, 1e-6)
}

// TestPlanarLaplaceOracles compares with other people's programs (R13 to R15, R26 and
// R30: libqif, and programs that sum over the plane). Those of R15 and R26 took larger
// steps: evenLoss agrees with PlanarLaplaceMatrix and not with their last digits.
func TestPlanarLaplaceOracles(t *testing.T) {
	const digits = 1e-8
	for _, c := range []struct {
		name                     string
		width                    int
		step, epsilon            float64
		weight                   func(int) float64
		loss, remapped, realised float64 // 0: not stated
		tolerance                float64
	}{
		{"R13", 3, 1.1, 0.9, uniform, 0, 0, 0.884395494, digits},
		{"R14", 5, 1, ln2, uniform, 1.728103968, 1.535953039, 0.691334349, digits},
		{"R15 .0162", 9, 100, 0.0162, uniform, 107.0557, 107.0557, 0, 5e-5},
		{"R15 .0160", 9, 100, 0.0160, uniform, 108.3640, 108.3640, 0, 5e-5},
		{"R15 .01617", 9, 100, 0.01617, uniform, 107.2503, 107.2503, 0, 5e-5},
		{"R26 7x7", 7, 1, ln2, uniform, 2.0447, 0, 0, 1.5e-4},
		{"R26 7x7 ln 1.2", 7, 1, math.Log(1.2), uniform, 3.7044, 2.5814, 0, 5e-5},
		{"R30 3x3", 3, 1, ln2, ramp, 1.156826, 0.961801, 0, 1e-6},
		{"R30 5x5", 5, 1, ln2, ramp, 1.728104, 1.451310, 0, 1e-6},
	} {
		places := stretched(square(c.width, c.weight), c.step, c.step)
		s := newStudy(t, places, c.epsilon, 1e-2, 2)
		k, err := PlanarLaplaceMatrix(t.Context(), c.epsilon, places)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct {
			what      string
			got, want float64
		}{
			{"loss", optimal.Loss(s.prior, k, s.d), c.loss},
			{"loss after the remap", optimal.AdversaryError(s.prior, k, s.d), c.remapped},
			{"realised epsilon", optimal.RealisedEpsilon(k, s.d), c.realised},
		} {
			if m.want != 0 {
				near(t, c.name+" "+m.what, m.got, m.want, c.tolerance)
			}
		}
	}
}

// TestPlanarLaplaceOfGrid compares with a program that knows no Voronoi diagram.
func TestPlanarLaplaceOfGrid(t *testing.T) {
	for _, c := range []struct {
		width         int
		step, epsilon float64
	}{{3, 1.1, 0.9}, {7, 1, ln2}, {7, 1, math.Log(1.2)}, {9, 100, 0.0162}} {
		places := stretched(square(c.width, uniform), c.step, c.step)
		s := newStudy(t, places, c.epsilon, 1e-2, 2)
		k, err := PlanarLaplaceMatrix(t.Context(), c.epsilon, places)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "loss", optimal.Loss(s.prior, k, s.d), evenLoss(c.width, c.step, c.epsilon), 2e-6)
	}
}

// evenLoss integrates the loss of planar Laplace on a square grid, for a uniform prior,
// over directions that divide the circle evenly. Along each direction the report is a
// place between one crossing of a line halfway between places and the next.
func evenLoss(width int, step, epsilon float64) (sum float64) {
	const directions = 1000
	beyond := func(r float64) float64 { return (1 + epsilon*r) * math.Exp(-epsilon*r) }
	nearest := func(a float64) float64 { return min(max(math.Round(a), 0), float64(width-1)) }
	for x := range width * width {
		i, j := float64(x%width), float64(x/width)
		for n := range directions {
			sin, cos := math.Sincos((float64(n) + 0.5) * 2 * math.Pi / directions)
			crossings := []float64{0}
			for line := 0.5; line < float64(width-1); line++ {
				crossings = append(crossings, max(0, (line-i)/cos), max(0, (line-j)/sin))
			}
			slices.Sort(crossings)
			for k, r := range crossings {
				share, inside := beyond(step*r), r+1
				if k+1 < len(crossings) {
					share, inside = share-beyond(step*crossings[k+1]), (r+crossings[k+1])/2
				}
				sum += share * step * math.Hypot(nearest(i+inside*cos)-i, nearest(j+inside*sin)-j)
			}
		}
	}
	return sum / float64(width*width*directions)
}

// A ray goes through the cells of the places that are nearest to it, and of no others:
// on grids too, where cells meet in corners.
func TestRay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Of small side, places are often on lines and circles with others.
		side := rapid.SampledFrom([]int{4, 1000}).Draw(t, "side")
		coordinate := rapid.Map(rapid.IntRange(0, side), func(k int) float64 { return float64(k) })
		places := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Place {
			return Place{X: coordinate.Draw(t, "x"), Y: coordinate.Draw(t, "y")}
		}), 2, 20, rapid.ID).Draw(t, "places")
		sin, cos := math.Sincos(rapid.Float64Range(-math.Pi, math.Pi).Draw(t, "direction"))
		from := places[0]
		r := ray{cells: newVoronoi(places), cos: cos, sin: sin}
		for _, q := range places {
			dx, dy := q.X-from.X, q.Y-from.Y
			r.seen = append(r.seen, sight{dx, dy, dx*dx + dy*dy})
		}
		for z, begin := 0, 0.0; !math.IsInf(begin, 1); {
			next, end := r.leave(z, begin)
			middle := Place{X: from.X + cos*min(begin+1, begin/2+end/2), Y: from.Y + sin*min(begin+1, begin/2+end/2)}
			for _, q := range places {
				d, least := math.Hypot(middle.X-places[z].X, middle.Y-places[z].Y), math.Hypot(middle.X-q.X, middle.Y-q.Y)
				if d > least+1e-9*(float64(side)+begin) {
					t.Fatalf("from %v to %v the place is %v, at %v; %v is at %v", begin, end, places[z], d, q, least)
				}
			}
			z, begin = next, end
		}
	})
}
