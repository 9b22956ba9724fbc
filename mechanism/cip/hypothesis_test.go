package cip

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func mustHypothesis(t failer, p Policy, times []float64, sigma2 float64) Hypothesis {
	t.Helper()
	h, err := p.Hypothesis(t.Context(), times, sigma2)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// secretShift returns the shifts of the points of a hypothesis's set.
func secretShift(h Hypothesis) *mat.VecDense {
	d := mat.NewVecDense(len(h.Set), nil)
	for k, i := range h.Set {
		d.SetVec(k, h.Shift[i])
	}
	return d
}

// attained returns the Rényi divergence of the releases for two values that differ by a
// shift, from the joint covariance, as directForm has it.
func attained(t failer, p Policy, times []float64, sigma2 float64, h Hypothesis) float64 {
	d := secretShift(h)
	return p.Lambda / 2 * mat.Inner(d, directForm(t, p, times, h.LengthScale, sigma2, h.Set), d)
}

// The hypothesis attains the loss and is no longer than allowed.
func TestHypothesisAttainsTheLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		if rapid.Bool().Draw(t, "search") {
			p = upTo(p, p.LengthScale)
		}
		h := mustHypothesis(t, p, times, sigma2)
		if loss := mustLoss(t, p, times, sigma2); loss.Loss != h.Loss.Loss || loss.LengthScale != h.LengthScale {
			t.Fatalf("%+v, but Loss returns %+v", h, loss)
		}
		if got := attained(t, p, times, sigma2, h); !near(got, h.Loss.Loss, 4e-6) || got > h.Loss.Loss*(1+1e-12) {
			t.Fatalf("%+v attains %v", h, got)
		}
		if longest := p.Radius * math.Sqrt(float64(len(h.Set))); !near(mat.Norm(secretShift(h), 2), longest, 1e-12) {
			t.Fatalf("%+v, which should have the length %v", h, longest)
		}
	})
}

// The other points move as the textbook's conditional mean does.
func TestOthersMoveAsExpected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		h := mustHypothesis(t, p, times, sigma2)
		all, d := indices(0, len(times), 1), secretShift(h)
		cross := covariances(t, p, times, p.LengthScale, h.Set, all)
		weights := solve(covariances(t, p, times, p.LengthScale, h.Set, h.Set), cross).transposed().float64s()
		var want mat.VecDense
		want.MulVec(weights, d)
		for i, got := range h.Shift {
			if math.Abs(got-want.AtVec(i)) > 1e-12*mat.Norm(weights, 2)*mat.Norm(d, 2) {
				t.Fatalf("point %d of %+v moves by %v, not %v", i, h, got, want.AtVec(i))
			}
		}
	})
}

// A closed form: of three points the first and the last are secret, and worst is to
// move both alike, which moves the middle one by 2 rho/(1 + rho^4).
func TestHypothesisOfThreePoints(t *testing.T) {
	h := mustHypothesis(t, withSets(base(1.5), []int{0, 2}), seq(3), 1)
	rho := math.Exp(-1 / (2 * 1.5 * 1.5))
	for i, want := range []float64{1, 2 * rho / (1 + rho*rho*rho*rho), 1} {
		if math.Abs(h.Shift[i]-want) > 1e-12 {
			t.Errorf("%v, not %v at %d", h.Shift, want, i)
		}
	}
}

// A hypothesis about the points alone, which alternates or moves all alike, attains less:
// the comparison above would notice.
func TestOtherShiftsAreCaught(t *testing.T) {
	p := base(2)
	h := mustHypothesis(t, p, seq(10), 1)
	for _, sign := range []float64{1, -1} {
		other := h
		other.Shift = make([]float64, 10)
		for k, i := range h.Set {
			other.Shift[i] = math.Pow(sign, float64(k))
		}
		if got := attained(t, p, seq(10), 1, other); got > h.Loss.Loss*(1-1e-3) {
			t.Errorf("%v attains %v of %v", other.Shift, got, h.Loss.Loss)
		}
	}
}

func TestHypothesisOfAllPoints(t *testing.T) {
	h := mustHypothesis(t, withSets(base(1), []int{0, 1, 2}), seq(3), 1)
	for _, x := range h.Shift {
		if x != 1 {
			t.Errorf("%v", h.Shift)
		}
	}
}

func TestNoHypothesis(t *testing.T) {
	if _, err := base(1).Hypothesis(t.Context(), seq(10), -1); err == nil || err.Error() != "sigma2 must be above 0, not -1" {
		t.Error(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := base(1).Hypothesis(ctx, seq(10), 1); err != cause {
		t.Error(err)
	}
}

func TestCovariances(t *testing.T) {
	p := base(1)
	p.Variance = 3
	for _, p := range []Policy{p, upTo(p, 1)} {
		c, err := p.Covariances(t.Context(), []float64{2, 0, 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			for j := range 3 {
				if want := 3 * math.Exp(-float64((i-j)*(i-j))/2); !near(c.At(i, j), want, 1e-15) {
					t.Errorf("%v at %d, %d, not %v", c.At(i, j), i, j, want)
				}
			}
		}
	}
	if _, err := p.Covariances(t.Context(), []float64{0, 0}); err == nil || err.Error() != "time 0 is there twice" {
		t.Error(err)
	}
	p.Kernel = "cubic"
	if _, err := p.Covariances(t.Context(), seq(3)); err == nil {
		t.Error("a kernel of no such name was taken")
	}
}
