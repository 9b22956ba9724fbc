package cip

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawTrace draws a policy with one set, and irregular times.
func drawTrace(t *rapid.T) (Policy, []float64, float64) {
	p := Policy{
		Kernel:      rapid.SampledFrom([]string{RBF, Exponential, Periodic}).Draw(t, "kernel"),
		Variance:    math.Exp(rapid.Float64Range(-3, 5).Draw(t, "ln variance")),
		LengthScale: math.Exp(rapid.Float64Range(-2, 3).Draw(t, "ln l")),
		Radius:      math.Exp(rapid.Float64Range(-2, 3).Draw(t, "ln r")),
		Lambda:      rapid.Float64Range(1.1, 20).Draw(t, "lambda"),
	}
	if p.Kernel == Periodic {
		p.Period = rapid.Float64Range(5, 50).Draw(t, "period")
	}
	n := rapid.IntRange(1, 7).Draw(t, "n")
	times, at := make([]float64, n), rapid.Float64Range(-100, 100).Draw(t, "start")
	for i := range times {
		times[i] = at
		at += rapid.Float64Range(0.1, 3).Draw(t, "dt")
	}
	if slices.Contains(newKernel(&p, times).coincident(), true) {
		t.Skip("two times are whole periods apart, which a set may not have")
	}
	set := rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 1, n, rapid.ID).Draw(t, "set")
	slices.Sort(set)
	p.Sets = [][]int{set}
	return p, times, math.Exp(rapid.Float64Range(-3, 4).Draw(t, "ln sigma2"))
}

// The loss is the greatest divergence of P(z|s) and P(z|s'), from the joint
// covariance, which is computed with 1500 bits in another way, and not below it by
// more than the rounding of the reference's eigenvalues.
func TestLossIsTheGreatestDivergence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		loss := mustLoss(t, p, times, sigma2)
		want := directLoss(t, p, times, p.LengthScale, sigma2, p.Sets[0])
		if loss.Loss < want*(1-1e-13) || loss.Loss > want*(1+1e-9) {
			t.Fatalf("%v, not %v: %v", loss, want, loss.Loss/want-1)
		}
	})
}

// For locations with values that differ by at most the radius in both coordinates
// together, no divergence exceeds the loss.
func TestNoPairOfLocationsLosesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		loss := mustLoss(t, p, times, sigma2)
		form := directForm(t, p, times, p.LengthScale, sigma2, p.Sets[0])
		divergence := 0.0
		size := len(p.Sets[0])
		var coordinates [2]*mat.VecDense
		for axis := range coordinates {
			coordinates[axis] = mat.NewVecDense(size, nil)
		}
		for i := range size {
			angle := rapid.Float64Range(0, 2*math.Pi).Draw(t, "angle")
			r := p.Radius * rapid.SampledFrom([]float64{1, 1, 0.5}).Draw(t, "part")
			coordinates[0].SetVec(i, r*math.Cos(angle))
			coordinates[1].SetVec(i, r*math.Sin(angle))
		}
		for _, d := range coordinates {
			divergence += p.Lambda / 2 * mat.Inner(d, form, d)
		}
		if divergence > loss.Loss*(1+1e-12) {
			t.Fatalf("divergence %v, loss %v", divergence, loss)
		}
	})
}

// An exponential kernel makes a Markov process: given the middle one of three points
// the others are independent, so alpha is the sum of two terms
// rho^2/(v*(1-rho^2)+sigma2).
func TestExponentialKernelIsMarkov(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _, sigma2 := drawTrace(t)
		p.Kernel, p.Period = Exponential, 0
		left, right := rapid.Float64Range(0.1, 3).Draw(t, "left"), rapid.Float64Range(0.1, 3).Draw(t, "right")
		times := []float64{0, left, left + right}
		want := 0.0
		for _, dt := range []float64{left, times[2] - times[1]} {
			rho2 := math.Exp(-2 * dt / p.LengthScale)
			want += rho2 / (-p.Variance*math.Expm1(-2*dt/p.LengthScale) + sigma2)
		}
		loss := mustLoss(t, withSets(p, []int{1}), times, sigma2)
		if math.Abs(loss.Alpha-want) > 1e-9*(want+1/sigma2) {
			t.Fatalf("%v, not %v", loss.Alpha, want)
		}
	})
}

