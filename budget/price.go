package budget

import "math/big"

// A Price is charged for one release to the account of the released secret.
type Price struct {
	Unit   Unit
	Amount Amount // of epsilon, per Unit
}

// NewPrice returns the price of a release at eps per unit. Its errors are those of [Cost].
func NewPrice(unit Unit, eps *big.Rat) (Price, error) {
	amount, err := Cost(eps)
	return Price{unit, amount}, err
}
