package planar

import (
	"crypto/rand"
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/exact"
)

// TestGaussianLaw compares draws with normal probabilities about the unrounded image,
// cell by cell: n = 600,000, false alarm below 1e-10 (Bernstein, 441 cells). Noise about
// the rounded image is told apart, ten standard deviations from where it would be missed.
func TestGaussianLaw(t *testing.T) {
	const n, sigma = 600_000, 1.7
	d := gridDomain(t)
	g, err := d.Gaussian(sigma * sigma * d.step * d.step)
	if err != nil {
		t.Fatal(err)
	}
	if g.sigma < sigma || g.sigma > sigma*(1+1e-14) {
		t.Fatalf("sigma %v, want %v", g.sigma, sigma)
	}
	const lat, lon = 40.00112, 116.00233
	x, y := d.position(lat, lon)
	src := exact.NewSource(rand.Reader)
	counts := map[printed]int{}
	for range n {
		zlat, zlon := g.Draw(src, lat, lon)
		counts[printed{toUnits(zlat), toUnits(zlon)}]++
	}
	if e := gaussianExcess(d, counts, x, y, sigma, n); e > 1 {
		t.Errorf("draws differ from the law: %.3f of what chance allows", e)
	}
	if e := gaussianExcess(d, counts, math.Round(x), math.Round(y), sigma, n); e < 1.5 {
		t.Errorf("noise about the lattice point is not told apart: %.3f", e)
	}
}

func gaussianExcess(d *Domain, counts map[printed]int, x, y, sigma float64, n int) (most float64) {
	share := func(k int64, c float64) float64 {
		phi := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
		return phi((float64(k)+.5-c)/sigma) - phi((float64(k)-.5-c)/sigma)
	}
	for j := int64(-10); j <= 10; j++ {
		for i := int64(-10); i <= 10; i++ {
			want := float64(n) * share(i, x) * share(j, y)
			got := float64(counts[d.print(Cell{i, j})])
			most = max(most, math.Abs(got-want)/(7.5*math.Sqrt(want)+20))
		}
	}
	return most
}

func TestGaussianRefuses(t *testing.T) {
	d := gridDomain(t)
	for _, variance := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := d.Gaussian(variance); err == nil {
			t.Errorf("variance %v is accepted", variance)
		}
	}
}

// TestMaxFrameDistance: kappa is tested elsewhere against geodesics; the rest is a rounding error.
func TestMaxFrameDistance(t *testing.T) {
	d := gridDomain(t)
	for _, metres := range []float64{0, 1, 250, 1e4} {
		if a := d.MaxFrameDistance(metres); a < metres || a > metres*(1+2*d.kappa)+1e-6 {
			t.Errorf("%v metres are %v in the frame", metres, a)
		}
	}
}
