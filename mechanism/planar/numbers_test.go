package planar

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/geosql/geosql/internal/golden"
)

// Frames, images, locations, rates and radii are the same to the last bit on every platform: two machines
// that know one declaration have one domain.
func TestNumbers(t *testing.T) {
	var n golden.Numbers
	for _, d := range []*Domain{
		mustDomain(t, 39.7, 116.1, 40.1, 116.7, 10),
		mustDomain(t, -34.7, -58.6, -34.5, -58.3, 0.001),
		mustDomain(t, 47, 5, 55, 16, 100),
		mustDomain(t, -1, -80, 1, -78, 1),
		mustDomain(t, 83, -120, 90, 20, 50),
		mustDomain(t, -90, 0, -70, 90, 1000),
		mustDomain(t, 60, 170, 72, -165, 25),
		mustDomain(t, -20, 100, 40, 150, 5000),
		mustDomain(t, 51.4777, -0.0015, 51.4779, 0.0015, 0.25),
	} {
		name := fmt.Sprintf("%v,%v,%v,%v,%v", d.box.South, d.box.West, d.box.North, d.box.East, d.step)
		n.Add(name+" frame", d.frame.lon0, d.frame.chi0, d.frame.sin0, d.frame.cos0, d.frame.diameter)
		n.Add(name+" kappa", d.kappa, d.reach, d.width, d.height, d.quantumRate)
		images, locations := golden.NewHash(), golden.NewHash()
		const parts = 60
		for i := range parts + 1 {
			for j := range parts + 1 {
				at := func(k int, from, to float64) float64 { return from + float64(float64(k)*(to-from))/parts }
				images.Add(d.grid.project(at(i, d.box.South, d.box.North), at(j, -d.box.Half, d.box.Half)))
				x, y := at(i, -2*d.reach/d.step, 2*d.reach/d.step), at(j, -2*d.reach/d.step, 2*d.reach/d.step)
				locations.Add(d.grid.unproject(x, y))
				locations.Add(d.Location(Cell{int64(x), int64(y)}))
			}
		}
		n.AddHash(name+" images", images)
		n.AddHash(name+" locations", locations)
		for _, law := range []*Law{LaplaceLaw, LaplaceL1Law, GaussLaw} {
			radii := []float64{law.mean}
			for _, eps := range []*big.Rat{big.NewRat(1, 1000), big.NewRat(3, 100)} {
				for _, a := range []Accuracy{law.Plane(law.rate(0.0123)), law.On(d, eps)} {
					for _, p := range []float64{0.01, 0.5, 0.95, 0.999999} {
						r, err := a.Radius(p)
						if err != nil {
							t.Fatal(err)
						}
						radii = append(radii, r, a.Confidence(r*0.75))
					}
				}
			}
			n.Add(name+" radii of the "+law.String(), radii...)
		}
	}
	for _, law := range []*Law{LaplaceLaw, LaplaceL1Law, GaussLaw} {
		laws := golden.NewHash()
		for k := 1; k < 1000; k++ {
			laws.Add(law.quantile(float64(k)/1000), law.cdf(float64(k)/50))
		}
		n.AddHash("law of the "+law.String(), laws)
	}
	angles := golden.NewHash()
	for k := -180 * 64; k <= 180*64; k++ {
		sin, cos := sincos(float64(k) / 64)
		angles.Add(sin, cos, bearing(cos, sin))
	}
	n.AddHash("sines, cosines and bearings", angles)
	n.Check(t, "testdata/numbers.txt")
}
