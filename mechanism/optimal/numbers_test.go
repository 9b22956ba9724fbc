package optimal_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/geosql/geosql/internal/golden"
	"github.com/geosql/geosql/mechanism/optimal"
	"github.com/geosql/geosql/mechanism/planar"
)

// A matrix has the same repaired weights, certificate, losses and guesses on every platform, and locations are at most as
// far from their places; the solver's matrix may differ in its last bits.
func TestNumbers(t *testing.T) {
	const places = 40
	k := optimal.NewMatrix(places, places)
	for x, row := range k { // a truncated geometric mechanism of ratio 1/2
		for z := range row {
			row[z] = math.Ldexp(1./3, -max(x-z, z-x))
			if z == 0 || z == places-1 {
				row[z] *= 2
			}
		}
	}
	m, err := optimal.New(0.7, line(places, 1), k)
	if err != nil {
		t.Fatal(err)
	}
	weights := golden.NewHash()
	for x := range places {
		for z := range places {
			weights.Add(math.Float64frombits(m.Weight(x, z)))
		}
	}
	var n golden.Numbers
	n.Add("weights sum to", math.Float64frombits(m.Total()))
	n.AddHash("weights", weights)

	src := rand.New(rand.NewPCG(1, 2))
	measures := golden.NewHash()
	for range 10 {
		prior, losses := make([]float64, places), optimal.NewMatrix(places, places)
		for x, row := range losses {
			prior[x] = src.Float64()
			for z := range row {
				row[z] = src.Float64()
			}
		}
		measures.Add(optimal.Loss(prior, m.Matrix(), losses), optimal.AdversaryError(prior, m.Matrix(), losses))
		for _, guess := range optimal.Remap(prior, m.Matrix(), losses) {
			measures.Add(float64(guess))
		}
	}
	n.AddHash("losses and guesses", measures)

	d := must(planar.NewDomain("small", 40, 116, 40.01, 116.02, 50))
	for i := range 4 {
		b := optimal.NewBuilder(d, optimal.Euclid, optimal.QualityEuclid)
		for range 3 + i {
			lat, lon := 40+src.Float64()/100, 116+src.Float64()/50
			if err := errors.Join(b.Add(lat, lon, 1), b.AddOutput(lat, lon)); err != nil {
				t.Fatal(err)
			}
		}
		n.Add("farthest", must(b.Build(context.Background(), 0.001, 1)).Info().Farthest)
	}
	n.Check(t, "testdata/numbers.txt")
}
