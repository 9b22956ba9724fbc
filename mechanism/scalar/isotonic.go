package scalar

// isotonic returns the numbers that never fall and are nearest to averages, by the sum of squares: sums[b] divided by the
// length of a block, ends[b+1]-ends[b], which is its weight. Blocks that fall are pooled. (Ayer, Brunk, Ewing, Reid and
// Silverman, An empirical distribution function for sampling with incomplete information, 1955.)
func isotonic(ends []int64, sums []int128) []float64 {
	type pool struct {
		first, end int // blocks
		sum        int128
	}
	level := func(p pool) float64 { return p.sum.float() / float64(ends[p.end]-ends[p.first]) }
	var pools []pool
	for b, sum := range sums {
		p := pool{b, b + 1, sum}
		for last := len(pools) - 1; last >= 0 && level(pools[last]) >= level(p); last-- {
			p = pool{pools[last].first, p.end, pools[last].sum.add(p.sum)}
			pools = pools[:last]
		}
		pools = append(pools, p)
	}
	levels := make([]float64, 0, len(sums))
	for _, p := range pools {
		for range p.end - p.first {
			levels = append(levels, level(p))
		}
	}
	return levels
}
