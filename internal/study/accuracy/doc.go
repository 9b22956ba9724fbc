// Package accuracy measures how far answers over readings are from the truth at a given
// epsilon: those of package scalar, as dx_count, dx_sum and the other aggregates release
// them, and those of textbook mechanisms for the same questions at the same epsilon. It imports
// mechanism/scalar. Start at Study.
//
// # Textbook mechanisms
//
// The thesis (Bordenabe, Measuring Privacy with Distinguishability Metrics, 2014, section
// 4.3) releases averages and percentiles by the truncated geometric mechanism: noise on the
// answer, as wide as the answer's sensitivity, which is 1 under d1 and hi-lo under dh.
// Counts and sums have the same noise there as here, and variances none at all.
//
// Percentiles under dh are drawn by the rank exponential mechanism (Smith, Privacy-preserving statistical estimation
// with optimal convergence rates, 2011). Here it is written once more, value by value and in floating point, so that
// the two can be compared.
package accuracy
