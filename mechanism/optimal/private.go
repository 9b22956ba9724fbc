package optimal

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"gonum.org/v1/gonum/floats"
)

// A PrivacyProblem asks for the mechanism with the greatest adversary's error among all that
// lose at most q on average: thesis, definition 3.1, after Shokri, Theodorakopoulos,
// Troncoso, Hubaux, Le Boudec, Protecting Location Privacy: Optimal Strategy against
// Localization Attacks, CCS 2012.
type PrivacyProblem struct {
	// Prior has a weight for each place, none negative and some above 0; only ratios
	// matter. The adversary knows it, and all privacy rests on it.
	Prior []float64

	// Quality is the loss dQ(x,z) of output z for secret x, and Adversary the error
	// dA(x,g) of a guess g. Neither is negative.
	Quality, Adversary Matrix

	// Loss is q, the greatest average loss. It must exceed the least possible loss, 0 if
	// all dQ(x,x) are, by 1e-9 of that of a uniform output.
	Loss float64
}

// maxPrivacyPlaces bounds the n^3 numbers that [MostPrivate] holds: all its matrices are
// dense.
const maxPrivacyPlaces = 256

// check returns an error if p is wrong.
func (p PrivacyProblem) check() error {
	n := len(p.Prior)
	if n < MinPlaces || n > maxPrivacyPlaces {
		return fmt.Errorf("%d places: want %d to %d", n, MinPlaces, maxPrivacyPlaces)
	}
	if err := checkPrior(p.Prior); err != nil {
		return err
	}
	if err := p.Quality.check("quality loss", n, n); err != nil {
		return err
	}
	if err := p.Adversary.check("adversary's error", n, n); err != nil {
		return err
	}
	if !(p.Loss >= 0 && p.Loss <= math.MaxFloat64) {
		return fmt.Errorf("loss %g is not a finite number >= 0", p.Loss)
	}
	low := Loss(p.Prior, leastLoss(p.Quality), p.Quality)
	if high := Loss(p.Prior, uniformOutput(n), p.Quality); p.Loss <= low+leastMargin*high {
		return fmt.Errorf("loss %g is too close to %g, the least of all mechanisms", p.Loss, low)
	}
	return nil
}

// leastMargin is by how much the loss must exceed the least possible, as a share of that of
// a uniform output, for there to be an interior that is wider than rounding errors.
const leastMargin = 1e-9

// uniformOutput returns the mechanism with a uniform output.
func uniformOutput(n int) Matrix {
	k := NewMatrix(n, n)
	for _, row := range k {
		for z := range row {
			row[z] = 1 / float64(n)
		}
	}
	return k
}

// leastLoss returns the mechanism that loses least of all.
func leastLoss(quality Matrix) Matrix {
	k := NewMatrix(len(quality), len(quality))
	for x, row := range quality {
		k[x][floats.MinIdx(row)] = 1
	}
	return k
}

// A PrivacySolution is a mechanism that nearly maximises the adversary's error. It is a
// baseline to compare with and never a [Mechanism]: it is mostly private for no epsilon at
// all, and promises nothing about an adversary who knows more than the prior.
type PrivacySolution struct {
	Matrix      Matrix  // k_xz >= 0, each row with the sum 1
	Loss, Error float64 // QL and AdvError of Matrix
	Bound       float64 // no mechanism within q has a greater AdvError
}

// MostPrivate returns a mechanism with an average loss of at most q (up to rounding, 1e-9
// of it) and an adversary's error within a known gap of the greatest possible:
//
//	maximise   sum over z of y_z
//	such that  y_z <= sum of pi_x k_xz dA(x,g)     for all outputs z, guesses g
//	           sum of pi_x k_xz dQ(x,z) <= q
//	           sum over z of k_xz = 1, k_xz >= 0    for all x
//
// The gap at which to stop is (Bound - Error)/Error, in (0,1); 0 means 1e-4. For errors
// of less than 1e-4 of the adversary's error by the prior alone, it is relative to 1e-4
// of the latter.
//
// The method is that of [Solve]: a step takes n Cholesky factorisations of n x n, shared
// among the cores, and memory is 8n^3 bytes. The result does not depend on the number of
// cores. It returns an error if the problem or the gap is wrong, if numerical
// difficulties left a wider gap, or is that of a cancelled ctx.
func MostPrivate(ctx context.Context, p PrivacyProblem, gap float64) (*PrivacySolution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if gap == 0 {
		gap = defaultGap
	}
	if !(gap > 0 && gap < 1) {
		return nil, fmt.Errorf("gap %g is not between 0 and 1", gap)
	}
	blind := blindError(p)
	s := newPrivacySolver(p, runtime.GOMAXPROCS(0))
	best := &PrivacySolution{Error: math.Inf(-1), Bound: blind}
	for step := 0; ; step++ {
		best.Bound = min(best.Bound, s.bound())
		k := withinLoss(p, s.matrix())
		if e := AdversaryError(p.Prior, k, p.Adversary); e > best.Error {
			best.Matrix, best.Loss, best.Error = k, Loss(p.Prior, k, p.Quality), e
		}
		left := best.Bound - best.Error
		if left <= gap*max(best.Error, smallLoss*blind) {
			best.Bound = max(best.Bound, best.Error) // they may differ by a rounding error
			return best, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if step == maxSteps || !s.step() {
			return nil, fmt.Errorf("solver stalled after %d steps at a gap of %.3g", step, left/best.Error)
		}
	}
}

// blindError returns the error of an adversary who sees no output, rounded up. With any
// mechanism the adversary's error is at most that.
func blindError(p PrivacyProblem) float64 {
	n := len(p.Prior)
	expected := make([]float64, n)
	for x, w := range probabilities(p.Prior) {
		floats.AddScaled(expected, w, p.Adversary[x])
	}
	return floats.Min(expected) * (1 + float64(2*n+8)*0x1p-52)
}

// withinLoss returns the matrix k, with no negative number, with row sums of 1 and a
// loss of at most q. It mixes in as much of the mechanism with the least loss as that takes.
func withinLoss(p PrivacyProblem, k Matrix) Matrix {
	for _, row := range k {
		copy(row, probabilities(row))
	}
	least := leastLoss(p.Quality)
	most, low := Loss(p.Prior, k, p.Quality), Loss(p.Prior, least, p.Quality)
	if most <= p.Loss {
		return k
	}
	share := (most - p.Loss) / (most - low)
	for x, row := range k {
		floats.Scale(1-share, row)
		floats.AddScaled(row, share, least[x])
	}
	return k
}
