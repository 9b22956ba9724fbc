package optimal_test

import (
	"math"
	"testing"

	"github.com/geosql/geosql/internal/golden"
	"github.com/geosql/geosql/mechanism/optimal"
)

// A matrix has the same repaired weights and the same certificate on every platform; what a solver makes may
// differ in the last bits of its matrix.
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
	n.Check(t, "testdata/numbers.txt")
}
