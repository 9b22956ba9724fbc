package scalar

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

func TestCumulative(t *testing.T) {
	bins := func(counts ...int64) string {
		var all []string
		for i, n := range counts {
			all = append(all, fmt.Sprintf(`{"lo":%d,"hi":%d.5,"count":%d}`, i, i, n))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, c := range []struct{ histogram, want string }{
		{bins(1, 2, 3), `[{"hi":0.5,"count":1,"share":0.1667},{"hi":1.5,"count":3,"share":0.5},{"hi":2.5,"count":6,"share":1.0}]`},
		{bins(-2, 4, 0), `[{"hi":0.5,"count":0,"share":0.0},{"hi":1.5,"count":2,"share":1.0},{"hi":2.5,"count":2,"share":1.0}]`},
		{bins(5, -3, 1), `[{"hi":0.5,"count":3,"share":1.0},{"hi":1.5,"count":3,"share":1.0},{"hi":2.5,"count":3,"share":1.0}]`}, // 5, 2, 3: 10/3
		{bins(-5, 1), `[{"hi":0.5,"count":0,"share":0.0},{"hi":1.5,"count":0,"share":0.0}]`},
		{bins(0), `[{"hi":0.5,"count":0,"share":0.0}]`},
		{` [ {"count": 9007199254740992, "hi": 4, "lo": -3} ] `, `[{"hi":4,"count":9007199254740992,"share":1.0}]`},
	} {
		if got, err := Cumulative(c.histogram); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.histogram, got, err, c.want)
		}
	}
	for histogram, names := range map[string]string{
		"": "is not what dx_histogram releases", "null": "has 0 bins", "[]": "has 0 bins", "{}": "is not what", "[1]": "is not what", `[{"lo":0,"hi":1,"count":1.5}]`: "is not what",
		`[{"lo":0,"hi":1}]`: "bin 0 has no lo, hi or count", `[{"hi":1,"count":3,"share":1}]`: "bin 0 has no lo",
		`[{"lo":2,"hi":1,"count":1}]`: "ends before it begins", `[{"lo":0,"hi":1,"count":1},{"lo":1,"hi":2,"count":1}]`: "bin 1 does not begin after",
		`[{"lo":0,"hi":1,"count":9007199254740993}]`: "not within 9007199254740992 of 0", `[{"lo":0,"hi":1,"count":-9223372036854775808}]`: "not within",
		"[" + strings.Repeat(`{"lo":0,"hi":1,"count":1},`, MaxBins) + `{"lo":0,"hi":1,"count":1}]`: "has 10001 bins",
	} {
		if got, err := Cumulative(histogram); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%.60s: %s, %v", histogram, got, err)
		}
	}
}

// Whatever is drawn, the numbers never fall, and shares end at 1.
func TestCumulativeOfReleases(t *testing.T) {
	src := exact.NewSource(nil)
	u := universe(t, 0, 99, 1)
	for _, eps := range []string{"0.01", "0.5", "100"} {
		h := histogramOf(t, u, eps, 40)
		a := h.collect([]float64{1, 2, 3, 50, 50, 50, 70, 99})
		for range 200 {
			text, err := Cumulative(h.draw(src, a).JSON)
			var bins []struct{ Hi, Count, Share float64 }
			if err != nil || json.Unmarshal([]byte(text), &bins) != nil || len(bins) != 40 {
				t.Fatalf("%s, %v", text, err)
			}
			count, share := 0., 0.
			for _, b := range bins {
				if b.Count < count || b.Share < share {
					t.Fatalf("%s falls", text)
				}
				count, share = b.Count, b.Share
			}
			if count > 0 && share != 1 || eps == "100" && count != 8 {
				t.Fatalf("%s ends at %v and %v", text, count, share)
			}
		}
	}
}

// The counts of 1,000 bins of home-days and of half hours in July add up to the number of these without a bias, and cumulative
// shares are several times nearer to the true ones than those of counts that have been moved to 0: 400 draws at epsilon 0.1. The
// mean total has a standard error of 45, and the median error of home-days one of 0.009, where the bound is 5 of them away.
func TestMeterHistogramsAreUnbiased(t *testing.T) {
	trials.Rarely(t, 3)
	const draws, bins = 400, 1000
	days, halfHours, _ := julyReadings(t)
	src := exact.NewSource(nil)
	for _, hi := range trials.Some(t, 1, 200., 10) {
		readings := map[float64][]float64{200: days, 10: halfHours}[hi]
		q := query(t, Histogram(bins), universe(t, 0, hi, 0.001), budget.D1, rational("0.1"))
		a := collect(q, readings)
		truth, rows := make([]float64, bins), float64(a.rows)
		for b, n := range a.counts {
			truth[b] = float64(n) / rows
			if b > 0 {
				truth[b] += truth[b-1]
			}
		}
		off := func(shares []float64) (mean float64) {
			for b := range truth {
				mean += math.Abs(shares[b]/shares[bins-1]-truth[b]) / bins
			}
			return mean
		}
		var total, clampedTotal float64
		errs := map[string][]float64{}
		for range draws {
			text := q.Release(src, a).JSON
			var released, cumulative []struct{ Count, Share float64 }
			if err := json.Unmarshal([]byte(text), &released); err != nil {
				t.Fatal(err)
			}
			if text, err := Cumulative(text); err != nil || json.Unmarshal([]byte(text), &cumulative) != nil {
				t.Fatal(err)
			}
			raw, clamped, shares := make([]float64, bins), make([]float64, bins), make([]float64, bins)
			sum, positive := 0., 0.
			for b, bin := range released {
				sum, positive = sum+bin.Count, positive+max(0, bin.Count)
				raw[b], clamped[b], shares[b] = sum, positive, cumulative[b].Share
			}
			total, clampedTotal = total+sum/draws, clampedTotal+positive/draws
			errs["as drawn"] = append(errs["as drawn"], off(raw))
			errs["moved to 0"] = append(errs["moved to 0"], off(clamped))
			errs["cumulative"] = append(errs["cumulative"], off(shares))
		}
		t.Logf("%v readings in 0..%v: %.0f on average, %.0f where counts are moved to 0", rows, hi, total, clampedTotal)
		median := map[string]float64{}
		for name, e := range errs {
			median[name] = quantileOf(e, 0.5)
			t.Logf("%s: shares are off by %.4f on average in half of the draws, by %.4f in 95 %%", name, median[name], quantileOf(e, 0.95))
		}
		if math.Abs(total-rows) > 7*45 || 3*median["cumulative"] > median["moved to 0"] {
			t.Errorf("0..%v: a total of %v, and shares off by %v, %v where counts are moved to 0", hi, total, median["cumulative"], median["moved to 0"])
		}
	}
}
