// Package optimal makes the mechanism that loses least on average, for a known
// distribution of the secret, among all that keep epsilon*dX-privacy on a finite set
// of places (Bordenabe, Measuring Privacy with Distinguishability Metrics, 2014,
// chapter 6, here "the thesis"; Bordenabe, Chatzikokolakis, Palamidessi, Optimal
// Geo-Indistinguishable Mechanisms for Location Privacy, CCS 2014). It imports exact, planar and
// gonum's vectors. Start at Problem and Mechanism.
//
// A mechanism is a matrix: row x is the distribution of the output for the secret
// x, and
//
//	k_xz <= e^(epsilon dX(x,x')) k_x'z   for all places x, x' and outputs z.
//
// Making one takes three steps; only the last is trusted:
//
//   - a [Problem] states places, prior, losses and epsilon; the losses need not be the
//     distances that epsilon is per, nor the outputs the places;
//   - [Solve] finds a [Matrix] in floating point, with a bound on how much better any
//     other could be. It is not private: if rounding leaves a zero where another row
//     has a probability, its epsilon is infinite;
//   - [New] repairs a matrix of any origin into integer weights, and certifies these in
//     integer arithmetic against rational bounds of the exponentials. Every [Mechanism]
//     is certified.
//
// If the places are lattice points of a domain, a [Builder] takes these steps for one of
// three metrics and one of five kinds of losses. It returns a [PlaceMechanism], which knows the unit of its charges and has
// a binary form of its own.
//
// The optimum for a prior also leaves an adversary who knows that prior with the greatest
// error at its loss, if error and loss are measured alike (thesis, theorem 6.2).
// [AdversaryError] computes it.
//
// The baselines to compare with are [PlanarGeometric] and [Exponential], and two that are
// not private in the above sense and that [New] refuses: [Cloak], and [MostPrivate], the
// greatest error at a given loss (thesis, definition 3.1).
//
// All distances, losses and epsilons are in units of the caller's choice; epsilon
// is per unit of the privacy distance. Places are numbered from 0.
package optimal
