package optimal_test

import (
	"context"
	"fmt"
	"math"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/optimal"
)

// Four places on a line, a kilometre apart; the second is the most popular.
func Example() {
	d := optimal.NewMatrix(4, 4)
	for x, row := range d {
		for z := range row {
			row[z] = math.Abs(float64(x - z))
		}
	}
	p := optimal.Problem{
		Prior:   []float64{1, 4, 2, 1},
		Quality: d,
		Privacy: d,
		Epsilon: math.Ln2, // per kilometre
	}
	solution, err := optimal.Solve(context.Background(), p, optimal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := optimal.New(p.Epsilon, p.Privacy, solution.Matrix)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("average loss %.3f km\n", optimal.Loss(p.Prior, m.Matrix(), d))
	z := m.Draw(exact.NewSource(nil), 3)
	fmt.Println("a place was drawn:", z >= 0 && z < m.Len())
	// Output:
	// average loss 0.542 km
	// a place was drawn: true
}
