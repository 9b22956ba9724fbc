package accuracy

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/studytest"
)

// Rows have the order of the questions, the epsilons and the mechanisms, and with a large
// epsilon every answer is the truth, but for the grid of the thesis's average.
func TestRows(t *testing.T) {
	readings := []float64{0.4, -5, 3, 3, 0} // 0.5, -1, 3, 3, 0 on the grid: 1.1 on average
	for m, want := range map[budget.Metric]map[string][]string{
		budget.D1: {"sum": {Ours}, "avg": {Ours, Thesis}, "min": {Ours, Thesis}, "variance": {Ours}},
		budget.DH: {"count": {Ours}, "sum": {Ours}, "avg": {Ours, Thesis}, "max": {Ours, Thesis, Exponential}, "stddev": {Ours}},
	} {
		t.Run(m.String(), func(t *testing.T) {
			study := newStudy(t, settings(t, m, 3, 1e5, 2e5))
			var done, total int
			study.Progress = func(d, n int) { done, total = d, n }
			got := map[string][]string{}
			rows := studytest.Rows(t, func(ctx context.Context, row func(Row) error) error {
				return study.Run(ctx, readings, row)
			})
			for _, r := range rows {
				if r.Epsilon == 2e5 {
					got[r.Question] = append(got[r.Question], r.Mechanism)
				}
				off := 1e-3
				if r.Question == "avg" && r.Mechanism == Thesis {
					off = 0.1 + 1e-3
				}
				if r.Median > r.P95 || r.P95 > off {
					t.Errorf("%+v", r)
				}
			}
			for question, mechanisms := range want {
				if !slices.Equal(got[question], mechanisms) {
					t.Errorf("%s: %v", question, got[question])
				}
			}
			if _, ok := got["count"]; ok != (m == budget.DH) || done != total || total != 3*len(rows) {
				t.Errorf("%v, %d of %d", got, done, total)
			}
		})
	}
}

// A failing row ends a run.
func TestRunStops(t *testing.T) {
	stop := errors.New("stop")
	rows := 0
	err := newStudy(t, settings(t, budget.DH, 1, 1)).Run(t.Context(), []float64{1}, func(Row) error {
		rows++
		return stop
	})
	if err != stop || rows != 1 {
		t.Errorf("%v after %d rows", err, rows)
	}
}

// The median and 95 % of the errors of a sum are those of its noise: two-sided geometric, on
// steps of 0.5 at a rate of 0.5 each. At epsilon 1 the error is at most k steps with
// probability 1 - 2q^(k+1)/(1+q), q = e^-0.5: 0.245 for 0, 0.542 for 1, 0.939 for 5, 0.963
// for 6. Of 20,000 draws, one of these is on the wrong side of 0.5 or 0.95 with a probability
// below 1e-10 (Chernoff).
func TestErrorsOfASum(t *testing.T) {
	study := newStudy(t, settings(t, budget.D1, 20_000, 1))
	rows := studytest.Rows(t, func(ctx context.Context, row func(Row) error) error {
		return study.Run(ctx, []float64{3, 3, 3, 3, 3, 3, 3, 3}, row)
	})
	if r := rows[0]; r.Question != "sum" || r.Truth != 24 || r.Median != 0.5 || r.P95 != 3 {
		t.Errorf("%+v", r)
	}
}
