package cip

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Hypothesis is a difference of two values of a trace's secret set that a release tells
// apart best.
type Hypothesis struct {
	Loss // of the set; values that differ by Shift attain it

	// Shift has a number for each of the times in ascending order. For the points of the
	// set it is the difference itself, the paper's delta s*: in one coordinate, or for
	// locations in any one direction. For the others it is the difference in their expected
	// values that follows from it.
	//
	// The points of the set are moved by the radius as a root mean square, some of them
	// by more: the loss is a bound for sets without a point that is moved by more.
	Shift []float64
}

// Hypothesis returns the loss of [Policy.Loss] and the hypothesis that attains it, up to a
// relative 4e-6. Its opposite does so, too.
func (p Policy) Hypothesis(ctx context.Context, times []float64, sigma2 float64) (Hypothesis, error) {
	q, w, err := p.solveFor(ctx, times, sigma2)
	if err != nil {
		return Hypothesis{}, err
	}
	shift, err := q.shift(ctx, w, sigma2)
	if err != nil {
		return Hypothesis{}, err
	}
	return Hypothesis{w.loss, shift}, nil
}

// shift returns the shift that attains a worst loss: along the top eigenvector of Sigma_eff
// (section 3.2 of the paper), as long as the set's bound allows.
func (q *problem) shift(ctx context.Context, w worst, sigma2 float64) ([]float64, error) {
	set, others := w.loss.Set, q.others[w.set]
	shift := make([]float64, len(set)+len(others))
	if len(others) == 0 { // every direction is as bad
		for i := range shift {
			shift[i] = q.Radius
		}
		return shift, nil
	}
	r, err := regress(ctx, q.kernel.tableAt(w.loss.LengthScale), set, others)
	if err != nil {
		return nil, err
	}
	e, _, err := r.effective(q.Variance / sigma2)
	if err != nil {
		return nil, err
	}
	secret, err := topEigenvector(e)
	if err != nil {
		return nil, err
	}
	secret.ScaleVec(q.Radius*math.Sqrt(float64(len(set))), secret)
	var expected mat.VecDense
	expected.MulVec(r.weights, secret)
	for i, point := range set {
		shift[point] = secret.AtVec(i)
	}
	for i, point := range others {
		shift[point] = expected.AtVec(i)
	}
	return shift, nil
}
