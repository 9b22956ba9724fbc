package scalar

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// between returns how many readings lie between a value and the percentile, by the definition.
func between(sorted []int64, rank int64, v int64) (n int64) {
	for i, x := range sorted {
		if int64(i) >= rank-1 && x < v || int64(i) <= rank-1 && x > v {
			n++
		}
	}
	return n
}

// betweenAtLeast returns the probability that a draw by score has so many readings or more between.
func betweenAtLeast(q *Query, sorted []int64, law []float64, least int64) (sum float64) {
	rank := int64(q.scored().ranked.below(len(sorted)) + 1)
	for v, p := range law {
		if between(sorted, rank, int64(v)) >= least {
			sum += p
		}
	}
	return sum
}

// Whatever the readings are, as many draws by score are within the ranks as it says: all databases of up to five
// readings in universes of two to four values, by their exact laws. For some of them no fewer ranks would do: at epsilon 3, under
// each metric.
func TestRankDeviationHoldsForAllReadings(t *testing.T) {
	for _, metric := range []budget.Metric{budget.D1, budget.ND1, budget.DH} {
		tight := 0
		for _, last := range []int64{1, 2, 3} {
			u := universe(t, 0, float64(last), 1)
			for _, percent := range []int64{0, 30, 50, 100} {
				for _, eps := range append(trials.Some(t, 1, "0.2", "1", "12"), "3") {
					q := query(t, percentileOf(big.NewRat(percent, 1)), u, metric, rational(eps))
					for _, p := range []float64{0.05, 0.5, 0.9, 0.99} {
						most := int64(q.scored().leastRanks(p))
						forAllReadings(last, 5, func(sorted []int64) {
							law := lawOf(definedScores(q, sorted), q.noised().noise.rate/2)
							if beyond := betweenAtLeast(q, sorted, law, most+1); beyond > 1-p+1e-12 {
								t.Fatalf("percentile %d of %v under %v at %s: more than %d between with probability %v, not %v",
									percent, sorted, metric, eps, most, beyond, 1-p)
							}
							if most > 0 && betweenAtLeast(q, sorted, law, most) > 1-p {
								tight++
							}
						})
					}
				}
			}
		}
		if tight == 0 {
			t.Errorf("under %v fewer ranks would always do", metric)
		}
	}
}

// From a maximum that is aimed inside, these ranks lie between too. For some readings no fewer would do.
func TestRankDeviationOfAimedMaximum(t *testing.T) {
	tight := 0
	for _, last := range []int64{1, 2, 3} {
		for _, inside := range []int64{1, 2} {
			for _, eps := range []string{"1", "3", "12"} {
				q := aimedInside(t, universe(t, 0, float64(last), 1), rational(eps), inside)
				for _, p := range []float64{0.5, 0.9, 0.99} {
					most := int64(q.scored().leastRanks(p))
					forAllReadings(last, 5, func(sorted []int64) {
						law := lawOf(definedScores(q, sorted), q.noised().noise.rate/2)
						if beyond := betweenAtLeast(q, sorted, law, most+1); beyond > 1-p+1e-12 {
							t.Fatalf("%v aimed %d inside at %s: more than %d between with probability %v, not %v", sorted, inside, eps, most, beyond, 1-p)
						}
						if betweenAtLeast(q, sorted, law, most) > 1-p {
							tight++
						}
					})
				}
			}
		}
	}
	if tight == 0 {
		t.Error("fewer ranks would always do")
	}
}

// forAllReadings visits all lists of 1 to most readings from 0 to last, in order.
func forAllReadings(last int64, most int, visit func(sorted []int64)) {
	var extend func(sorted []int64)
	extend = func(sorted []int64) {
		if len(sorted) > 0 {
			visit(sorted)
		}
		if len(sorted) == most {
			return
		}
		from := int64(0)
		if len(sorted) > 0 {
			from = sorted[len(sorted)-1]
		}
		for x := from; x <= last; x++ {
			extend(append(slices.Clip(sorted), x))
		}
	}
	extend(nil)
}

