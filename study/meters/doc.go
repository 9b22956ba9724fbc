// Package meters measures what releasing metered energy does to those who want to
// recognise a household's appliances and programmes in it, and to those who need
// totals: section 4.4 of Bordenabe, Measuring Privacy with Distinguishability Metrics
// (2014), called the thesis. It releases readings through package scalar, as
// dx_value and dx_sum do.
//
// # Signatures
//
// A smart meter is taken to report, at every multiple of a period, the latest
// reading; none older than six periods, or else the report is missing. The reports of
// a window, one of those of equal length that time is cut into, are a signature
// (example 4.2 and figure 4.4 of the thesis). Windows with a missing report are left
// out, and those whose reports differ by less than a twentieth of the universe: of
// an appliance that is off, or the same throughout, nothing could be recognised
// anyway, and to count it would flatter the noise. Of each device as many of the
// others are taken, evenly spaced, as the settings allow.
//
// Every reading of a signature is released with independent noise. Under the maximum
// metric, which protects all n readings at once, this costs n times epsilon.
//
// # Recognition
//
// An observer has a library of the true signatures and takes the release for the
// nearest of them, by the sum of the absolute differences. This is the best that can
// be done when each is as likely beforehand: the probability that x is released as y
// is c(y) q^|y-x| for every y of the universe, also for its ends, on which the tails
// are piled up. So the likelihood of a signature depends on that sum alone, and
// falls with it. (For the device it is a nearest-neighbour rule and not the optimum.)
// Of several nearest ones each is taken with the same probability; what is counted is
// the expectation.
//
// # Totals
//
// Sums of readings under the Manhattan metric, of a meter or of all of them, the
// district, over a day or a month; each is charged once to each of its meters. Days
// are those of the clock that the times are written in.
//
// Nothing about a study is random but the mechanism's noise, which comes from the
// operating system's entropy.
package meters
