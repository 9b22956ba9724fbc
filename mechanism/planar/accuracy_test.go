package planar

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// -W((p-1)/e) - 1 in 300-digit arithmetic (mpmath 1.3), p being the float64.
var quantiles = []struct{ p, x float64 }{
	{1e-300, 1.4142135623730950488e-150},
	{1e-20, 1.4142135624397616767e-10},
	{1e-12, 1.4142142290401938224e-6},
	{1e-6, 0.0014148806614793428782},
	{1e-3, 0.045402017769489557301},
	{0.01, 0.14855474025326594931},
	{0.1, 0.53181160838961203791},
	{0.2, 0.82438830903298464009},
	{0.2499, 0.96100672415855726713},
	{0.25, 0.96127876311477709585},
	{0.2501, 0.9615507990900278336},
	{0.3, 1.0973492107034916193},
	{0.5, 1.6783469900166606534},
	{0.75, 2.6926345288896957708},
	{0.9, 3.889720169867429337},
	{0.95, 4.7438645183905773004},
	{0.99, 6.6383520679938112474},
	{0.999, 9.2334134764515847461},
	{0.999999, 16.688420790829440915},
	{1 - 0x1p-53, 40.461567483087465358},
}

func TestGamma2QuantileGolden(t *testing.T) {
	for _, c := range quantiles {
		if got := gamma2Quantile(c.p); math.Abs(got/c.x-1) > 1e-15*2 {
			t.Errorf("quantile %v: %.17g, want %.17g", c.p, got, c.x)
		}
		if got := gamma2(c.x); math.Abs(got/c.p-1) > 2e-15 {
			t.Errorf("gamma2(%v) = %.17g, want %.17g", c.x, got, c.p)
		}
	}
	if gamma2Quantile(0) != 0 {
		t.Error("quantile 0 is not 0")
	}
}

func TestGamma2RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.Float64Range(0, 1-0x1p-53).Draw(t, "p")
		x := gamma2Quantile(p)
		// A relative error of the quantile is one of x^2*exp(-x) in p.
		if got := gamma2(x); math.Abs(got-p) > 1e-15*max(p, x*x*math.Exp(-x)) {
			t.Fatalf("p %v: quantile %v, back %v", p, x, got)
		}
	})
}

// R1: quantiles of the continuous mechanism at eps = 1. R2: the thesis's running
// example, eps = ln 4 over 200 m. R53: 90 % radii for eps = 2/200, 2/500, 2/2000.
func TestContinuousRadius(t *testing.T) {
	running := 2 * math.Ln2 / 200
	for _, c := range []struct{ eps, p, want, tolerance float64 }{
		{1, .5, 1.678346990017, 1e-12}, {1, .75, 2.692634528890, 1e-12}, {1, .9, 3.889720169867, 1e-12},
		{1, .95, 4.743864518391, 1e-12}, {1, .99, 6.638352067994, 1e-12}, {1, .999, 9.233413476452, 1e-12},
		{running, .95, 684.395, 1e-3}, {running, .9, 561.168, 1e-3}, {running, .75, 388.465, 1e-3},
		{running, .5, 242.134, 1e-3}, {running, .99, 957.712, 1e-3},
		{2. / 200, .9, 388.972, 1e-3}, {2. / 500, .9, 972.430, 1e-3}, {2. / 2000, .9, 3889.720, 1e-3},
	} {
		got, err := LaplaceLaw.Plane(c.eps).Radius(c.p)
		if err != nil || math.Abs(got-c.want) > c.tolerance {
			t.Errorf("Radius(%v, %v) = %v, %v; want %v", c.eps, c.p, got, err, c.want)
		}
	}
	if got := LaplaceLaw.Plane(running).Confidence(1000); math.Abs(got-0.992254) > 1e-6 {
		t.Errorf("Confidence(1 km) = %v", got)
	}
}

// R6: the area of retrieval of the running example, and the ratio of its area to
// the area of interest's; R8: the ratio at level ln 2.
func TestRetrievalRadius(t *testing.T) {
	for _, c := range []struct{ level, p, ratio, tolerance float64 }{
		{2 * math.Ln2, .95, 10.767, 1e-3}, {math.Ln2, .99, 54.53, 1e-2},
	} {
		r, err := LaplaceLaw.Plane(c.level/200).RetrievalRadius(c.p, 300)
		if err != nil || math.Abs(r*r/(300*300)-c.ratio) > c.tolerance {
			t.Errorf("level %v: radius %v, %v", c.level, r, err)
		}
	}
}