// The loss of a family is the greatest of its sets.
func TestFamilyHasItsWorstSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		p = withSets(p)
		p.Family = rapid.SampledFrom([]string{Singles, "windows:3", EveryOther}).Draw(t, "family")
		family := mustLoss(t, p, times, sigma2)
		sets, err := p.sets(len(times))
		if err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for _, set := range sets {
			worst = max(worst, mustLoss(t, withSets(p, set), times, sigma2).Loss)
		}
		if family.Loss != worst {
			t.Fatalf("%v, its worst set has %v", family, worst)
		}
	})
}

// More noise, less loss; and the order of times does not matter.
func TestLossDecreasesWithNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		less := mustLoss(t, p, times, sigma2)
		slices.Reverse(times)
		more := mustLoss(t, p, times, sigma2*rapid.Float64Range(1.000001, 3).Draw(t, "factor"))
		if !(more.Loss < less.Loss) {
			t.Fatalf("%v with less noise, %v with more", less, more)
		}
	})
}

// The greatest loss over length scales is not below those of many, as the closed
// form and the reference have them.
func TestSearchFindsNoLessThanAFineGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		last := p.LengthScale
		greatest := mustLoss(t, upTo(p, last), times, sigma2)
		if greatest.LengthScale > last {
			t.Fatalf("%v is beyond %v", greatest.LengthScale, last)
		}
		for k := range 60 {
			p.LengthScale = last * math.Pow(0.93, float64(k))
			if loss := mustLoss(t, p, times, sigma2); loss.Loss > greatest.Loss {
				t.Fatalf("%v is more than %v", loss, greatest)
			}
		}
	})
}

// The smallest variance is enough, and one that is hardly smaller is not.
func TestSmallestSigma2(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, _ := drawTrace(t)
		p = withSets(p)
		p.Family = rapid.SampledFrom([]string{Singles, "windows:3", EveryOther}).Draw(t, "family")
		// Loss falls at least in proportion to the part of the variance that is noise that
		// counts.
		p.Epsilon = one * 10
		p.Radius = math.Sqrt(p.Variance)
		slack := 2e-9
		if rapid.Bool().Draw(t, "search") {
			p, slack = upTo(p, p.LengthScale), 1e-5
		}
		sigma2, err := p.SmallestSigma2(t.Context(), times)
		if err != nil {
			t.Fatal(err)
		}
		loss := mustLoss(t, p, times, sigma2)
		if loss.Loss > 10 || loss.Loss < 10*(1-slack) {
			t.Fatalf("loss %v for sigma2 %v", loss, sigma2)
		}
	})
}

func TestComputationsEnd(t *testing.T) {
	why := context.DeadlineExceeded
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	p := upTo(base(1), 50)
	p.Epsilon = one
	if _, err := p.Loss(ctx, seq(100), 1); err != why {
		t.Errorf("Loss: %v", err)
	}
	if _, err := p.SmallestSigma2(ctx, seq(100)); err != why {
		t.Errorf("SmallestSigma2: %v", err)
	}
}

// A unit of time changes no loss. That of a power of 2 rounds nothing.
func TestFinerTimesChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, times, sigma2 := drawTrace(t)
		if rapid.Bool().Draw(t, "search") {
			p.LengthScale, p.LengthScaleMax = 0, p.LengthScale
		}
		finer := slices.Clone(times)
		for i := range finer {
			finer[i] *= 1 << 20
		}
		want, got := mustLoss(t, p, times, sigma2), mustLoss(t, p.withTimesIn(1<<20), finer, sigma2)
		if !near(got.Loss, want.Loss, 1e-12) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}
