package cip_test

import (
	"context"
	"fmt"

	"github.com/geosql/geosql/mechanism/cip"
)

// A reading each hour; every other one is to be protected.
func Example() {
	policy, err := cip.ParsePolicy(`{"kernel": "rbf", "variance": 1, "length_scale": 1,
		"radius": 1, "lambda": 2, "family": "every-other", "epsilon": 5}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	times, _ := cip.ParseTimes(`[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]`)
	loss, _ := policy.Loss(context.Background(), times, 1)
	sigma2, _ := policy.SmallestSigma2(context.Background(), times)
	fmt.Printf("variance 1 loses %.5f, %.5f if points were independent\n", loss.Loss, loss.Independent)
	fmt.Printf("variance %.5f loses 5\n", sigma2)
	// Output:
	// variance 1 loses 9.17045, 5.00000 if points were independent
	// variance 1.87155 loses 5
}
