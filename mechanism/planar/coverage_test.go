package planar

import (
	"math/big"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Reports of every mechanism are within the radius as often as it says: between p - 0.01 and
// p + 0.03 on a lattice that is fine for the noise, wherever the location is, and at the
// epsilon that is returned for a radius. 100,000 draws a case. By Hoeffding's inequality a
// share is more than 0.01 below a true coverage of p or more, or 0.02 above one of p + 0.01 or
// less, with a probability below e^-20 = 2.1e-9; any case with one below 1e-6.
// On a coarse lattice the radius is a bound.
func TestRadiusCoversDraws(t *testing.T) {
	probabilities := []float64{0.5, 0.9, 0.95, 0.99}
	beijing := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 1)
	coarse := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 300)
	for _, name := range Mechanisms() {
		law, err := LawOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, place := range [][2]float64{{40.25, 116.5}, {39.4, 117.6}} { // the centre, and a corner
			m := mustMechanism(t, beijing, name, strengthOf(law))
			for k, share := range coverage(m, place[0], place[1], probabilities, radiusOf(t, m.Accuracy())) {
				if p := probabilities[k]; share < p-0.01 || share > p+0.03 {
					t.Errorf("%s at %v: %v of the reports are within the radius of %v", name, place, share, p)
				}
			}
		}
		m := mustMechanism(t, coarse, name, strengthOf(law))
		for k, share := range coverage(m, 40.1, 116.3, probabilities, radiusOf(t, m.Accuracy())) {
			if p := probabilities[k]; share < p-0.01 {
				t.Errorf("%s on a coarse lattice: %v of the reports are within the radius of %v", name, share, p)
			}
		}
		for _, p := range probabilities {
			eps, err := law.EpsilonFor(beijing, 500, p)
			if err != nil {
				t.Fatal(err)
			}
			m := mustMechanism(t, beijing, name, eps)
			share := coverage(m, 40.1, 116.3, []float64{p}, func(float64) float64 { return 500 })[0]
			if share < p-0.01 || share > p+0.03 {
				t.Errorf("%s at the epsilon for %v: %v of the reports are within 500 m", name, p, share)
			}
		}
	}
}

// strengthOf returns an epsilon, or a rho, with noise of some hundred metres.
func strengthOf(law *Law) *big.Rat {
	if law.Unit() == budget.SquareMetre {
		return big.NewRat(5, 1_000_000)
	}
	return big.NewRat(5, 1000)
}

func mustMechanism(t *testing.T, d *Domain, name string, eps *big.Rat) Mechanism {
	t.Helper()
	m, err := d.Mechanism(name, eps)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func radiusOf(t *testing.T, a Accuracy) func(p float64) float64 {
	return func(p float64) float64 {
		r, err := a.Radius(p)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// coverage returns which shares of 100,000 reports are within the radius of each probability.
func coverage(m Mechanism, lat, lon float64, probabilities []float64, radius func(p float64) float64) []float64 {
	const draws = 100_000
	radii, shares := make([]float64, len(probabilities)), make([]float64, len(probabilities))
	for k, p := range probabilities {
		radii[k] = radius(p)
	}
	src := exact.NewSource(nil)
	for range draws {
		zlat, zlon := m.Draw(src, lat, lon)
		for k, off := 0, Distance(lat, lon, zlat, zlon); k < len(radii); k++ {
			if off <= radii[k] {
				shares[k] += 1. / draws
			}
		}
	}
	return shares
}

// The epsilon for a radius has that radius or a little less, and the next decimal below has
// more, or cannot be charged.
func TestEpsilonFor(t *testing.T) {
	beijing := mustDomain(t, 39.4, 115.4, 41.1, 117.6, 10)
	below := big.NewRat(99999, 100000)
	for _, name := range Mechanisms() {
		law, err := LawOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*Domain{nil, beijing} {
			radius := func(eps *big.Rat, p float64) float64 {
				if d != nil {
					return radiusOf(t, law.On(d, eps))(p)
				}
				e, _ := eps.Float64()
				return radiusOf(t, law.Plane(e))(p)
			}
			for _, p := range []float64{1e-6, 0.5, 0.95, 1 - 1e-9} {
				for _, r := range []float64{7.3, 100, 484.3, 12345.678, 1e7} {
					eps, err := law.EpsilonFor(d, r, p)
					if err != nil {
						t.Fatal(err)
					}
					if radius(eps, p) > r || eps.Cmp(budget.Amount(1).Rat()) > 0 && radius(new(big.Rat).Mul(eps, below), p) <= r {
						t.Errorf("%s, %v: the epsilon for %v m at %v is %v", name, d, r, p, eps)
					}
				}
			}
		}
		least := radiusOf(t, law.On(beijing, big.NewRat(9_000_000, 1)))(0.95)
		if eps, err := law.EpsilonFor(beijing, least, 0.95); err != nil || eps.Cmp(big.NewRat(9_000_000, 1)) > 0 {
			t.Errorf("%s: the epsilon for the least radius is %v, %v", name, eps, err)
		}
		if eps, err := law.EpsilonFor(beijing, 7.07, 0.95); err == nil {
			t.Errorf("%s: the epsilon for less than half a diagonal is %v", name, eps)
		}
		for _, p := range []float64{-0.1, 1} {
			if eps, err := law.EpsilonFor(nil, 500, p); err == nil {
				t.Errorf("%s: the epsilon at %v is %v", name, p, eps)
			}
		}
	}
}
