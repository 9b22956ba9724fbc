package scalar

import (
	"math"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/trials"
)

// Pooled averages never fall, and are those of the max-min formula of isotonic regression: the level of a block is the
// largest, over the blocks up to it, of the least average from one of these to a block from it on.
func TestIsotonicIsTheNearest(t *testing.T) {
	r := trials.Rand(t)
	for range 2_000 {
		ends, sums := []int64{0}, make([]int128, 1+r.IntN(8))
		total := make([]int64, len(sums)+1)
		for b := range sums {
			ends = append(ends, ends[b]+1+r.Int64N(4))
			n := r.Int64N(21) - 10
			sums[b], total[b+1] = fromInt64(n), total[b]+n
		}
		average := func(i, j int) float64 { return float64(total[j]-total[i]) / float64(ends[j]-ends[i]) }
		got := isotonic(ends, sums)
		for b := range sums {
			want := math.Inf(-1)
			for i := range b + 1 {
				least := math.Inf(1)
				for j := b + 1; j <= len(sums); j++ {
					least = min(least, average(i, j))
				}
				want = max(want, least)
			}
			if math.Abs(got[b]-want) > 1e-12 {
				t.Fatalf("ends %v, totals %v: block %d has %v, not %v", ends, total, b, got[b], want)
			}
		}
		if !slices.IsSorted(got) {
			t.Fatalf("ends %v, totals %v: %v falls", ends, total, got)
		}
	}
	if got := isotonic([]int64{0}, nil); len(got) != 0 {
		t.Errorf("without blocks: %v", got)
	}
}
