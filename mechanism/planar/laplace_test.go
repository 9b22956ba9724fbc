package planar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/nearest"
	"pgregory.net/rapid"
)

// atRate returns a mechanism of a domain with the given rate per step,
// up to the last digits.
func atRate(t testing.TB, d *Domain, rate float64) *Laplace {
	t.Helper()
	l, err := d.Laplace(new(big.Rat).SetFloat64(rate / d.step * (1 + d.kappa)))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(l.noise.rate/rate-1) > 1e-14 {
		t.Fatalf("rate %v, wanted %v", l.noise.rate, rate)
	}
	return l
}

// gridDomain is a domain of 15 by 15 lattice points, 100 m apart, at 40 degrees
// north.
func gridDomain(t testing.TB) *Domain {
	return mustDomain(t, 39.99372, 115.99183, 40.00628, 116.00817, 100)
}

// secretsOf returns the lattice points of all locations of a box, found by
// rounding a fine grid of them.
func secretsOf(d *Domain) []Cell {
	seen := map[Cell]bool{}
	var secrets []Cell
	for a := range 121 {
		for b := range 121 {
			lat := d.box.South + (d.box.North-d.box.South)*float64(a)/120
			lon := d.box.West + 2*d.box.Half*float64(b)/120
			if c := d.Cell(lat, nearest.Wrap(lon)); !seen[c] {
				seen[c] = true
				secrets = append(secrets, c)
			}
		}
	}
	return secrets
}

// concave is a region of gridDomain with a notch, a hole, and an island.
const concave = "MULTIPOLYGON(((115.993 39.995, 116.004 39.995, 116.004 40.004, 115.999 39.9985, 115.994 40.004, " +
	"115.993 39.995), (115.9945 39.9962, 115.998 39.9962, 115.998 39.998, 115.9945 39.9962)), " +
	"((116.0065 40.003, 116.0079 40.003, 116.0079 40.0055, 116.0065 40.003)))"

// The bound holds for every pair of secrets and every output, by enumeration,
// with and without a region, and the checker sees a broken law.
func TestPrivacyByEnumeration(t *testing.T) {
	const rate, window = 0.4, 30
	whole := gridDomain(t)
	region, err := whole.WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	secrets := secretsOf(whole)
	if len(secrets) != 15*15 {
		t.Fatalf("%d secrets", len(secrets))
	}
	plain := tabulate(secrets, rate, window, whole.Admissible)
	for name, probabilities := range map[string]table{
		"plain":                 plain,
		"moved into the region": tabulate(secrets, rate, window, region.Admissible),
	} {
		if e := probabilities.excess(rate); e > 1e-12 {
			t.Errorf("%s: exceeds the bound by %g", name, e)
		}
	}
	for name, planted := range map[string]table{
		"epsilon 10 % too large": tabulate(secrets, 1.1*rate, window, region.Admissible),
		"drawing again until inside": plain.edit(func(_, z Cell, p float64) float64 {
			if region.Admissible(z) != z {
				return 0
			}
			return p
		}),
		"noise cut off": plain.edit(func(x, z Cell, p float64) float64 {
			if x.distanceTo(z) > 20 {
				return 0
			}
			return p
		}),
	} {
		if e := planted.excess(rate); !(e > 1e-3) {
			t.Errorf("%s: not caught, %g", name, e)
		}
	}
}

