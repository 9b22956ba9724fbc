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
