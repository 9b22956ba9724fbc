package cip

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// maxExchanges bounds the rounds of SmallestSigma2; 3 to 5 are common.
const maxExchanges = 40

// SmallestSigma2 returns the smallest variance of the noise, for each coordinate at each
// of the times, for which the policy's loss is at most its epsilon. [Policy.Loss] for it
// is at most epsilon, and above (1-1e-9)*epsilon, or above (1-3e-6)*epsilon if the length
// scale is searched.
//
// The loss decreases with the variance, since a greater variance is that of more noise
// added to the noise. This holds for each set S and length scale l by itself, and the
// greatest of their solutions is sought: the solution for one S and l is followed by that
// for the worst S and l there, and each is no smaller than the one before. The result of
// Loss certifies the last one.
func (p Policy) SmallestSigma2(ctx context.Context, times []float64) (float64, error) {
	q, err := newProblem(&p, times)
	if err != nil {
		return 0, err
	}
	if p.Epsilon <= 0 {
		return 0, errors.New("epsilon is missing: it is the largest loss of a trace")
	}
	epsilon := math.Nextafter(p.Epsilon.Float64(), 0)
	goal := epsilon * (1 - 5e-10)
	if p.LengthScaleMax > 0 {
		goal = epsilon / (1 + 2*searchMargin)
	}
	largest := 0
	for _, set := range q.sets {
		largest = max(largest, len(set))
	}
	sigma2 := q.independent(largest, goal) // solves it for independent points
	for range maxExchanges {
		if !positive(sigma2) {
			return 0, fmt.Errorf("sigma2 would be %.3g, out of range", sigma2)
		}
		w, err := q.findWorst(ctx, sigma2)
		if err != nil {
			return 0, err
		}
		if w.loss.Loss <= epsilon {
			return sigma2, nil
		}
		next, err := q.solve(ctx, w, goal)
		if err != nil {
			return 0, err
		}
		sigma2 = max(next, sigma2*(1+1e-10))
	}
	return 0, errors.New("no smallest sigma2 was found")
}

// solve returns the smallest variance, up to a relative 1e-12, with which the set
// and length scale of a worst loss have a loss of at most goal.
func (q *problem) solve(ctx context.Context, w worst, goal float64) (float64, error) {
	low := q.independent(len(w.loss.Set), goal)
	if len(q.others[w.set]) == 0 {
		return low, nil
	}
	r, err := regress(ctx, q.kernel.tableAt(w.loss.LengthScale), w.loss.Set, q.others[w.set])
	if err != nil {
		return 0, err
	}
	enough := func(sigma2 float64) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		loss, err := q.lossFor(r, w.set, w.loss.LengthScale, sigma2)
		return loss.Loss <= goal, err
	}
	high := low
	for ok := false; !ok; {
		low, high = high, 2*high
		if !positive(high) {
			return 0, errors.New("sigma2 would be out of range")
		}
		if ok, err = enough(high); err != nil {
			return 0, err
		}
	}
	for high-low > 1e-12*high {
		m := low + (high-low)/2
		ok, err := enough(m)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = m
		default:
			low = m
		}
	}
	return high, nil
}
