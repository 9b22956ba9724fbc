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

// An Event is a set of outcomes: those whose score is at least, or at most, a threshold.
type Event struct {
	Name     string  // what it looks at, and the threshold
	Likelier int     // the input under which it is likelier
	Promise  float64 // the bound that it reached on draws that chose it, which flatters it

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

// Screening and deciding look at no more than this many outcomes or numbers.
const (
	screened  = 3_000_000 // numbers in all while families are compared
	finalists = 6         // scores that are compared on all draws
)

// Learn searches the events for the one whose bound promises to be largest. draws are the
// answers under the two inputs. The events are thresholds of scores: single answers, each number
// and what can be told of it, all numbers together, their order, and the hints. Half of the
// draws fit the scores that have something to fit, and the other half chooses among them.
//
// Without draws of both inputs Learn returns an event that contains nothing.
func Learn(draws [2][]Outcome, kind Kind, alpha float64, hints ...Score) Event {
	nothing := Event{Name: "nothing", score: Score{"nothing", func(Outcome) float64 { return 0 }}, threshold: 1}
	var fit, choose [2][]Outcome
	for i, d := range draws {
		fit[i], choose[i] = d[:len(d)/2], d[len(d)/2:]
	}
	if len(fit[0]) == 0 || len(fit[1]) == 0 {
		return nothing
	}
	scores := append(slices.Clone(hints), candidates(fit)...)
	each := max(500, screened/(len(scores)*2))
	few := [2][]Outcome{head(choose[0], each), head(choose[1], each)}
	all := make([]Event, 0, len(scores))
	for _, s := range scores {
		all = append(all, best(s, few, kind, alpha))
	}
	slices.SortStableFunc(all, func(a, b Event) int { return cmp.Compare(b.Promise, a.Promise) })
	winner := nothing
	winner.Promise = math.Inf(-1)
	for _, e := range head(all, finalists) {
		if e := best(e.score, choose, kind, alpha); e.Promise > winner.Promise {
			winner = e
		}
	}
	return winner
}

func head[T any](s []T, n int) []T { return s[:min(n, len(s))] }

// best returns the threshold of a score that promises most.
func best(s Score, draws [2][]Outcome, kind Kind, alpha float64) Event {
	type point struct {
		score float64
		input int
	}
	points := make([]point, 0, len(draws[0])+len(draws[1]))
	for i, d := range draws {
		for _, o := range d {
			points = append(points, point{number(s.Of(o)), i})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.score, b.score) })
	e := Event{score: s, Promise: math.Inf(-1)}
	try := func(c Counts, threshold float64, below bool) {
		likelier := 0
		if c.In[1]*c.Of[0] > c.In[0]*c.Of[1] {
			likelier = 1
		}
		if v := c.promise(kind, likelier, alpha); v > e.Promise {
			e.Promise, e.Likelier, e.threshold, e.below = v, likelier, threshold, below
		}
	}
	var up, down Counts
	for i, d := range draws {
		up.Of[i], down.Of[i] = len(d), len(d)
		up.In[i] = len(d)
	}
	// Between two points with the same score there is no threshold. About this many are tried:
	// evenly by rank, and densely at both ends, where far answers are.
	next, n := 0, len(points)
	for k, p := range points {
		if k > 0 && p.score != points[k-1].score && k >= next {
			try(up, p.score, false)
			try(down, points[k-1].score, true)
			next = k + max(1, min(n/48, min(k, n-k)/5))
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

// promise returns about what counts of the same size would bound: it is quick, and only orders
// events. It is negative where nothing would be shown, so that events still have an order.
func (c Counts) promise(kind Kind, likelier int, alpha float64) float64 {
	a, b := float64(c.In[likelier])/float64(c.Of[likelier]), float64(c.In[1-likelier])/float64(c.Of[1-likelier])
	limit := -math.Log(alpha)
	if kind == Renyi {
		p := chernoffBelow(a, limit/float64(c.Of[likelier]))
		q := 1 - chernoffBelow(1-b, limit/float64(c.Of[1-likelier]))
		if p <= q {
			return p - q
		}
		return coinsApart(p, q)
	}
	n := float64(c.In[0] + c.In[1])
	if n == 0 || a == 0 {
		return math.Inf(-1)
	}
	// Groups need not be of one size: the share is that of groups that are.
	return logit(chernoffBelow(a/(a+b), limit/n))
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// chernoffBelow returns the p < share whose relative entropy from share is e: by Chernoff's
// bound, n trials show that share with a probability of at most exp(-n*e) if theirs is p.
func chernoffBelow(share, e float64) float64 {
	if share == 0 {
		return 0
	}
	if share == 1 {
		return math.Exp(-e)
	}
	// Newton's method on the logit of p: the entropy is convex in it, with derivative p - share,
	// and starting on the far side it never steps across.
	t := logit(share)
	t -= math.Sqrt(2*e/(share*(1-share))) + e/share
	for range 40 {
		p := 1 / (1 + math.Exp(-t))
		h := share*math.Log(share/p) + (1-share)*math.Log((1-share)/(1-p))
		step := (h - e) / (share - p)
		t += step
		if math.Abs(step) < 1e-6 {
			break
		}
	}
	return 1 / (1 + math.Exp(-t))
}

// coinsApart returns about what renyi returns, from a few orders.
func coinsApart(p, q float64) float64 {
	v := 0.0
	for _, a := range []float64{1.001, 1.3, 2, 4, 10} {
		v = max(v, divergence(p, q, a)/a, divergence(q, p, a)/a)
	}
	return v
}
