package meters

import (
	"cmp"
	"slices"
	"sort"
)

// An Example is one signature and its releases. It contains the truth and is not for
// publication.
type Example struct {
	Signal   []Reading // the readings of the window, and the last one before it
	Start    int64     // of the window
	Period   int64     // in microseconds, between two reports
	Reports  []float64 // the true reports of the meter
	Epsilons []float64
	Released [][]float64 // the released reports for each epsilon
}

// Example returns one release of the signature of median variation.
func (s *Study) Example(meters []Meter) (Example, error) {
	known := s.signatures(meters)
	if len(known) == 0 {
		return Example{}, errNoSignatures
	}
	slices.SortStableFunc(known, func(a, b signature) int { return cmp.Compare(a.variation(), b.variation()) })
	x := known[len(known)/2]
	e := Example{
		Signal: s.signal(x, meters[x.meter].Readings), Start: x.start, Period: s.settings.Period.Microseconds(), Epsilons: s.settings.Epsilons,
	}
	for _, index := range x.indices {
		e.Reports = append(e.Reports, s.settings.Universe.Value(index))
	}
	for _, m := range s.values {
		values := make([]float64, len(x.indices))
		releaseEach(values, m.query, s.Sources[0], s.settings.Universe, x.indices)
		e.Released = append(e.Released, values)
	}
	return e, nil
}

// variation returns the sum of the changes from report to report.
func (x signature) variation() int64 {
	d, _ := manhattan(x.indices[1:], x.indices[:len(x.indices)-1], -1)
	return d
}

// signal returns the readings of a meter from which its signature was made.
func (s *Study) signal(x signature, readings []Reading) []Reading {
	first := sort.Search(len(readings), func(k int) bool { return readings[k].T > x.start })
	last := sort.Search(len(readings), func(k int) bool {
		return readings[k].T >= x.start+s.settings.Window.Microseconds()
	})
	return readings[max(first-1, 0):last]
}