// The sampler has the law of the enumeration, and the checker tells it from
// samplers that do not.
func TestNoiseLaw(t *testing.T) {
	src := exact.NewSource(nil)
	d := gridDomain(t)
	for _, rate := range []float64{0.1, 0.5, math.Ln2, 1, 2, 6} {
		l := atRate(t, d, rate)
		if err := checkSampler(rate, func() Cell { return Cell{}.add(l.noise.offset(src)) }); err != nil {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

// Every planted sampler has an event eight standard deviations or more beyond the bound:
// one is missed with a probability below 1e-14.
func TestNoiseLawCatchesPlantedBugs(t *testing.T) {
	src := exact.NewSource(nil)
	const rate = 0.5
	l := atRate(t, gridDomain(t), rate)
	strong := atRate(t, gridDomain(t), 1.1*rate)
	axis, err := exact.NewDiscreteLaplace(l.noise.proposal)
	if err != nil {
		t.Fatal(err)
	}
	draw := func() Cell { return Cell{}.add(l.noise.offset(src)) }
	var last Cell
	again := false
	for name, sample := range map[string]func() Cell{
		"epsilon 10 % too large": func() Cell { return Cell{}.add(strong.noise.offset(src)) },
		"clamped tail": func() Cell { // leaves rings 9 and 10 empty
			z := draw()
			return Cell{max(-12, min(z.I, 12)), max(-12, min(z.J, 12))}
		},
		"noise used twice": func() Cell {
			if again = !again; again {
				last = draw()
			}
			return last
		},
		"one axis for both":        func() Cell { z := draw(); return Cell{z.I, z.I} },
		"proposals never rejected": func() Cell { return Cell{axis.Draw(src), axis.Draw(src)} },
		"continuous noise rounded": func() Cell {
			sin, cos := math.Sincos(2 * math.Pi * unitFloat(src))
			r := gamma2Quantile(unitFloat(src)) / rate
			return Cell{int64(math.Round(r * cos)), int64(math.Round(r * sin))}
		},
		"redrawn until within 8": func() Cell {
			for {
				if z := draw(); z.distanceTo(Cell{}) < 8 {
					return z
				}
			}
		},
	} {
		if checkSampler(rate, sample) == nil {
			t.Errorf("%s: not caught", name)
		}
	}
}

// Reports of Draw have the law of the enumeration, moved into the region: n =
// 150,000 for each of two secrets, false alarm 1e-10 each.
func TestDrawInRegion(t *testing.T) {
	const rate, n = 0.4, 150_000
	region, err := gridDomain(t).WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	l := atRate(t, region, rate)
	src := exact.NewSource(nil)
	secrets := []Cell{{-3, 2}, {6, -6}}
	law := tabulate(secrets, rate, 100, region.Admissible)
	for k, x := range secrets {
		lat, lon := region.Location(x)
		reports, redrawn := newTally[printed](), newTally[printed]()
		for m, z := range law.outputs {
			reports.probability[region.print(z)] = law.rows[k][m]
			redrawn.probability[region.print(z)] = law.rows[k][m]
		}
		for range n {
			zlat, zlon := l.Draw(src, lat, lon)
			reports.count[printed{toUnits(zlat), toUnits(zlon)}]++
			for {
				if z := x.add(l.noise.offset(src)); region.Admissible(z) == z {
					redrawn.count[region.print(z)]++
					break
				}
			}
		}
		if err := reports.check(n, 1e-10); err != nil {
			t.Errorf("secret %v: %v", x, err)
		}
		if redrawn.check(n, 1e-10) == nil {
			t.Errorf("secret %v: drawing again until inside is not caught", x)
		}
	}
}

// R11: the normaliser of the planar law on Z^2 and the probability of reporting
// the location's own lattice point, which a continuous mechanism truncated to
// integers by mistake would report with probability 0.264 at rate 1 (R4).
func TestNormaliser(t *testing.T) {
	for _, c := range []struct{ rate, sum, own float64 }{
		{math.Ln2, 13.234625702534, .075559371},
		{1, 6.507241686138, .153674944},
		{2 * math.Ln2, 3.574227444812, .279780740},
		{.1, 628.341408251297, .001591491},
	} {
		if got := normaliser(c.rate); math.Abs(got/c.sum-1) > 1e-12 {
			t.Errorf("rate %v: sum %.12f, R11 has %.12f", c.rate, got, c.sum)
		}
		if got := 1 / normaliser(c.rate); math.Abs(got-c.own) > 1e-9 {
			t.Errorf("rate %v: P(0) = %.9f, R11 has %.9f", c.rate, got, c.own)
		}
	}
}

// R12: the share of accepted proposals. One discrete Laplace of rate a weighs
// coth(a/2). Package exact measures it.
func TestAcceptance(t *testing.T) {
	for _, c := range []struct{ rate, share float64 }{
		{.05, .78524}, {.1, .78477}, {.5, .77280}, {math.Ln2, .76405}, {1, .75013}, {2, .73887},
	} {
		l := atRate(t, gridDomain(t), c.rate)
		tanh := math.Tanh(l.noise.proposal / 2)
		share := normaliser(c.rate) * tanh * tanh
		if math.Abs(share-c.share) > 0.6e-5 {
			t.Errorf("rate %v: acceptance %v, R12 has %v", c.rate, share, c.share)
		}
	}
}

// R3 as a limit: mean radius 2 and mean square 6 in units of 1/rate. The lattice
// differs from the plane by terms of the third order in the rate.
func TestMomentsTendToThePlane(t *testing.T) {
	for _, rate := range []float64{0.4, 0.2, 0.1} {
		var s, mean, square float64
		weightsWithin(rate, int64(42/rate), func(z Cell, w float64) {
			r := rate * z.distanceTo(Cell{})
			s, mean, square = s+w, mean+r*w, square+r*r*w
		})
		if third := rate * rate * rate; math.Abs(mean/s-2) > third || math.Abs(square/s-6) > third {
			t.Errorf("rate %v: mean %v, mean square %v", rate, mean/s, square/s)
		}
	}
}

// R5: how well averaging n reports of one place finds it, in units of 1/rate.
//
// Over m = 6000 repetitions the distances D, cut at b, are averaged. D has E D^2 =
// 6/n and E D^4 = (72n(n-1) + 120n)/n^4, so the cut changes the mean by at most
// (27/256)*E D^4/b^3, and by Bernstein's inequality the average is farther than t
// from its mean with probability at most 1e-10, where t = sqrt(2*v*l/m) + 2*b*l/3m,
// l = ln(2e10), and v = E D^2 - (mean of R5)^2. The lattice of rate 0.05 adds at
// most 1e-3.
func TestAveraging(t *testing.T) {
	const rate, m = 0.05, 6000
	l := atRate(t, mustDomain(t, 40, 116, 40.1, 116.1, 10), rate)
	src := exact.NewSource(nil)
	for _, c := range []struct{ n, mean float64 }{{1, 2}, {10, .674}, {100, .2172}, {1000, .0678}} {
		square := 6 / c.n
		fourth := (72*c.n*(c.n-1) + 120*c.n) / math.Pow(c.n, 4)
		b := 8 * math.Sqrt(square)
		sum := 0.0
		for range m {
			var i, j int64
			for range int(c.n) {
				di, dj := l.noise.offset(src)
				i, j = i+di, j+dj
			}
			sum += min(b, rate*math.Hypot(float64(i), float64(j))/c.n)
		}
		log := math.Log(2e10)
		tolerance := 27./256*fourth/(b*b*b) + math.Sqrt(2*(square-c.mean*c.mean)*log/m) + 2*b*log/(3*m) + 1e-3
		if tolerance > 0.15*c.mean {
			t.Errorf("n %v: a tolerance of %v tests nothing", c.n, tolerance)
		}
		if math.Abs(sum/m-c.mean) > tolerance {
			t.Errorf("n %v: mean distance %v, R5 has %v", c.n, sum/m, c.mean)
		}
	}
}

// R26: quality loss of the mechanism on w by w unit grids under a uniform prior,
// moved into the grid by the region's own map; exact up to tails of e^-40.
func TestQualityLossOnGrids(t *testing.T) {
	for _, c := range []struct {
		half int64
		wkt  string
		rate float64
		loss float64
	}{
		{2, "POLYGON((115.9972 39.9978, 116.0028 39.9978, 116.0028 40.0022, 115.9972 40.0022, 115.9972 39.9978))",
			math.Ln2, 1.692327817},
		{3, "POLYGON((115.9960 39.9969, 116.0040 39.9969, 116.0040 40.0031, 115.9960 40.0031, 115.9960 39.9969))",
			math.Ln2, 2.001635045},
		{3, "POLYGON((115.9960 39.9969, 116.0040 39.9969, 116.0040 40.0031, 115.9960 40.0031, 115.9960 39.9969))",
			2 * math.Ln2, 1.035303789},
	} {
		d, err := gridDomain(t).WithRegion(t.Context(), c.wkt)
		if err != nil {
			t.Fatal(err)
		}
		var grid []Cell
		for j := -c.half; j <= c.half; j++ {
			for i := -c.half; i <= c.half; i++ {
				grid = append(grid, Cell{i, j})
			}
		}
		loss := 0.0
		law := tabulate(grid, c.rate, 60, d.Admissible)
		for k, x := range grid {
			for n, z := range law.outputs {
				loss += law.rows[k][n] * x.distanceTo(z) / float64(len(grid))
			}
		}
		if len(law.outputs) != len(grid) {
			t.Fatalf("%d outputs on a grid of %d", len(law.outputs), len(grid))
		}
		if math.Abs(loss-c.loss) > 1e-9 {
			t.Errorf("%d x %d, rate %v: loss %.9f, R26 has %.9f", 2*c.half+1, 2*c.half+1, c.rate, loss, c.loss)
		}
	}
}

// The rate never spends more than epsilon: rate*(1+kappa) <= eps*step as
// rationals, and the proposal stays below rate/sqrt 2.
func TestRateRoundsDown(t *testing.T) {
	d := gridDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		eps := big.NewRat(rapid.Int64Range(1, 9_000_000).Draw(t, "num"), rapid.Int64Range(1, 1<<40).Draw(t, "den"))
		l, err := d.Laplace(eps)
		if err != nil {
			t.Fatal(err)
		}
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		spent := new(big.Rat).Mul(rat(l.noise.rate), new(big.Rat).Add(rat(d.kappa), big.NewRat(1, 1)))
		if spent.Cmp(new(big.Rat).Mul(eps, rat(d.step))) > 0 {
			t.Fatalf("eps %v: rate %v", eps, l.noise.rate)
		}
		proposal2 := new(big.Rat).Mul(rat(l.noise.proposal), rat(l.noise.proposal))
		if proposal2.Mul(proposal2, big.NewRat(2, 1)).Cmp(new(big.Rat).Mul(rat(l.noise.rate), rat(l.noise.rate))) > 0 {
			t.Fatalf("proposal %v for rate %v", l.noise.proposal, l.noise.rate)
		}
	})
}

// So does the rate of an amount, which is not much below the largest allowed.
func TestRateOfAmount(t *testing.T) {
	for _, d := range []*Domain{gridDomain(t), mustDomain(t, -20, 177, -16, -178, 0.001), mustDomain(t, 5, 60, 60, 120, 50_000)} {
		rapid.Check(t, func(t *rapid.T) {
			eps := budget.Amount(rapid.Int64Range(1, int64(budget.Max)).Draw(t, "eps"))
			largest, err := d.rate(eps.Rat())
			if err != nil {
				t.Fatal(err)
			}
			rate := d.Rate(eps)
			if n := d.Noise(eps); n.rate != rate {
				t.Fatalf("noise at %v, rate %v", n.rate, rate)
			}
			if rate > largest || rate < largest*(1-0x1p-48) {
				t.Fatalf("eps %v: rate %v, at most %v", eps, rate, largest)
			}
		})
	}
}

// To add no noise because none was paid for would be to report the secret.
func TestNoiseOfNothing(t *testing.T) {
	for _, eps := range []budget.Amount{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("there is noise for an epsilon of %v", eps)
				}
			}()
			gridDomain(t).Noise(eps)
		}()
	}
}

