package accuracy

import (
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
	"github.com/geosql/geosql/mechanism/scalar"
)

func TestTruth(t *testing.T) {
	u := settings(t, budget.DH, 1, 1).Universe
	readings := indices(u, -1, 0, 0.5, 3)
	want := map[string]float64{
		"count": 4, "sum": 2.5, "avg": 0.625, "min": -1, "median": 0.5,
		"percentile 95": 3, "percentile 99": 3, "max": 3,
		"variance": 10.25/4 - 0.625*0.625, "stddev": math.Sqrt(10.25/4 - 0.625*0.625),
	}
	for _, q := range questions {
		if got := q.truth(u, readings); math.Abs(got-want[q.name]) > 1e-12 {
			t.Errorf("%s is %v, not %v", q.name, got, want[q.name])
		}
	}
}

// Ranks are those of dx_percentile: min(m, floor(p*m/100)+1).
func TestRank(t *testing.T) {
	for _, c := range []struct {
		percent int64
		n, want int
	}{{0, 7, 1}, {50, 4, 3}, {50, 5, 3}, {95, 20, 20}, {95, 19, 19}, {95, 1623, 1542}, {100, 7, 7}} {
		if got := rank(c.percent, c.n); got != c.want {
			t.Errorf("percentile %d of %d has rank %d, not %d", c.percent, c.n, got, c.want)
		}
	}
}

// A metric that names a way to draw percentiles has no other questions, and they are drawn in that way.
func TestNamedWays(t *testing.T) {
	for metric, readings := range map[string]float64{"d1/noise": math.Inf(1), "d1/score": 100, "d1/window": math.NaN()} {
		s := settings(t, budget.D1, 1, 1)
		s.Metric = metric
		var asked []string
		for _, q := range questions {
			if !q.asked(&s) {
				continue
			}
			asked = append(asked, q.name)
			query, err := q.query(&s, 1)
			if err != nil {
				t.Fatal(err)
			}
			var a scalar.Accumulator
			for range 100 {
				query.Add(&a, 1)
			}
			if got := query.Release(exact.NewSource(nil), &a).Readings; q.name == "median" && got != readings && !(math.IsNaN(got) && math.IsNaN(readings)) {
				t.Errorf("%s: drawn as one of %v readings, not %v", metric, got, readings)
			}
		}
		if want := []string{"min", "median", "percentile 95", "percentile 99", "max"}; !slices.Equal(asked, want) {
			t.Errorf("%s: %v", metric, asked)
		}
	}
}