func TestAccuracyRefuses(t *testing.T) {
	d := gridDomain(t)
	for _, c := range []struct {
		eps *big.Rat
		p   float64
	}{
		{new(big.Rat), .5}, {big.NewRat(-1, 1), .5}, {big.NewRat(1, 1), 1}, {big.NewRat(1, 1), -.1},
		{big.NewRat(1, 1), math.NaN()}, {big.NewRat(1, 1), math.Inf(1)},
	} {
		eps, _ := c.eps.Float64()
		if _, err := LaplaceLaw.Plane(eps).Radius(c.p); err == nil {
			t.Errorf("Radius(%v, %v) is accepted", eps, c.p)
		}
		if _, err := LaplaceLaw.On(d, c.eps).Radius(c.p); err == nil {
			t.Errorf("domain: Radius(%v, %v) is accepted", eps, c.p)
		}
	}
	if _, err := LaplaceLaw.Plane(1).Radius(1); err == nil || err.Error() != "must be at least 0 and less than 1" {
		t.Errorf("probability 1: %v", err)
	}
	if _, err := LaplaceLaw.Plane(math.NaN()).Radius(.5); err == nil {
		t.Error("Radius(NaN) is accepted")
	}
	for _, interest := range []float64{-1, math.NaN()} {
		if _, err := LaplaceLaw.Plane(1).RetrievalRadius(.5, interest); err == nil {
			t.Errorf("a radius of interest of %v is accepted", interest)
		}
	}
	if !math.IsNaN(LaplaceLaw.Plane(0).Confidence(1)) || !math.IsNaN(LaplaceLaw.On(d, new(big.Rat)).Confidence(1)) || LaplaceLaw.Plane(1).Confidence(-1) != 0 {
		t.Error("Confidence of eps 0 or a negative radius")
	}
}

// For all positive arguments the result is a number: a probability, or
// a radius unless it overflows.
func TestAccuracyOfExtremeArguments(t *testing.T) {
	d := gridDomain(t)
	positive := []float64{5e-324, 1e-310, 1e-300, 1e-20, 1, 1e20, 1e300, 1e308, math.MaxFloat64}
	probabilities := []float64{0, 5e-324, 1e-323, 1e-310, 1e-300, .5, 1 - 0x1p-53}
	checkRadius := func(what string, eps, p float64, got float64, err error) {
		if err != nil && (got != 0 || err.Error() != "the radius is too large to be a number") ||
			!(got >= 0 && got <= math.MaxFloat64) {
			t.Errorf("%s(%v, %v) = %v, %v", what, eps, p, got, err)
		}
	}
	for _, eps := range positive {
		rat := new(big.Rat).SetFloat64(eps)
		for _, x := range positive {
			for _, c := range []float64{LaplaceLaw.Plane(eps).Confidence(x), LaplaceLaw.On(d, rat).Confidence(x)} {
				if !(c >= 0 && c <= 1) {
					t.Errorf("Confidence(%v, %v) = %v", eps, x, c)
				}
			}
			r, err := LaplaceLaw.Plane(eps).RetrievalRadius(.5, x)
			checkRadius("RetrievalRadius", eps, x, r, err)
			r, err = LaplaceLaw.On(d, rat).RetrievalRadius(.5, x)
			checkRadius("domain: RetrievalRadius", eps, x, r, err)
		}
		for _, p := range probabilities {
			r, err := LaplaceLaw.Plane(eps).Radius(p)
			checkRadius("Radius", eps, p, r, err)
			r, err = LaplaceLaw.On(d, rat).Radius(p)
			checkRadius("domain: Radius", eps, p, r, err)
		}
	}
	if c := LaplaceLaw.Plane(1e308).Confidence(1e308); c != 1 {
		t.Errorf("Confidence(1e308, 1e308) = %v", c)
	}
	if c := LaplaceLaw.On(d, big.NewRat(1, 1)).Confidence(math.MaxFloat64); c != 1 {
		t.Errorf("domain: Confidence(1, MaxFloat64) = %v", c)
	}
	for _, overflow := range []func() (float64, error){
		func() (float64, error) { return LaplaceLaw.Plane(5e-324).Radius(.5) },
		func() (float64, error) { return LaplaceLaw.On(d, new(big.Rat).SetFloat64(5e-324)).Radius(.5) },
		func() (float64, error) { return LaplaceLaw.Plane(1e-308).RetrievalRadius(.5, math.MaxFloat64) },
		func() (float64, error) { return LaplaceLaw.On(d, big.NewRat(1, 1)).RetrievalRadius(.5, math.Inf(1)) },
	} {
		if r, err := overflow(); err == nil {
			t.Errorf("a radius of %v", r)
		}
	}
}

