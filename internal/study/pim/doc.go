// Package pim measures the planar isotropic mechanism on recorded traces, compared with the
// Laplace mechanism on the same sets: how large its delta-location sets are, how often they
// miss the truth, how far from it the reports are, and how that affects queries for the
// nearest places. It repeats section 6 of Xiao, Xiong,
// Protecting Locations with Differential Privacy under Temporal Correlations (CCS
// 2015), called the paper. It imports mechanism/pim and markov. Start at Study.
//
// # Models
//
// A popular model is trained on all traces, a personal one on those of its user. As in the
// paper, the mechanisms are measured on the traces that the model was trained on.
//
// # Test trajectories
//
// Recordings are shorter than the paper's 500 timestamps. So all fixes of a user are sorted
// by time, across traces, and thinned to the first fix of each slot of one period, counted
// from the first one, and cut into pieces of at most the steps of the settings. Wherever
// nothing was recorded for longer than the break of the settings, a new piece begins. In
// shorter gaps nothing is reported, and the model advances the belief by as many periods as
// have passed. Pieces of less than [MinSteps] are left out. Each user's longest piece is
// taken, longer pieces first, then each user's second longest, and so on.
//
// A run starts from the model's visit frequencies, or from the true first cell if that is
// public, and ends with its trajectory.
//
// # Measures
//
// [Summary] explains them. Distances from the truth are along the ellipsoid, to the recorded
// location and not to its cell's centre. Only the mechanisms' noise is random; it comes from
// the operating system's entropy.
package pim
