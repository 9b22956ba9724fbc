package exact_test

import "math/big"

// The oracle computes with an ordinary series in floating point of such
// precision that its error does not matter; it shares nothing with the package.
const oraclePrecision = 4_000

func bigFloat() *big.Float { return new(big.Float).SetPrec(oraclePrecision) }

// oracleExp is e^-x for 0 <= x <= 1000: the reciprocal of sum x^k/k!, whose
// terms are all positive, to 2^-3000 at least.
func oracleExp(x *big.Rat) *big.Float {
	arg := bigFloat().SetRat(x)
	term := bigFloat().SetInt64(1)
	sum := bigFloat().SetInt64(1)
	for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -3000; k++ {
		term.Quo(term.Mul(term, arg), bigFloat().SetInt64(k))
		sum.Add(sum, term)
	}
	return sum.Quo(bigFloat().SetInt64(1), sum)
}

// oracleGeometricTail is P(k >= n) = q^n for the geometric law.
func oracleGeometricTail(rate float64, n int64) *big.Float {
	return oracleExp(new(big.Rat).Mul(new(big.Rat).SetFloat64(rate), new(big.Rat).SetInt64(n)))
}

// oracleTail is P(|k| >= n) = 2 q^n/(1+q) for the discrete Laplace law.
func oracleTail(rate float64, n int64) *big.Float {
	tail := oracleGeometricTail(rate, n)
	tail.Mul(tail, bigFloat().SetInt64(2))
	return tail.Quo(tail, bigFloat().Add(oracleGeometricTail(rate, 1), bigFloat().SetInt64(1)))
}

// leadingBits is floor(p 2^n) for p in (0,1).
func leadingBits(p *big.Float, n int) *big.Int {
	bits, _ := bigFloat().SetMantExp(p, n).Int(nil)
	return bits
}
