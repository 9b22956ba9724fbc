package budget_test

import (
	"fmt"
	"math/big"

	"github.com/geosql/geosql/budget"
)

// Ten charges of 0.1 exhaust a limit of 1 exactly: amounts are decimals, not floats.
func Example() {
	limit, err := budget.Limit(big.NewRat(1, 1))
	if err != nil {
		fmt.Println(err)
		return
	}
	price, err := budget.NewPrice(budget.Metre, budget.Decimal(0.1))
	if err != nil {
		fmt.Println(err)
		return
	}
	spent, ok := price.Amount.Times(10)
	fmt.Println(price.Amount, "per", price.Unit)
	fmt.Println(limit-spent, "left", ok)
	// Output:
	// 0.1 per m
	// 0 left true
}

// A cost is rounded up and a limit down, to multiples of 1e-12.
func ExampleCost() {
	third := big.NewRat(1, 3)
	cost, _ := budget.Cost(third)
	limit, _ := budget.Limit(third)
	fmt.Println(cost)
	fmt.Println(limit)
	_, err := budget.Cost(new(big.Rat))
	fmt.Println(err)
	// Output:
	// 0.333333333334
	// 0.333333333333
	// epsilon must be above 0
}

// With a fixed utility, a step tests its prediction as long as the budget pays for a test
// and for the noise that a failed test needs.
func ExampleFixedUtility() {
	manager := budget.FixedUtility{
		Epsilon: budget.One / 50, Alpha: 1000,
		Tuning: budget.Tuning{NoiseQuantile: 3.89, Eta: 0.5, Gamma: 0.8},
	}
	first := manager.Allot(budget.History{})
	fmt.Printf("test %.6f, noise %.6f within %.0f\n", first.Test.Float64(), first.Noise.Float64(), first.Accuracy)
	last := manager.Allot(budget.History{Points: 9, Spent: budget.One / 50})
	fmt.Println(last.Test, last.Noise)
	// Output:
	// test 0.001811, noise 0.003890 within 1000
	// 0 0
}
