// Package pim measures the planar isotropic mechanism on recorded traces: how large
// its delta-location sets are, how often they miss the truth, how far from it the
// reports are, and what that does to queries for the nearest places, against the
// Laplace mechanism on the same sets. It repeats section 6 of Xiao, Xiong,
// Protecting Locations with Differential Privacy under Temporal Correlations (CCS
// 2015), called the paper.
//
// # Models
//
// A popular model is trained on all traces, a personal one on those of its user. As
// in the paper the mechanisms are measured on the traces that the model was trained
// on.
//
// # Test trajectories
//
// Recordings are shorter than the paper's 500 timestamps. So all fixes of a user are
// put in the order of time, whatever trace they belong to, and thinned to the first
// fix of each slot of one period, counted from the user's first fix. The times
// between recordings are gaps: nothing is reported in them, and the belief goes on
// with the model for as many periods as have passed. This is cut into pieces of so
// many steps; pieces of less than [MinSteps] are left out. Of the others first the
// longest of every user are taken, long before short, then the next ones.
//
// A run starts from the model's visit frequencies, or from the true first cell where
// that is taken as public, and ends with its trajectory.
//
// # Measures
//
// They are explained at [Summary]. Distances from the truth are along the ellipsoid,
// to the recorded location and not to its cell's centre. Nothing about a study is
// random except the mechanisms' noise, which comes from the operating system's
// entropy.
package pim
