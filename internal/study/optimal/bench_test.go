package optimal

import (
	"math/rand/v2"
	"testing"
)

// scattered returns places in a square of side 10, the same in every run.
func scattered(n int) (places []Place) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		places = append(places, Place{10 * r.Float64(), 10 * r.Float64(), 1})
	}
	return places
}

func BenchmarkPlanarLaplace200(b *testing.B) {
	places := scattered(200)
	for b.Loop() {
		if _, err := PlanarLaplaceMatrix(b.Context(), ln2, places); err != nil {
			b.Fatal(err)
		}
	}
}
