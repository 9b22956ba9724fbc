package bound

import (
	"math"
	"slices"
)

// Repeats is the result of Collisions.
type Repeats struct {
	Block    int64   // how many neighbouring values were taken together
	Pairs    int     // pairs of draws within a block
	Equal    int     // pairs of two equal values
	Expected float64 // how many of them would be equal at most, on average
}

// Collisions tests draws for too many equal ones, as a generator with few bits makes them. The
// draws must be independent integers of one law in which neighbouring values differ in their
// probabilities by a factor of at most exp(rate), except at the ends of the support, where draws
// may be clamped. Collisions reports whether such a law shows the repeats found with a probability
// of at most alpha, and the repeats with the size of blocks that looks worst.
//
// Draws are put into blocks of B neighbouring values, without the lowest and the highest block
// that have any, so that all others lie within the support. Within a block they are paired in
// the order of drawing. Given which draws are in which block, pairs are independent, and the two
// values of a pair are equal with probability at most (1+q^B)(1-q) / ((1-q^B)(1+q)), where
// q = exp(-rate): the sum of the squares of the block's probabilities is largest when each, in
// order of size, is q times the one before, since that law majorises all others. So the number
// of equal pairs is at most binomial. Sizes share alpha.
func Collisions(values []int64, rate, alpha float64) (Repeats, bool) {
	var worst Repeats
	evidence := 0.0
	sizes := []int64{2}
	for b := int64(8); b < 1<<60 && float64(b)*rate <= 2; b *= 4 {
		sizes = append(sizes, b)
	}
	for _, size := range sizes {
		r := repeats(values, rate, size)
		p := r.Expected / float64(max(1, r.Pairs))
		if r.Pairs == 0 || float64(r.Equal) <= r.Expected {
			continue
		}
		log := float64(r.Pairs) * math.Log(p)
		if r.Equal < r.Pairs {
			log = logTail(r.Equal, r.Pairs, logit(p))
		}
		if e := -log - slack; e > evidence {
			worst, evidence = r, e
		}
	}
	return worst, evidence > math.Log(float64(len(sizes))/alpha)
}

func repeats(values []int64, rate float64, size int64) Repeats {
	r := Repeats{Block: size}
	block := func(v int64) int64 {
		b := v / size
		if v%size < 0 {
			b--
		}
		return b
	}
	if len(values) == 0 {
		return r
	}
	lowest, highest := block(slices.Min(values)), block(slices.Max(values))
	waiting := map[int64]int64{}
	for _, v := range values {
		block := block(v)
		if block == lowest || block == highest {
			continue
		}
		other, ok := waiting[block]
		if !ok {
			waiting[block] = v
			continue
		}
		delete(waiting, block)
		r.Pairs++
		if v == other {
			r.Equal++
		}
	}
	// The probability as a quotient in which nothing cancels.
	b := float64(size)
	p := 1 / b
	if rate > 0 {
		p = math.Tanh(rate/2) / math.Tanh(rate*b/2)
	}
	r.Expected = p * float64(r.Pairs)
	return r
}
