package planar

import "math"

// A point is a position in the frame, in steps of the lattice.
type point struct{ x, y float64 }

func (a point) distance(b point) float64 { return math.Hypot(a.x-b.x, a.y-b.y) }

// A mass is a point with a weight.
type mass struct {
	point
	weight float64
}

// medianOf returns a point with the least weighted sum of distances to the masses, to
// within a hundredth of a step: Weiszfeld's iteration with the step of Vardi and Zhang (The
// multivariate L1-median and associated data depth, 2000) at a mass, which never gets stuck.
func medianOf(masses []mass) point {
	at := meanOf(masses)
	for range 1000 {
		next := weiszfeld(masses, at)
		if next.distance(at) < 1e-4 {
			return next
		}
		at = next
	}
	return at
}

func meanOf(masses []mass) point {
	var sum point
	total := 0.0
	for _, m := range masses {
		sum.x, sum.y, total = sum.x+float64(m.weight*m.x), sum.y+float64(m.weight*m.y), total+m.weight
	}
	return point{sum.x / total, sum.y / total}
}

// weiszfeld returns the next point of the iteration.
func weiszfeld(masses []mass, at point) point {
	var sum, pull point // of masses over their distances, and of unit vectors
	total, here := 0.0, 0.0
	for _, m := range masses {
		distance := m.distance(at)
		if distance < 1e-9 {
			here += m.weight
			continue
		}
		w := m.weight / distance
		sum.x, sum.y, total = sum.x+float64(w*m.x), sum.y+float64(w*m.y), total+w
		pull.x, pull.y = pull.x+float64(w*(m.x-at.x)), pull.y+float64(w*(m.y-at.y))
	}
	strength := math.Hypot(pull.x, pull.y)
	if total == 0 || strength <= here {
		return at // a mass outweighs all others
	}
	stay := here / strength
	return point{(1-stay)*sum.x/total + float64(stay*at.x), (1-stay)*sum.y/total + float64(stay*at.y)}
}
