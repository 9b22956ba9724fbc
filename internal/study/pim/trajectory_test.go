package pim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/study/track"
	"pgregory.net/rapid"
)

// at returns fixes at times in seconds; the latitude tells them apart.
func at(seconds ...int64) (fixes []track.Fix) {
	for _, s := range seconds {
		fixes = append(fixes, track.Fix{T: s * second, Lat: float64(s) / 1e4})
	}
	return fixes
}

func TestThin(t *testing.T) {
	// Slots begin at 7, 67, 127, ..: nothing was recorded in the one from 187 on.
	var got []string
	for _, x := range thin(at(7, 30, 66, 67, 68, 140, 186, 300), 60*second) {
		got = append(got, fmt.Sprintf("%d:%.0f", x.T/second, x.Lat*1e4))
	}
	if want := []string{"7:7", "67:67", "127:140", "247:300"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// A pause as long as the break is none; slots begin anew after a longer one.
func TestSplit(t *testing.T) {
	var got []string
	for _, part := range split(at(7, 30, 90, 151, 152, 400), 60*second) {
		for _, x := range thin(part, 60*second) {
			got = append(got, fmt.Sprintf("%d", x.T/second))
		}
		got = append(got, "|")
	}
	if want := []string{"7", "67", "|", "151", "|", "400", "|"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

// Tracks of a user are one sequence in time, also overlapping ones, and pieces of it are
// taken the longest first. Pauses are in it up to the break.
func TestTrajectories(t *testing.T) {
	minutes := func(from, n int64) (fixes []track.Fix) {
		for k := range n {
			fixes = append(fixes, at((from+k)*60)...)
		}
		return fixes
	}
	tracks := []track.Track{
		{User: "short", Fixes: minutes(0, MinSteps-1)},
		{User: "a", Name: "evening", Fixes: minutes(1000, 40)},
		{User: "b", Fixes: minutes(5, 25)},
		{User: "a", Name: "morning", Fixes: minutes(0, 30)},
		{User: "c", Fixes: minutes(9, 120)},
		{User: "a", Name: "again", Fixes: minutes(1010, 40)}, // 30 of the evening's minutes, 10 more
	}
	const night = 971 * 60 * second // from the morning's last fix to the evening's first
	for _, c := range []struct {
		pause int64
		limit int
		want  []string // user, first and last minute, steps
	}{
		{night, 1, []string{"a 0 1019 50"}},
		{night, 100, []string{"a 0 1019 50", "c 9 58 50", "b 5 29 25", "c 59 108 50", "a 1020 1049 30", "c 109 128 20"}},
		{night, 4, []string{"a 0 1019 50", "c 9 58 50", "b 5 29 25", "c 59 108 50"}},
		{night - 1, 100, []string{"a 1000 1049 50", "c 9 58 50", "b 5 29 25", "c 59 108 50", "a 0 29 30", "c 109 128 20"}},
		{600 * second, 1, []string{"a 1000 1049 50"}},
	} {
		var got []string
		for _, x := range trajectories(tracks, 60*second, c.pause, 50, c.limit) {
			first, last := x.fixes[0].T, x.fixes[len(x.fixes)-1].T
			got = append(got, fmt.Sprintf("%s %d %d %d", x.user, first/(60*second), last/(60*second), len(x.fixes)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d, pause %d: %q, not %q", c.limit, c.pause, got, c.want)
		}
	}
}

// Against a map from slots to their first fixes.
func TestThinAgainstReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 1000).Draw(t, "period")
		time := rapid.Int64Range(-1e15, 1e15).Draw(t, "start")
		start := time
		var fixes []track.Fix
		want := map[int64]track.Fix{}
		for k, gap := range rapid.SliceOf(rapid.Int64Range(0, 3000)).Draw(t, "gaps") {
			if k > 0 {
				time += gap
			}
			x := track.Fix{T: time, Lon: float64(k)}
			fixes = append(fixes, x)
			slot := start + (time-start)/period*period
			if _, ok := want[slot]; !ok {
				x.T = slot
				want[slot] = x
			}
		}
		got := thin(fixes, period)
		if len(got) != len(want) {
			t.Fatalf("%d fixes, not %d", len(got), len(want))
		}
		for k, x := range got {
			if x != want[x.T] || k > 0 && x.T <= got[k-1].T {
				t.Fatalf("%v at %d, not %v", x, k, want[x.T])
			}
		}
	})
}
