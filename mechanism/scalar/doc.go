// Package scalar releases numbers with an exact d_X-privacy bound: one reading,
// and counts, sums, averages and percentiles of readings. (Bordenabe, "Measuring
// Privacy with Distinguishability Metrics", 2014, sections 4.2 to 4.4, called the
// thesis below.)
//
// A [Universe] fixes the values a reading can take; a [Query] is an aggregate
// over readings with a metric and an epsilon; an [Accumulator] collects the
// readings of one group. The answer of all but averages is an integer z on a public
// lattice, and what leaves is
//
//	clamp(z + N),  P(N = k) = (1-q)/(1+q) q^|k|,  q = exp(-rate)
//
// which on lo, lo+step, .., hi is the thesis's truncated geometric mechanism
// (figure 4.2 iv, proposition 4.4): the clamp piles the tails up on the ends. There are two
// exceptions. An average is a noisy sum divided by a count: see mean.go. Percentiles,
// extremes included, are drawn by how far the readings are from having each value as their
// percentile, under nd1 and dh, and under d1 where that is more accurate: see rank.go.
//
// A [Histogram] has such a count for each of several runs of values.
//
// # Why it is private
//
// On the lattice the weight of N does not depend on z, so for two databases with
// answers z and z' the probabilities of every outcome of z + N differ by a factor
// of at most exp(rate*|z-z'|), with nothing left over; clamping and printing see
// only the outcome. The rate is a float64 taken as the exact rational it is,
// rounded down from epsilon*(lattice step)/Delta, so the factor is at most
// exp(epsilon*d) wherever |z-z'|*(lattice step) <= Delta*d. That inequality, that
// Delta bounds the sensitivity, is proved beside each answer.
//
// The bound holds between readings on the universe's grid. A reading off the grid
// is first moved to the nearest grid value, at most half a step away, so each reading
// that differs between two databases may count one step more than its distance.
// Readings outside [lo, hi] count as the nearer end. In the proofs, the positions of
// NULL are part of the database: a NULL reading is at distance hi - lo from every
// value, with two exceptions: that of a sum is stated at [Query], and for averages and
// percentiles under d1, and averages under dinf, the positions of NULL are public.
package scalar
