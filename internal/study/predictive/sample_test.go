package predictive

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/internal/study/track"
)

// degree is that of the equator, in metres.
const degree = 6378137 * math.Pi / 180

// eastward returns fixes on the equator that many metres east of the origin, one
// every ten seconds.
func eastward(metres ...float64) (fixes []track.Fix) {
	for k, m := range metres {
		fixes = append(fixes, track.Fix{T: int64(k) * 10 * second, Lon: m / degree})
	}
	return fixes
}

// 15 km/h are 41.67 m in ten seconds.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		metres []float64
		want   []int
	}{
		{nil, nil},
		{[]float64{0}, nil},
		{[]float64{0, 41.6}, []int{0, 1}},
		{[]float64{0, 41.7}, nil},
		{[]float64{0, 10, 500, 510, 1000, 1041.6, 1000}, []int{0, 1, 3, 5, 6}},
		{[]float64{0, 100, 110}, []int{2}},
	} {
		fixes := eastward(c.metres...)
		var want []track.Fix
		for _, k := range c.want {
			want = append(want, fixes[k])
		}
		if got := slow(fixes); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %v, not %v", c.metres, got, want)
		}
	}
}

// Fixes so far apart that a jitter of five standard deviations does not matter, and
// the numbers are fixed anyway.
func TestSampleExactly(t *testing.T) {
	fixes := func(seconds ...int64) (fixes []track.Fix) {
		for _, s := range seconds {
			fixes = append(fixes, track.Fix{T: s * second})
		}
		return fixes
	}
	recorded := fixes(0, 5, 25, 95, 96, 190, 1600, 1601, 1700, 6000, 7000, 12000)
	for _, c := range []struct {
		jump float64
		want []track.Fix
	}{
		{0, fixes(0, 95, 190, 1600, 1700, 6000, 7000, 12000)},
		{1, fixes(0, 6000, 12000)},
	} {
		for repetition := range 20 {
			if got := sample(recorded, c.jump, randomOf("user", "trace", repetition)); !reflect.DeepEqual(got, c.want) {
				t.Fatalf("jump %v: %v", c.jump, got)
			}
		}
	}
}

// Against a slow and obvious sampler.
func TestSampleAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var fixes []track.Fix
		at := rapid.Int64Range(-1e15, 1e15).Draw(t, "start")
		for _, gap := range rapid.SliceOfN(rapid.Int64Range(1, 4000*second), 0, 60).Draw(t, "gaps") {
			at += gap
			fixes = append(fixes, track.Fix{T: at})
		}
		jump := rapid.Float64Range(0, 1).Draw(t, "jump")
		seed := rapid.Uint64().Draw(t, "seed")
		var want []track.Fix
		random := rand.New(rand.NewPCG(seed, 0))
		due := int64(math.MinInt64)
		for _, x := range fixes {
			if x.T < due {
				continue
			}
			want = append(want, x)
			u, deviation := random.Float64(), random.NormFloat64()
			length := 60.0
			if u < jump {
				length = 3600
			}
			due = max(x.T+1, x.T+int64((length+length*deviation/10)*1e6))
		}
		got := sample(fixes, jump, rand.New(rand.NewPCG(seed, 0)))
		if len(got) != len(want) {
			t.Fatalf("%d query points, not %d", len(got), len(want))
		}
		for k := range got {
			if d := got[k].T - want[k].T; d != 0 {
				t.Fatalf("query point %d is off by %d us", k, d)
			}
		}
	})
}

// The numbers are fixed, so this fails always or never: intervals have the mean,
// the deviation and the share of jumps that the paper's users have.
func TestIntervals(t *testing.T) {
	const n, jump = 100_000, 0.3
	random := randomOf("user", "trace", 0)
	var brief, long []float64
	for range n {
		if x := float64(interval(jump, random)) * 1e-6; x < 600 {
			brief = append(brief, x)
		} else {
			long = append(long, x)
		}
	}
	if share := float64(len(long)) / n; math.Abs(share-jump) > 0.01 {
		t.Errorf("jumps %v of the time", share)
	}
	for _, c := range []struct {
		intervals []float64
		mean      float64
	}{{brief, 60}, {long, 3600}} {
		mean := sum(c.intervals) / float64(len(c.intervals))
		var variance float64
		for _, x := range c.intervals {
			variance += (x - mean) * (x - mean) / float64(len(c.intervals))
		}
		if math.Abs(mean/c.mean-1) > 0.003 || math.Abs(math.Sqrt(variance)/c.mean-0.1) > 0.002 {
			t.Errorf("intervals of %v s have mean %v and deviation %v", c.mean, mean, math.Sqrt(variance))
		}
	}
}

// Each user, track and repetition has random numbers of its own, the same ones
// every time.
func TestRandomOf(t *testing.T) {
	seen := map[uint64]bool{}
	for _, names := range [][2]string{{"a", "b"}, {"ab", ""}, {"", "ab"}, {"b", "a"}} {
		for repetition := range 3 {
			x := randomOf(names[0], names[1], repetition).Uint64()
			if seen[x] || x != randomOf(names[0], names[1], repetition).Uint64() {
				t.Errorf("%q, repetition %d", names, repetition)
			}
			seen[x] = true
		}
	}
}
