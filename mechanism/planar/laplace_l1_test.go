package planar

import (
	"math"
	"math/big"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
	"pgregory.net/rapid"
)

func l1AtRate(t *testing.T, d *Domain, perAxis float64) *LaplaceL1 {
	t.Helper()
	l, err := d.LaplaceL1(new(big.Rat).SetFloat64(perAxis * math.Sqrt2 / d.step * (1 + d.kappa)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func l1(z Cell) float64 { return math.Abs(float64(z.I)) + math.Abs(float64(z.J)) }

// l1Table is the law about every secret by enumeration, moved by move. The weight of an
// axis outside of the window is below 1e-15.
func l1Table(secrets []Cell, perAxis float64, window int64, move func(Cell) Cell) table {
	norm := math.Pow(math.Tanh(perAxis/2), 2)
	return tabulated(secrets, window, move, func(z, x Cell) float64 {
		return norm * math.Exp(-perAxis*l1(Cell{z.I - x.I, z.J - x.J}))
	})
}

// By enumeration the bound of epsilon per Euclidean metre holds for all pairs of secrets and
// all outputs, with and without a region. It is reached along the diagonals, and noise of
// 10 % less is caught.
func TestL1PrivacyByEnumeration(t *testing.T) {
	const perAxis, window = 0.3, 30
	rate := perAxis * math.Sqrt2
	whole := gridDomain(t)
	region, err := whole.WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	secrets := secretsOf(whole)
	plain := l1Table(secrets, perAxis, window, whole.Admissible)
	for name, law := range map[string]table{"plain": plain, "region": l1Table(secrets, perAxis, window, region.Admissible)} {
		if e := law.excess(rate); e > 1e-12 {
			t.Errorf("%s: exceeds the bound by %g", name, e)
		}
	}
	if e := plain.excess(rate * 0.9999); e < 1e-5 {
		t.Errorf("the bound is not reached: %g", e)
	}
	if e := l1Table(secrets, 1.1*perAxis, window, region.Admissible).excess(rate); e < 1e-3 {
		t.Errorf("epsilon 10 %% too large is not caught: %g", e)
	}
}

// The reports of Draw have the law of the enumeration: n = 150,000 for each of two secrets,
// false alarm 1e-10 each. Noise that is used on both axes is caught.
func TestL1DrawInRegion(t *testing.T) {
	const perAxis, n = 0.3, 150_000
	region, err := gridDomain(t).WithRegion(t.Context(), concave)
	if err != nil {
		t.Fatal(err)
	}
	l := l1AtRate(t, region, perAxis)
	src := exact.NewSource(nil)
	secrets := []Cell{{-3, 2}, {6, -6}}
	law := l1Table(secrets, perAxis, 120, region.Admissible)
	for k, x := range secrets {
		lat, lon := region.Location(x)
		reports, planted := newTally[printed](), newTally[printed]()
		for m, z := range law.outputs {
			reports.probability[region.print(z)] = law.rows[k][m]
			planted.probability[region.print(z)] = law.rows[k][m]
		}
		for range n {
			zlat, zlon := l.Draw(src, lat, lon)
			reports.count[printed{toUnits(zlat), toUnits(zlon)}]++
			once := l.axis.Draw(src)
			planted.count[region.print(region.Admissible(x.add(once, once)))]++
		}
		if err := reports.check(n, 1e-10); err != nil {
			t.Errorf("secret %v: %v", x, err)
		}
		if planted.check(n, 1e-10) == nil {
			t.Errorf("secret %v: noise that is used twice is not caught", x)
		}
	}
}

// The rate never spends more than epsilon: 2*(rate*(1+kappa))^2 <= (eps*step)^2 as rationals.
func TestL1RateRoundsDown(t *testing.T) {
	d := gridDomain(t)
	rapid.Check(t, func(t *rapid.T) {
		eps := big.NewRat(rapid.Int64Range(1, 9_000_000).Draw(t, "num"), rapid.Int64Range(1, 1<<40).Draw(t, "den"))
		rate, err := d.rate(new(big.Rat).Mul(eps, belowRootHalf))
		if err != nil {
			t.Fatal(err)
		}
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		spent := new(big.Rat).Mul(rat(rate), new(big.Rat).Add(rat(d.kappa), big.NewRat(1, 1)))
		paid := new(big.Rat).Mul(eps, rat(d.step))
		if spent.Mul(spent, spent).Mul(spent, big.NewRat(2, 1)).Cmp(paid.Mul(paid, paid)) > 0 {
			t.Fatalf("eps %v: rate %v", eps, rate)
		}
	})
	if square := new(big.Rat).Mul(belowRootHalf, belowRootHalf); square.Cmp(big.NewRat(1, 2)) >= 0 {
		t.Error("belowRootHalf is not below")
	}
}

// The cdf is that of two independent Laplace variates, by sums over a fine grid; the
// quantile is its inverse, and the mean that of the law.
func TestL1Law(t *testing.T) {
	// On a lattice of rate h per axis, x = sqrt 2*h*|z| in units of 1/epsilon. The lattice
	// differs from the plane by O(h) near the circle.
	const h = 0.01
	for _, x := range []float64{0.3, 1, 2, 3.5, 6, 12} {
		within, reach := 0., x/(math.Sqrt2*h)
		for i := -math.Floor(reach); i <= reach; i++ {
			// The weights of j within a height sum up geometrically.
			height := math.Floor(math.Sqrt(reach*reach - i*i))
			q := math.Exp(-h)
			within += math.Exp(-h*math.Abs(i)) * (1 + q - 2*math.Pow(q, height+1)) / (1 - q)
		}
		within *= math.Pow(math.Tanh(h/2), 2)
		if c := LaplaceL1Law.cdf(x); math.Abs(c-within) > 2e-4 {
			t.Errorf("C1(%v) = %v, by sums %v", x, c, within)
		}
	}
	for _, p := range []float64{0, 1e-9, 0.01, 0.3, 0.4999, 0.5, 0.95, 1 - 1e-9} {
		x := LaplaceL1Law.quantile(p)
		if back := LaplaceL1Law.cdf(x); math.Abs(back-p) > 1e-14+1e-12*p {
			t.Errorf("C1 of the quantile of %v is %v", p, back)
		}
	}
	mean := 0.
	for x := 0.005; x < 80; x += 0.01 {
		mean += 0.01 * (1 - LaplaceL1Law.cdf(x))
	}
	if math.Abs(mean-LaplaceL1Law.mean) > 1e-5 {
		t.Errorf("mean %v, by integration %v", LaplaceL1Law.mean, mean)
	}
}

// Half a cell's diagonal is enough for the lattice here too: see
// TestHalfDiagonalBoundsLattice.
func TestHalfDiagonalBoundsLatticeUnderL1(t *testing.T) {
	const h = math.Sqrt2 / 2
	norm := func(z Cell) float64 { return l1(z) / math.Sqrt2 }
	lnTail := func(x float64) float64 {
		return math.Log(overDirections(x, func(w float64) float64 { return (1 + w) * math.Exp(-w) }))
	}
	for _, perAxis := range []float64{.05, .1, .2, .5, math.Ln2, 1, 2, 4, 6} {
		for _, u := range [][2]float64{{0, 0}, {.25, 0}, {.5, 0}, {.25, .25}, {.5, .25}, {.5, .5}, {.4, .1}} {
			if worst := worstMargins(perAxis*math.Sqrt2, norm, lnTail, u, h)[0]; worst < -1e-9 {
				t.Errorf("rate %v, location %v: bound fails by %g", perAxis, u, worst)
			}
		}
	}
}
