package trace

import (
	"errors"
	"fmt"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// A Mechanism applies a policy to a space. [New] returns one. It is immutable, and safe
// for concurrent use with a Source and a Run per goroutine.
type Mechanism struct {
	space   Space
	policy  Policy
	manager budget.Manager
}

// New returns the mechanism of a policy, as [ParsePolicy] returns it, on a space, which
// must be that of the policy's Domain or Universe. Errors name the key at fault.
func New(s Space, p Policy) (*Mechanism, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	manager, err := p.manager(s)
	if err != nil {
		return nil, err
	}
	return &Mechanism{space: s, policy: p, manager: manager}, nil
}

// Policy returns the policy of m.
func (m *Mechanism) Policy() Policy { return m.policy }

// Plan returns the next step of a run at time t, in microseconds. t must be
// later than the run's last point. Plan is deterministic and depends only on public
// data: the policy, the run, and t.
//
// Without a report to predict from, the step is noise alone. Once the manager grants
// nothing, the policy's After decides.
//
// With a SkipSpeed v, the prediction is reported untested while the secret cannot be far
// from it. Let a be the last point that something was spent on, by noise or by a test,
// and T its time. A secret no faster than v is by now within v*(t-T) + |a - prediction|
// of the prediction, plus the error of a. The test is skipped while that sum, without
// the error, is below the accuracy of the noise: so the error of a skipped report is at
// most that accuracy more than the error of a. Skipped reports do not restart the time,
// or a secret that is asked for often enough would never be tested. In the paper's
// experiments the speed is 500 m per minute and the accuracy 3 km, so that six minutes
// pass between tests. (It prints 0.5 km/h, which would make six hours.)
func (m *Mechanism) Plan(r *Run, t int64) (Plan, error) {
	if r.history.Points > 0 && t <= r.last.t {
		return Plan{}, fmt.Errorf("time %d is not after %d, the time of the run's last point", t, r.last.t)
	}
	a := m.manager.Allot(r.history)
	p := Plan{T: t, Accuracy: a.Accuracy}
	predicts := r.history.Points > 0 && m.policy.Mechanism == Predictive
	if predicts {
		p.Prediction = m.predict(r, t)
	}
	switch {
	case a.Noise == 0 && predicts && m.policy.After == AfterPredict, predicts && m.skips(r, p):
		p.Action = Predict
	case a.Noise == 0:
		p = Plan{T: t}
	case a.Test == 0 || !predicts:
		p = Plan{Action: Noise, T: t, Accuracy: a.Accuracy, EpsNoise: a.Noise}
	default:
		p.Action, p.Threshold, p.EpsTest, p.EpsNoise = Test, a.Threshold, a.Test, a.Noise
	}
	return p, nil
}

// skips reports whether the prediction of a plan need not be tested.
func (m *Mechanism) skips(r *Run, p Plan) bool {
	if m.policy.SkipSpeed == 0 {
		return false
	}
	travelled := float64(m.policy.SkipSpeed * seconds(r.paid.t, p.T))
	return travelled+float64(distance(r.paid.z, p.Prediction)*m.space.Step()) < p.Accuracy
}

// Draw takes the step of a plan for the secret in the cell x of the space, and
// returns the reported point. Call it once for a plan. It panics only if the plan is to
// Stop, or if the source's entropy fails.
//
// # Privacy
//
// Let x' be another cell, D = |x-x'| in steps, and let Space.Rate turn an epsilon into a
// rate. The test passes with probability F(c - rate*|x-z~|), where z~ is the prediction,
// c and the rate are public and F is the distribution function of the standard Laplace
// law. ln F and ln(1-F) have slopes of at most 1, so for x' the probabilities of both
// outcomes are within a factor exp(rate*D) (fact 1 of the paper; no noisy threshold
// exists that could leak). z~ is the cell reported, the same for x and x'. So
//
//	easy   F(..x)                        <= e^(EpsTest*d) F(..x')
//	hard   (1-F(..x)) * P(z | x)         <= e^((EpsTest+EpsNoise)*d) (1-F(..x')) * P(z | x')
//
// with d the distance that Space.Rate accounts for, and either way the exponent is
// the point's Spent. As every plan is a function of the points before it, the
// factors of a run multiply and their exponents add up to its Spent (lemma 1), which
// is at most the policy's Epsilon.
func (m *Mechanism) Draw(src *exact.Source, p Plan, x Cell) Point {
	switch p.Action {
	case Predict:
		return Point{T: p.T, Z: p.Prediction}
	case Test:
		if m.passes(src, p, x) {
			return Point{T: p.T, Z: p.Prediction, Tested: true, Spent: p.EpsTest}
		}
	case Stop:
		panic("trace: draw of a plan to stop")
	}
	return Point{
		T: p.T, Z: m.space.Draw(src, p.EpsNoise, x),
		Hard: true, Tested: p.Action == Test, Spent: p.EpsTest + p.EpsNoise,
	}
}

// passes draws the outcome of a plan's test.
func (m *Mechanism) passes(src *exact.Source, p Plan, x Cell) bool {
	rate := m.space.Rate(p.EpsTest)
	c := rate * p.Threshold / m.space.Step()
	return src.LaplaceTest(rate, c, x.I-p.Prediction.I, x.J-p.Prediction.J)
}

var errNotOfTheRun = errors.New("the point is not one that the run's next step can report")

// Add appends a point to a run. The point must be the result of Draw for the run's plan
// at that time. Otherwise Add returns an error and leaves the run unchanged.
func (m *Mechanism) Add(r *Run, q Point) error {
	p, err := m.Plan(r, q.T)
	if err != nil {
		return err
	}
	if !p.allows(q) || !q.Z.bounded() {
		return errNotOfTheRun
	}
	m.updatePredictors(r, p, q)
	r.add(q)
	return nil
}
