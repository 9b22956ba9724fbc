// Package scalar releases answers about readings with an exact d_X-privacy bound: one reading, and counts, sums,
// averages, variances, percentiles, histograms and curves (sums of blocks of the sorted readings) of a group. (Bordenabe,
// "Measuring Privacy with Distinguishability Metrics", 2014, sections 4.2 to 4.4, called the
// thesis below.) It imports budgets, exact draws and arithmetic, and knows neither SQL nor ledgers. Reading starts at
// [Query] and at the interface law.
//
// A [Universe] fixes the values a reading can take; a [Query] is an [Aggregate] of
// readings under a metric at an epsilon; an [Accumulator] holds what is added up from the
// readings of one group. An answer with noise is an integer z on a public
// lattice, and leaves as
//
//	clamp(z + N),  P(N = k) = (1-q)/(1+q) q^|k|,  q = exp(-rate)
//
// which on lo, lo+step, .., hi is the thesis's truncated geometric mechanism
// (figure 4.2 iv, proposition 4.4): the clamp piles the tails up on the ends. Averages and variances
// divide noisy sums: see mean.go and variance.go. Sums of records at large epsilon have other noise: see staircase.go. Percentiles,
// extremes included, are drawn by how far the readings are from having each value as their
// percentile, under nd1 and dh, and under d1 in one of three ways that public facts choose: see rank.go, window.go
// and reference.go. Several of a group cost as much as one: see halving.go and curve.go.
//
// # Why it is private
//
// On the lattice the weight of N does not depend on z, so for two databases with
// answers z and z' the probabilities of every outcome of z + N differ by a factor
// of at most exp(rate*|z-z'|), with nothing left over; clamping and printing see
// only the outcome. The rate is a float64 taken as the exact rational it is,
// rounded down from epsilon*(lattice step)/Delta, so the factor is at most
// exp(epsilon*d) wherever |z-z'|*(lattice step) <= Delta*d. That inequality, that
// Delta bounds the sensitivity, is proved beside each law:
//
//	            d1      nd1, dh                dinf
//	value       1       -                      -
//	sum         1       max(|lo|,|hi|,hi-lo)   none
//	ranks       1       hi-lo                  1
//	curve       1       -                      -
//	count       one per record that is present or absent
//
// Where it is known which rows there are (see [NewQueryOfKnownRows]), records are replaced only: a sum has hi-lo under nd1
// and dh, and averages and variances divide by the number of readings itself.
//
// The bound holds between readings on the universe's grid. A reading off the grid
// is first moved to the nearest grid value, at most half a step away, so each reading
// that differs between two databases may count one step more than its distance.
// Readings outside [lo, hi] count as the nearer end. In the proofs, the positions of
// NULL are part of the database: a NULL reading is at distance hi - lo from every
// value, with two exceptions: that of a sum is stated at its law, and for averages, variances, curves and
// percentiles under d1, and averages under dinf, the positions of NULL are public.
//
// # How to add an aggregate
//
// An aggregate is one file here and one row in sqlitefn/internal/reading. The file has:
//
//   - The [Aggregate]. One without arguments of its own is a variable that register returns, as [Sum] is. One with
//     arguments is a function of them, as [Percentile] and [Histogram] are. Its type is comparable, so that queries can be
//     remembered by it.
//   - The constructor of its law. It returns an error for a metric that the aggregate is not released under, and turns
//     epsilon and the sensitivity under the metric into rates (newNoised, newNoise).
//   - The type of its law, which embeds the setting, with the proof that its noise or score fits the metric. Its metric
//     decides how a release is charged. A law that sets it itself, as counts do, is charged by that.
//
// The method add must not allocate for each reading. Embed sums or keeping where they fit: a law that keeps all readings
// gets them in order from [Accumulator].sorted. An answer of several numbers is JSON, in [Release]. One that is drawn by
// a score of its own implements scores and draws by a choice. Where a release tells more of its accuracy than radius does,
// the law has the method deviation.
//
// Tests enumerate the law: see privacy_test.go for noise and rank_test.go for scores. Nothing else lists aggregates, but
// for the tests of all of them.
package scalar
