// Package exact draws from discrete distributions exactly: the probability of
// every outcome is the stated real number, not a floating-point neighbour of
// it, so a privacy bound proved on paper holds for the program. The last bits
// of floating-point noise are known to reveal the secret (Mironov 2012;
// Gazeau, Miller, Palamidessi 2013); here there are none. It imports nothing of geosql's. Start at
// Source and DiscreteLaplace.
//
// # One uniform, read lazily
//
// A draw is a deterministic function of an endless string of fair bits. A real
// number U, uniform on (0,1), is known to its first bits, mostly 32, and extended only
// while the bits read so far leave the answer open; nothing limits how far.
// Every decision compares U with probabilities, or E = -ln U, a standard
// exponential variate, with exponents:
//
//	E > x                             has probability e^-x
//	k = floor(E/rate)                 has P(k >= n) = q^n, q = e^-rate
//	k = floor((E + ln(2/(1+q)))/rate) has P(k >= n) = 2 q^n/(1+q)
//
// The second line is a geometric variate, the third the magnitude of a discrete
// Laplace variate; a fair bit gives its sign.
//
// [SparseCounts] draws discrete Laplace noise for far more cells than it visits: how many
// empty cells it passes over is geometric too.
//
// [Source.RoundedNormal] proposes a real number by the second line, digits of a
// second uniform included, and accepts or rejects it by the first.
//
// [PlanarLaplace] proposes two discrete Laplace variates and accepts them by the first, with
// the first bits of all three numbers from one word.
//
// [DiscreteGaussian] proposes a discrete Laplace variate and accepts it by the first.
//
// As in the adaptive predicates of computational geometry (Shewchuk 1997; s2),
// a comparison is first tried in float64 and accepted only when a proved error
// bound settles it. Otherwise the same bits, and more of them, are compared in
// certified integer arithmetic. Both paths evaluate one function of one bit
// string, and the tests demand that they agree draw by draw.
//
// Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy
// (2020), reach the same laws with loops of Bernoulli(x/k) trials, after
// Forsythe (1972) and von Neumann (1951). Inversion spends one uniform per
// draw whatever the scale, needs no rejection, and leaves nothing between two
// implementations to disagree about.
//
// # Rates
//
// A rate is a positive float64, taken as the rational number that it is.
// [RateFloor] returns one that does not exceed a rational epsilon.
package exact
