package cip

import (
	"context"
	"math/big"

	"gonum.org/v1/gonum/mat"
)

func seq(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = float64(i)
	}
	return times
}

// base is a policy for one length scale, with all other numbers as simple as can be.
func base(l float64) Policy {
	return Policy{Kernel: RBF, Variance: 1, LengthScale: l, Radius: 1, Lambda: 2, Family: EveryOther}
}

func withSets(p Policy, sets ...[]int) Policy {
	p.Family, p.Sets = "", sets
	return p
}

func upTo(p Policy, l float64) Policy {
	p.LengthScale, p.LengthScaleMax = 0, l
	return p
}

// A failer is a *testing.T or *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Context() context.Context
}

func mustLoss(t failer, p Policy, times []float64, sigma2 float64) Loss {
	t.Helper()
	loss, err := p.Loss(t.Context(), times, sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// referenceBits is the precision of the reference.
const referenceBits = 1500

// A bigMatrix is dense, by rows.
type bigMatrix [][]*big.Float

func newBigMatrix(rows, columns int) bigMatrix {
	a := make(bigMatrix, rows)
	for i := range a {
		a[i] = make([]*big.Float, columns)
		for j := range a[i] {
			a[i][j] = newFloat(referenceBits)
		}
	}
	return a
}

// solve returns x with a*x = b by Gaussian elimination with partial pivoting.
func solve(a, b bigMatrix) bigMatrix {
	n, m := len(a), len(b[0])
	w := newBigMatrix(n, n+m)
	for i := range w {
		for j := range w[i] {
			if j < n {
				w[i][j].Set(a[i][j])
			} else {
				w[i][j].Set(b[i][j-n])
			}
		}
	}
	abs := func(x *big.Float) *big.Float { return new(big.Float).Abs(x) }
	for k := range n {
		pivot := k
		for i := k; i < n; i++ {
			if abs(w[i][k]).Cmp(abs(w[pivot][k])) > 0 {
				pivot = i
			}
		}
		w[k], w[pivot] = w[pivot], w[k]
		for i := range n {
			if i == k {
				continue
			}
			factor := newFloat(referenceBits).Quo(w[i][k], w[k][k])
			for j := k; j < n+m; j++ {
				w[i][j].Sub(w[i][j], newFloat(referenceBits).Mul(factor, w[k][j]))
			}
		}
	}
	x := newBigMatrix(n, m)
	for i := range x {
		for j := range x[i] {
			x[i][j].Quo(w[i][n+j], w[i][i])
		}
	}
	return x
}

func multiply(a, b bigMatrix) bigMatrix {
	c := newBigMatrix(len(a), len(b[0]))
	for i := range c {
		for j := range c[i] {
			for k := range b {
				c[i][j].Add(c[i][j], newFloat(referenceBits).Mul(a[i][k], b[k][j]))
			}
		}
	}
	return c
}

func (a bigMatrix) transposed() bigMatrix {
	t := newBigMatrix(len(a[0]), len(a))
	for i := range a {
		for j := range a[i] {
			t[j][i].Set(a[i][j])
		}
	}
	return t
}

func (a bigMatrix) minus(b bigMatrix) bigMatrix {
	c := newBigMatrix(len(a), len(a[0]))
	for i := range a {
		for j := range a[i] {
			c[i][j].Sub(a[i][j], b[i][j])
		}
	}
	return c
}

func (a bigMatrix) float64s() *mat.Dense {
	m := mat.NewDense(len(a), len(a[0]), nil)
	for i := range a {
		for j := range a[i] {
			x, _ := a[i][j].Float64()
			m.Set(i, j, x)
		}
	}
	return m
}

// covariances returns the kernel's covariances of some points and others.
func covariances(t failer, p Policy, times []float64, l float64, rows, columns []int) bigMatrix {
	table := newKernel(&p, times).tableAt(l)
	if err := table.refine(t.Context(), referenceBits); err != nil {
		t.Fatal(err)
	}
	c := newBigMatrix(len(rows), len(columns))
	for i, row := range rows {
		for j, column := range columns {
			c[i][j].Mul(table.correlation(row, column), big.NewFloat(p.Variance))
		}
	}
	return c
}

// directForm returns the matrix Q such that the Rényi divergence of order lambda of
// P(z|s) and P(z|s') in one coordinate is lambda/2 * (s-s')'Q(s-s'). It knows
// nothing of Sigma_eff: z and s are jointly Gaussian, z given s has the mean H*s
// and the covariance V by the textbook's formulas, and Q = H'V^-1*H. z is all of z,
// that of s too.
func directForm(t failer, p Policy, times []float64, l, sigma2 float64, set []int) *mat.Dense {
	all := indices(0, len(times), 1)
	cross := covariances(t, p, times, l, set, all)
	h := solve(covariances(t, p, times, l, set, set), cross).transposed()
	v := covariances(t, p, times, l, all, all).minus(multiply(h, cross))
	for i := range v {
		v[i][i].Add(v[i][i], big.NewFloat(sigma2))
	}
	return multiply(h.transposed(), solve(v, h)).float64s()
}

// directLoss is lambda/2 * |S|r^2 times the top eigenvalue of that.
func directLoss(t failer, p Policy, times []float64, l, sigma2 float64, set []int) float64 {
	top, err := approximateTop(symmetric(directForm(t, p, times, l, sigma2, set)))
	if err != nil {
		t.Fatal(err)
	}
	return p.Lambda / 2 * float64(len(set)) * p.Radius * p.Radius * top
}
