package cip

import (
	"context"
	"fmt"
	"math"
)

// A Loss is the loss of a released trace about the worst set of a family.
type Loss struct {
	// Loss is L*, the bound of the Rényi divergence of order lambda. It is rounded
	// up: never below the true one for Set and LengthScale.
	Loss float64

	// Independent is the loss if points were independent of each other:
	// lambda/2 * |S|r^2/sigma2.
	Independent float64

	// Alpha is the top eigenvalue of Sigma_eff, the part of the loss that comes from
	// the other points, rounded up; per square of the unit of the radius.
	Alpha float64

	LengthScale float64 // at which the loss is greatest
	Set         []int   // the worst set, as indices into the times in ascending order
}

// Loss returns the greatest loss of the policy's sets over its length scales, if noise of
// variance sigma2 is added to each coordinate at each of the times. The times may be in
// any order; they must be different, and at most 256.
//
// For one length scale the result is within a relative 2e-6 of the true loss, mostly
// within 1e-10, and never below it. For all length scales up to a maximum, see the
// package comment; 1e-6 is added.
//
// It returns an error if the policy or sigma2 is not valid or it cannot prove the result,
// and the cause of ctx if that ends.
func (p Policy) Loss(ctx context.Context, times []float64, sigma2 float64) (Loss, error) {
	_, w, err := p.solveFor(ctx, times, sigma2)
	return w.loss, err
}

// solveFor returns the problem of [Policy.Loss] and its solution.
func (p *Policy) solveFor(ctx context.Context, times []float64, sigma2 float64) (*problem, worst, error) {
	q, err := newProblem(p, times)
	if err != nil {
		return nil, worst{}, err
	}
	if err := checkNumber("sigma2", sigma2); err != nil {
		return nil, worst{}, err
	}
	w, err := q.findWorst(ctx, sigma2)
	return q, w, err
}

// A problem is a policy for times.
type problem struct {
	*Policy
	kernel *kernel
	sets   [][]int
	others [][]int // for each set, the points that are not in it
}

func newProblem(p *Policy, times []float64) (*problem, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	times, err := sortTimes(times)
	if err != nil {
		return nil, err
	}
	q := &problem{Policy: p}
	if q.sets, err = p.sets(len(times)); err != nil {
		return nil, err
	}
	q.kernel = newKernel(p, times)
	same := q.kernel.coincident()
	for _, set := range q.sets {
		for k, i := range set {
			for _, j := range set[:k] {
				if same[q.kernel.of[i][j]] { // they cannot have different values
					return nil, fmt.Errorf("times %v and %v are in one set, but whole periods apart", times[j], times[i])
				}
			}
		}
		q.others = append(q.others, rest(set, len(times)))
	}
	return q, nil
}

// lossAt returns the loss of a set at the length scale of a table.
func (q *problem) lossAt(ctx context.Context, t *table, set int, sigma2 float64) (Loss, error) {
	if len(q.others[set]) == 0 {
		return q.lossOf(set, t.l, 0, sigma2), nil
	}
	r, err := regress(ctx, t, q.sets[set], q.others[set])
	if err != nil {
		return Loss{}, err
	}
	return q.lossFor(r, set, t.l, sigma2)
}

func (q *problem) lossFor(r *regression, set int, l, sigma2 float64) (Loss, error) {
	top, err := r.topEigenvalue(q.Variance / sigma2)
	if err != nil {
		return Loss{}, err
	}
	return q.lossOf(set, l, top, sigma2), nil
}

// lossOf returns the loss for a top eigenvalue of sigma2*Sigma_eff (equation 4 of the
// paper).
func (q *problem) lossOf(set int, l, top, sigma2 float64) Loss {
	independent := q.independent(len(q.sets[set]), sigma2)
	return Loss{
		Loss:        roundUp(independent * (1 + top)),
		Independent: independent,
		Alpha:       roundUp(top / sigma2),
		LengthScale: l,
		Set:         q.sets[set],
	}
}

func (q *problem) independent(size int, sigma2 float64) float64 {
	return q.Lambda / 2 * float64(size) * q.Radius * q.Radius / sigma2
}

// roundUp returns an upper bound of a number that up to ten operations rounded to x.
func roundUp(x float64) float64 { return math.Nextafter(x*(1+2e-15), math.Inf(1)) }
