package exact_test

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
)

// A count is released with noise of epsilon 1/10: a neighbouring count has every outcome
// with a probability within a factor e^(1/10), exactly.
func Example() {
	rate, err := exact.RateFloor(big.NewRat(1, 10)) // the nearest float64 that is not above
	if err != nil {
		fmt.Println(err)
		return
	}
	noise, err := exact.NewDiscreteLaplace(rate)
	if err != nil {
		fmt.Println(err)
		return
	}
	source := exact.NewSource(nil) // entropy of the operating system
	released := 42 + noise.Draw(source)
	fmt.Println(released > 42-1000 && released < 42+1000)
	// Output: true
}
