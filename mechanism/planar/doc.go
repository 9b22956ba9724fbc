// Package planar draws reported locations: the planar Laplace mechanism of
// geo-indistinguishability (Bordenabe, Measuring Privacy with
// Distinguishability Metrics, 2014, chapter 5) on a lattice in a public planar
// frame of the Earth. It imports budget, exact and orb. Start at Domain, Mechanism and
// Laplace.Draw.
//
// # The promise
//
// Let x and x' be locations d metres apart along the WGS 84 ellipsoid, and z
// any output. Then
//
//	P(z | x) <= exp(epsilon * (d + step*sqrt 2)) * P(z | x')
//
// and P(z | x) = P(z | x') when both round to the same lattice point. Locations
// outside the domain's box are first moved to it, and the bound holds between
// the moved points. Three facts make it true, each proved beside its code:
//
//   - The frame depends on the declared box alone and stretches no distance
//     between points of the box by more than 1+kappa (scale.go). The draw uses
//     epsilon/(1+kappa) per metre of the frame.
//   - A location is rounded to its lattice point before anything random
//     happens; two roundings move two points at most a cell's diagonal,
//     step*sqrt 2, further apart (lattice.go).
//   - On the lattice the noise is drawn exactly, with probability proportional
//     to exp(-rate*|z-x|), and the normaliser is the same for every x
//     (laplace.go). The steps after the draw (saturation, the move into the region
//     and the rounding of printed coordinates) are functions of the drawn lattice
//     point and of public facts only.
//
// A [Gauss] has the same frame, lattice and roundings, and bounds Rényi divergences by the
// distance squared instead.
//
// A [Heatmap] promises something else, which does not depend on distances: it counts
// locations under classic differential privacy.
//
// Frames, kappa, images, locations and radii are the same numbers on every platform, so that two machines
// which know one declaration have one domain. That is why products are converted to the type that they have
// before anything is added to them: a compiler may otherwise round both operations at once, as that for
// arm64 does. For the same reason the angles of frames and the exponentials of radii are not package math's.
//
// Angles are degrees, distances metres, epsilon is per metre. A Domain and a
// Laplace are immutable and safe for concurrent use; an exact.Source is not.
package planar