// A mechanism may make another noise for every draw.
func TestNoiseAllocates(t *testing.T) {
	d, err := gridDomain(t).WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	src := exact.NewSource(nil)
	eps := budget.Amount(1_000_000)
	if n := testing.AllocsPerRun(10_000, func() {
		x := d.Cell(40, 116)
		noise := d.Noise(eps)
		d.Location(d.Admissible(noise.Draw(src, x)))
		eps++
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLaplaceRefuses(t *testing.T) {
	d := gridDomain(t)
	for _, eps := range []*big.Rat{new(big.Rat), big.NewRat(-1, 2)} {
		if _, err := d.Laplace(eps); err == nil {
			t.Errorf("epsilon %v is accepted", eps)
		}
	}
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 2000))
	if _, err := d.Laplace(tiny); err == nil {
		t.Error("a rate of 0 is accepted")
	}
}

// Noise so strong that every draw saturates still has a place on Earth.
func TestDrawSaturates(t *testing.T) {
	src := exact.NewSource(nil)
	for _, d := range []*Domain{gridDomain(t), mustDomain(t, -20, 177, -16, -178, 1), mustDomain(t, 85, 10, 90, 100, 5)} {
		for _, eps := range []*big.Rat{big.NewRat(1, 1e18), big.NewRat(1, 1e12), big.NewRat(1, 1e6), big.NewRat(1e6, 1)} {
			l, err := d.Laplace(eps)
			if err != nil {
				t.Fatal(err)
			}
			for range 200 {
				lat, lon := l.Draw(src, 89.99, -179.99)
				if !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) || math.Signbit(lat) && lat == 0 || math.Signbit(lon) && lon == 0 {
					t.Fatalf("%v at eps %v reports %v %v", d, eps, lat, lon)
				}
			}
		}
	}
}
