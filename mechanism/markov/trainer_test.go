package markov

import (
	"bytes"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The order in which fixes are added makes no difference, nor does the model that
// was asked for in between.
func TestOrderOfAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrid(t)
		points := drawPoints(t, g)
		want := must(train(t, g, period, points).AppendBinary(nil))
		shuffled := rapid.Permutation(points).Draw(t, "shuffled")
		trainer := NewTrainer(g, period)
		for _, p := range shuffled {
			lat, lon := g.domain.Location(g.Centre(p.cell))
			trainer.Add(p.trace, p.at, lat, lon)
			must(trainer.Model())
		}
		if got := must(must(trainer.Model()).AppendBinary(nil)); !bytes.Equal(got, want) {
			t.Fatalf("%x, in another order %x", want, got)
		}
	})
}

// The rule of slots, on times around their borders.
func TestSlots(t *testing.T) {
	g := grids["town"]
	const us = int64(time.Minute / time.Microsecond)
	for name, c := range map[string]struct {
		points              []point
		visits, transitions int64
		from, to            int // a transition there must be, unless from is negative
	}{
		"one fix":                     {[]point{{"a", 5, 3}}, 1, 0, -1, 0},
		"the first of a slot counts":  {[]point{{"a", 0, 3}, {"a", 1, 4}, {"a", us, 5}, {"a", us + 1, 6}}, 2, 1, 3, 5},
		"slots begin with the trace":  {[]point{{"a", 7, 3}, {"a", us + 6, 4}, {"a", us + 7, 5}}, 2, 1, 3, 5},
		"a gap gives none":            {[]point{{"a", 0, 3}, {"a", 2 * us, 4}}, 2, 0, -1, 0},
		"standing is a transition":    {[]point{{"a", 0, 3}, {"a", us, 3}}, 2, 1, 3, 3},
		"traces do not mix":           {[]point{{"a", 0, 3}, {"b", us, 4}}, 2, 0, -1, 0},
		"times before the epoch":      {[]point{{"a", -us, 3}, {"a", -1, 4}, {"a", 0, 5}}, 2, 1, 3, 5},
		"the least index of one time": {[]point{{"a", 0, 9}, {"a", 0, 3}, {"a", us, 5}}, 2, 1, 3, 5},
		"all of time":                 {[]point{{"a", math.MinInt64, 3}, {"a", math.MaxInt64, 4}}, 2, 0, -1, 0},
	} {
		m := train(t, g, period, c.points)
		info := m.Info()
		if info.Visits != c.visits || info.Transitions != c.transitions {
			t.Errorf("%s: %d visits, %d transitions", name, info.Visits, info.Transitions)
		}
		if c.from < 0 {
			continue
		}
		dst := make([]float64, g.Len())
		m.Advance(dst, unit(g.Len(), c.from))
		if !(dst[c.to] > 0.49) {
			t.Errorf("%s: from %d to %d has %v", name, c.from, c.to, dst[c.to])
		}
	}
}

// With a period of 1 µs the slots are as many as an int64 has values, and more.
func TestShortestPeriod(t *testing.T) {
	m := train(t, grids["town"], time.Microsecond, []point{
		{"a", math.MinInt64, 3}, {"a", math.MaxInt64 - 1, 4}, {"a", math.MaxInt64, 5},
	})
	if info := m.Info(); info.Visits != 3 || info.Transitions != 1 {
		t.Errorf("%+v", info)
	}
}

func TestTrainerRefuses(t *testing.T) {
	g := grids["town"]
	if _, err := NewTrainer(g, period).Model(); err != errEmpty {
		t.Errorf("without points: error %v", err)
	}
	for _, period := range []time.Duration{0, -time.Second, 1, 1500, math.MinInt64} {
		trainer := NewTrainer(g, period)
		trainer.Add("a", 0, 40, 116)
		if _, err := trainer.Model(); err != errPeriod {
			t.Errorf("period %v: error %v", period, err)
		}
	}
}

func TestPeriodOf(t *testing.T) {
	for seconds, want := range map[float64]time.Duration{
		60: time.Minute, 0.000001: time.Microsecond, 0.0000015: 2 * time.Microsecond, 0.1: 100 * time.Millisecond, 1e9: 1e9 * time.Second,
	} {
		if got, err := PeriodOf(seconds); err != nil || got != want {
			t.Errorf("%v s: %v, %v, want %v", seconds, got, err, want)
		}
	}
	for _, seconds := range []float64{0, -1, 4e-7, 1e9 + 1, math.Inf(1), math.NaN()} {
		if got, err := PeriodOf(seconds); err == nil {
			t.Errorf("%v s: %v", seconds, got)
		}
	}
}
