package planar

// A node is where a rule of quadrature on [-1, 1] asks for a function, and how much that counts.
type node struct{ at, weight float64 }

// legendre returns the Gauss-Legendre rule of n nodes. They are the zeros of the n-th Legendre
// polynomial, found by Newton's method from approximations that are each nearest to its own.
func legendre(n int) []node {
	rule := make([]node, n)
	order := float64(n)
	for i := range rule {
		_, x := sincos(180 * (float64(i) + 0.75) / (order + 0.5))
		var slope float64
		for range 6 {
			p, before := 1.0, 0.0
			for k := 1.0; k <= order; k++ {
				p, before = (float64((2*k-1)*x*p)-float64((k-1)*before))/k, p
			}
			slope = order * (before - float64(x*p)) / ((1 - x) * (1 + x))
			x -= p / slope
		}
		rule[i] = node{x, 2 / ((1 - x) * (1 + x) * slope * slope)}
	}
	return rule
}
