package trace

// predict returns the policy's prediction for time t: an admissible cell, computed from
// public data alone.
func (m *Mechanism) predict(r *Run, t int64) Cell {
	switch {
	case m.policy.Predictor == Linear, m.policy.Predictor == Mixture && r.rivals.linearLeads():
		return m.linear(r, t)
	default:
		return r.last.z // parrot
	}
}

// linear returns the position of the course at time t, or the last report if there is no
// course.
func (m *Mechanism) linear(r *Run, t int64) Cell {
	c, ok := r.recent.fit(t)
	if !ok {
		return r.last.z
	}
	return m.space.Nearest(c.x, c.y)
}

// updatePredictors updates the predictors of a run with its next point.
func (m *Mechanism) updatePredictors(r *Run, p Plan, q Point) {
	if m.policy.Mechanism != Predictive || m.policy.Predictor == Parrot || q.Spent == 0 {
		return
	}
	if m.policy.Predictor == Mixture && q.Tested {
		r.rivals.judge(m.failed(r.last.z, p, q), m.failed(m.linear(r, q.T), p, q))
	}
	r.recent.add(fix{q.T, q.Z}, q.Hard, p.Accuracy/m.space.Step())
}

// failed reports, after a test, whether z would have been a bad prediction, as far as is
// public: it is the prediction that failed, or it is further from the report than the
// threshold.
func (m *Mechanism) failed(z Cell, p Plan, q Point) bool {
	return q.Hard && z == p.Prediction || distance(z, q.Z)*m.space.Step() > p.Threshold
}

// rivals holds the weights of a mixture of the two predictors: multiplicative weights
// (Littlestone and Warmuth 1994, the weighted majority algorithm) that are halved for
// every bad prediction. Only their ratio matters, so one is 1 and the other 2^-handicap.
// The heavier one predicts. A floor lets the lighter one recover when the trace changes
// (Herbster and Warmuth 1998). The paper proposes such a mixture in section 6. Both
// rivals are judged at every test, not only the one that predicted: their predictions
// and the outcome of the test are public.
type rivals struct {
	handicap int8 // of the parrot; negative: of linear
}

// maxHandicap bounds the number of bad predictions after which the other rival leads.
const maxHandicap = 4

// linearLeads reports whether linear predicts; at equal weights the parrot does.
func (r rivals) linearLeads() bool { return r.handicap > 0 }

// judge halves the weights of the predictors that failed.
func (r *rivals) judge(parrotFailed, linearFailed bool) {
	if parrotFailed && !linearFailed && r.handicap < maxHandicap {
		r.handicap++
	}
	if linearFailed && !parrotFailed && r.handicap > -maxHandicap {
		r.handicap--
	}
}
