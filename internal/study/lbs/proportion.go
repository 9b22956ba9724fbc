package lbs

import "gonum.org/v1/gonum/mathext"

// A Proportion is the share of trials in which something happened, with an interval of
// Clopper and Pearson (The Use of Confidence or Fiducial Limits, Biometrika 26, 1934). If the
// trials are independent, the interval contains the probability with [IntervalConfidence] or
// more.
type Proportion struct{ Share, Low, High float64 }

// IntervalConfidence is the confidence of the interval of a [Proportion].
const IntervalConfidence = 0.99

func newProportion(hits, trials int64) Proportion {
	low, high := interval(hits, trials, 1-IntervalConfidence)
	return Proportion{float64(hits) / float64(trials), low, high}
}

// interval returns the interval of Clopper and Pearson, which misses the probability with
// probability at most miss, and on each side with at most half of that.
func interval(hits, trials int64, miss float64) (low, high float64) {
	return lowerBound(hits, trials, miss/2), 1 - lowerBound(trials-hits, trials, miss/2)
}

// lowerBound returns the success probability at which this many hits or more have the
// probability miss.
func lowerBound(hits, trials int64, miss float64) float64 {
	if hits == 0 {
		return 0
	}
	return mathext.InvRegIncBeta(float64(hits), float64(trials-hits+1), miss)
}
