// Package cip tells how much a whole trace with Gaussian noise tells about some of
// its points, to someone who knows how points depend on each other: conditional
// inferential privacy under Gaussian processes (Meehan, Chaudhuri, Location Trace
// Privacy Under Conditional Priors, 2019, called the paper).
//
// A trace has a location, or a reading, at each of n times, which are public. What
// is released is z_i = x_i + noise, where the noise is Gaussian with the variance
// sigma2 in each coordinate. Someone who believes that the trace is a Gaussian
// process, with a kernel that makes points close in time alike, learns about x_i
// from all of z, not from z_i alone: smoothing takes noise away. [Policy.Loss] says
// how much it is at worst, and [Policy.SmallestSigma2] how much noise is enough.
//
// # What is promised
//
// Let S be a set of points, U the others, and R the kernel's covariances, the same
// in each coordinate. For any two values s and s' of S that are at most r, the
// radius, apart in each point (definition 2.2),
//
//	D_lambda( P(z | s) || P(z | s') ) <= L* = lambda/2 * (1/sigma2 + alpha) * |S| * r^2
//
// where D is the Rényi divergence of order lambda, and alpha the top eigenvalue of
//
//	Sigma_eff = A' (C + sigma2*I)^-1 A,  A = R_us*R_ss^-1,  C = R_uu - A*R_su
//
// (equations 2 to 4; the noise's variance belongs where the paper's main text has its
// deviation). All that matters of the prior is that U given S is Gaussian with these
// moments: S itself may have any distribution.
//
// The bound covers both coordinates of a location when r is Euclidean. They are
// independent under this prior and have equal kernels, so the divergences of the
// two add up: for the differences d and e of s and s' in each,
//
//	lambda/2 * (d'(I/sigma2 + Sigma_eff)d + e'(I/sigma2 + Sigma_eff)e)
//	    <= lambda/2 * (1/sigma2 + alpha) * (|d|^2 + |e|^2),
//
// and |d|^2 + |e|^2, which is the sum over the points of squared distances, is at
// most |S|*r^2. Whatever is computed from z, such as rounding it, loses no more.
//
// # What is not promised
//
// The bound is for the sets of the policy's [Policy.Family], not for others. For ten
// points and an RBF kernel whose l is twice their distance every other point loses
// 14.0, the last eight 11,243, with as much noise. Not even a smaller set is safe
// because a larger one is. A declared family is what is protected, and no more.
//
// It is for one release. Two traces of one person are dependent, too, and their
// losses do not add up.
//
// It is for the kernel and its parameters as declared. The loss may be greater for
// a smaller length scale: with points 0, 1 and 2, S = {0, 2} and all variances 1,
// alpha is greatest at l = 1.66. Where l is not known, the policy gives its
// maximum, and the loss is the greatest for all up to it.
//
// # Precision
//
// R_ss is so ill-conditioned that float64 may report a twentieth of the loss. It is
// factorised with as many bits as it takes, up to 8192, and what remains is done in
// float64 under bounds of its errors that are computed along with it. These are
// added, so the loss for a set and length scale is never below the true one for the
// parameters as they are in float64. If it cannot be had like that, there is an
// error. The proofs are beside the code.
//
// Over length scales the loss is proved at each that is looked at, and, if no two
// points are whole periods apart, below the first of them. Between them its maximum
// is sought: on a grid of equal ratios and by halving around the peaks that might
// matter, until a grid twice as fine changes less than 1e-6. A relative 1e-6 is
// added. A peak that is narrower than the grid, of a quarter of an octave or less,
// might be missed, which no proof here excludes.
//
// # Time
//
// A set of s points takes about s^2*n multiplications of long numbers and n^3/3 of
// short ones for each of some twenty to a hundred length scales. Contexts end a
// computation at once. Policies are values; all functions are safe for concurrent
// use.
package cip
