package budget

import (
	"math/big"
	"sort"
)

// LeastEpsilon returns the smallest epsilon that is enough, among the decimals of at most six
// significant digits from 1e-12 to [Max]. So it is at most 1e-5 of itself above the smallest
// of all. An epsilon above one that is enough must be enough too. LeastEpsilon reports false
// if none is.
func LeastEpsilon(enough func(eps *big.Rat) bool) (eps *big.Rat, ok bool) {
	// They are j * 10^(i-17), for j from 100,000 to 999,999 and i from 0.
	const mantissas, first = 900_000, 100_000
	decimal := func(k int) *big.Rat {
		j, i := big.NewInt(int64(first+k%mantissas)), k/mantissas
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
		return new(big.Rat).SetFrac(j.Mul(j, power), hundredThousandOnes)
	}
	const count = 18*mantissas + 9*first - first + 1 // up to 900,000 * 10
	k := sort.Search(count, func(k int) bool { return enough(decimal(k)) })
	if k == count {
		return nil, false
	}
	return decimal(k), true
}

// hundredThousandOnes is 1e5 of One.
var hundredThousandOnes = new(big.Int).Mul(big.NewInt(int64(One)), big.NewInt(100_000))
