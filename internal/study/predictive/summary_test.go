package predictive

import (
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/study/stats"
	"github.com/geosql/geosql/mechanism/trace"
	"pgregory.net/rapid"
)

// A measured is a point with its arguments to the tally.
type measured struct {
	plan   trace.Plan
	point  trace.Point
	metres float64
}

func drawMeasured(t *rapid.T) (m measured) {
	m.metres = float64(rapid.IntRange(0, 5).Draw(t, "error"))
	test, noise := budget.Amount(rapid.Int64Range(1, 9).Draw(t, "test")), budget.Amount(rapid.Int64Range(1, 9).Draw(t, "noise"))
	switch rapid.SampledFrom([]trace.Action{trace.Predict, trace.Test, trace.Noise}).Draw(t, "action") {
	case trace.Predict:
		m.plan.Action = trace.Predict
	case trace.Noise:
		m.plan = trace.Plan{Action: trace.Noise, EpsNoise: noise}
		m.point = trace.Point{Hard: true, Spent: noise}
	default:
		m.plan = trace.Plan{Action: trace.Test, EpsTest: test, EpsNoise: noise}
		m.point = trace.Point{Tested: true, Spent: test}
		if rapid.Bool().Draw(t, "hard") {
			m.point.Hard, m.point.Spent = true, test+noise
		}
	}
	return m
}

// The summary of runs, shared out in any way, is the same as counting them one by one.
func TestSummaryAgainstReference(t *testing.T) {
	const epsilon = 1000
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOf(rapid.SliceOfN(rapid.Custom(drawMeasured), 1, 10)).Draw(t, "runs")
		parts := make([]tally, 3)
		for _, run := range runs {
			part := &parts[rapid.IntRange(0, 2).Draw(t, "worker")]
			h := budget.History{Points: int64(len(run))}
			for _, m := range run {
				part.add(m.plan, m.point, m.metres)
				h.Spent += m.point.Spent
			}
			part.endRun(h)
		}
		var all tally
		for k := range parts {
			all.merge(&parts[k])
		}
		got, want := all.summary(epsilon), reference(runs, epsilon)
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"runs", float64(got.Runs), float64(want.Runs)},
			{"points", float64(got.Points), float64(want.Points)},
			{"prediction rate", got.PredictionRate, want.PredictionRate},
			{"skipped", got.Skipped, want.Skipped},
			{"test share", got.TestShare, want.TestShare},
			{"average error", got.AverageError, want.AverageError},
			{"p90 error", got.P90Error, want.P90Error},
			{"rate", got.Rate, want.Rate},
			{"largest spent share", got.MaxSpentShare, want.MaxSpentShare},
		} {
			if math.Abs(c.got-c.want) > 1e-12 || math.IsNaN(c.got) != math.IsNaN(c.want) {
				t.Errorf("%s %v, not %v", c.name, c.got, c.want)
			}
		}
	})
}

// reference counts as the comment of Summary says.
func reference(runs [][]measured, epsilon float64) (s Summary) {
	var tested, easy, skipped, test, spent, errors, rates float64
	var all []float64
	for _, run := range runs {
		ofRun := 0.0
		for _, m := range run {
			all = append(all, m.metres)
			errors += m.metres
			ofRun += float64(m.point.Spent)
			if m.plan.Action == trace.Test {
				tested++
				test += float64(m.plan.EpsTest)
			}
			if m.plan.Action == trace.Test && !m.point.Hard {
				easy++
			}
			if m.plan.Action == trace.Predict {
				skipped++
			}
		}
		spent += ofRun
		rates += ofRun / epsilon / float64(len(run))
		s.MaxSpentShare = max(s.MaxSpentShare, ofRun/epsilon)
	}
	s.Runs, s.Points = len(runs), len(all)
	s.PredictionRate, s.Skipped, s.TestShare = easy/tested, skipped/float64(len(all)), test/spent
	s.AverageError, s.Rate = errors/float64(len(all)), rates/float64(len(runs))
	s.P90Error = math.NaN()
	for _, x := range all { // the least that nine in ten do not exceed
		below := 0
		for _, y := range all {
			if y <= x {
				below++
			}
		}
		if 10*below >= 9*len(all) && !(s.P90Error <= x) {
			s.P90Error = x
		}
	}
	return s
}

// By hand: four traces of one point each, and one that was left out.
func TestSpread(t *testing.T) {
	traces := make([]tally, 5)
	for k := range 4 {
		traces[k].add(trace.Plan{Action: trace.Test, EpsTest: 1}, trace.Point{Tested: true, Hard: k > 0}, float64(10*k))
		traces[k].endRun(budget.History{Spent: budget.Amount(k + 1), Points: 1})
	}
	all := summaryOf(traces, 4).Traces
	for name, c := range map[string]struct {
		of   func(Summary) float64
		want stats.Quartiles
	}{
		"prediction rate": {func(s Summary) float64 { return s.PredictionRate }, stats.Quartiles{}},
		"average error":   {func(s Summary) float64 { return s.AverageError }, stats.Quartiles{Low: 0, High: 20}},
		"rate":            {func(s Summary) float64 { return s.Rate }, stats.Quartiles{Low: 0.25, High: 0.75}},
		"test share":      {func(s Summary) float64 { return s.TestShare }, stats.Quartiles{Low: 0.25, High: 0.5}},
		"skipped":         {func(s Summary) float64 { return s.Skipped }, stats.Quartiles{}},
	} {
		if got := stats.QuartilesOf(all, c.of); got != c.want {
			t.Errorf("%s %+v, not %+v", name, got, c.want)
		}
	}
}
