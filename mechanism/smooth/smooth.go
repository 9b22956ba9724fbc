// Package smooth estimates where a trace was from its released points. It is computed from released points and public
// facts only, so that it costs nothing (post-processing). It imports nothing of this module. Start at [Course].
//
// The model of a movement: on each axis a position and a velocity that decays with a time constant, driven by white
// noise. Points are observations of the position with planar Laplace noise, which a Kalman filter and a
// Rauch-Tung-Striebel smoother take as Gaussian noise with a variance that follows the residual of each point
// (iteratively reweighted least squares).
package smooth

import (
	"math"
	"slices"
)

// A Point is a released point of a trace, in metres of a frame.
type Point struct {
	T       float64 // seconds, greater than that of the point before
	X, Y    float64 // NaN if nothing was released at T
	Epsilon float64 // of planar Laplace noise, per metre
}

// A Position is an estimate in metres of the frame of the points.
type Position struct{ X, Y float64 }

// Rounded returns the position in full decimetres: its last bits may differ between platforms.
func (p Position) Rounded() Position {
	return Position{math.Round(10*p.X) / 10, math.Round(10*p.Y) / 10}
}

func released(p Point) bool { return !math.IsNaN(p.X) }

const (
	decay   = 120.0 // seconds in which a velocity decays by e
	diffuse = 1e12  // variance of the first position, square metres: nothing is known about it
	rounds  = 4     // of reweighting
	nearest = 0.3   // residuals below nearest/epsilon count as that
)

// densities are spectral densities of the acceleration, m^2/s^3. The likeliest one is taken: it tells a walk from a drive.
var densities = func() (q []float64) {
	for i := range 9 {
		q = append(q, math.Pow(10, float64(i)/2-4))
	}
	return q
}()

// remembered is how many points Last takes into account, so that its time does not grow with the trace.
const remembered = 300

// Last estimates the last position of a trace from the points up to it.
func Last(points []Point) Position {
	points = points[max(0, len(points)-remembered):]
	return Course(points)[len(points)-1]
}

// Course estimates the positions of a trace from all of its points. Points without a release are bridged; if there is no other,
// the positions are NaN.
func Course(points []Point) []Position {
	variances := make([]float64, len(points))
	for i, p := range points {
		variances[i] = 3 / (p.Epsilon * p.Epsilon) // of planar Laplace noise on one axis
	}
	passes := make([]pass, len(points))
	density, best := 0.0, math.Inf(-1)
	for _, q := range densities {
		if l := forward(points, variances, q, passes); l > best {
			density, best = q, l
		}
	}
	positions := make([]Position, len(points))
	for range rounds {
		forward(points, variances, density, passes)
		backward(points, passes, positions)
		for i, p := range points {
			variances[i] = reweighted(p, positions[i])
		}
	}
	forward(points, variances, density, passes)
	backward(points, passes, positions)
	return positions
}

// reweighted returns the variance of Gaussian noise that pulls at a position as planar Laplace noise does: the slope of
// epsilon*r is that of r^2/2v at v = r/epsilon.
func reweighted(p Point, at Position) float64 {
	r := math.Hypot(p.X-at.X, p.Y-at.Y)
	return max(r, nearest/p.Epsilon) / p.Epsilon
}

// A state is a belief about a position and a velocity, alike for both axes but for the means.
type state struct {
	x, y       float64 // mean position
	vx, vy     float64 // mean velocity
	pp, pv, vv float64 // covariance
}

// A pass is the belief at a point, before and after its release, of the filter.
type pass struct{ before, after state }

// forward filters the points and returns the logarithm of their likelihood but for a constant.
func forward(points []Point, variances []float64, density float64, passes []pass) (likelihood float64) {
	s := start(points, density)
	for i, p := range points {
		if i > 0 {
			s = s.after(p.T-points[i-1].T, density)
		}
		passes[i].before = s
		if released(p) {
			likelihood += s.observe(p.X, p.Y, variances[i])
		}
		passes[i].after = s
	}
	return likelihood
}

// start returns the belief before the first point.
func start(points []Point, density float64) state {
	s := state{x: math.NaN(), y: math.NaN(), pp: diffuse, vv: density * decay / 2}
	if i := slices.IndexFunc(points, released); i >= 0 {
		s.x, s.y = points[i].X, points[i].Y
	}
	return s
}

// transition returns how a velocity carries on over dt seconds: by how much of it a position moves, and how much of it is left.
func transition(dt float64) (moves, left float64) {
	left = math.Exp(-dt / decay)
	return decay * (1 - left), left
}

// after returns the belief dt seconds later.
func (s state) after(dt, density float64) state {
	moves, left := transition(dt)
	return state{
		x: s.x + moves*s.vx, y: s.y + moves*s.vy,
		vx: left * s.vx, vy: left * s.vy,
		pp: s.pp + 2*moves*s.pv + moves*moves*s.vv + density*decay*decay*(dt-2*moves+decay/2*(1-left*left)),
		pv: left*(s.pv+moves*s.vv) + density*moves*moves/2,
		vv: left*left*s.vv + density*decay/2*(1-left*left),
	}
}

// observe conditions the belief on a point with noise of a variance on each axis, and returns the logarithm of its
// likelihood but for a constant.
func (s *state) observe(x, y, variance float64) (likelihood float64) {
	dx, dy, spread := x-s.x, y-s.y, s.pp+variance
	s.x += s.pp / spread * dx
	s.y += s.pp / spread * dy
	s.vx += s.pv / spread * dx
	s.vy += s.pv / spread * dy
	s.vv -= s.pv * s.pv / spread
	s.pv *= variance / spread
	s.pp *= variance / spread
	return -math.Log(spread) - (dx*dx+dy*dy)/(2*spread)
}

// backward conditions the beliefs of the filter on the points behind them and sets the positions (Rauch, Tung, Striebel 1965).
func backward(points []Point, passes []pass, positions []Position) {
	var next state // smoothed
	for i := len(points) - 1; i >= 0; i-- {
		s := passes[i].after
		if i < len(points)-1 {
			s = s.given(next, passes[i+1].before, points[i+1].T-points[i].T)
		}
		positions[i] = Position{s.x, s.y}
		next = s
	}
}

// given returns the means of the belief given the next state's, which was predicted dt seconds later.
func (s state) given(next, predicted state, dt float64) state {
	moves, left := transition(dt)
	// gain = covariance(now, next) * covariance(next)^-1
	cpp, cpv := s.pp+moves*s.pv, left*s.pv
	cvp, cvv := s.pv+moves*s.vv, left*s.vv
	det := predicted.pp*predicted.vv - predicted.pv*predicted.pv
	gain := func(p, v float64) (gp, gv float64) {
		return (p*predicted.vv - v*predicted.pv) / det, (v*predicted.pp - p*predicted.pv) / det
	}
	gpp, gpv := gain(cpp, cpv)
	gvp, gvv := gain(cvp, cvv)
	dx, dy, dvx, dvy := next.x-predicted.x, next.y-predicted.y, next.vx-predicted.vx, next.vy-predicted.vy
	s.x += gpp*dx + gpv*dvx
	s.y += gpp*dy + gpv*dvy
	s.vx += gvp*dx + gvv*dvx
	s.vy += gvp*dy + gvv*dvy
	return s
}
