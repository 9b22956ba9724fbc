package exact

import "math"

// A DiscreteLaplace is the two-sided geometric law on the integers,
//
//	P(k) = (1-q)/(1+q) q^|k|,  q = e^-rate,
//
// the geometric mechanism of Ghosh, Roughgarden and Sundararajan (2009): moving
// the integer it is added to by d changes no probability by more than a factor
// e^(rate d). It is made by [NewDiscreteLaplace], immutable, and safe for
// concurrent use with a [Source] per goroutine.
type DiscreteLaplace struct{ inversion }

// NewDiscreteLaplace returns the law with the given rate, which must be positive and
// finite. It is taken as the rational number that it is; see [RateFloor].
func NewDiscreteLaplace(rate float64) (DiscreteLaplace, error) {
	// The offset is ln(2/(1+q)) with (1+q)/2 = 1 + expm1(-rate)/2 >= 1/2. In
	// units of 2^-53, 4 places of Expm1 move the logarithm by at most 8, 4 of
	// Log1p by less than 6.
	v, err := newInversion(rate, -math.Log1p(math.Expm1(-rate)/2))
	return DiscreteLaplace{v}, err
}

// Draw returns an exact sample. A sample beyond int64 is moved to the nearer of
// ±MaxInt64 after it is drawn, which is post-processing.
//
// The tail of the magnitude is
//
//	P(|k| >= n) = 2 q^n (1-q)/(1+q) / (1-q) = 2 q^n/(1+q)  for n >= 1,
//
// which is e^(offset - rate n) with offset = ln(2/(1+q)). The inversion holds at
// 0 too, since 2 < 1 + 1/q makes offset < rate. The sign is fair and has no
// effect on 0.
func (d DiscreteLaplace) Draw(s *Source) int64 {
	k := d.draw(s, laplaceTail)
	if s.Bool() {
		k = -k
	}
	return k
}

func laplaceTail(rate float64, n uint64) probability { return tail{rate, n} }
