package bound

import "math"

// Repeats is what Collisions found.
type Repeats struct {
	Block    int64   // how many neighbouring values were taken together
	Pairs    int     // pairs of draws within a block
	Equal    int     // those whose two values are equal
	Expected float64 // how many of them would be equal at most, on average
}

// Collisions tests draws for too many equal ones, as a generator with few bits makes them. The
// draws must be independent integers of one law in which neighbouring values differ in their
// probabilities by a factor of at most exp(rate); leave out values at clamps. It reports whether
// such a law would show what was found, the worst of several sizes of blocks, with a probability
// of at most alpha.
//
// Draws are put into blocks of B neighbouring values and paired within their block in the order
// of drawing. Given which draws are in which block, pairs are independent, and the two values of
// a pair are equal with probability at most (1+q^B)(1-q) / ((1-q^B)(1+q)) with q = exp(-rate):
// the sum of the squares of the block's probabilities, in order of size, is largest when each is
// q times the one before (it majorises all others). So the number of equal pairs is at most
// binomial.
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
	waiting := map[int64]int64{}
	for _, v := range values {
		block := v / size
		if v%size < 0 {
			block--
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
	// (1+q^B)(1-q) / ((1-q^B)(1+q)), without cancelling.
	b := float64(size)
	p := 1 / b
	if rate > 0 {
		p = math.Tanh(rate/2) / math.Tanh(rate*b/2)
	}
	r.Expected = p * float64(r.Pairs)
	return r
}
