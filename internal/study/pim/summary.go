package pim

import (
	"math"
	"time"
)

// A Summary holds the measures over all steps of all runs of one mechanism.
type Summary struct {
	Steps int

	SetSize    float64 // mean number of cells in the delta-location set
	DriftRatio float64 // share of the steps at which the true cell was not in it

	Distance float64 // mean distance between report and truth, in metres
	RMSE     float64 // root of the mean square of that distance, in metres
	Estimate float64 // mean distance between the public estimate and the truth, in metres

	// One for each KNN of the settings; nil without places. With R the places wanted and
	// R' those returned, precision is the mean of |R n R'|/k' and recall that of
	// |R n R'|/k.
	Precision, Recall []float64

	StepTime time.Duration // mean time to find the set, draw and infer

	Runs []Summary // of single runs, for their spread
}

// summaryOf returns the summary of runs, and of each, with at least one step.
func summaryOf(runs []tally, queries []KNN) Summary {
	var all tally
	each := make([]Summary, len(runs))
	for k := range runs { // in the order of the trajectories, not of the workers
		each[k] = runs[k].summary(queries)
		all.merge(&runs[k])
	}
	s := all.summary(queries)
	s.Runs = each
	return s
}

// A tally accumulates a Summary. The zero value is empty.
type tally struct {
	steps, cells, drifts int
	metres, metres2      float64 // sums of distances and of their squares
	estimateMetres       float64 // sum of the estimates' distances
	hits                 []int   // for each KNN, places wanted that were returned
	took                 time.Duration
}

func (t *tally) add(s step) {
	t.steps++
	t.cells += s.setSize
	if s.drift {
		t.drifts++
	}
	t.metres += s.metres
	t.metres2 += s.metres * s.metres
	t.estimateMetres += s.estimateMetres
	t.took += s.took
}

// addKNN counts the answers to queries: the places nearest to the truth and to the
// report, the nearest first.
func (t *tally) addKNN(queries []KNN, truth, report []int32) {
	if t.hits == nil {
		t.hits = make([]int, len(queries))
	}
	for n, q := range queries {
		t.hits[n] += shared(truth[:q.K], report[:q.Returned])
	}
}

// merge adds the steps of o.
func (t *tally) merge(o *tally) {
	t.steps += o.steps
	t.cells += o.cells
	t.drifts += o.drifts
	t.metres += o.metres
	t.metres2 += o.metres2
	t.estimateMetres += o.estimateMetres
	t.took += o.took
	if t.hits == nil && o.hits != nil {
		t.hits = make([]int, len(o.hits))
	}
	for n, hits := range o.hits {
		t.hits[n] += hits
	}
}

// summary returns the summary of at least one step.
func (t *tally) summary(queries []KNN) Summary {
	n := float64(t.steps)
	s := Summary{
		Steps:      t.steps,
		SetSize:    float64(t.cells) / n,
		DriftRatio: float64(t.drifts) / n,
		Distance:   t.metres / n,
		RMSE:       math.Sqrt(t.metres2 / n),
		Estimate:   t.estimateMetres / n,
		StepTime:   t.took / time.Duration(t.steps),
	}
	for k, hits := range t.hits {
		s.Precision = append(s.Precision, float64(hits)/n/float64(queries[k].Returned))
		s.Recall = append(s.Recall, float64(hits)/n/float64(queries[k].K))
	}
	return s
}
