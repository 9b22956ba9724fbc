package cip

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// checkBounds compares a regression with the reference, which has 1500 bits, and
// the errors that regress states. The reference is rounded, too.
func checkBounds(t failer, r *regression, p Policy, times []float64, set, others []int) {
	t.Helper()
	p.Variance = 1
	cross := covariances(t, p, times, p.LengthScale, set, others)
	weights := solve(covariances(t, p, times, p.LengthScale, set, set), cross).transposed()
	c := covariances(t, p, times, p.LengthScale, others, others).minus(multiply(weights, cross))

	var off, offC mat.Dense
	off.Sub(r.weights, weights.float64s())
	bound := 2.2 * unit * max(mat.Norm(r.weights, 2), minWeight)
	if got := mat.Norm(&off, 2); got > bound {
		t.Fatal("weights are off by", got, "not", bound)
	}
	offC.Sub(r.covariance, c.float64s())
	bound = (1.02*float64(len(set)) + 6) * unit
	if got := max(mat.Max(&offC), -mat.Min(&offC)); got > bound {
		t.Fatal("covariances are off by", got, "not", bound)
	}
}

func TestRegressionKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, _ := drawTrace(t)
		set := p.Sets[0]
		others := rest(set, len(times))
		if len(others) == 0 {
			return
		}
		r, err := regress(t.Context(), newKernel(&p, times).tableAt(p.LengthScale), set, others)
		if err != nil {
			t.Fatal(err)
		}
		checkBounds(t, r, p, times, set, others)
	})
}

// With too few bits nothing is returned, whatever Cholesky's method made of them;
// with the fewest that are thought enough the bounds hold.
func TestRegressionAsksForBits(t *testing.T) {
	for _, l := range []float64{0.5, 1, 2, 4, 8, 16, 32} {
		for _, set := range [][]int{indices(0, 9, 1), indices(0, 10, 2), {3, 4, 5}, {7}} {
			p := base(l)
			others := rest(set, 10)
			least := uint(16)
			for {
				table := newKernel(&p, seq(10)).tableAt(l)
				if err := table.refine(t.Context(), least); err != nil {
					t.Fatal(err)
				}
				r, need, err := regressWith(t.Context(), table, set, others, least)
				if err != nil || r == nil && need <= least {
					t.Fatalf("l = %v, %d with %d bits: needs %d, %v", l, set, least, need, err)
				}
				if r != nil {
					checkBounds(t, r, p, seq(10), set, others)
					break
				}
				least++
			}
			// R51's set has a condition number of 2^49.
			if l == 8 && len(set) == 9 && least < 49+accuracy {
				t.Errorf("%d bits were thought enough", least)
			}
		}
	}
}

// Points that are too alike for the longest numbers are refused.
func TestRegressionRefuses(t *testing.T) {
	p := withSets(base(maxNumber), indices(0, 60, 1))
	_, err := p.Loss(t.Context(), seq(61), 1)
	if err == nil || !strings.Contains(err.Error(), "60 points cannot be told apart at the length scale 1e+30") {
		t.Error(err)
	}
}

// Noise so small beside the variance that float64 does not do is refused, not
// guessed: an answer is right.
func TestTopVouches(t *testing.T) {
	p := withSets(base(6), []int{0, 3, 4})
	p.Variance = 1e9
	times, refused := seq(12), 0
	for exponent := -12; exponent < 8; exponent++ {
		sigma2 := math.Pow10(exponent)
		loss, err := p.Loss(t.Context(), times, sigma2)
		if err != nil {
			if !strings.Contains(err.Error(), "times sigma2, too much for a proof of the loss") {
				t.Error(err)
			}
			refused++
			continue
		}
		want := directLoss(t, p, times, p.LengthScale, sigma2, p.Sets[0])
		if loss.Loss < want*(1-1e-13) || loss.Loss > want*(1+2*tolerance) {
			t.Errorf("sigma2 = %v: %v, not %v", sigma2, loss, want)
		}
	}
	if refused == 0 || refused > 15 {
		t.Errorf("%d of 20 refused", refused)
	}
}

// Bounds of eigenvalues are bounds, however the matrix is scaled.
func TestTopOfSymmetric(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 6).Draw(t, "values")
		scale := math.Pow(10, rapid.Float64Range(-200, 200).Draw(t, "exponent"))
		n, want := len(values), 0.0
		// A rotation of the axis (1, .., 1) onto itself and its complement: a
		// Householder reflection.
		var h, a mat.Dense
		ones := mat.NewVecDense(n, nil)
		d := mat.NewDiagDense(n, nil)
		identity := mat.NewDiagDense(n, nil)
		for i, x := range values {
			ones.SetVec(i, rapid.Float64Range(0.1, 1).Draw(t, "direction"))
			d.SetDiag(i, x*scale)
			identity.SetDiag(i, 1)
			want = max(want, x*scale)
		}
		h.Outer(-2/mat.Dot(ones, ones), ones, ones)
		h.Add(identity, &h)
		a.Product(&h, d, &h)
		got, err := boundTopEigenvalue(symmetric(&a))
		if err != nil || got < want*(1-1e-13) || got > want*(1+1e-9)+1e-12 {
			t.Fatalf("%v, not %v, %v", got, want, err)
		}
	})
}
