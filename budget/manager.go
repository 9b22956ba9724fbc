package budget

import "math"

// A History counts the epsilon and the steps used by a run. It is public, and all that a [Manager] knows.
type History struct {
	Points int64  // reported
	Tested int64  // of these, how many had their prediction tested
	Easy   int64  // of the tested, how many passed
	Spent  Amount // by all of them
}

// An Allotment is granted by a [Manager] to the next step of a run: a test of the
// prediction, and noise if the test fails. If Test is 0, the step is noise alone. If
// both are 0, the budget is used up.
type Allotment struct {
	Test  Amount // epsilon of the test
	Noise Amount // epsilon of the noise

	// Threshold is the distance at which the test passes with probability 1/2; 0
	// without a test.
	Threshold float64

	// Accuracy is the radius within which the noise stays with probability 0.9; 0
	// without noise. Like Threshold it is in the unit that epsilon is per.
	Accuracy float64
}

// A Manager decides the budget of the next step of a run. It is a deterministic
// function of the public run, and never grants more than is left of its epsilon for a
// test and its noise together. (Chatzikokolakis, Palamidessi, Stronati, A Predictive
// Differentially-Private Mechanism for Mobility Traces, 2014, sections 3 and 4, called
// the paper below.)
//
// The managers of figure 3 in the paper stop once the budget is used up, and so
// overspend by up to a test and its noise. Here the last step gets the remainder.
type Manager interface {
	Allot(h History) Allotment
}

// testQuantile is c_theta of the paper: Laplace noise of epsilon 1 is at most ln 5
// with probability 0.9. It is one-sided, as published; the absolute value stays
// below ln 10.
//
// A prediction further away than [Allotment.Threshold] plus ln 5/Test therefore passes
// with probability at most 0.1. This does not bound the whole step by 0.9: just beyond
// that distance, a tenth of the reports are the prediction, and a tenth of the rest
// have too much noise, so that 0.81 are as accurate as stated.
const testQuantile = 1.6094379124341003 // ln 5

// A Tuning relates the cost of a test to the noise that it may save (section 4 of the
// paper). Without Eta there are no tests: the managers are then those of the
// independent mechanism.
type Tuning struct {
	// NoiseQuantile is c_N: noise of epsilon 1 stays within this radius with
	// probability 0.9.
	NoiseQuantile float64

	// Eta, at most 1, is the ratio of the noise's accuracy to the test's: a prediction
	// up to Accuracy/Eta away may well pass. The paper's experiments go down to 0.5,
	// because predictions are mostly better than a test demands.
	Eta float64

	// Gamma is the ratio of the test's noise to its threshold: ln 5/Test = Gamma*Threshold.
	Gamma float64
}

// BreakEven returns Test/Noise = eta*c_theta/c_N*(1+1/gamma). It is also the share
// of predictions that must pass for tests to save more than they cost.
func (t Tuning) BreakEven() float64 {
	if t.Eta == 0 {
		return 0
	}
	return t.Eta * testQuantile / t.NoiseQuantile * (1 + 1/t.Gamma)
}

// grant returns the allotment for a test and noise.
func (t Tuning) grant(test, noise Amount) Allotment {
	a := Allotment{Test: test, Noise: noise, Accuracy: t.NoiseQuantile / epsilon(noise)}
	if test > 0 {
		a.Threshold = testQuantile / (t.Gamma * epsilon(test))
	}
	return a
}

// FixedUtility keeps the accuracy of its noise constant, and saves budget with every
// prediction that passes (figure 3a of the paper). If the remainder pays for noise but
// not for a test before it, the noise gets all of it.
type FixedUtility struct {
	Epsilon Amount
	Alpha   float64 // the Accuracy of the noise, above 0
	Tuning
}

// Allot implements [Manager].
func (m FixedUtility) Allot(h History) Allotment {
	eps := m.NoiseQuantile / m.Alpha * float64(One)
	noise, test := floor(eps), floor(eps*m.BreakEven())
	left := m.Epsilon - h.Spent
	switch {
	case noise == 0 || noise > left:
		return Allotment{}
	case test > left-noise:
		return m.grant(0, left)
	default:
		return m.grant(test, noise)
	}
}

// FixedRate spends an average of epsilon/Steps per point, and turns the savings of passed
// predictions into accuracy (figure 3b of the paper, with the rate computed anew
// at every step from the epsilon and steps that are left). The last step does not test
// and gets all that is left.
//
// A step does not test either if a failure would leave later steps less than half
// their rate each; noise alone then gets one rate. The paper has no such rule. But
// with two steps left and a prediction rate of 0.75, a test and its noise take 0.96 of
// the remaining budget. The error of the last step, and with it the average, would be many
// times that of independent noise.
type FixedRate struct {
	Epsilon Amount
	Steps   int64 // planned, at least 1

	// PredictionRate is the share of predictions expected to pass. After ten tests,
	// or a quarter as many as steps, the run's own share takes its place.
	PredictionRate float64
	Tuning
}

// Allot implements [Manager].
//
// On average a step spends rho = Test + (1-PR)*Noise, where Test = BreakEven*Noise.
func (m FixedRate) Allot(h History) Allotment {
	left := m.Epsilon - h.Spent
	if left <= 0 {
		return Allotment{}
	}
	steps := max(1, m.Steps-h.Points)
	rate := max(1, left/Amount(steps))
	if steps > 1 {
		ratio := m.BreakEven()
		eps := float64(rate) / (1 - m.predictionRate(h) + ratio)
		noise, test := floor(eps), floor(eps*ratio)
		enough := rate / 2 * Amount(steps-1)
		if noise > 0 && test > 0 && noise <= left-enough && test <= left-enough-noise {
			return m.grant(test, noise)
		}
	}
	return m.grant(0, rate)
}

// predictionRate returns the share of tested predictions that passed, once there are
// enough of them.
func (m FixedRate) predictionRate(h History) float64 {
	if h.Tested < min(10, m.Steps/4+min(1, m.Steps%4)) {
		return m.PredictionRate
	}
	return float64(h.Easy) / float64(h.Tested)
}

// floor rounds a number of quanta down. It returns 0 for a NaN or a negative number.
func floor(x float64) Amount {
	if !(x >= 1) {
		return 0
	}
	return Amount(min(math.Floor(x), float64(Max)))
}

// epsilon returns a as a number. Up to an epsilon of 9,000 it rounds once.
func epsilon(a Amount) float64 { return float64(a) / float64(One) }
