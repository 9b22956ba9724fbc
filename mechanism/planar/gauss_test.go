package planar

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

// gaussAtRate returns the mechanism with that rate per squared step, or hardly less.
func gaussAtRate(t *testing.T, d *Domain, rate float64) *Gauss {
	t.Helper()
	g, err := d.Gauss(new(big.Rat).SetFloat64(rate * math.Pow((1+d.kappa)/d.step, 2)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// gaussTable is the law about every secret by enumeration, moved by move. Points outside
// of the window are left out.
func gaussTable(secrets []Cell, rate float64, window int64, move func(Cell) Cell) table {
	axis := 0.
	for k := -window; k <= window; k++ {
		axis += math.Exp(-rate * float64(k*k))
	}
	return tabulated(secrets, window, move, func(z, x Cell) float64 {
		d := z.distanceTo(x)
		return math.Exp(-rate*d*d) / (axis * axis)
	})
}

var orders = []float64{1.01, 1.1, 1.5, 2, 3, 4.5, 10, 32, 100.5, 200}

// divergence is the largest ratio of a Rényi divergence to order*|x-x'|^2, over all orders
// and pairs of secrets. A table that is cut off has no larger one (Hölder's inequality).
func (t table) divergence() (worst float64) {
	logs := make([][]float64, len(t.rows))
	for k, row := range t.rows {
		for _, p := range row {
			logs[k] = append(logs[k], math.Log(p))
		}
	}
	for k, x := range t.secrets {
		for m, y := range t.secrets {
			for _, order := range orders {
				top := math.Inf(-1)
				terms := make([]float64, len(t.outputs))
				for n := range t.outputs {
					terms[n] = order*logs[k][n] + (1-order)*logs[m][n]
					top = max(top, terms[n])
				}
				sum := 0.
				for _, term := range terms {
					sum += math.Exp(term - top)
				}
				if d := x.distanceTo(y); d > 0 {
					worst = max(worst, (top+math.Log(sum))/(order-1)/(order*d*d))
				}
			}
		}
	}
	return worst
}

// By enumeration the divergences of all orders keep the bound, with and without a region.
// It is reached, and noise of 5 % less variance is caught.
func TestGaussPrivacyByEnumeration(t *testing.T) {
	const rate, window = 0.05, 45
	whole := gridDomain(t)
	region, err := whole.WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	var secrets []Cell
	for n, x := range secretsOf(whole) {
		if n%19 == 0 {
			secrets = append(secrets, x)
		}
	}
	secrets = append(secrets, secrets[0].add(1, 0), secrets[0].add(1, 1))
	for name, move := range map[string]func(Cell) Cell{"plain": whole.Admissible, "region": region.Admissible} {
		if got := gaussTable(secrets, rate, window, move).divergence(); got > rate*(1+1e-9) {
			t.Errorf("%s: divergence of %v, above %v", name, got, rate)
		}
	}
	if got := gaussTable(secrets, rate, window, whole.Admissible).divergence(); got < rate*(1-1e-9) {
		t.Errorf("the bound is not reached: %v of %v", got, rate)
	}
	if got := gaussTable(secrets, 1.05*rate, window, whole.Admissible).divergence(); got <= 1.04*rate {
		t.Errorf("less variance is not caught: %v", got)
	}
}

// The reports of Draw have the law of the enumeration: n = 500,000 for each of two secrets,
// false alarm 1e-10 each. Noise that is used on both axes, that of another rho, and that of
// the mechanism which takes rho for an epsilon are caught.
func TestGaussDrawInRegion(t *testing.T) {
	const rate, n = 0.02, 500_000
	region, err := gridDomain(t).WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	g, narrow, laplace := gaussAtRate(t, region, rate), gaussAtRate(t, region, 1.1*rate), atRate(t, region, rate)
	src := exact.NewSource(nil)
	secrets := []Cell{{-3, 2}, {6, -6}}
	law := gaussTable(secrets, rate, 60, region.Admissible)
	for k, x := range secrets {
		lat, lon := region.Location(x)
		report := func(zlat, zlon float64) printed { return printed{toUnits(zlat), toUnits(zlon)} }
		for name, draw := range map[string]func() printed{
			"":              func() printed { return report(g.Draw(src, lat, lon)) },
			"a smaller rho": func() printed { return report(narrow.Draw(src, lat, lon)) },
			"Laplace noise": func() printed { return report(laplace.Draw(src, lat, lon)) },
			"noise that is used twice": func() printed {
				once := g.axis.Draw(src)
				return region.print(region.Admissible(x.add(once, once)))
			},
		} {
			reports := newTally[printed]()
			for m, z := range law.outputs {
				reports.probability[region.print(z)] = law.rows[k][m]
			}
			for range n {
				reports.count[draw()]++
			}
			err := reports.check(n, 1e-10)
			if name == "" && err != nil {
				t.Errorf("secret %v: %v", x, err)
			}
			if name != "" && err == nil {
				t.Errorf("secret %v: %s is not caught", x, name)
			}
		}
	}
}

// The rate never spends more than rho: rate*(1+kappa)^2 <= rho*step^2 as rationals, and hardly
// less. One that is rounded to the nearest, rounded up or not divided by the stretch would.
func TestGaussRateRoundsDown(t *testing.T) {
	d := mustDomain(t, 10, 100, 50, 150, 100)
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	stretch := new(big.Rat).Add(rat(d.kappa), big.NewRat(1, 1))
	stretch.Mul(stretch, stretch)
	spends := func(rate float64, rho *big.Rat) (tooMuch bool) {
		paid := new(big.Rat).Mul(rho, new(big.Rat).Mul(rat(d.step), rat(d.step)))
		return new(big.Rat).Mul(rat(rate), stretch).Cmp(paid) > 0
	}
	roundedUp := 0
	rapid.Check(t, func(t *rapid.T) {
		rho := big.NewRat(rapid.Int64Range(1, 9_000_000).Draw(t, "num"), rapid.Int64Range(1, 1<<40).Draw(t, "den"))
		g, err := d.Gauss(rho)
		if err != nil {
			t.Fatal(err)
		}
		rate, err := exact.RateFloor(d.perStep(d.perStep(rho)))
		if err != nil {
			t.Fatal(err)
		}
		if axis, err := exact.NewDiscreteGaussian(rate); err != nil || g.axis != axis {
			t.Fatalf("the mechanism draws with %v, not %v", g.axis, axis)
		}
		if spends(rate, rho) || !spends(math.Nextafter(rate, math.Inf(1)), rho) {
			t.Fatalf("rho %v: rate %v", rho, rate)
		}
		nearest, _ := d.perStep(d.perStep(rho)).Float64()
		if nearest != rate {
			roundedUp++
		}
		unstretched, _ := new(big.Rat).Mul(rho, rat(d.step*d.step)).Float64()
		if once, _ := d.perStep(new(big.Rat).Mul(rho, rat(d.step))).Float64(); !spends(unstretched, rho) || !spends(once, rho) {
			t.Fatal("a rate that ignores kappa is not caught")
		}
	})
	if roundedUp == 0 {
		t.Error("rounding to the nearest never rounds up")
	}
}

// In a box that is stretched much, the bound holds in metres along the ellipsoid. It would
// not if kappa were left out.
func TestGaussHoldsInMetres(t *testing.T) {
	d := mustDomain(t, 10, 100, 50, 150, 1)
	if d.kappa < 0.03 {
		t.Fatalf("kappa is %v", d.kappa)
	}
	const rho = 1.
	rate, _ := exact.RateFloor(d.perStep(d.perStep(big.NewRat(1, 1))))
	random, unstretched := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		lat, lon := 10+40*random.Float64(), 100+50*random.Float64()
		if random.IntN(2) == 0 { // near the corners
			lat, lon = []float64{10, 49}[random.IntN(2)]+random.Float64(), []float64{100, 149}[random.IntN(2)]+random.Float64()
		}
		lat2, lon2 := min(lat+0.5*random.Float64(), 50), min(lon+0.5*random.Float64(), 150)
		paid := rho * math.Pow(Distance(lat, lon, lat2, lon2)+d.step*math.Sqrt2, 2)
		squared := math.Pow(d.Cell(lat, lon).distanceTo(d.Cell(lat2, lon2)), 2)
		if rate*squared > paid*(1+1e-9) {
			t.Fatalf("from %v, %v to %v, %v: %v, paid %v", lat, lon, lat2, lon2, rate*squared, paid)
		}
		if rho*squared > paid*(1+1e-9) {
			unstretched++
		}
	}
	if unstretched == 0 {
		t.Error("the bound holds without kappa too")
	}
}

// The epsilon and delta of a rho hold for the law, by enumeration: of one release and
// of two.
func TestGaussDelta(t *testing.T) {
	continuous := 0
	for _, rho := range []float64{1e-4, 0.002, 0.05, 0.5, 2} {
		law, reach := []float64{}, int64(math.Sqrt(60/rho))+1
		axis := 0.
		for k := -reach; k <= reach; k++ {
			law = append(law, math.Exp(-rho*float64(k*k)))
			axis += law[len(law)-1]
		}
		at := func(k int64) float64 {
			if k < -reach || k > reach {
				return 0
			}
			return law[k+reach] / axis
		}
		for _, d := range []int64{1, 3, 30} {
			for _, epsilon := range []float64{0.01, 0.5, 1, 4} {
				once, twice := 0., 0.
				for i := -reach; i <= reach; i++ {
					once += max(0, at(i)-math.Exp(epsilon)*at(i-d))
					for j := -reach; j <= reach; j++ {
						twice += max(0, at(i)*at(j)-math.Exp(epsilon)*at(i-d)*at(j-d))
					}
				}
				for n, real := range map[float64]float64{1: once, 2: twice} {
					bound := budget.GaussDelta(n*rho, float64(d), epsilon, 1)
					if budget.GaussDelta(n*rho, float64(d), epsilon, 1e-6) < real*(1-1e-9)-1e-15 {
						continuous++
					}
					if real > bound*(1+1e-9)+1e-15 {
						t.Errorf("%v releases of rho %v, distance %d, epsilon %v: delta %v, bound %v", n, rho, d, epsilon, real, bound)
					}
				}
				if bound := budget.Delta(rho/4, float64(d), epsilon); once > 0.01 && once < 0.99 && once <= bound {
					t.Errorf("rho %v, distance %d, epsilon %v: a delta for a quarter of rho is not caught", rho, d, epsilon)
				}
			}
		}
	}
	if continuous == 0 {
		t.Error("the delta of continuous noise holds on the lattice too")
	}
}

// The delta of a limit holds, by enumeration, for three releases with noise that follows the answers before: less
// of it where these seem to tell more. A delta for two thirds of the limit is caught.
func TestGaussDeltaOfAdaptiveReleases(t *testing.T) {
	const limit, d, reach = 0.006, 12, 90
	law := func(rho float64) []float64 {
		p, all := make([]float64, 2*reach+1), 0.
		for k := range p {
			p[k] = math.Exp(-rho * float64((k-reach)*(k-reach)))
			all += p[k]
		}
		for k := range p {
			p[k] /= all
		}
		return p
	}
	shifted := func(p []float64, k int) float64 {
		if k -= d; k < 0 {
			return 0
		}
		return p[k]
	}
	first, clear, dim := law(limit/3), law(limit*2/3), law(limit/3)
	for _, epsilon := range []float64{0.3, 1, 2} {
		real := 0.
		for i, p := range first {
			q, next := shifted(first, i), dim
			if i < reach+d/2 { // nearer to the location of the one world
				next = clear
			}
			for j, p2 := range next {
				p, q := p*p2, q*shifted(next, j)
				if i < reach+d/2 {
					real += max(0, p-math.Exp(epsilon)*q)
					continue
				}
				for k, p3 := range dim {
					real += max(0, p*p3-math.Exp(epsilon)*q*shifted(dim, k))
				}
			}
		}
		if bound := budget.GaussDelta(limit, d, epsilon, 1); real > bound || real < bound/2 {
			t.Errorf("epsilon %v: delta %v, bound %v", epsilon, real, bound)
		}
		if less := budget.GaussDelta(limit*2/3, d, epsilon, 1); real <= less {
			t.Errorf("epsilon %v: a delta for two thirds is not caught: %v, bound %v", epsilon, real, less)
		}
	}
}

// Gauss is charged rho in its own unit, and refuses rates that it cannot draw.
func TestGaussPrice(t *testing.T) {
	d := gridDomain(t)
	g, err := d.Gauss(big.NewRat(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	if want := (budget.Price{Unit: budget.SquareMetre, Amount: 333_333_333_334}); g.Price() != want {
		t.Errorf("price %v, want %v", g.Price(), want)
	}
	fine := mustDomain(t, 39.99372, 115.99183, 40.00628, 116.00817, 0.001)
	if _, err := fine.Gauss(budget.Amount(1).Rat()); err != nil {
		t.Errorf("the least amount on the finest lattice: %v", err)
	}
	for _, c := range []struct {
		d   *Domain
		rho *big.Rat
	}{{d, new(big.Rat)}, {d, big.NewRat(-1, 1)}, {d, big.NewRat(9_000_001, 1)}, {fine, big.NewRat(1, 1e15)}} {
		if _, err := c.d.Gauss(c.rho); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("rho %v: %v", c.rho, err)
		}
	}
}

// A location outside of the box is reported as from the border, and noise that is wider than
// the Earth is still a location, which lies in the region if there is one.
func TestGaussAtTheEdges(t *testing.T) {
	d := gridDomain(t)
	src := exact.NewSource(nil)
	still := gaussAtRate(t, d, 60)
	for _, c := range [][4]float64{{90, 0, 40.00628, 115.99183}, {-90, 180, 39.99372, 116.00817}, {40, 150, 40, 116.00817}} {
		lat, lon := d.Location(d.Cell(c[2], c[3]))
		if zlat, zlon := still.Draw(src, c[0], c[1]); zlat != lat || zlon != lon {
			t.Errorf("%v is reported at %v, %v, not %v, %v", c[:2], zlat, zlon, lat, lon)
		}
	}
	region, err := d.WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := d.Gauss(budget.Amount(1).Rat()) // 707 km
	if err != nil {
		t.Fatal(err)
	}
	widest, err := d.Gauss(big.NewRat(1, 1e15)) // 22,000 km
	if err != nil {
		t.Fatal(err)
	}
	inside, err := region.Gauss(budget.Amount(1).Rat())
	if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		for _, g := range []*Gauss{wide, widest, inside} {
			lat, lon := g.Draw(src, 40, 116)
			if !(math.Abs(lat) <= 90 && math.Abs(lon) <= 180) {
				t.Fatalf("reported at %v, %v", lat, lon)
			}
			if c := region.Cell(lat, lon); g == inside && region.Admissible(c) != c {
				t.Fatalf("%v, %v is outside of the region", lat, lon)
			}
		}
	}
}

// The cdf is that of two independent normal variates of deviation 1/sqrt 2, the quantile its
// inverse, and the mean that of the law.
func TestGaussLaw(t *testing.T) {
	const h = 0.01
	for _, x := range []float64{0.3, 1, 2, 3.5} {
		within, all := 0., 0.
		for i := -6.; i <= 6; i += h {
			for j := -6.; j <= 6; j += h {
				w := math.Exp(-i*i - j*j)
				all += w
				if i*i+j*j <= x*x {
					within += w
				}
			}
		}
		if c := GaussLaw.cdf(x); math.Abs(c-within/all) > 1e-3 {
			t.Errorf("cdf(%v) = %v, by sums %v", x, c, within/all)
		}
	}
	for _, p := range []float64{0, 1e-9, 0.01, 0.5, 0.95, 1 - 1e-9} {
		if back := GaussLaw.cdf(GaussLaw.quantile(p)); math.Abs(back-p) > 1e-14 {
			t.Errorf("the cdf of the quantile of %v is %v", p, back)
		}
	}
	mean := 0.
	for x := 0.0005; x < 8; x += 0.001 {
		mean += 0.001 * (1 - GaussLaw.cdf(x))
	}
	if math.Abs(mean-GaussLaw.mean) > 1e-6 {
		t.Errorf("mean %v, by integration %v", GaussLaw.mean, mean)
	}
	r, err := GaussLaw.Plane(0.005).Radius(0.95) // sigma is 10 m
	if want := 10 * math.Sqrt(-2*math.Log(0.05)); err != nil || math.Abs(r-want) > 1e-12 {
		t.Errorf("radius %v, %v, want %v", r, err, want)
	}
}

// Half a cell's diagonal and a hundredth of a step are enough for the lattice, and half the
// diagonal is not: see TestHalfDiagonalBoundsLattice.
func TestHalfDiagonalBoundsLatticeUnderGauss(t *testing.T) {
	const h = math.Sqrt2 / 2
	tooSmall := 0
	for _, root := range []float64{.05, .1, .2, .5, math.Ln2, 1, 1.25, 1.5, 1.7, 1.745, 1.85, 2, 2.3, 3, 4, 6} {
		norm := func(z Cell) float64 { return root * float64(z.I*z.I+z.J*z.J) }
		for _, u := range [][2]float64{{0, 0}, {.25, 0}, {.5, 0}, {.25, .25}, {.5, .25}, {.5, .5}, {.4, .1}} {
			worst := worstMargins(root, norm, func(x float64) float64 { return -x * x }, u, h+GaussLaw.coarse, h)
			if worst[0] < -1e-9 {
				t.Errorf("rate %v, location %v: bound fails by %g", root, u, worst[0])
			}
			if worst[1] < -1e-4 {
				tooSmall++
			}
		}
	}
	if tooSmall == 0 {
		t.Error("half a diagonal is enough")
	}
}

// Daily reports of a year that keep (1, 1e-6) at 20 m, each of the same share: with Laplace
// noise, with epsilons that are summed, they lie 7.2 times as far off. On 40 walks of a year, or
// 14,600 reports of each, both means are within a tenth of the value of Mean, which is 17
// standard deviations or more: by Bernstein's inequality a false alarm is below 1e-20. A rho
// that is taken for the total, or shared as an epsilon for each, would be caught.
func TestYearOfReports(t *testing.T) {
	const walks, days, distance = 40, 365, 20.
	d := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	apart := distance + d.step*math.Sqrt2
	total, ok := budget.LargestGaussRho(1, 1e-6, apart, d.step)
	if !ok {
		t.Fatal("no rho")
	}
	gauss := mustMechanism(t, d, "gauss", new(big.Rat).Quo(total, big.NewRat(days, 1)))
	laplace := mustMechanism(t, d, "laplace", new(big.Rat).SetFloat64(1/apart/days))
	src, off := exact.NewSource(nil), map[Mechanism]float64{}
	for report := range walks * days {
		at := float64(report)
		lat, lon := 40.25+0.2*math.Sin(at/20), 116.5+0.3*math.Sin(at/33)
		for _, m := range []Mechanism{gauss, laplace} {
			zlat, zlon := m.Draw(src, lat, lon)
			off[m] += Distance(lat, lon, zlat, zlon) / (walks * days)
		}
	}
	for _, m := range []Mechanism{gauss, laplace} {
		if mean := m.Accuracy().Mean(); math.Abs(off[m]-mean) > mean/10 {
			t.Errorf("%v: reports are %v m off, not %v", m.Accuracy().Law(), off[m], mean)
		}
	}
	if times := laplace.Accuracy().Mean() / gauss.Accuracy().Mean(); times < 7.2 || times > 7.3 {
		t.Errorf("Laplace noise is %v times as large", times)
	}
	t.Logf("a year of reports at (1, 1e-6) and 20 m: %.0f m off, with Laplace noise %.0f m", off[gauss], off[laplace])
}
