package planar

import "math"

// The sines and angles of the projection, in degrees, from tables and short series. They take
// less time than package math's, which accepts any angle in radians, and err by
// less: an angle in degrees loses nothing to its reduction.
//
// They are the same numbers on every platform, and so are a frame, its kappa and its images, which
// package math's would not give: its sines differ in the last bit between processors.

// turnParts is the number of directions in turns. Their multiples of 360/512 = 45/64
// degrees are exact.
const turnParts = 512

// turns holds the directions at k*45/64 degrees from the x axis.
var turns = func() (table [turnParts]struct{ sin, cos float64 }) {
	for k := range table {
		// The eighth of a turn that is nearest to 0 has the smallest rounding errors.
		quarter, rest := (k+turnParts/8)/(turnParts/4), (k+turnParts/8)%(turnParts/4)-turnParts/8
		sin, cos := eighth(float64(float64(rest) * (2 * math.Pi / turnParts)))
		for range quarter {
			sin, cos = cos, -sin
		}
		table[k].sin, table[k].cos = sin, cos
	}
	return table
}()

// eighth returns the sine and the cosine of an angle of at most an eighth of a turn, in radians. The
// series leave out less than 2^-56.
func eighth(x float64) (sin, cos float64) {
	w := x * x
	var rest, sagitta float64 // 1 - (sin x)/x and 1 - cos x
	for k := 18.0; k > 0; k -= 2 {
		rest = float64(w / (k * (k + 1)) * (1 - rest))
		sagitta = float64(w / (k * (k - 1)) * (1 - sagitta))
	}
	return x - float64(x*rest), 1 - sagitta
}

// sincos returns the sine and the cosine of an angle of at most 720 degrees either way, each to
// within 2^-51.
//
// The angle is one of the table's and a rest of at most 45/128 degrees, which is exact: it is a
// multiple of the angle's unit, and smaller. In radians it is off by less than 2^-59.
func sincos(degrees float64) (sin, cos float64) {
	const part = 360. / turnParts
	k := math.RoundToEven(degrees * (1 / part))
	t := &turns[int(k)&(turnParts-1)]
	s, c := smallArc(float64((degrees - float64(k*part)) * radiansPerDegree))
	return t.sin + (float64(t.cos*s) - float64(t.sin*c)), t.cos - (float64(t.sin*s) + float64(t.cos*c))
}

// smallArc returns sin x and 1 - cos x for |x| < 1/160. The series leave out less than 2^-63.
func smallArc(x float64) (sin, sagitta float64) {
	w := x * x
	return x - float64(x*(w*(1./6-float64(w*(1./120))))), float64(w * (1./2 - float64(w*(1./24-float64(w*(1./720))))))
}

// steepParts is the number of parts of a radius in slopes.
const steepParts = 64

// slopes holds the unit vectors with y = k/64, x >= 0, and their angles from the x axis in degrees,
// for k from -46 to 46, at k modulo 128. An angle is the nearest of turns and a rest; where two are about
// as near, either does.
var slopes = func() (table [2 * steepParts]struct{ x, y, angle float64 }) {
	for k := -46; k <= 46; k++ {
		y := float64(k) / steepParts
		x := math.Sqrt(1 - float64(y*y))
		n := int(math.RoundToEven(math.Asin(y) * (turnParts / (2 * math.Pi))))
		turn := &turns[n&(turnParts-1)]
		rest := arcsine(float64(y*turn.cos) - float64(x*turn.sin))
		t := &table[k&(2*steepParts-1)]
		t.x, t.y, t.angle = x, y, float64(float64(n)*(360./turnParts))+rest
	}
	return table
}()

// bearing returns the angle of a unit vector from the x axis, from -180 to 180 degrees, to
// within 2^-46 degrees where the vector is exact.
//
// It is that of a vector of the table and a rest whose sine r, a vector product, is at most
// 1/128/cos(46) < 1/88. The series of its arc sine leaves out less than 2^-63.
func bearing(x, y float64) float64 {
	if math.Abs(y) <= math.Abs(x) {
		a := slope(math.Abs(x), y)
		if x < 0 {
			a = math.Copysign(180, y) - a
		}
		return a
	}
	return math.Copysign(90-slope(math.Abs(y), x), y)
}

// slope returns the angle of a unit vector from the x axis, at most 45 degrees.
func slope(x, y float64) float64 {
	t := &slopes[int(math.RoundToEven(y*steepParts))&(2*steepParts-1)]
	return t.angle + arcsine(float64(y*t.x)-float64(x*t.y))
}

// arcsine returns the angle in degrees, at most 0.66, with the sine r.
func arcsine(r float64) float64 {
	const d = degreesPerRadian
	w := r * r
	return float64(r * (d + float64(w*(d/6+float64(w*(d*3/40+float64(w*(d*15/336))))))))
}
