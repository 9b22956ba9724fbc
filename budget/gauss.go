package budget

import (
	"math"
	"math/big"

	"github.com/geosql/geosql/internal/elementary"
)

// GaussDelta is [Delta] for releases of the planar discrete Gaussian mechanism alone, on
// lattices with a step of at most so many metres. rho is their sum, or the limit that a
// sum keeps which answers decide. It is never more than Delta, and usually a fraction of it.
//
// # Proof
//
// A continuous Gaussian filter. Let G(c, e) be the delta at epsilon e between normal laws of
// variance 1 with means sqrt(c) apart,
//
//	G(c, e) = Phi(m/2 - e/m) - e^e Phi(-m/2 - e/m),  m = sqrt(c),
//
// which grows with c (Balle and Wang, Improving the Gaussian Mechanism for Differential
// Privacy, 2018, theorem 8). Let each of finitely many releases add normal noise to a secret
// that differs between the two worlds by sqrt(c_i) deviations, where c_i may depend on
// earlier answers, and sum c_i <= c always. Then G(c, e) holds for all answers and every real
// e (Smith and Thakurta, Fully Adaptive Composition for Gaussian Differential Privacy,
// 2022). By induction from the last release: let p and q be the densities of the first
// answer z. If G(c-c_1, .) holds for the rest whatever z is, then all answers have at most the
// integral of p(z) G(c-c_1, e - ln(p(z)/q(z))) dz. Two normal vectors that are sqrt(c_1) and
// sqrt(c-c_1) apart have exactly that, and by rotation it is G(c, e).
//
// The lattice. In steps, let x be a secret's lattice point and v the noise's variance in each
// coordinate. Draw y from the continuous normal law of variance v-t around x, and then a
// lattice point from the discrete Gaussian law of variance t around y. The second draw knows
// y only, so it is post-processing of a continuous Gaussian release. It draws k on an axis with
// probability
//
//	integral of n(y-x; v-t) n(k-y; t)/S(y) dy,  S(y) = sum of n(j-y; t) over integers j,
//
// n the normal density. By Poisson's formula S(y) lies within 1-h and 1+h for
// h = 2(q + q^4 + q^9 + ..) <= 2q/(1-q^3), q = e^(-2 pi^2 t). So the probability is n(k-x; v)
// times a number between 1/(1+h) and 1/(1-h). That of the mechanism is n(k-x; v)/S for a
// constant S from 1 to 1+h. On two axes and in N releases, the likelihood of all
// answers therefore is that of the continuous filter, times a factor of at most (1+h)^2N
// and, between the two worlds, of at most ((1+h)/(1-h))^2N (Peikert, An Efficient and Parallel
// Gaussian Sampler for Lattices, 2010, theorem 3.1). An event of probabilities P and Q has
//
//	P <= e^epsilon Q + (1+h)^2N G(c, epsilon - 2N ln((1+h)/(1-h))).
//
// A release of rho_i has v >= 1/(2 rho_i step^2), and secrets that are at most
// distance apart, a cell's diagonal included, so that c_i <= 2 rho_i distance^2/(1 - t/v). With
// rho_i <= rho, c = 2 rho distance^2/(1 - 2 t rho step^2). N is at most rho over the least
// charge. Any t above 0 holds; it is chosen so that N q = 2^-30, which changes delta less than
// the digits that are told.
func GaussDelta(rho, distance, epsilon, step float64) float64 {
	general := Delta(rho, distance, epsilon)
	const (
		q     = 0x1p-30 // N times
		slack = 9 * q   // >= 2 N ln((1+h)/(1-h)) and 2 N ln(1+h): h <= 2.0001 q/N
		twice = 19.7392 // < 2 pi^2
	)
	t := up(up(elementary.Log(max(1, up(rho*1e12))/q)+0x1p-40) / twice)
	room := 1 - up(up(2*up(t*rho)*step)*step)
	if !(room > 0) || !(epsilon > slack) {
		return general
	}
	c := up(up(up(2*up(rho*distance))*distance) / math.Nextafter(room, 0))
	exact := up(normalDelta(up(math.Sqrt(c)), math.Nextafter(epsilon-slack, 0)) * (1 + 2*slack))
	return min(general, exact)
}

// normalDelta returns at least G(m^2, epsilon) of [GaussDelta], for m and epsilon above 0. With
// a = epsilon/m - m/2 and b = a + m, where e^epsilon phi(b) = phi(a), it is
//
//	phi(a) (R(a) - R(b)),  R(x) = Phi(-x)/phi(x).
//
// For one m it falls with a, so that a is rounded down.
func normalDelta(m, epsilon float64) float64 {
	const slack = 0x1p-48
	a := float64(epsilon/m*(1-slack)) - float64(m/2*(1+slack))
	switch {
	case !(a > -8): // also where m is too large to be a number
		return 1
	case a > 40:
		return math.SmallestNonzeroFloat64 // phi(a) is less than half of it
	}
	density := up(elementary.Exp(-a*a/2*(1-slack))*(1+slack)) * 0.3989422804014327 // 1/sqrt(2 pi)
	return min(1, up(up(density*up(mills(a, true)-mills(up(a+m), false)))*(1+slack)))
}

// mills returns Mills's ratio R(x) = Phi(-x)/phi(x) for x above -8, or a bound of it, above or below,
// that is off by 2^-43 of it or less where rounding allows.
func mills(x float64, above bool) float64 {
	var r float64
	switch {
	case x <= -1.5:
		r = float64(elementary.Exp(x*x/2)*2.5066282746310002) - mills(-x, !above)
	case x < 1.5:
		// Phi(x) = 1/2 + phi(x) (x + x^3/3 + x^5/(3*5) + ..): the rest is less than 1e-25.
		sum, term := 0., x
		for k := 3.; k < 53; k += 2 {
			sum += term
			term = float64(term * (x * x / k))
		}
		r = float64(elementary.Exp(x*x/2)*1.2533141373155001) - sum // sqrt(pi/2)
	default:
		// 1/(x + 1/(x + 2/(x + 3/(x + ..)))), cut off: that is too large after an odd number of x, and too small after an even one.
		// A term adds at most two roundings to the error of those after it, which it does not enlarge.
		k := 201.
		if above {
			k = 200
		}
		r = x
		for ; k > 0; k-- {
			r = x + k/r
		}
		r = 1 / r
	}
	if above {
		return r * (1 + 0x1p-43)
	}
	return r * (1 - 0x1p-43)
}

// LargestGaussRho is [LargestRho] for [GaussDelta].
func LargestGaussRho(epsilon, delta, distance, step float64) (rho *big.Rat, ok bool) {
	return largestRho(delta, func(rho float64) float64 { return GaussDelta(rho, distance, epsilon, step) })
}
