package scalar

// Runs are runs of values of a universe, with lengths that differ by one at most.
type Runs struct{ runs, values int64 }

// Runs returns the values of a universe cut into n runs, from 1 to [MaxBins] and at most as many as values.
func (u *Universe) Runs(n int64) Runs { return Runs{n, u.last + 1} }

// Len returns how many runs there are.
func (r Runs) Len() int64 { return r.runs }

// First returns the index of the first value of a run: floor(run*N/runs) for N values, below 2^40 * 10^4.
func (r Runs) First(run int64) int64 { return run * r.values / r.runs }

// Of returns the run of the value of an index k, the last one that begins at k or before:
// floor(run*N/runs) <= k holds if run*N/runs < k+1, that is, run < (k+1)*runs/N.
func (r Runs) Of(k int64) int64 { return ((k+1)*r.runs - 1) / r.values }
