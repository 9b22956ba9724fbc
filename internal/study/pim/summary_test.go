package pim

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/study/stats"
)

// By hand: two runs of two steps and one step.
func TestSummary(t *testing.T) {
	queries := []KNN{{1, 1}, {2, 4}}
	var a, b, all tally
	a.add(step{setSize: 3, metres: 3, estimateMetres: 1, took: time.Second})
	a.addKNN(queries, []int32{7, 8, 9, 6}, []int32{7, 1, 2, 8}) // 1 of 1, 2 of 2
	a.add(step{setSize: 6, metres: 4, estimateMetres: 3, drift: true, took: 2 * time.Second})
	a.addKNN(queries, []int32{7, 8, 9, 6}, []int32{8, 9, 6, 5}) // 0, 1
	b.add(step{setSize: 9, metres: 5, estimateMetres: 8, took: 6 * time.Second})
	b.addKNN(queries, []int32{1, 2, 3, 4}, []int32{3, 4, 5, 6}) // 0, 0
	all.merge(&a)
	all.merge(&b)
	s := all.summary(queries)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"steps", float64(s.Steps), 3},
		{"set size", s.SetSize, 6},
		{"drift ratio", s.DriftRatio, 1.0 / 3},
		{"distance", s.Distance, 4},
		{"rmse", s.RMSE, math.Sqrt(50.0 / 3)},
		{"estimate", s.Estimate, 4},
		{"precision 1/1", s.Precision[0], 1.0 / 3},
		{"recall 1/1", s.Recall[0], 1.0 / 3},
		{"precision 2/4", s.Precision[1], 3.0 / 12},
		{"recall 2/4", s.Recall[1], 3.0 / 6},
		{"seconds", s.StepTime.Seconds(), 3},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s %v, not %v", c.name, c.got, c.want)
		}
	}
}

// By hand: four runs, the first with two steps.
func TestSpread(t *testing.T) {
	queries := []KNN{{1, 1}}
	runs := make([]tally, 4)
	for k := range runs {
		runs[k].add(step{setSize: 4 - k, metres: float64(10 * k), drift: k == 3})
		runs[k].addKNN(queries, []int32{int32(k)}, []int32{2})
	}
	runs[0].add(step{setSize: 8, drift: true})
	runs[0].addKNN(queries, []int32{5}, []int32{5})
	s := summaryOf(runs, queries)
	want := []spreadOf{ // of 6, 3, 2, 1; of 1/2, 0, 0, 1; of 0, 10, 20, 30
		{18. / 5, stats.Quartiles{Low: 1, High: 3}}, {40, stats.Quartiles{Low: 0, High: 50}}, {0.012, stats.Quartiles{Low: 0, High: 0.02}},
	}
	if got := spreadsOf(s); !slices.Equal(got, want) {
		t.Errorf("%+v, not %+v", got, want)
	}
	precision := quantity{scale: 1, of: func(s Summary) float64 { return s.Precision[0] }}
	if mean, around := precision.at(s); mean != 0.4 || around != (stats.Quartiles{Low: 0, High: 0.5}) { // of 1/2, 0, 1, 0
		t.Errorf("precision %v, %+v", mean, around)
	}
}

// A spreadOf is a quantity and its quartiles.
type spreadOf struct {
	mean   float64
	around stats.Quartiles
}

// spreadsOf returns all quantities of a summary.
func spreadsOf(s Summary) (all []spreadOf) {
	for _, q := range quantities {
		mean, around := q.at(s)
		all = append(all, spreadOf{mean, around})
	}
	return all
}
