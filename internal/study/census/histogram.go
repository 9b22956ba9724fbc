package census

// Buckets are the names of the buckets of figure 5.13, in miles. A commute of exactly 10
// miles is in the second one, and so on.
var Buckets = [...]string{"0-10", "10-25", "25-50", ">50"}

// upperMiles are the upper ends of the buckets. The last bucket has none.
var upperMiles = [len(Buckets) - 1]float64{10, 25, 50}

// A histogram counts jobs by bucket.
type histogram [len(Buckets)]int64

// A tally counts released jobs.
type tally struct {
	histogram
	rings [rings]int64
}

func (t *tally) add(metres float64, jobs int64) {
	t.histogram.add(metres, jobs)
	t.rings[ring(metres)] += jobs
}

// merge adds the counts of o.
func (t *tally) merge(o *tally) {
	t.histogram.merge(&o.histogram)
	for k, jobs := range o.rings {
		t.rings[k] += jobs
	}
}

// add counts jobs with a commute of the given length.
func (h *histogram) add(metres float64, jobs int64) {
	at := 0
	for at < len(upperMiles) && metres >= upperMiles[at]*MetresPerMile {
		at++
	}
	h[at] += jobs
}

// merge adds the counts of o.
func (h *histogram) merge(o *histogram) {
	for k, jobs := range o {
		h[k] += jobs
	}
}

// total returns the number of all jobs.
func (h *histogram) total() (jobs int64) {
	for _, n := range h {
		jobs += n
	}
	return jobs
}
