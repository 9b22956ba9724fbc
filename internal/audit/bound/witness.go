package bound

import (
	"cmp"
	"math"
	"slices"
)

// A Witness is a function of outcomes with a few values, its levels. Its averages under the
// two inputs show a Renyi divergence. An event is the case of two levels, and a Gaussian loses
// more than a third of its divergence when all that is kept of an answer is one bit.
type Witness struct {
	Name     string
	Likelier int     // the input with the law that diverges from the other
	Order    float64 // the order of the divergence
	Promise  float64 // about the bound that it will show: it flatters, being the best of many

	score    Score
	borders  bins       // of the levels, by score
	value    []float64  // by level, about the log likelihood ratio
	variance [2]float64 // of the two averaged functions, see terms
}

// Level returns which of the levels an outcome has.
func (w *Witness) Level(o Outcome) int { return w.borders.of(number(w.score.Of(o))) }

// terms returns by level the averaged terms under the likelier input and under the other. For
// every function g, the divergence of order a over a is at least
//
//	ln(E[exp((a-1)g)])/(a-1) - ln(E'[exp(a*g)])/a,
//
// with equality for the log likelihood ratio (Birrell, Dupuis, Katsoulakis, Rey-Bellet and Wang,
// "Variational representations and neural network estimation of Renyi divergences", 2021).
func (w *Witness) terms() (u, v []float64) {
	for _, g := range w.value {
		u = append(u, math.Exp((w.Order-1)*g))
		v = append(v, math.Exp(w.Order*g))
	}
	return u, v
}

// shown returns the loss that averages of the terms show.
func (w *Witness) shown(u, v float64) float64 {
	return math.Log(u)/(w.Order-1) - math.Log(v)/w.Order
}

// A Tally counts outcomes by the levels of a witness that was learned from others.
type Tally struct {
	Witness *Witness
	Of      [2][]int // by input and level
}

// Tally returns an empty tally.
func (w *Witness) Tally() *Tally {
	return &Tally{w, [2][]int{make([]int, len(w.value)), make([]int, len(w.value))}}
}

// Add counts one trial.
func (t *Tally) Add(input int, o Outcome) {
	t.Of[input][t.Witness.Level(o)]++
}

// Renyi returns a lower confidence bound, at level 1-alpha, of the supremum over orders a > 1 of
// D_a(P|P')/a, where P is the law of the answers under the witness's likelier input and P' that
// under the other. The coin of the trials need not be fair.
func (t *Tally) Renyi(alpha float64) float64 {
	w := t.Witness
	u, v := w.terms()
	for k := range v {
		v[k] = -v[k]
	}
	p, q := t.Of[w.Likelier], t.Of[1-w.Likelier]
	low := meanAbove(u, p, w.variance[0], alpha/2)
	high := -meanAbove(v, q, w.variance[1], alpha/2)
	return max(0, w.shown(low, high)-slack)
}

// meanAbove returns a lower confidence bound, at level 1-alpha, of the mean of a number that has
// one of the values x and was counted n times with each. variance is a guess that was made
// without these counts.
//
// For m at least the mean and any fixed stake s with 1+s(x-m) > 0, the product of 1+s(X-m) over
// independent X has an expectation of at most 1, so that by Markov's inequality it exceeds
// 1/alpha with probability at most alpha. The bound is the largest m at which it does. The guess
// decides the stake, and so how sharp the bound is, not whether it holds.
func meanAbove(x []float64, n []int, variance, alpha float64) float64 {
	least, most := slices.Min(x), slices.Max(x)
	total := 0
	for _, c := range n {
		total += c
	}
	if total == 0 || least == most {
		return least
	}
	limit := -math.Log(alpha)
	s := min(math.Sqrt(2*limit/(float64(total)*variance)), 0.9/(most-least))
	low, high := least, most
	for range 60 {
		m := low + (high-low)/2
		log := 0.0
		for k, c := range n {
			if c > 0 {
				log += float64(c) * math.Log1p(s*(x[k]-m))
			}
		}
		if log > limit+slack {
			low = m
		} else {
			high = m
		}
	}
	return low
}

// LearnWitness searches for the witness that promises to show the largest divergence over its
// order, among the scores that Learn compares.
//
// Without draws of both inputs it returns a witness that shows nothing.
func LearnWitness(draws [2][]Outcome, alpha float64, hints ...Score) *Witness {
	l := learner{alpha: alpha, kind: Renyi, counted: counted(draws)}
	winner := &Witness{Name: "nothing", Order: 2, Promise: math.Inf(-1), value: []float64{0},
		score: Score{"nothing", func(Outcome) float64 { return 0 }}}
	for _, f := range l.finalists(draws, hints) {
		if w := l.bestWitness(f); w.Promise > winner.Promise {
			winner = w
		}
	}
	return winner
}

// bestWitness returns the levels, the order and the direction of a score that promise most.
func (l learner) bestWitness(f finalist) *Witness {
	ps := points(f.score, f.draws)
	scores := make([]float64, len(ps))
	for k, p := range ps {
		scores[k] = p.score
	}
	borders := newBins(scores, min(50, max(4, int(math.Sqrt(float64(len(ps)))/3))))
	if len(borders) > 0 && borders[0] == scores[0] {
		borders = borders[1:] // below it is nothing
	}
	winner := &Witness{Name: f.score.Name, score: f.score, borders: borders, Promise: math.Inf(-1)}
	counts := [2][]int{make([]int, len(borders)+1), make([]int, len(borders)+1)}
	for _, p := range ps {
		counts[p.input][borders.of(p.score)]++
	}
	var law [2][]float64
	for i, c := range counts {
		for _, n := range c {
			law[i] = append(law[i], (float64(n)+0.5)/(float64(len(f.draws[i]))+0.5*float64(len(c))))
		}
	}
	limit := math.Log(2 / l.alpha)
	for likelier := range 2 {
		p, q := law[likelier], law[1-likelier]
		for _, most := range []float64{0.5, 1, 1.5, 2, 2.5, 3, 4, math.Inf(1)} {
			values := make([]float64, len(p))
			for k := range p {
				values[k] = max(-most, min(most, math.Log(p[k]/q[k])))
			}
			for _, order := range []float64{1.01, 1.2, 1.5, 2, 3, 5} {
				w := *winner
				w.Likelier, w.Order, w.value = likelier, order, values
				u, v := w.terms()
				a, b := mean(u, p), mean(v, q)
				w.variance = [2]float64{mean(squares(u, a), p), mean(squares(v, b), q)}
				n := l.counted
				a -= math.Sqrt(2*limit*w.variance[0]/n) + slices.Max(u)*limit/(3*n)
				b += math.Sqrt(2*limit*w.variance[1]/n) + slices.Max(v)*limit/(3*n)
				w.Promise = math.Inf(-1)
				if a > 0 {
					w.Promise = w.shown(a, b)
				}
				if cmp.Less(winner.Promise, w.Promise) || winner.value == nil {
					winner = &w
				}
			}
		}
	}
	return winner
}

func mean(x, law []float64) float64 {
	s := 0.0
	for k, p := range law {
		s += x[k] * p
	}
	return s
}

func squares(x []float64, centre float64) []float64 {
	s := make([]float64, len(x))
	for k, v := range x {
		s[k] = (v - centre) * (v - centre)
	}
	return s
}
