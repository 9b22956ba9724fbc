package scalar

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/mechanism/exact"
)

// Answers print as decimals of no more digits than their noise leaves, as SQLite prints numbers, and are in their range,
// even if its ends have more digits. The noise of each is at least as large as the scale here says.
func TestAnswersHaveTheDigitsOfTheirNoise(t *testing.T) {
	src := exact.NewSource(nil)
	u := universe(t, -1.23456789, 8.76543211, 0.01)
	const width, rows = 10, 40
	for _, c := range []struct {
		agg      Aggregate
		metric   budget.Metric
		decimals int
		lo, hi   float64
	}{
		{Avg, budget.D1, 6, u.lo, u.hi},       // 1/(3*40) = 0.0083
		{Avg, budget.DInf, 4, u.lo, u.hi},     // 1/3
		{Avg, budget.ND1, 5, u.lo, u.hi},      // 10/(3*40) = 0.083, by the drawn number of rows
		{Avg, budget.DH, 5, u.lo, u.hi},       //
		{Variance, budget.D1, 5, 0, 25},       // 10/(3*40) = 0.083
		{Variance, budget.DH, 4, 0, 25},       // 75/(3*40) = 0.6
		{StdDev, budget.D1, 5, 0, width / 2.}, // 0.083/(2*3), and more where the answer is near 0
		{StdDev, budget.DH, 5, 0, width / 2.}, // 0.6/(2*5) at least
	} {
		q := query(t, c.agg, u, c.metric, rational("3"))
		a := new(Accumulator)
		for i := range rows {
			q.Add(a, rand.Float64()*float64(i%11)-1)
		}
		most := 0
		for range 2000 {
			x := q.Draw(src, a)
			text := strconv.FormatFloat(x, 'f', c.decimals, 64)
			nearest, err := strconv.ParseFloat(text, 64)
			if err != nil || x < c.lo || x > c.hi || nearest != x && x != c.lo && x != c.hi {
				t.Errorf("%v under %v: %v, and not %s", c.agg, c.metric, x, text)
			}
			for k := c.decimals; k > most; k-- {
				if shorter, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', k-1, 64), 64); shorter != x {
					most = k
				}
			}
		}
		if most < c.decimals-1 {
			t.Errorf("%v under %v: %d decimals at most", c.agg, c.metric, most)
		}
	}
}

// The grain is the largest power of ten that is at most a thousandth of the scale.
func TestDecimalsOfNoise(t *testing.T) {
	for exponent := -300; exponent <= 300; exponent++ {
		power, _ := strconv.ParseFloat("1e"+strconv.Itoa(exponent), 64)
		for scale, want := range map[float64]int{power: 3 - exponent, math.Nextafter(power, 0): 4 - exponent, 9.999 * power: 3 - exponent} {
			if got := decimalsOfNoise(scale); got != want {
				t.Errorf("%v: %d decimals, want %d", scale, got, want)
			}
		}
	}
}
