package planar_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/planar"
)

// A location is reported with ln 4 over 200 m, from a lattice of one metre; the
// report stays within the radius with the probability asked for.
func Example() {
	beijing, err := planar.NewDomain("beijing", 39.4, 115.4, 41.1, 117.6, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	epsilon := big.NewRat(693, 100_000) // per metre
	mechanism, err := beijing.Laplace(epsilon)
	if err != nil {
		fmt.Println(err)
		return
	}
	lat, lon := mechanism.Draw(exact.NewSource(nil), 39.9087, 116.3975)
	_, _ = lat, lon // random

	radius, err := planar.LaplaceLaw.On(beijing, epsilon).Radius(0.95)
	fmt.Println(beijing)
	fmt.Printf("%.1f m %v\n", radius, err)
	// Output:
	// beijing: 187.2 km x 188.8 km, step 1 m, kappa 0.00012, largest sensible epsilon 0.1/m
	// 685.4 m <nil>
}

func ExampleDomain_WithRegion() {
	paris, err := planar.NewDomain("paris", 48.80, 2.20, 48.92, 2.48, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = paris.WithRegion(context.Background(), "POLYGON((48.85 2.3, 48.87 2.3, 48.87 2.4, 48.85 2.3))")
	fmt.Println(err)
	_, err = paris.WithRegion(context.Background(), "POLYGON((2.3 48.85, 2.3 48.87, 2.4 48.87, 2.3 48.85))")
	fmt.Println(err)
	// Output:
	// wkt has no lattice point of the domain's box in it; remember that WKT is lon lat
	// <nil>
}

// The radius that holds the report with a given probability, and the radius within which a
// service must look so as not to miss anything within 300 m of the location.
func ExampleAccuracy() {
	const epsilon = 0.00693 // per metre: ln 4 over 200 m
	accuracy := planar.LaplaceLaw.Plane(epsilon)
	within, err := accuracy.Radius(0.95)
	fmt.Printf("%.0f m %v\n", within, err)
	ask, err := accuracy.RetrievalRadius(0.95, 300)
	fmt.Printf("%.0f m %v\n", ask, err)
	// Output:
	// 685 m <nil>
	// 985 m <nil>
}
