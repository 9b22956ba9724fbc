package scalar

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/mechanism/exact"
)

// evenly lists so many percentiles that divide readings evenly.
func evenly(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(float64(100*(i+1)) / float64(n+1))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// An answered percentile is part of an answer.
type answered struct{ P, Value float64 }

func answersIn(t fataler, r Release) (list []answered) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.JSON), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// At a large epsilon the answers are the percentiles, in the order of the list.
func TestPercentilesInTheOrderOfTheList(t *testing.T) {
	u := universe(t, -1, 10, 0.5)
	readings := []float64{3, 7, 0.5, 0.5, 10, 4}
	for list, want := range map[string]string{
		"[50]":             `[{"p":50,"value":4}]`,
		"[ 100, 0,50,1e1]": `[{"p":100,"value":10},{"p":0,"value":0.5},{"p":50,"value":4},{"p":10,"value":0.5}]`,
		"[75.5,75.5,20]":   `[{"p":75.5,"value":7},{"p":75.5,"value":7},{"p":20,"value":0.5}]`,
	} {
		q := query(t, Percentiles(list), u, budget.DH, rational("5000"))
		if got := q.Release(exact.NewSource(nil), collect(q, readings)).JSON; got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
	q := query(t, Percentiles(evenly(9)), universe(t, 0, 1000, 1), budget.DH, rational("5000"))
	a := new(Accumulator)
	for i := range 1001 {
		q.Add(a, float64(i))
	}
	for i, one := range answersIn(t, q.Release(exact.NewSource(nil), a)) {
		if math.Abs(one.Value-float64(100*(i+1))) > 2 {
			t.Errorf("percentile %v of 0..1000 is %v", one.P, one.Value)
		}
	}
	q = query(t, Percentiles("[5,50]"), u, budget.DH, rational("1"))
	if got, want := q.StandIn().JSON, `[{"p":5,"value":-1},{"p":50,"value":-1}]`; got != want {
		t.Errorf("stand-in %s, want %s", got, want)
	}
}

func TestPercentilesRefuse(t *testing.T) {
	u := universe(t, 0, 10, 1)
	for list, want := range map[string]string{
		"": "ps: must be a JSON list", "5": "ps: must be a JSON list", "[]": "ps: must be a JSON list", "null": "ps: must be a JSON list",
		"[5,null]": "ps: must be a JSON list", `["5"]`: "ps: must be a JSON list", "[5] 6": "ps: must be a JSON list", "[1e999]": "ps: must be a JSON list",
		"[" + strings.Repeat("5,", MaxBlocks) + "5]": "ps: must be a JSON list of 1 to 10000 percentiles",
		"[5,100.1]": "ps: p is not in 0..100", "[-1]": "ps: p is not in 0..100", "[50,1e-30]": "ps: p has more than 17 decimals",
		"[9.5367431640625e-11,0.12345678901234567,50]": "ps has numbers with more than 17 decimals",
	} {
		if _, err := NewQuery(Percentiles(list), u, budget.DH, big.NewRat(1, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %q", list, err, want)
		}
	}
	for _, m := range []budget.Metric{budget.ND1, budget.DInf} {
		want := fmt.Sprintf("metric %v: several percentiles are released under d1 and dh only", m)
		if _, err := NewQuery(Percentiles("[5,50]"), u, m, big.NewRat(1, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", m, err)
		}
	}
	q := query(t, Percentiles("[5,50]"), u, budget.DH, big.NewRat(1, 1))
	if _, err := q.Radius(0.95, 10); err == nil || !strings.Contains(err.Error(), "depends on the readings") {
		t.Errorf("radius: %v", err)
	}
}

// A list is halved where that has the smaller worst ratio of noise, which the list alone decides.
func TestHalvingIsChosenByTheList(t *testing.T) {
	for list, halved := range map[string]bool{
		"[50]": false, "[25,75]": false, "[25,50,75]": true, "[50,95,99,99.9]": false, "[5,25,50,75,95]": true, "[90,95]": false,
		evenly(9): true, evenly(19): true, evenly(99): true, evenly(999): true,
	} {
		for _, eps := range []string{"1e-9", "0.3", "1000000"} {
			l := query(t, Percentiles(list), universe(t, 0, 10, 1), budget.DH, rational(eps)).law.(*together)
			if (l.halving != nil) != halved {
				t.Errorf("%.30s at %s: halved is %v", list, eps, l.halving != nil)
			}
		}
	}
}

// Answers never fall with p, draws leave the readings as they are, and equal readings are divided: each of their percentiles but
// the outer ones is their value.
func TestPercentilesOfEqualReadings(t *testing.T) {
	const rows = 10000
	src := exact.NewSource(nil)
	u := universe(t, 0, 200, 0.001)
	for _, list := range []string{"[25,50,75]", evenly(19), "[50,95,99,99.9]"} {
		q := query(t, Percentiles(list), u, budget.DH, rational("1"))
		a := new(Accumulator)
		for range rows {
			q.Add(a, 50)
		}
		for range 50 {
			answers := answersIn(t, q.Release(src, a))
			for i, one := range answers {
				if i > 0 && one.Value < answers[i-1].Value {
					t.Fatalf("%s: %v", list, answers)
				}
				// One of 200,000 other values is 500 rows off, at a rate of 1/14 or more: below 2e-8 in all draws.
				if one.P >= 5 && one.P <= 95 && one.Value != 50 {
					t.Fatalf("%s: %v", list, answers)
				}
			}
		}
		if k := u.Index(50); len(a.indices) != rows || slices.Min(a.indices) != k || slices.Max(a.indices) != k {
			t.Errorf("%s: readings have changed", list)
		}
	}
}

// Answers never fall with p where there is nothing to tell them apart.
func TestPercentilesOfFewReadings(t *testing.T) {
	src := exact.NewSource(nil)
	for _, list := range []string{evenly(99), "[50,95,99,99.9]"} {
		q := query(t, Percentiles(list), universe(t, 0, 200, 0.001), budget.DH, rational("0.01"))
		for _, readings := range [][]float64{nil, {50}} {
			answers := answersIn(t, q.Release(src, collect(q, readings)))
			if !slices.IsSortedFunc(answers, func(a, b answered) int { return cmp.Compare(a.Value, b.Value) }) {
				t.Errorf("%v: %v", readings, answers)
			}
		}
	}
}

// Each release draws a fraction anew for each reading.
func TestFractionsAreFresh(t *testing.T) {
	q := query(t, Percentiles("[25,50,75]"), universe(t, 0, 10, 1), budget.DH, rational("1"))
	a := new(Accumulator)
	for range 3000 {
		q.Add(a, 5)
	}
	var read counter
	src := exact.NewSource(&read)
	for i := range 20 {
		before := read
		q.Release(src, a)
		if read-before < 4*2000 {
			t.Fatalf("release %d reads %d bytes for 3000 readings", i, read-before)
		}
	}
}

// A counter is entropy that counts its bytes.
type counter int

func (c *counter) Read(p []byte) (int, error) {
	*c += counter(len(p))
	return pseudorandom(uint64(*c)).Read(p)
}

// Percentiles of home-days are off by no more than these, over 2,000 draws: 1.2 to 1.4 times the errors of a prototype, which is six
// standard errors away, and more. GEOSQL_FIGURES prints those of a question for each too, and those of outer percentiles, of which
// each is asked about alone, in both ways.
func TestMeterPercentilesTogether(t *testing.T) {
	trials.Rarely(t, 3)
	days, u, src := julyHomeDays(t), universe(t, 0, 200, 0.001), exact.NewSource(nil)
	released := func(list string, parts int64) func() []answered {
		q := query(t, Percentiles(list), u, budget.DH, big.NewRat(1, parts))
		a := collect(q, days)
		return func() []answered { return answersIn(t, q.Release(src, a)) }
	}
	figures := os.Getenv("GEOSQL_FIGURES") != ""
	for _, c := range trials.Some(t, 2, []struct {
		n              int
		median, most95 float64
	}{
		{3, 0.058, 0.253}, {9, 0.16, 0.95}, {19, 0.25, 1.6}, {99, 0.4, 3.6},
	}...) {
		median, most95 := percentileErrors(days, released(evenly(c.n), 1))
		t.Logf("%d percentiles: off by %.3f, 95 %% by %.3f", c.n, median, most95)
		if figures {
			var each []func() []answered
			for _, list := range oneByOne(evenly(c.n)) {
				each = append(each, released(list, int64(c.n)))
			}
			alone, alone95 := percentileErrors(days, each...)
			t.Logf("one by one: off by %.3f, 95 %% by %.3f", alone, alone95)
		}
		if median > c.median || most95 > c.most95 {
			t.Errorf("%d percentiles are off by %.3f, 95 %% by %.3f kWh, not %v and %v", c.n, median, most95, c.median, c.most95)
		}
	}
	if !figures {
		return
	}
	outer := []float64{50, 95, 99, 99.9}
	tree, a := treeOf(t, outer, "1"), collect(query(t, Percentiles("[50]"), u, budget.DH, big.NewRat(1, 1)), days)
	alone, alone95 := percentileErrors(days, released("[50,95,99,99.9]", 1))
	halved, halved95 := percentileErrors(days, func() (list []answered) {
		for i, k := range tree.draw(src, a, u) {
			list = append(list, answered{outer[i], u.Value(k)})
		}
		return list
	})
	t.Logf("%v: off by %.3f, 95 %% by %.3f one by one, %.3f and %.3f by halving", outer, alone, alone95, halved, halved95)
}

// percentileErrors returns how far percentiles of readings are off as drawn by some functions: half of all answers, and 95 of 100,
// over 1,000 draws.
func percentileErrors(readings []float64, draws ...func() []answered) (median, most95 float64) {
	sorted := slices.Sorted(slices.Values(readings))
	var errs []float64
	for _, draw := range draws {
		for range 2000 {
			for _, one := range draw() {
				errs = append(errs, math.Abs(one.Value-sorted[int(one.P*float64(len(sorted))/100)]))
			}
		}
	}
	return quantileOf(errs, 0.5), quantileOf(errs, 0.95)
}

// oneByOne returns a list for each percentile of one.
func oneByOne(list string) (lists []string) {
	for p := range strings.SplitSeq(strings.Trim(list, "[]"), ",") {
		lists = append(lists, "["+p+"]")
	}
	return lists
}

// julyHomeDays returns the sums of the days of each home in July.
func julyHomeDays(t *testing.T) (days []float64) {
	wattHoursOf := make(map[string]int64)
	forEachMeterReading(t, func(home, time, kwh string) {
		if strings.HasPrefix(time, "2013-07-") {
			wattHoursOf[home+time[:len("2013-07-01")]] += wattHours(t, kwh)
		}
	})
	for _, wh := range wattHoursOf {
		days = append(days, float64(wh)/1000)
	}
	return days
}

// Under d1 the answers are those of a curve at the same epsilon, and one percentile is that of Percentile.
func TestPercentilesUnderD1(t *testing.T) {
	u := universe(t, 0, 10, 0.001)
	readings := benchReadings(u)[:1488]
	for _, list := range []string{"[95,5,50]", evenly(19)} {
		seed := trials.Seed(t)
		together, curve := query(t, Percentiles(list), u, budget.D1, rational("0.7")), query(t, Curve(0), u, budget.D1, rational("0.7"))
		released, err := ParseCurve(curve.Release(exact.NewSource(pseudorandom(seed)), collect(curve, readings)).JSON)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range answersIn(t, together.Release(exact.NewSource(pseudorandom(seed)), collect(together, readings))) {
			if want, _ := released.Percentile(one.P); one.Value != want {
				t.Errorf("%s: percentile %v is %v, of the curve %v", list, one.P, one.Value, want)
			}
		}
		if !together.Disjoint() || together.Price() != curve.Price() {
			t.Errorf("the price is %v", together.Price())
		}
	}
	for _, m := range []budget.Metric{budget.D1, budget.DH} {
		seed := trials.Seed(t)
		one, same := query(t, Percentiles("[95]"), u, m, rational("0.7")), query(t, percentileOf(rational("95")), u, m, rational("0.7"))
		got := answersIn(t, one.Release(exact.NewSource(pseudorandom(seed)), collect(one, readings)))
		if want := same.Draw(exact.NewSource(pseudorandom(seed)), collect(same, readings)); len(got) != 1 || got[0] != (answered{95, want}) {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
	}
}
