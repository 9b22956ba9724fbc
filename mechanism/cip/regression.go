package cip

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"gonum.org/v1/gonum/mat"
)

// A regression describes u, the other points, given s, the points of a set, in units of
// the prior's variance: u given s has the mean A*s and the covariance C, with
//
//	A = R_us*R_ss^-1,  C = R_uu - R_us*R_ss^-1*R_su
//
// and correlations R. Neither depends on the noise.
//
// R_ss is almost singular if points are close in units of the length scale: for nine
// points an eighth apart its condition number is 7e14. So A and the square root of C's
// second term are computed with enough bits, and only then rounded.
type regression struct {
	weights    *mat.Dense    // A: a row per other point, a column per point of the set
	covariance *mat.SymDense // C
}

const (
	// accuracy is the accuracy of long numbers, in bits: more than the 53 that remain
	// after rounding.
	accuracy = 58

	// minWeight is a size below which the error of A counts as if A were that large: A
	// enters the result by 1 + O(A^2).
	minWeightExponent = -16
	minWeight         = 1.0 / (1 << 16)

	maxBits = 8192
)

// regress returns a regression of at least one other point on the points of a set such
// that
//
//	|weights - A|_F <= (2^-53 + 2^-58) * max(|weights|_F, minWeight)
//
// and, in every entry, |covariance - C| <= (1.02*s + 5)*2^-53 for a set of s points.
// It returns an error if that takes more than maxBits.
func regress(ctx context.Context, t *table, set, others []int) (*regression, error) {
	for precision := uint(tableBits); precision <= maxBits; {
		if err := t.refine(ctx, precision); err != nil {
			return nil, err
		}
		r, need, err := regressWith(ctx, t, set, others, precision)
		if r != nil || err != nil {
			return r, err
		}
		precision = max(need, precision+64)
	}
	return nil, fmt.Errorf("%d points cannot be told apart at the length scale %v with numbers of %d bits",
		len(set), t.l, maxBits)
}

// regressWith returns the regression computed with the given precision, or nil and the
// precision needed.
//
// Why these are enough: let s and m be the numbers of points in the set and of
// others, u = 2^-precision, L the computed Cholesky factor of R_ss, X and W the
// solutions of L*L'*X = R_su and L*W = R_su by substitution, M that of L*M = I.
// Entries of R have errors up to 2u, and k*u is below 1/2 for every k here, so
// gamma_k <= 2ku (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
// theorems 8.5, 10.3, 10.4; the order of sums is irrelevant, exponents are
// unbounded). |L|_F^2 <= 2s. Let 2^kM be a bound of |M|_F; it is 2 at least.
//
//   - |L*M - I| <= gamma_s*|L||M| <= 1/2, so |L^-1| <= 2^(kM+1).
//   - R_ss = L*L' + D with |D| <= 16*s^2*u. If that is at most 2^(-2kM-3), then
//     |R_ss^-1| <= 2^(2kM+3).
//   - Each column x of X solves (R_ss+D')x = r with |D'| <= 18*s^2*u and an error of r
//     up to 2u in each entry; so with N = |X|_F + sqrt(m)
//     |X - A'|_F <= 2^(2kM+3) * 32*s^2*u * N.
//   - W'W, which is R_us*(L*L')^-1*R_su up to the rounding in W, differs from
//     R_us*R_ss^-1*R_su by 106*s^2*u*N^2 for the errors of L*L' and R_su, and by
//     96*2^kM*s^2*u*N^2 for the rounding: 2^(kM+8)*s^2*u*N^2 together.
//
// The bounds are computed as exponents of 2, which are too large by a few bits.
func regressWith(ctx context.Context, t *table, set, others []int, precision uint) (*regression, uint, error) {
	f, ok, err := factorize(ctx, t, set, precision)
	if err != nil || !ok {
		return nil, 2 * precision, err
	}
	inverse, err := f.inverseExponent(ctx)
	if err != nil {
		return nil, 0, err
	}
	if need := bitsNeeded(len(set), len(others), inverse, minWeightExponent); need > precision {
		return nil, need, nil
	}
	s, m := len(set), len(others)
	weights, half := mat.NewDense(m, s, nil), mat.NewDense(m, s, nil)
	largest := minWeightExponent
	column := f.newVector()
	for row, other := range others {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		for i, point := range set {
			column[i].Set(t.correlation(point, other))
		}
		f.forward(column, 0)
		storeRow(half, row, column)
		f.backward(column)
		storeRow(weights, row, column)
		largest = max(largest, maxExponent(column))
	}
	if need := bitsNeeded(s, m, inverse, largest); need > precision {
		return nil, need, nil
	}
	if largest > 500 { // squares overflow
		return nil, 0, fmt.Errorf("the loss at the length scale %v is too large for a number", t.l)
	}
	return &regression{weights, covariance(t, others, half)}, 0, nil
}

