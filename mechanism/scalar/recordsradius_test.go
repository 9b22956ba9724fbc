package scalar

import (
	"math"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
)

// coverage returns the probability that the average of m records whose sum is y half steps
// from m times the middle is released within r half steps, summed over the count's noise.
func (v *recordsMean) coverage(m, y int64, r float64) float64 {
	n, mean := float64(v.universe.last), float64(y)/float64(m)
	tail := func(k int64) float64 { // P(N >= k)
		if k > 0 {
			return v.sum.tail(k)
		}
		return 1 - v.sum.tail(1-k)
	}
	sum := 0.
	for k := -int64(45 / v.count.rate); k <= int64(45/v.count.rate); k++ {
		divisor := float64(max(1, m+k))
		p := 1.
		if mean-r > -n { // not all that is too low is moved to an end that is within r
			p -= tail(y - int64(math.Ceil((mean-r)*divisor)) + 1)
		}
		if mean+r < n {
			p -= tail(int64(math.Floor((mean+r)*divisor)) - y + 1)
		}
		sum += geometricMass(v.count.rate, k) * p
	}
	return sum
}

// Whatever the records are, the radius of their average holds as much as it says, exactly;
// and the worst ones no more than 0.01 above it, if the universe is fine.
func TestMeanRadiusHoldsForAllRecords(t *testing.T) {
	for _, c := range trials.Some(t, 5, []struct {
		last  float64
		rows  int64
		eps   string
		tight bool
	}{
		{1, 1, "1", false}, {1, 3, "5", false}, {1, 10, "1", false}, {1, 1000, "0.1", false},
		{10, 3, "1", false}, {10, 10, "1", false}, {10, 100, "5", false}, {200, 1, "0.5", false},
		{200, 3, "2", false}, {200, 10, "0.3", false}, {100, 10, "8", false}, {200, 100, "0.1", false},
		{1000, 3, "1", true}, {1000, 100, "1", true}, {1000, 1000, "1", true}, {1000, 1000, "0.1", true}, {1000, 100, "0.3", true},
	}...) {
		for _, metric := range []budget.Metric{budget.ND1, budget.DH} {
			u := universe(t, 0, c.last, 1)
			q := query(t, Avg, u, metric, rational(c.eps))
			for _, p := range []float64{1e-3, 0.5, 0.9, 0.95, 0.99, 0.9999} {
				radius, err := q.Radius(p, c.rows)
				if err != nil {
					t.Fatal(err)
				}
				r := 2 * radius // half steps
				least, total := 1., u.last*c.rows
				nearEnd := int64(math.Ceil((float64(u.last)-r)*float64(c.rows))) - 1
				for i := int64(-40); i <= 40; i++ {
					for _, y := range []int64{total * i / 40, nearEnd + i} {
						if -total <= y && y <= total {
							least = min(least, q.law.(*recordsMean).coverage(c.rows, y, r+1e-11))
						}
					}
				}
				if least < p-1e-9 || c.tight && least > p+0.01 {
					t.Errorf("%d records in %v under %v at %s: %v of the answers are within %v, not %v",
						c.rows, u, metric, c.eps, least, radius, p)
				}
			}
		}
	}
}

// The sums over many values of the count at a time are lower bounds, and good ones.
func TestMeanRadiusAtSmallEpsilons(t *testing.T) {
	u := universe(t, 0, 1000, 1)
	for _, eps := range []string{"0.01", "0.001"} {
		q := query(t, Avg, u, budget.DH, rational(eps))
		for _, p := range []float64{0.5, 0.95} {
			const rows = 100_000
			radius, err := q.Radius(p, rows)
			if err != nil {
				t.Fatal(err)
			}
			worst := int64(math.Ceil((1000-2*radius)*rows)) - 1
			if got := q.law.(*recordsMean).coverage(rows, worst, 2*radius); got < p-1e-9 || got > p+0.01 {
				t.Errorf("epsilon %s: radius %v holds %v of the answers, not %v", eps, radius, got, p)
			}
		}
	}
	for _, eps := range []string{"1e-9", "1e-15"} { // as much noise as there is room for
		if r, err := query(t, Avg, u, budget.DH, rational(eps)).Radius(0.95, 1000); err != nil || r != 1000 {
			t.Errorf("epsilon %s: radius %v, %v", eps, r, err)
		}
	}
	if _, err := query(t, Avg, u, budget.DH, rational("1")).Radius(0.9, 0); err == nil {
		t.Error("the accuracy of unknown records is told")
	}
}
