package meters

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSignatures(t *testing.T) {
	at := func(seconds float64, v float64) Reading { return Reading{int64(seconds * second), v} }
	for name, c := range map[string]struct {
		readings []Reading
		want     []signature
	}{
		"at the times of the reports": {
			[]Reading{at(0, 1), at(10, 3), at(20, 2), at(30, 0)},
			[]signature{{0, 0, []int64{1, 3}}, {0, 20 * second, []int64{2, 0}}},
		},
		"the latest reading counts": {
			[]Reading{at(-3, 1), at(4, 0), at(9, 2), at(10, 3), at(10, 4), at(11, 0)},
			[]signature{{0, 0, []int64{1, 4}}},
		},
		"before 1970":              {[]Reading{at(-20, 1), at(-10, 2)}, []signature{{0, -20 * second, []int64{1, 2}}}},
		"moved to the universe":    {[]Reading{at(0, -7), at(10, 3.5)}, []signature{{0, 0, []int64{0, 4}}}},
		"nothing varies":           {[]Reading{at(0, 1), at(10, 1)}, nil},
		"nothing at the start":     {[]Reading{at(1, 1), at(10, 2)}, nil},
		"nothing but at the start": {[]Reading{at(40, 1)}, nil},
		"held for six periods":     {[]Reading{at(-60, 1), at(1, 3)}, []signature{{0, 0, []int64{1, 3}}}},
		"and no longer":            {[]Reading{at(-61, 1), at(1, 3)}, nil},
		"far apart":                {[]Reading{at(0, 1), at(10, 2), at(1e12, 1), at(1e12+10, 4)}, []signature{{0, 0, []int64{1, 2}}, {0, 1e18, []int64{1, 4}}}},
	} {
		got := newStudy(t, brief(t, 1)).signatures([]Meter{{Readings: c.readings}})
		if !slices.EqualFunc(got, c.want, sameSignature) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func sameSignature(a, b signature) bool {
	return a.meter == b.meter && a.start == b.start && slices.Equal(a.indices, b.indices)
}

// A twentieth of a universe of 100 steps is 5.
func TestSignaturesVary(t *testing.T) {
	s := brief(t, 1)
	s.Universe = universe(t, 0, 100, 1)
	got := newStudy(t, s).signatures([]Meter{meter("", 50, 54, 50, 45, 50, 55)})
	if len(got) != 2 || got[0].start != 20*second || got[1].start != 40*second {
		t.Errorf("%v", got)
	}
}

func TestSignaturesOfEachMeter(t *testing.T) {
	s := brief(t, 1)
	s.Windows = 3
	var starts []int64
	meters := []Meter{meter("a", 0, 1), meter("b", 0, 1, 0, 2, 1, 2, 0, 3, 0, 1, 2, 0, 3, 1)}
	for _, x := range newStudy(t, s).signatures(meters) {
		starts = append(starts, int64(x.meter)*1000+x.start/second)
	}
	if want := []int64{0, 1000, 1040, 1080}; !slices.Equal(starts, want) { // 0, 2 and 4 of seven
		t.Errorf("%v, not %v", starts, want)
	}
}

// The windows are those of the package comment.
func TestSignaturesProperty(t *testing.T) {
	u := universe(t, 0, 20, 1)
	rapid.Check(t, func(t *rapid.T) {
		seconds := rapid.SliceOfN(rapid.Int64Range(-300, 300), 1, 60).Draw(t, "seconds")
		slices.Sort(seconds)
		var readings []Reading
		for _, x := range seconds {
			readings = append(readings, Reading{x * second, float64(rapid.IntRange(0, 20).Draw(t, "value"))})
		}
		periods := rapid.Int64Range(2, 5).Draw(t, "periods")
		study := &Study{
			settings: Settings{Universe: u, Window: time.Duration(periods) * 10 * time.Second, Period: 10 * time.Second, Windows: math.MaxInt},
		}
		got := study.signatures([]Meter{{Readings: readings}})
		if want := naiveSignatures(readings, periods); !slices.EqualFunc(got, want, sameSignature) {
			t.Fatalf("%v, not %v", got, want)
		}
	})
}

// naiveSignatures looks for every report among all readings, which are values of
// 0..20, and for those of every window there could be.
func naiveSignatures(readings []Reading, periods int64) (all []signature) {
	window := periods * 10 * second
	for start := -100 * window; start <= 100*window; start += window {
		x := signature{start: start}
		for t := start; t < start+window; t += 10 * second {
			latest, missing := int64(0), true
			for _, r := range readings {
				if t-60*second <= r.T && r.T <= t {
					latest, missing = int64(r.Value), false
				}
			}
			if !missing {
				x.indices = append(x.indices, latest)
			}
		}
		if int64(len(x.indices)) == periods && slices.Max(x.indices) > slices.Min(x.indices) {
			all = append(all, x)
		}
	}
	return all
}
