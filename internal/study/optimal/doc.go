// Package optimal measures the gain of the optimal mechanism of a finite set of places over mechanisms that do not know
// the prior, the cost and savings of a spanner, and how much privacy remains if an adversary knows more than the prior:
// section 6.2 of Bordenabe, Measuring Privacy with Distinguishability Metrics (2014), called the thesis. It imports
// mechanism/optimal and planar. Start at Study.
//
// Places lie in a plane, in a unit of length of the caller's choice; losses are
// Euclidean distances in it, and epsilon is per unit. The prior is public.
//
// # Mechanisms
//
// [Optimal] is measured once for each dilation. [PlanarGeometric] is planar Laplace noise on a
// lattice, with reports moved to the nearest place. If the places form a rectangle of a
// lattice, that is the lattice; otherwise it is the limit of ever finer ones, the continuous
// mechanism. [Exponential] has half of epsilon in the exponent. The last two do not use the
// prior, only the remap of their reports does. [Study.Adversary] compares with
// [PlanarLaplace], the continuous mechanism on any places, and with [MostPrivate], which is
// made for the prior and private for no useful epsilon.
//
// A [Row] describes the certified mechanism and not the matrix that came out of a solver or a
// formula. All measures are computed, none is sampled.
package optimal
