package pim

import (
	"math"
	"testing"
	"time"
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
