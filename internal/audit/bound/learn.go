package bound

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// A Kind says which loss a claim bounds.
type Kind int

const (
	// Pure is a bound of ln P(E|0)/P(E|1) for every event E.
	Pure Kind = iota
	// Renyi is a bound of the Renyi divergence of every order over the order.
	Renyi
)

// A Score orders outcomes by how much they speak for input 0 rather than 1.
type Score struct {
	Name string
	Of   func(Outcome) float64
}

// An Event is a set of outcomes: those with a score of at least, or at most, a threshold.
type Event struct {
	Name     string  // its score and the threshold
	Likelier int     // the input under which it is likelier
	Promise  float64 // about the bound that it will show: it flatters, being the best of many

	score     Score
	threshold float64
	below     bool
}

// Contains reports whether an outcome is in the event.
func (e Event) Contains(o Outcome) bool {
	s := number(e.score.Of(o))
	if e.below {
		return s <= e.threshold
	}
	return s >= e.threshold
}

// number returns a score that can be compared: an outcome without one comes before all others.
func number(s float64) float64 {
	if math.IsNaN(s) {
		return math.Inf(-1)
	}
	return s
}

// At the default sizes, in trials, an event of a pair of inputs with the loss Sharpest shows nine
// tenths of it at an alpha of 1e-9: of the geometric, the planar Laplace and the exponential
// mechanism. At a smaller loss noise hides more of it, at a larger one the rarer input is rare.
const (
	Learned  = 1 << 15
	Counted  = 1 << 18
	Sharpest = 3.0
)

// Learn searches the events for the one with the bound that promises to be largest, when Counted draws
// are counted for every Learned that it learns from. draws are the answers under the two inputs. The events are
// thresholds of scores: single answers, each number and its features, all numbers
// together, their order, and the hints. Half of the draws fit the scores that have something to
// fit, and the other half chooses among them.
//
// Without draws of both inputs Learn returns an event that contains nothing.
func Learn(draws [2][]Outcome, alpha float64, hints ...Score) Event {
	l := learner{alpha: alpha, kind: Pure, counted: counted(draws)}
	winner := Event{Name: "nothing", Promise: math.Inf(-1),
		score: Score{"nothing", func(Outcome) float64 { return 0 }}, threshold: 1}
	for _, f := range l.finalists(draws, hints) {
		if e := l.best(f.score, f.draws); e.Promise > winner.Promise {
			winner = e
		}
	}
	return winner
}

// A learner knows the claims to be tested.
type learner struct {
	kind    Kind
	alpha   float64
	counted float64 // draws of each input
}

// counted returns how many draws of an input will be counted, about.
func counted(draws [2][]Outcome) float64 {
	return Counted / Learned * float64(min(len(draws[0]), len(draws[1])))
}

const (
	// comparing is how many numbers are looked at, in all, to find the finalists, and
	// deciding how many for one finalist.
	comparing = 2_000_000
	deciding  = 2_000_000
	// last is how many scores are fitted to all draws and compared on them.
	last = 6
	// together is how many of the best features are taken together.
	together = 12
	// least is how many draws of an input are never too many.
	least = 500
)

// A finalist is a score that was fitted to one half of the draws, and the other half.
type finalist struct {
	score Score
	draws [2][]Outcome
}

// finalists returns the scores that promise most on a part of the draws.
func (l learner) finalists(draws [2][]Outcome, hints []Score) []finalist {
	var fit, choose [2][]Outcome
	for i, d := range draws {
		fit[i], choose[i] = d[:len(d)/2], d[len(d)/2:]
	}
	if len(fit[0]) == 0 || len(fit[1]) == 0 {
		return nil
	}
	candidates := candidates(fit)
	for _, h := range hints {
		candidates = append(candidates, candidate{name: h.Name, parts: 1, fit: unfitted(h.Of)})
	}
	cost := 0
	for _, c := range candidates {
		cost += c.parts
	}
	fewFit, few := first(fit, comparing/cost), first(choose, comparing/cost)
	promises := make(map[string]float64, len(candidates))
	compare := func(c candidate) {
		promises[c.name] = l.best(Score{c.name, c.fit(fewFit)}, few).Promise
	}
	for _, c := range candidates {
		compare(c)
	}
	better := func(a, b candidate) int { return cmp.Compare(promises[b.name], promises[a.name]) }
	slices.SortStableFunc(candidates, better)
	var parts []candidate
	for _, c := range candidates {
		if c.ratio && len(parts) < together {
			parts = append(parts, c)
		}
	}
	if len(parts) > 1 {
		joint := sum("likelihood of all that tells most", parts)
		compare(joint)
		candidates = append(candidates, joint)
		slices.SortStableFunc(candidates, better)
	}
	var fs []finalist
	for _, c := range candidates[:min(last, len(candidates))] {
		n := deciding / c.parts
		fs = append(fs, finalist{Score{c.name, c.fit(first(fit, n))}, first(choose, n)})
	}
	return fs
}

