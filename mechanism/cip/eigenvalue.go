package cip

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	unit = 1.0 / (1 << 53) // relative error of a rounding

	// tolerance is how far the bound of an eigenvalue may exceed the computed one,
	// relative to the loss.
	tolerance = 1e-6
)

// topEigenvalue returns an upper bound of the top eigenvalue of E, see [regression.effective],
// which is sigma2*Sigma_eff for g = variance/sigma2. It returns an error if it cannot
// prove the bound to be within tolerance*(1 + the eigenvalue).
func (r *regression) topEigenvalue(g float64) (float64, error) {
	e, off, err := r.effective(g)
	if err != nil {
		return 0, err
	}
	bound, err := boundTopEigenvalue(e)
	if err != nil {
		return 0, err
	}
	if !(off <= tolerance*(1+bound)) {
		return 0, unprovenError(g)
	}
	return bound + off, nil
}

// effective returns
//
//	E = A'(I + g*C)^-1 A
//
// in float64, and by how much its norm is off at most.
//
// Let K = I + g*C, which has no eigenvalue below 1, B any approximation of K^-1*A,
// and R = A - K*B. Then E = A'B + R'B + R'K^-1*R, so E differs from A'B by no more
// than |R||B| + |R|^2. An error in B matters only through R, which is computed. The rounding
// of R is bounded with gamma_k <= 1.01*k*unit for sums of k products in any
// order. Norms are Frobenius norms.
func (r *regression) effective(g float64) (e *mat.SymDense, off float64, err error) {
	m, s := r.weights.Dims()
	k := mat.NewSymDense(m, nil)
	k.ScaleSym(g, r.covariance)
	for i := range m {
		k.SetSym(i, i, k.At(i, i)+1)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(k) {
		return nil, 0, unprovenError(g)
	}
	var b, residual, product mat.Dense
	if err := cholesky.SolveTo(&b, r.weights); err != nil && !errors.As(err, new(mat.Condition)) {
		return nil, 0, unprovenError(g)
	}
	residual.Mul(k, &b)
	residual.Sub(r.weights, &residual)
	product.Mul(r.weights.T(), &b)

	normA, normB := mat.Norm(r.weights, 2), mat.Norm(&b, 2)
	// The errors of A and K; see regress. K has two more roundings.
	offA := 1.1 * unit * max(normA, minWeight)
	offK := float64(m) * unit * ((1.02*float64(s)+9)*g + 2)
	sums := 1.01 * float64(m+2) * unit
	normR := mat.Norm(&residual, 2) + sums*(normA+mat.Norm(k, 2)*normB) + offA + offK*normB
	return symmetric(&product), 1.01 * (normR*(normB+normR) + (offA+sums*normA)*normB), nil
}

func unprovenError(g float64) error {
	return fmt.Errorf("variance is %.3g times sigma2, too much for a proof of the loss", g)
}

func symmetric(a *mat.Dense) *mat.SymDense {
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return sym
}

// boundTopEigenvalue returns an upper bound of the top eigenvalue of a matrix which is
// positive semidefinite up to rounding. It does not trust the computed eigenvalue: mu is
// a bound if mu*I - t is positive semidefinite, and if Cholesky's method succeeds in
// float64, no eigenvalue of that is below
// -gamma_(s+1)/(1-gamma_(s+1)) times its trace (Rump, Verification of Positive
// Definiteness, 2006).
func boundTopEigenvalue(t *mat.SymDense) (float64, error) {
	computed, err := approximateTop(t)
	if err != nil {
		return 0, err
	}
	s := t.SymmetricDim()
	for slack := 1e-11; slack < tolerance; slack *= 10 {
		mu := computed + slack*(computed+0.01)
		h := mat.NewSymDense(s, nil)
		h.ScaleSym(-1, t)
		for i := range s {
			h.SetSym(i, i, mu+h.At(i, i))
		}
		var cholesky mat.Cholesky
		if cholesky.Factorize(h) {
			trace := 2 * float64(s) * mu // far more than it is
			return mu + 2*float64(s+2)*unit*trace, nil
		}
	}
	return 0, errors.New("the eigenvalues of a loss cannot be proved")
}

// approximateTop returns about the top eigenvalue.
func approximateTop(t *mat.SymDense) (float64, error) {
	norm := mat.Norm(t, 2)
	if norm < negligible {
		return norm, nil
	}
	eigen, err := eigenOfShifted(t, norm, false)
	if err != nil {
		return 0, err
	}
	return norm * max(0, eigen.Values(nil)[t.SymmetricDim()-1]-1), nil
}

// topEigenvector returns about an eigenvector of the top eigenvalue, of length 1. The first
// of its greatest numbers is positive.
func topEigenvector(t *mat.SymDense) (*mat.VecDense, error) {
	s, norm := t.SymmetricDim(), mat.Norm(t, 2)
	v := mat.NewVecDense(s, nil)
	if norm < negligible { // as good as any
		for i := range s {
			v.SetVec(i, 1/math.Sqrt(float64(s)))
		}
		return v, nil
	}
	eigen, err := eigenOfShifted(t, norm, true)
	if err != nil {
		return nil, err
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	v.CopyVec(vectors.ColView(s - 1))
	const equal = 1 - 1e-9
	greatest := mat.Norm(v, math.Inf(1))
	for i := range s {
		if x := v.AtVec(i); math.Abs(x) >= equal*greatest {
			v.ScaleVec(math.Copysign(1, x), v)
			break
		}
	}
	return v, nil
}

// negligible is a norm below which a matrix counts as 0.
const negligible = 1e-30

// eigenOfShifted returns the eigenvalues of t/norm + I, and its eigenvectors, if wanted,
// which are those of t: gonum's solver fails for blocks with a norm below 1e-146, which this
// matrix does not have.
func eigenOfShifted(t *mat.SymDense, norm float64, vectors bool) (*mat.EigenSym, error) {
	if !(norm < math.MaxFloat64/4) {
		return nil, errors.New("the loss is too large for a number")
	}
	s := t.SymmetricDim()
	shifted := mat.NewSymDense(s, nil)
	shifted.ScaleSym(1/norm, t)
	for i := range s {
		shifted.SetSym(i, i, shifted.At(i, i)+1)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(shifted, vectors) {
		return nil, errors.New("the eigenvalues of a loss were not found")
	}
	return &eigen, nil
}