// The half diagonal is enough for the lattice: for locations u anywhere in the
// cell of 0, ln(1 - C(d - h)) >= ln P(|z-u| >= d) by exact sums at every distance
// d that occurs; and half of it is not.
func TestHalfDiagonalBoundsLattice(t *testing.T) {
	const h = math.Sqrt2 / 2
	tooSmall := 0
	for _, rate := range []float64{.05, .1, .2, .5, math.Ln2, 1, 1.5, 2, 3, 5, 8} {
		for _, u := range [][2]float64{{0, 0}, {.25, 0}, {.5, 0}, {.25, .25}, {.5, .25}, {.5, .5}, {.4, .1}} {
			worst := worstMargins(rate, euclidean, func(x float64) float64 { return math.Log1p(x) - x }, u, h, h/2)
			if worst[0] < -1e-9 {
				t.Errorf("rate %v, location %v: bound fails by %g", rate, u, worst[0])
			}
			if worst[1] < -1e-4 {
				tooSmall++
			}
		}
	}
	if tooSmall == 0 {
		t.Error("half of the shift is enough")
	}
}

// euclidean is the norm of the planar Laplace mechanism.
func euclidean(z Cell) float64 { return z.distanceTo(Cell{}) }

// worstMargins returns, for each shift, the least ln(1-C(d-shift)) - ln P(|z-u| >=
// d) over the distances d between the location u and a lattice point, which has the
// weight exp(-rate*norm), where lnTail(rate*r) is ln(1-C(r)).
func worstMargins(rate float64, norm func(Cell) float64, lnTail func(float64) float64, u [2]float64, shifts ...float64) []float64 {
	type mass struct{ distance, weight float64 }
	var points []mass
	// 20 mean radii out the neglected weight is below 1e-7 of the tail at half
	// of that, where the comparison stops. 42 out it is below 1e-12 of all.
	n, sum := int64(20/rate)+3, 0.0
	for reach, j := int64(42/rate)+3, -(int64(42/rate) + 3); j <= reach; j++ {
		for i := -reach; i <= reach; i++ {
			w := math.Exp(-rate * norm(Cell{i, j}))
			sum += w
			if max(i, -i, j, -j) <= n {
				points = append(points, mass{math.Hypot(float64(i)-u[0], float64(j)-u[1]), w})
			}
		}
	}
	slices.SortFunc(points, func(a, b mass) int { return cmp.Compare(b.distance, a.distance) })
	tail, worst := 0.0, slices.Repeat([]float64{math.Inf(1)}, len(shifts))
	for k, p := range points {
		tail += p.weight / sum
		if p.distance > 10/rate+1 || k+1 < len(points) && p.distance-points[k+1].distance < 1e-12 {
			continue
		}
		for m, shift := range shifts {
			x := rate * max(0, p.distance-shift)
			worst[m] = min(worst[m], lnTail(x)-math.Log(tail))
		}
	}
	return worst
}

// In a domain the radius grows by half a cell's diagonal, kappa, and the
// millimetres of printing, and Confidence inverts it.
func TestDomainRadius(t *testing.T) {
	d := mustDomain(t, 39.1, 115.3, 40.8, 117.5, 1)
	rapid.Check(t, func(t *rapid.T) {
		eps := big.NewRat(rapid.Int64Range(1, 1e6).Draw(t, "millionths"), 1e6)
		p := rapid.Float64Range(0, 0.999999).Draw(t, "p")
		e, _ := eps.Float64()
		continuous, _ := LaplaceLaw.Plane(e).Radius(p)
		got, err := LaplaceLaw.On(d, eps).Radius(p)
		if err != nil {
			t.Fatal(err)
		}
		if got < continuous+d.halfDiagonal() || continuous < 1e5 && got > (continuous+d.halfDiagonal())*1.0005+printError {
			t.Fatalf("radius %v, continuous %v", got, continuous)
		}
		if back := LaplaceLaw.On(d, eps).Confidence(got); math.Abs(back-p) > 1e-9 {
			t.Fatalf("confidence %v of the radius of %v", back, p)
		}
	})
	within, _ := LaplaceLaw.On(d, big.NewRat(1, 100)).Radius(.95)
	if r, err := LaplaceLaw.On(d, big.NewRat(1, 100)).RetrievalRadius(.95, 300); err != nil || r != within+300 {
		t.Errorf("radius of retrieval %v, %v", r, err)
	}
	if c := LaplaceLaw.On(d, big.NewRat(1, 1)).Confidence(0.5); c != 0 {
		t.Errorf("confidence %v within half a cell", c)
	}
}
