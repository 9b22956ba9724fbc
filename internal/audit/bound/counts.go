package bound

import "math"

// Counts holds how many trials each input had and how many of them ended in the event.
type Counts struct {
	In [2]int // by input, trials with an answer in the event
	Of [2]int // by input, all trials
}

// Add counts one trial.
func (c *Counts) Add(input int, in bool) {
	c.Of[input]++
	if in {
		c.In[input]++
	}
}

// Epsilon returns a lower confidence bound, at level 1-alpha, of the loss that the event shows:
// ln P(E|likelier)/P(E|other), or 0 if that is all that can be said. Trials must have chosen
// their input by a fair coin.
func (c Counts) Epsilon(likelier int, alpha float64) float64 {
	x, n := c.In[likelier], c.In[0]+c.In[1]
	if n == 0 {
		return 0
	}
	return max(0, logitBelow(x, n, alpha))
}

// Apart returns the bound of Epsilon where each input had a number of trials that was fixed
// beforehand. It bounds the two probabilities separately, at alpha/2 each, and so is less sharp.
func (c Counts) Apart(likelier int, alpha float64) float64 {
	p, other := c.apart(likelier, alpha)
	if p <= other {
		return 0
	}
	return math.Log(p / other)
}

// apart returns a lower bound of the probability of the event under the likelier input and an
// upper bound of that under the other one, which hold together at level 1-alpha.
func (c Counts) apart(likelier int, alpha float64) (p, other float64) {
	below := func(x, n int) float64 {
		if n == 0 {
			return math.Inf(-1)
		}
		return logitBelow(x, n, alpha/2)
	}
	o := 1 - likelier
	p = 1 / (1 + math.Exp(-below(c.In[likelier], c.Of[likelier])))
	other = 1 / (1 + math.Exp(below(c.Of[o]-c.In[o], c.Of[o])))
	return p, other
}

// Renyi returns a lower confidence bound, at level 1-alpha, of the largest Renyi divergence over
// its order: the supremum over orders a > 1 of D_a(P|P')/a and D_a(P'|P)/a, where P and P' are
// the laws of the answers under the two inputs. By data processing no divergence is less than
// that of the event and its complement, which grows with the distance of their probabilities;
// the two are bounded at alpha/2 each. The coin need not be fair.
func (c Counts) Renyi(likelier int, alpha float64) float64 {
	p, other := c.apart(likelier, alpha)
	if p <= other {
		return 0
	}
	return renyi(p, other)
}

// renyi returns the supremum over orders a > 1 of the larger divergence of two coins over a, or
// a little less.
func renyi(p, q float64) float64 {
	f := func(a float64) float64 { return max(divergence(p, q, a), divergence(q, p, a)) / a }
	best, at := 0.0, 0.0
	for u := -12.0; u <= 6; u += 0.5 {
		if v := f(1 + math.Exp(u)); v > best {
			best, at = v, u
		}
	}
	for h := 0.25; h > 1e-4; h /= 2 {
		for _, u := range []float64{at - h, at + h} {
			if v := f(1 + math.Exp(u)); v > best {
				best, at = v, u
			}
		}
	}
	return best
}

// divergence returns the Renyi divergence of order a > 1 of a coin with probability p from one
// with probability q.
func divergence(p, q, a float64) float64 {
	l := math.Log(p) + (a-1)*math.Log(p/q)
	m := math.Log1p(-p) + (a-1)*(math.Log1p(-p)-math.Log1p(-q))
	if p == 1 {
		m = math.Inf(-1)
	}
	high := max(l, m)
	if math.IsInf(high, 1) || math.IsNaN(high) {
		return 0
	}
	return (high + math.Log1p(math.Exp(min(l, m)-high))) / (a - 1)
}
