// Package meters measures how well appliances and programmes of a household can be recognised
// in released meter readings, and how accurate released totals are: section 4.4 of Bordenabe, Measuring Privacy with Distinguishability Metrics
// (2014), called the thesis. It releases readings through package scalar, as
// dx_value and dx_sum do. It imports mechanism/scalar. Start at Study.
//
// # Signatures
//
// A smart meter is assumed to report the latest reading at every multiple of a period. If that
// is older than six periods, the report is missing. Time is cut into windows of equal length,
// and the reports of a window are a signature (example 4.2 and figure 4.4 of the thesis).
// Windows with a missing report are left out, and so are windows with reports that differ by less than a twentieth of
// the universe: an appliance that is off, or constant, could not be recognised anyway, and counting it would flatter
// the noise. Of the remaining windows of each device, evenly spaced ones are taken, as many as the settings allow.
//
// Every reading of a signature is released with independent noise. Under the maximum
// metric, which protects all n readings at once, this costs n times epsilon.
//
// # Recognition
//
// An observer has a library of the true signatures and guesses the one nearest to the release,
// by the sum of the absolute differences. This is the best possible guess if all are equally
// likely beforehand: the probability that x is released as y is c(y) q^|y-x| for every y of
// the universe, including its ends, on which the tails pile up. So the likelihood of a
// signature depends only on that sum, and falls with it. (For the device it is a
// nearest-neighbour rule and not the optimum.) Of several nearest signatures each is guessed
// with the same probability, and the expectation is counted.
//
// # Totals
//
// Totals are sums of readings under the Manhattan metric, of one meter or of the district of all
// meters, over a day or a month. Each is charged once to each of its meters. Days are those of
// the clock of the recorded times.
//
// # Predictions
//
// All readings of a meter are reported as one trace by the predictive mechanism of package trace,
// like predictive_value does. Independent noise is compared by its law, not by draws: the epsilon
// at which it has the same mean error, and the mean error that it has at the same epsilon.
//
// Only the mechanism's noise is random; it comes from the operating system's entropy.
package meters
