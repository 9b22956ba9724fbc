package pim

import (
	"cmp"
	"slices"

	"github.com/geosql/geosql/internal/study/track"
)

// A trajectory is the fixes of a run, one for each step. Fixes have the times at which
// their slots begin.
type trajectory struct {
	user   string
	start  *track.Fix // public, and not reported; nil if no start is known
	fixes  []track.Fix
	cells  []int     // of the grid, where the fixes are
	places [][]int32 // nearest to the fixes; nil without places
}

// trajectories returns at most limit test trajectories of at most steps fixes, as described
// in the package comment. The period and the pause that ends a trajectory are in microseconds.
func trajectories(tracks []track.Track, period, pause int64, steps, limit int) []trajectory {
	type piece struct {
		trajectory
		turn int // rank of the piece among its user's, by length
	}
	var pieces []piece
	users, fixes := byUser(tracks)
	for _, user := range users {
		var own [][]track.Fix
		for _, part := range split(fixes[user], pause) {
			for chunk := range slices.Chunk(thin(part, period), steps) {
				if len(chunk) >= MinSteps {
					own = append(own, chunk)
				}
			}
		}
		slices.SortStableFunc(own, func(a, b []track.Fix) int { return cmp.Compare(len(b), len(a)) })
		for turn, chunk := range own {
			pieces = append(pieces, piece{trajectory{user: user, fixes: chunk}, turn})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(len(b.fixes), len(a.fixes)))
	})
	var taken []trajectory
	for _, p := range pieces[:min(limit, len(pieces))] {
		taken = append(taken, p.trajectory)
	}
	return taken
}

// byUser returns the fixes of each user, sorted by time. Users are in the order of their
// first tracks.
func byUser(tracks []track.Track) (users []string, fixes map[string][]track.Fix) {
	fixes = map[string][]track.Fix{}
	for _, t := range tracks {
		if fixes[t.User] == nil {
			users = append(users, t.User)
		}
		fixes[t.User] = append(fixes[t.User], t.Fixes...)
	}
	for _, all := range fixes {
		slices.SortStableFunc(all, func(a, b track.Fix) int { return cmp.Compare(a.T, b.T) })
	}
	return users, fixes
}

// split cuts fixes wherever nothing was recorded for longer than a pause.
func split(fixes []track.Fix, pause int64) (parts [][]track.Fix) {
	begin := 0
	for k := range fixes {
		if k > 0 && fixes[k].T-fixes[k-1].T > pause {
			parts = append(parts, fixes[begin:k])
			begin = k
		}
	}
	return append(parts, fixes[begin:])
}

// thin returns the first fix of every slot, at the time its slot begins.
func thin(fixes []track.Fix, period int64) (thinned []track.Fix) {
	for _, x := range fixes {
		x.T -= (x.T - fixes[0].T) % period
		if n := len(thinned); n == 0 || x.T > thinned[n-1].T {
			thinned = append(thinned, x)
		}
	}
	return thinned
}
