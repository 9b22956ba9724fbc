package trace

import "math"

// recentSize is the number of points that a course is fitted to: enough to average noise,
// and few enough to follow a secret that changes its speed.
const recentSize = 8

// minCourse is the number of points that a course needs. Any two are on a line.
const minCourse = 3

// recent holds the last points since the last turn that something was spent on. Points
// reported untested are not among them: they only repeat the prediction.
type recent struct {
	n      int
	points [recentSize]fix // the first n are set, in the order of time
}

// A course is a regression of position on time, evaluated at some time.
type course struct {
	x, y float64 // the position, in steps

	// leverage is the ratio of the variance of the position to that of a point's error.
	leverage float64
}

// fit returns the least-squares course at time t, which is not before the last point. It
// reports false if there are fewer points than minCourse, or if t is further ahead than
// the points go back: a secret that was followed for a minute is not known an hour later.
func (r *recent) fit(t int64) (course, bool) {
	if r.n < minCourse {
		return course{}, false
	}
	last := r.points[r.n-1]
	ahead := seconds(last.t, t)
	if ahead > seconds(r.points[0].t, last.t) {
		return course{}, false
	}
	// Times and positions are relative to the last point, which loses no digits.
	n := float64(r.n)
	var meanT, meanX, meanY float64
	for _, p := range r.points[:r.n] {
		meanT -= seconds(p.t, last.t) / n
		meanX += float64(p.z.I-last.z.I) / n
		meanY += float64(p.z.J-last.z.J) / n
	}
	var stt, stx, sty float64
	for _, p := range r.points[:r.n] {
		dt := -seconds(p.t, last.t) - meanT
		stt += float64(dt * dt)
		stx += float64(dt * (float64(p.z.I-last.z.I) - meanX))
		sty += float64(dt * (float64(p.z.J-last.z.J) - meanY))
	}
	dt := ahead - meanT // stt > 0, as times differ
	return course{
		x:        float64(last.z.I) + meanX + float64(stx/stt*dt),
		y:        float64(last.z.J) + meanY + float64(sty/stt*dt),
		leverage: 1/n + dt*dt/stt,
	}, true
}

// add appends a point. It forgets earlier points after a gap that the course does not
// bridge, and at a turn: when noise hardly explains how far a hard point is off the
// course. accuracy is the radius, in steps, within which the point's noise stays with
// probability 0.9; it exceeds twice that with probability 0.004 on a Plane and 0.01 on a
// Line. The course's own error adds to it as the leverage says, as if all points were
// equally noisy.
func (r *recent) add(p fix, hard bool, accuracy float64) {
	if r.n >= minCourse {
		c, ok := r.fit(p.t)
		dx, dy := float64(p.z.I)-c.x, float64(p.z.J)-c.y
		off := math.Sqrt(float64(dx*dx) + float64(dy*dy))
		if !ok || hard && off > 2*accuracy*math.Sqrt(1+c.leverage) {
			*r = recent{}
		}
	}
	if r.n == recentSize {
		copy(r.points[:], r.points[1:])
		r.n--
	}
	r.points[r.n] = p
	r.n++
}
