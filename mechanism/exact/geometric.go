package exact

// A Geometric is the one-sided geometric law on the integers k >= 0,
//
//	P(k) = (1-q) q^k,  q = e^-rate,
//
// the number of successes of probability q before the first failure. It is made
// by [NewGeometric], immutable, and safe for concurrent use with a [Source] per
// goroutine.
type Geometric struct{ inversion }

// NewGeometric returns the law with the given rate, which must be positive and
// finite. It is taken as the rational number that it is; see [RateFloor].
func NewGeometric(rate float64) (Geometric, error) {
	v, err := newInversion(rate, 0)
	return Geometric{v}, err
}

// Draw returns an exact sample. A sample beyond int64 is moved to MaxInt64 after it
// is drawn, which is post-processing.
func (g Geometric) Draw(s *Source) int64 {
	return g.draw(s, geometricTail) // P(k >= n) = (1-q) q^n/(1-q) = q^n
}

func geometricTail(rate float64, n uint64) probability { return ratio{rate, n, 1} }