// first returns the first n draws of each input, but not too few.
func first(draws [2][]Outcome, n int) [2][]Outcome {
	for i, d := range draws {
		draws[i] = d[:min(max(least, n/2), len(d))]
	}
	return draws
}

// A point is the score of an outcome, and its input.
type point struct {
	score float64
	input int
}

// points returns the scores of draws in order.
func points(s Score, draws [2][]Outcome) []point {
	ps := make([]point, 0, len(draws[0])+len(draws[1]))
	for i, d := range draws {
		for _, o := range d {
			ps = append(ps, point{number(s.Of(o)), i})
		}
	}
	slices.SortFunc(ps, func(a, b point) int { return cmp.Compare(a.score, b.score) })
	return ps
}

// best returns the threshold of a score that promises most.
func (l learner) best(s Score, draws [2][]Outcome) Event {
	e := Event{score: s, Promise: math.Inf(-1)}
	var up, down Counts
	for i, d := range draws {
		up.Of[i], down.Of[i], up.In[i] = len(d), len(d), len(d)
	}
	try := func(c Counts, threshold float64, below bool) {
		likelier := 0
		if c.In[1]*c.Of[0] > c.In[0]*c.Of[1] {
			likelier = 1
		}
		if v := l.promise(c, likelier); v > e.Promise {
			e.Promise, e.Likelier, e.threshold, e.below = v, likelier, threshold, below
		}
	}
	// Between two points with the same score there is no threshold. About a hundred are tried:
	// evenly by rank, and densely at both ends, where far answers are.
	ps := points(s, draws)
	next := 0
	for k, p := range ps {
		if k > 0 && p.score != ps[k-1].score && k >= next {
			try(up, p.score, false)
			try(down, ps[k-1].score, true)
			next = k + max(1, min(len(ps)/48, min(k, len(ps)-k)/5))
		}
		up.In[p.input]--
		down.In[p.input]++
	}
	mark := ">="
	if e.below {
		mark = "<="
	}
	e.Name = fmt.Sprintf("%s %s %.6g", s.Name, mark, e.threshold)
	return e
}

// promise returns about the bound that the event of counts will show on as many draws as there are to
// learn from. It is quick, and only orders events: where nothing would be shown it is negative.
func (l learner) promise(c Counts, likelier int) float64 {
	p, o := c.Of[likelier], c.Of[1-likelier]
	a, b := float64(c.In[likelier])/float64(p), float64(c.In[1-likelier])/float64(o)
	if a == 0 {
		return math.Inf(-1)
	}
	// By Chernoff, an event of probability alpha lies at a relative entropy of ln(1/alpha) over
	// the number of draws. There are more of them than these, but the best of many thresholds
	// is also better than it should be: four standard deviations are not believed.
	entropy := max(-math.Log(l.alpha)*float64(min(p, o))/l.counted, 8)
	if l.kind == Renyi {
		low := chernoffBelow(a, entropy/float64(p))
		high := 1 - chernoffBelow(1-b, entropy/float64(o))
		if low <= high {
			return low - high
		}
		return max(divergence(low, high, 1.001), divergence(high, low, 1.001))
	}
	// The two groups need not be of one size: the share is that of groups that are.
	return logit(chernoffBelow(a/(a+b), entropy/float64(c.In[0]+c.In[1])))
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// chernoffBelow returns the p < share from which share has the relative entropy e.
func chernoffBelow(share, e float64) float64 {
	if share == 0 {
		return 0
	}
	if share == 1 {
		return math.Exp(-e)
	}
	// The entropy is convex in the logit of p, with derivative p - share, so that Newton's
	// method never steps across the solution from the far side.
	t := logit(share) - math.Sqrt(2*e/(share*(1-share))) - e/share
	for range 40 {
		// ln(1/p) and ln(1/(1-p)). Neither overflows.
		lp, lq := math.Log1p(math.Exp(-t)), math.Log1p(math.Exp(t))
		if t < -30 {
			lp = -t
		}
		h := share*(math.Log(share)+lp) + (1-share)*(math.Log1p(-share)+lq)
		step := (h - e) / (share - 1/(1+math.Exp(-t)))
		t += step
		if math.Abs(step) < 1e-6 {
			break
		}
	}
	return 1 / (1 + math.Exp(-t))
}
