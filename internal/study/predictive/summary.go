package predictive

import (
	"slices"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/trace"
)

// A Summary holds the measures over the runs of one mechanism. An average of nothing is NaN.
type Summary struct {
	Runs   int // tracks times repetitions, without those left out
	Points int // reported in all runs

	PredictionRate float64 // share of the tested predictions that passed
	Skipped        float64 // share of the points that were predicted without a test
	TestShare      float64 // share of the budget spent that went into tests

	AverageError float64 // over all points, in metres
	P90Error     float64 // 90 of 100 points have at most this error, in metres

	FilterError float64 // of estimates from the points up to each, on average; NaN unless the mechanism is independent
	SmoothError float64 // of estimates from all points of a run

	Rate          float64 // share of the epsilon spent per point, averaged over the runs
	MaxSpentShare float64 // largest share of the epsilon that a run spent, at most 1

	Traces []Summary // of single traces, for their spread
}

// summaryOf returns the summary of traces, and of each, with the given epsilon.
func summaryOf(traces []tally, epsilon budget.Amount) Summary {
	var all tally
	each := make([]Summary, len(traces))
	for k := range traces { // in the order of the tracks, not of the workers
		each[k] = traces[k].summary(epsilon)
		all.merge(&traces[k])
	}
	s := all.summary(epsilon)
	s.Traces = each
	return s
}

// A tally accumulates a Summary. The zero value is empty.
type tally struct {
	runs                 int
	tested, easy, silent int // points; silent are those reported without spending
	test, spent          budget.Amount
	mostSpent            budget.Amount // by one run
	rates                float64       // sum over the runs, of amounts per point
	errors               []float64     // of all points, in metres
	filter, smooth       float64       // errors of estimates, in metres
	estimates            int
}

// add counts a point.
func (t *tally) add(p trace.Plan, q trace.Point, metres float64) {
	switch {
	case q.Tested:
		t.tested++
		t.test += p.EpsTest
		if !q.Hard {
			t.easy++
		}
	case !q.Hard:
		t.silent++
	}
	t.errors = append(t.errors, metres)
}

// endRun counts a run, after all of its points.
func (t *tally) endRun(h budget.History) {
	t.runs++
	t.spent += h.Spent
	t.mostSpent = max(t.mostSpent, h.Spent)
	t.rates += h.Spent.Float64() / float64(h.Points)
}

// smoothed counts the errors of estimates of all points of a run.
func (t *tally) smoothed(filter, smooth float64, points int) {
	t.filter += filter
	t.smooth += smooth
	t.estimates += points
}

// merge adds the runs of o.
func (t *tally) merge(o *tally) {
	t.runs += o.runs
	t.tested += o.tested
	t.easy += o.easy
	t.silent += o.silent
	t.test += o.test
	t.spent += o.spent
	t.mostSpent = max(t.mostSpent, o.mostSpent)
	t.rates += o.rates
	t.errors = append(t.errors, o.errors...)
	t.smoothed(o.filter, o.smooth, o.estimates)
}

// summary returns the summary of runs with the given epsilon each. It sorts the errors.
func (t *tally) summary(epsilon budget.Amount) Summary {
	slices.Sort(t.errors)
	points := float64(len(t.errors))
	return Summary{
		Runs:           t.runs,
		Points:         len(t.errors),
		PredictionRate: float64(t.easy) / float64(t.tested),
		Skipped:        float64(t.silent) / points,
		TestShare:      float64(t.test) / float64(t.spent),
		AverageError:   sum(t.errors) / points,
		P90Error:       stats.Quantile(t.errors, 0.9),
		FilterError:    t.filter / float64(t.estimates),
		SmoothError:    t.smooth / float64(t.estimates),
		Rate:           t.rates / float64(t.runs) / epsilon.Float64(),
		MaxSpentShare:  float64(t.mostSpent) / float64(epsilon),
	}
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}