// bitsNeeded returns the precision that the bounds of regressWith require, if the entries
// of M and X are below 2^inverse and 2^largest, and one of X is at least half of that.
func bitsNeeded(s, m, inverse, largest int) uint {
	ls, lm := bits.Len(uint(s)), bits.Len(uint(m))
	kM := inverse + ls
	n := max(largest, 0) + (ls+lm)/2 + 2
	definite := 2*kM + 2*ls + 7
	weights := 2*kM + 8 + 2*ls + n + accuracy - max(largest-1, minWeightExponent)
	schur := 8 + kM + 2*ls + 2*n + accuracy
	return uint(max(definite, weights, schur))
}

func storeRow(to *mat.Dense, row int, vector []big.Float) {
	for i := range vector {
		x, _ := vector[i].Float64()
		to.Set(row, i, x)
	}
}

// covariance returns C. Rows of W have a norm of at most 1, as C's diagonal is not
// negative, so that rounding W and its products makes an error of little more than
// s*2^-53.
func covariance(t *table, others []int, half *mat.Dense) *mat.SymDense {
	m := len(others)
	var product mat.Dense
	product.Mul(half, half.T())
	c := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			c.SetSym(i, j, t.correlation64(others[i], others[j])-product.At(i, j))
		}
	}
	return c
}

// A factor is the lower triangle L of Cholesky's factorisation of R_ss.
type factor struct {
	rows      [][]big.Float
	precision uint
	product   big.Float
}

// factorize returns the factor. It reports false if at this precision the matrix is not
// positive definite.
func factorize(ctx context.Context, t *table, set []int, precision uint) (*factor, bool, error) {
	f := &factor{precision: precision}
	f.product.SetPrec(precision)
	for i := range set {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		row := f.newVector()
		row = append(row, *newFloat(precision).SetInt64(1))
		for j := range i {
			row[j].Set(t.correlation(set[i], set[j]))
		}
		f.forward(row[:i], 0)
		for j := range i {
			f.subtractProduct(&row[i], &row[j], &row[j])
		}
		if row[i].Sign() <= 0 {
			return nil, false, nil
		}
		row[i].Sqrt(&row[i])
		f.rows = append(f.rows, row)
	}
	return f, true, nil
}

// newVector returns a vector as long as the factor has rows.
func (f *factor) newVector() []big.Float {
	v := make([]big.Float, len(f.rows), len(f.rows)+1)
	for i := range v {
		v[i].SetPrec(f.precision)
	}
	return v
}

// subtractProduct computes z -= x*y.
func (f *factor) subtractProduct(z, x, y *big.Float) { z.Sub(z, f.product.Mul(x, y)) }

// forward solves L*y = x in place, where x is 0 before an index.
func (f *factor) forward(x []big.Float, from int) {
	for i := from; i < len(x); i++ {
		row := f.rows[i]
		for j := from; j < i; j++ {
			f.subtractProduct(&x[i], &row[j], &x[j])
		}
		x[i].Quo(&x[i], &row[i])
	}
}

// backward solves L'*y = x in place.
func (f *factor) backward(x []big.Float) {
	for i := len(x) - 1; i >= 0; i-- {
		x[i].Quo(&x[i], &f.rows[i][i])
		for j := range i {
			f.subtractProduct(&x[j], &f.rows[i][j], &x[i])
		}
	}
}

// inverseExponent returns e such that entries of M are below 2^e.
func (f *factor) inverseExponent(ctx context.Context) (int, error) {
	largest := math.MinInt
	for j := range f.rows {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		column := f.newVector()
		column[j].SetInt64(1)
		f.forward(column, j)
		largest = max(largest, maxExponent(column))
	}
	return largest, nil
}

// maxExponent returns the least e such that all entries are below 2^e.
func maxExponent(vector []big.Float) int {
	largest := math.MinInt
	for i := range vector {
		if vector[i].Sign() != 0 {
			largest = max(largest, vector[i].MantExp(nil))
		}
	}
	return largest
}
