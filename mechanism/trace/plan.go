package trace

import "github.com/geosql/geosql/budget"

// An Action is the kind of a step.
type Action uint8

const (
	Stop    Action = iota // reports nothing: the budget is used up
	Predict               // reports the prediction, untested and free
	Test                  // reports the prediction if it passes a test, the secret with noise otherwise
	Noise                 // reports the secret with noise
)

// A Plan is the next step of a run, a function of public data. [Mechanism.Plan] returns one.
type Plan struct {
	Action Action
	T      int64 // time of the step, in microseconds

	// Prediction is an admissible cell, for Predict and Test.
	Prediction Cell

	// Threshold is the distance from the prediction, in units, at which a test passes
	// with probability 1/2.
	Threshold float64

	// Accuracy is the radius, in units, within which noise stays with probability 0.9;
	// 0 without a budget.
	Accuracy float64

	EpsTest  budget.Amount // spent by Test, whatever its outcome
	EpsNoise budget.Amount // spent by Noise, and by Test if it fails
}

// Cost returns the most that the step may spend. The part that its point does not spend may be
// returned: whether a test passed is public.
func (p Plan) Cost() budget.Amount { return p.EpsTest + p.EpsNoise }

// A Point is one report of a run, and public.
type Point struct {
	T      int64         // time in microseconds
	Z      Cell          // reported
	Hard   bool          // Z is the secret with noise, not a prediction
	Tested bool          // a test was made, which passed if the point is not Hard
	Spent  budget.Amount // epsilon per unit
}

// allows reports whether q may be the outcome of p.
func (p Plan) allows(q Point) bool {
	switch {
	case q.T != p.T || q.Tested != (p.Action == Test):
		return false
	case q.Hard:
		return (p.Action == Test || p.Action == Noise) && q.Spent == p.EpsTest+p.EpsNoise
	default:
		return (p.Action == Test || p.Action == Predict) && q.Spent == p.EpsTest && q.Z == p.Prediction
	}
}