// Where all readings are equal, in the middle of a large universe, the median meets the bound of d1 and nd1: half of them
// lie between or none, and with one fewer the probability would be exceeded.
func TestRankDeviationIsTheSmallest(t *testing.T) {
	u := universe(t, 0, 20_000, 1)
	for _, metric := range []budget.Metric{budget.D1, budget.ND1} {
		for _, eps := range []string{"0.001", "0.02"} {
			if metric == budget.ND1 {
				eps += "e5"
			}
			for _, p := range []float64{0.3, 0.95, 0.999} {
				q := query(t, Median, u, metric, rational(eps))
				rate, most := q.noised().noise.rate/2, q.scored().leastRanks(p)
				exceeds := func(t float64) float64 { // with t readings on either side of the median, and itself
					a := 2 * math.Exp(-rate*t) * -math.Expm1(-rate*t*10_000) / -math.Expm1(-rate*t)
					return a / (a + 1)
				}
				if exceeds(most+1) > 1-p+1e-12 || most > 1 && exceeds(most) < 1-p-1e-3 {
					t.Errorf("%v at %s: more than %v between with probability %v, and than one fewer with %v, not %v", metric, eps, most, exceeds(most+1), exceeds(most), 1-p)
				}
			}
		}
	}
}

// Laws that the ranks are known of are those of draws by score. Under d1 the number of readings is public, and no more lie
// between; under nd1 and dh the answer does not depend on it.
func TestRankDeviationIsKnownOfScores(t *testing.T) {
	src := exact.NewSource(nil)
	u := universe(t, 0, 10, 0.001)
	many := slices.Repeat([]float64{1, 2, 3, 9}, 100)
	for _, c := range []struct {
		agg      Aggregate
		metric   budget.Metric
		eps      string
		readings []float64
		want     float64 // NaN: not known
	}{
		{Median, budget.DH, "1", many, 24},  // 2 ln(10000*19) = 24.3
		{Max, budget.DH, "1", many[:2], 43}, // however few there are, and 2 ln(10001) = 18.4 inside
		{percentileOf(rational("100")), budget.DH, "1", many, 24},
		{Min, budget.ND1, "100000", many, 0}, // 2 ln(39)*10000/100000 = 0.7
		{Median, budget.ND1, "1000", many, 73},
		{drawn(t, Median, "d1/score"), budget.D1, "100", many, 73}, // 2 ln(39)/(100*0.001) = 73.3
		{drawn(t, Median, "d1/score"), budget.D1, "1", many, 400},  // all of them
		{drawn(t, Median, "d1/noise"), budget.D1, "20", many, math.NaN()}, {Median, budget.D1, "20", many[:1], math.NaN()},
		{Median, budget.DInf, "1", many, math.NaN()}, {Max, budget.DInf, "1", many, math.NaN()},
		{Sum, budget.D1, "1", many, math.NaN()}, {Avg, budget.DH, "1", many, math.NaN()}, {StdDev, budget.DH, "1", many, math.NaN()},
	} {
		q := query(t, c.agg, u, c.metric, rational(c.eps))
		r := q.Release(src, collect(q, c.readings))
		if got := q.RankDeviation(0.95)(r); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v of %d under %v at %s: %v between, not %v", c.agg, len(c.readings), c.metric, c.eps, got, c.want)
		}
		_, ranked := q.law.(rankDeviating)
		if unit := q.Deviation(0.95)(r); ranked && math.IsNaN(unit) == math.IsNaN(c.want) {
			t.Errorf("%v of %d under %v at %s: within %v and %v ranks", c.agg, len(c.readings), c.metric, c.eps, unit, c.want)
		}
	}
}

// Of the percentiles of home-days and half hours in July as many are within the ranks as it says: 2,000 draws a case, of
// which 95 of 100 are expected, and a false alarm has a probability below e^(-2*2000*0.08^2) < 1e-11 (Hoeffding).
func TestMeterPercentilesAreWithinTheirRanks(t *testing.T) {
	homeDays, halfHours, _ := julyReadings(t)
	src := exact.NewSource(nil)
	day, half := universe(t, 0, 200, 0.001), universe(t, 0, 10, 0.001)
	p95 := percentileOf(rational("95"))
	for _, c := range trials.Some(t, 1, []struct {
		u           *Universe
		readings    []float64
		agg         Aggregate
		metric, eps string
	}{
		{day, homeDays, Median, "dh", "1"}, {day, homeDays, p95, "dh", "1"}, {day, homeDays, Min, "dh", "0.1"},
		{day, homeDays, Max, "dh", "0.1"}, {day, homeDays, Max, "dh", "1"},
		{half, halfHours, Median, "d1/score", "1"}, {half, halfHours, p95, "d1/score", "5"}, {half, halfHours, Median, "nd1", "100"},
	}...) {
		metric, agg, err := ParseMetric(c.metric, c.agg)
		if err != nil {
			t.Fatal(err)
		}
		q := query(t, agg, c.u, metric, rational(c.eps))
		a := collect(q, c.readings)
		sorted := slices.Sorted(slices.Values(a.indices))
		rank := int64(q.scored().ranked.below(len(sorted)) + 1)
		deviation := q.RankDeviation(0.95)
		var off []float64
		within := 0
		for range 2000 {
			r := q.Release(src, a)
			n := float64(between(sorted, rank, pointOf(q, r.Value)))
			off = append(off, n)
			if n <= deviation(r) {
				within++
			}
		}
		most := deviation(q.Release(src, a))
		t.Logf("%v of %d under %s at %s: within %v ranks, 95 of 100 within %v", c.agg, len(sorted), c.metric, c.eps, most, quantileOf(off, 0.95))
		if within < 2000*87/100 || math.IsNaN(most) {
			t.Errorf("%v of %d under %s at %s: %d of 2000 are within %v ranks", c.agg, len(sorted), c.metric, c.eps, within, most)
		}
	}
}

