package accuracy

import (
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
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
