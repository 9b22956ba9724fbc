// Package cip computes how much a whole trace with Gaussian noise reveals about some of
// its points to someone who knows how points depend on each other: conditional
// inferential privacy under Gaussian processes (Meehan, Chaudhuri, Location Trace
// Privacy Under Conditional Priors, 2019, called the paper). It imports exact, planar and gonum's
// matrices. Start at Policy.
//
// A trace has a location, or a reading, at each of n times, which are public. The
// release is z_i = x_i + noise, where the noise is Gaussian with the variance
// sigma2 in each coordinate. Someone who believes that the trace is a Gaussian
// process, with a kernel that makes points close in time alike, learns about x_i
// from all of z, not from z_i alone: smoothing removes noise. [Policy.Loss] returns how
// much they learn at worst, [Policy.Hypothesis] about what, and [Policy.SmallestSigma2] how
// much noise is enough.
//
// # The promise
//
// Let S be a set of points, U the others, and R the kernel's covariances, the same
// in each coordinate. For any two values s and s' of S that differ by at most r, the
// radius, in each point (definition 2.2),
//
//	D_lambda( P(z | s) || P(z | s') ) <= L* = lambda/2 * (1/sigma2 + alpha) * |S| * r^2
//
// where D is the Rényi divergence of order lambda, and alpha the top eigenvalue of
//
//	Sigma_eff = A' (C + sigma2*I)^-1 A,  A = R_us*R_ss^-1,  C = R_uu - A*R_su
//
// (equations 2 to 4; the paper's main text has the noise's deviation where its variance
// belongs). The prior matters only in that U given S is Gaussian with these moments: S
// itself may have any distribution.
//
// The bound covers both coordinates of a location when r is Euclidean. They are
// independent under this prior and have equal kernels, so the divergences of the
// two add up: for the differences d and e of s and s' in each,
//
//	lambda/2 * (d'(I/sigma2 + Sigma_eff)d + e'(I/sigma2 + Sigma_eff)e)
//	    <= lambda/2 * (1/sigma2 + alpha) * (|d|^2 + |e|^2),
//
// and |d|^2 + |e|^2, which is the sum over the points of squared distances, is at
// most |S|*r^2. Post-processing of z, such as rounding, loses no more.
//
// # Not promised
//
// The bound holds for the sets of the policy's [Policy.Family], not for others. For ten
// points and an RBF kernel with an l of twice their distance, every other point loses 14.0
// and the last eight 11,243, with the same noise. A smaller set is not safe because a
// larger one is. The declared family is protected, and no more.
//
// It holds for one release. Two traces of one person are dependent, too, and their losses
// do not add up.
//
// It holds for the kernel and its parameters as declared. The loss may be greater for a
// smaller length scale: with points 0, 1 and 2, S = {0, 2} and all variances 1, alpha is
// greatest at l = 1.66. If l is not known, the policy states its maximum, and the loss is
// the greatest for all l up to it.
//
// # Precision
//
// R_ss is so ill-conditioned that float64 may report a twentieth of the loss. It is
// factorised with as many bits as necessary, up to 8192. The rest is done in float64,
// together with bounds of its errors. These are added, so the loss for a set and length
// scale is never below the true one for the parameters as they are in float64. If that
// cannot be guaranteed, an error is returned. The proofs are beside the code.
//
// Over length scales the loss is proved at each one examined and, if no two points are
// whole periods apart, below the first of them. Between them a search seeks the maximum:
// on a grid of equal ratios and by narrowing around the peaks that might matter, until a
// grid twice as fine changes less than 1e-6. A relative 1e-6 is added. A peak narrower
// than the grid, of a quarter of an octave or less, might be missed; no proof here
// excludes it.
//
// # Time
//
// A set of s points takes about s^2*n multiplications of long numbers and n^3/3 of
// short ones for each of some twenty to a hundred length scales. A cancelled context ends
// a computation at once. Policies are values; all functions are safe for concurrent use.
package cip
