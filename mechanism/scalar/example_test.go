package scalar_test

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

// A household's consumption of three hours is released as one noisy sum.
func Example() {
	hourly, err := scalar.NewUniverse("hourly", 0, 10, 0.1, "kWh")
	if err != nil {
		fmt.Println(err)
		return
	}
	// epsilon is 1 per kWh: the accuracy of each reading is protected.
	query, err := scalar.NewQuery(scalar.Sum, hourly, budget.D1, big.NewRat(1, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	var readings scalar.Accumulator
	for _, kWh := range []float64{0.4, 1.7, 25} { // 25 counts as 10
		query.Add(&readings, kWh)
	}
	released := query.Draw(exact.NewSource(nil), &readings)
	_ = released // random

	radius, err := query.Radius(0.95, 0)
	fmt.Println(hourly)
	fmt.Println("charged per", query.Price().Unit, "and once for all rows:", !query.PerRow())
	fmt.Println("within", radius, "kWh with probability 0.95", err)
	// Output:
	// hourly: 0 to 10 in steps of 0.1 kWh, 101 values
	// charged per kWh and once for all rows: true
	// within 3 kWh with probability 0.95 <nil>
}

// Readings are moved to the nearest value of the universe.
func ExampleUniverse_Index() {
	u, err := scalar.NewUniverse("celsius", -10, 40, 0.5, "degree")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, x := range []float64{20.2, 20.25, 99} {
		fmt.Println(u.Value(u.Index(x)))
	}
	// Output:
	// 20
	// 20.5
	// 40
}

func ExampleNewUniverse() {
	_, err := scalar.NewUniverse("u", 0, 1, 0.3, "kWh")
	fmt.Println(err)
	_, err = scalar.NewUniverse("u", 0, 1, 0.1, "record")
	fmt.Println(err)
	// Output:
	// step 0.3 does not divide the range from lo 0 to hi 1
	// unit "record" is reserved
}
