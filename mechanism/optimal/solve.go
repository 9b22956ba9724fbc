package optimal

import (
	"context"
	"fmt"
	"math"
	"runtime"
)

// Options set how well [Solve] solves. The zero value means all constraints and a gap of
// 1e-4.
type Options struct {
	// Dilation, at least 1, is that of a spanner with edges that replace the pairs of places,
	// for fewer constraints and a greater loss (thesis, section 6.1.2). 0 means 1: every
	// constraint that others do not imply.
	Dilation float64

	// Gap at which to stop, (loss - bound)/loss, in (0,1). 0 means 1e-4. Below
	// 1e-6 it may not be reached. For losses of less than 1e-4 of that of a uniform
	// output, it is relative to 1e-4 of the latter.
	Gap float64

	// Progress, if not nil, is called before each step, by the goroutine that called
	// Solve. It is not called if a constant output is within the gap.
	Progress func(Progress)
}

// Progress holds how far a solver has come.
type Progress struct {
	Step  int     // steps taken so far
	Loss  float64 // of the mechanism found so far
	Bound float64 // no mechanism within the constraints loses less than this
}

// Gap returns the share of the loss that a better mechanism might save.
func (p Progress) Gap() float64 {
	if p.Loss <= p.Bound {
		return 0
	}
	return (p.Loss - p.Bound) / p.Loss
}

// A Solution is a nearly optimal mechanism in floating point. It is not private until [New]
// turns it into a Mechanism.
type Solution struct {
	Matrix Matrix // k_xz, each row with the sum 1 up to rounding

	// Progress at the end. With a dilation of 1, no epsilon*dX-private mechanism
	// at all loses less than Bound. Otherwise the bound is on the mechanisms that
	// meet the spanner's constraints, which imply those of the definition.
	Progress

	Edges    int     // of the spanner; there are two constraints on each, for each output
	Dilation float64 // the spanner's actual dilation
}

const (
	defaultGap = 1e-4
	maxSteps   = 1000

	// smallLoss is the loss, as a share of that of a uniform output, down to which the gap
	// is relative to the loss. Below, where a mechanism almost tells the truth, it is
	// relative to smallLoss, since rounding leaves no more digits.
	smallLoss = 1e-4
)

func (o Options) check() (Options, error) {
	if o.Dilation == 0 {
		o.Dilation = 1
	}
	if o.Gap == 0 {
		o.Gap = defaultGap
	}
	if !(o.Dilation >= 1 && o.Dilation <= math.MaxFloat64) {
		return o, fmt.Errorf("dilation %g is not a number >= 1", o.Dilation)
	}
	if !(o.Gap > 0 && o.Gap < 1) {
		return o, fmt.Errorf("gap %g is not between 0 and 1", o.Gap)
	}
	return o, nil
}

// Solve returns a mechanism with a loss within a known gap of the least
// possible:
//
//	minimise   sum of pi_x k_xz dQ(x,z)
//	such that  k_xz <= e^(epsilon dX(x,x')) k_x'z   for all x, x', z
//	           sum over z of k_xz = 1               for all x
//
// (thesis, section 6.1.1). For a dilation above 1 the pairs are the edges of a
// spanner, with epsilon divided by its actual dilation, which implies the constraints of
// all pairs (proposition 6.1; the thesis divides by the requested dilation, which costs
// utility and gains nothing). If epsilon is so small that a constant output is within the
// gap, Solve returns that.
//
// With m constraints for each of n outputs, two for each edge, Solve takes at most about 48nm
// bytes, with all pairs mostly a quarter of that, and 8n for each number of a column's factor, of
// which there are n^2/2 or, with the edges of a spanner, far fewer. It refuses problems that may take more than 8 GB.
//
// The method is a primal-dual interior point method, the predictor and corrector
// of Mehrotra (On the Implementation of a Primal-Dual Interior Point Method, 1992), with
// corrections after Gondzio, on the constraints that have come close to being tight. A step takes a Cholesky factorisation for each output, shared
// among the cores. The result does not depend on their number.
//
// It returns an error if the problem or the options are wrong, if the memory does not
// suffice, if numerical difficulties left a wider gap than asked for, or if ctx is
// cancelled.
func Solve(ctx context.Context, p Problem, o Options) (*Solution, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	o, err := o.check()
	if err != nil {
		return nil, err
	}
	edges, dilation := Spanner(p.Privacy, o.Dilation)
	rate := p.Epsilon
	if o.Dilation > 1 {
		rate /= dilation
	}
	solution := constantMechanism(p)
	if solution.Gap() > o.Gap {
		order := newElimination(len(p.Prior), edges)
		if err := checkMemory(p, len(edges), order.packed()); err != nil {
			return nil, err
		}
		s := newSolver(ctx, p, edges, rate, order, runtime.GOMAXPROCS(0))
		if solution, err = iterate(ctx, s, o); err != nil {
			return nil, err
		}
	}
	solution.Edges, solution.Dilation = len(edges), dilation
	return solution, nil
}

// mostMemory is how many bytes a solver may take.
const mostMemory = 8 << 30

// checkMemory returns an error if the columns of the solver, with an edge's constraints
// and a factor of so many numbers each, may take more than mostMemory. How many constraints come in
// sight is not known before: all of them may.
func checkMemory(p Problem, edges, factor int) error {
	const gigabyte = 1 << 30
	n, outputs := len(p.Prior), p.Quality.columns()
	if bytes := 8*outputs*(12*edges+factor+6*n) + 8*(2*shardCount+1)*n*n; bytes > mostMemory {
		return fmt.Errorf("%d places with %d edges and %d outputs take %.1f GB of memory, more than %d: a greater dilation, such as 1.1, leaves fewer edges",
			n, edges, outputs, float64(bytes)/gigabyte, mostMemory/gigabyte)
	}
	return nil
}

// iterate runs the solver until its loss is within the gap of its bound.
func iterate(ctx context.Context, s *solver, o Options) (*Solution, error) {
	uniform, gap := s.loss(), math.Inf(1)
	bound := 0.0 // of any loss
	for step := 0; ; step++ {
		bound = max(bound, s.bound())
		if err := ctx.Err(); err != nil { // the solver may hold incomplete results
			return nil, err
		}
		now := Progress{Step: step, Loss: s.loss(), Bound: bound}
		if o.Progress != nil {
			o.Progress(now)
		}
		if s.feasible() {
			gap = min(gap, (now.Loss-now.Bound)/max(now.Loss, smallLoss*uniform))
		}
		if gap <= o.Gap {
			return &Solution{Matrix: s.matrix(), Progress: now}, nil
		}
		if step == maxSteps || !s.step() && ctx.Err() == nil {
			return nil, fmt.Errorf("solver stalled after %d steps at a gap of %.3g", step, gap)
		}
	}
}
