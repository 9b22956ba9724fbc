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
	k := sort.Search(decimals, func(k int) bool { return enough(decimal(k)) })
	if k == decimals {
		return nil, false
	}
	return decimal(k), true
}

// The decimals of at most six significant digits from 1e-12 to [Max], in ascending order,
// are j * 10^(i-17), for j from 100,000 to 999,999 and i from 0, up to 900,000 * 10.
const (
	mantissas, firstMantissa = 900_000, 100_000
	decimals                 = 18*mantissas + 9*firstMantissa - firstMantissa + 1
)

// decimal returns number k of them, from 0.
func decimal(k int) *big.Rat {
	j, i := big.NewInt(int64(firstMantissa+k%mantissas)), k/mantissas
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	return new(big.Rat).SetFrac(j.Mul(j, power), hundredThousandOnes)
}

// hundredThousandOnes is 1e5 of One.
var hundredThousandOnes = new(big.Int).Mul(big.NewInt(int64(One)), big.NewInt(100_000))
