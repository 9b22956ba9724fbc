package audit

import "github.com/geosql/geosql/internal/audit/bound"

// A counter counts answers in a way that was learned from other answers.
type counter interface {
	name() string // the column it looks at
	add(input int, o bound.Outcome)
	lower(alpha float64) float64 // lower confidence bound of the loss
}

// learn returns the counter that promises the largest bound of a kind of loss, and about that bound.
func learn(draws [2][]bound.Outcome, kind bound.Kind, alpha float64, hints []bound.Score) (c counter, promise float64) {
	if kind == bound.Renyi {
		w := bound.LearnWitness(draws, alpha, hints...)
		return levels{w.Tally()}, w.Promise
	}
	e := bound.Learn(draws, alpha, hints...)
	return &event{Event: e}, e.Promise
}

// event counts how often an event happens: enough to bound a pure loss.
type event struct {
	bound.Event
	counts bound.Counts
}

func (e *event) name() string                   { return e.Name }
func (e *event) add(input int, o bound.Outcome) { e.counts.Add(input, e.Contains(o)) }
func (e *event) lower(alpha float64) float64    { return e.counts.Epsilon(e.Likelier, alpha) }

// levels counts the levels of a witness, which show more of a Rényi divergence than an event.
type levels struct{ *bound.Tally }

func (l levels) name() string                   { return l.Witness.Name }
func (l levels) add(input int, o bound.Outcome) { l.Add(input, o) }
func (l levels) lower(alpha float64) float64    { return l.Renyi(alpha) }