// The median of 2t readings that are all equal is t or t+1 ranks off with the probability
// of the bound; the radius is the smallest that it allows.
func TestRankRadiusIsTheSmallest(t *testing.T) {
	for _, u := range []*Universe{universe(t, 0, 1, 1), universe(t, 0, 10, 0.1), universe(t, 0, 200, 0.001)} {
		for _, eps := range []string{"0.01", "0.3", "1", "50"} {
			for _, p := range []float64{1e-6, 0.2, 0.5, 0.95, 0.999} {
				r, err := RankRadius(Median, p, rational(eps), u)
				if err != nil {
					t.Fatal(err)
				}
				exceeds := func(r int64) float64 { // all values but one are at the score r+1
					a := float64(u.last) * math.Exp(-halved(eps)*float64(r+1))
					return a / (a + 1)
				}
				if exceeds(r) > (1-p)*(1+1e-9) {
					t.Errorf("%v at %s: more than %d ranks off with probability %v, not %v", u, eps, r, exceeds(r), 1-p)
				}
				if r > 0 && exceeds(r-1) < (1-p)*(1-1e-9) {
					t.Errorf("%v at %s: radius %d at %v is not the smallest", u, eps, r, p)
				}
			}
		}
	}
	days := universe(t, 0, 200, 0.001)
	for _, c := range []struct {
		agg  Aggregate
		want int64
	}{{Median, 30}, {Min, 30}, {percentileOf(rational("100")), 30}, {Max, 30 + 25}} { // 2 ln(200000*19) = 30.3, 2 ln(200001) = 24.4
		if r, err := RankRadius(c.agg, 0.95, rational("1"), days); err != nil || r != c.want {
			t.Errorf("%v: rank radius %d, %v, not %d", c.agg, r, err, c.want)
		}
	}
	u := universe(t, 0, 1, 1)
	if r, err := RankRadius(Sum, 0.5, rational("1"), u); err == nil {
		t.Errorf("rank radius of a sum is %v", r)
	}
	for _, p := range []float64{0, 1, math.NaN()} {
		if r, err := RankRadius(Median, p, rational("1"), u); err == nil {
			t.Errorf("rank radius at %v is %v", p, r)
		}
	}
	if r, err := RankRadius(Median, 0.5, rational("0"), u); err == nil {
		t.Errorf("rank radius at epsilon 0 is %v", r)
	}
}

func halved(eps string) float64 {
	f, _ := rational(eps).Float64()
	return f / 2
}

// Draws keep within the rank radius as often as it says: 20,000 draws, and by Hoeffding's
// inequality a false alarm of probability e^-(2*20000*0.02^2), below 2e-7, per case.
func TestRankRadiusCoversDraws(t *testing.T) {
	const draws, p = 20_000, 0.9
	src := exact.NewSource(nil)
	u := universe(t, 0, 10, 0.1)
	for name, reading := range map[string]func(i int) float64{
		"equal": func(int) float64 { return 4 },
		"even":  func(i int) float64 { return float64(i%101) / 10 },
	} {
		q := query(t, Median, u, budget.DH, rational("0.1"))
		r, err := RankRadius(Median, p, rational("0.1"), u)
		if err != nil {
			t.Fatal(err)
		}
		var a Accumulator
		for i := range 400 {
			q.Add(&a, reading(i))
		}
		scores := scoresOf(t, q, a.indices)
		within := 0
		for range draws {
			if scores[pointOf(q, q.Draw(src, &a))] <= r {
				within++
			}
		}
		if share := float64(within) / draws; share < p-0.02 {
			t.Errorf("%s readings: %v of the draws are within %d ranks", name, share, r)
		}
	}
}
