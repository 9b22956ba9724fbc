package meters

import (
	"slices"
	"sort"
)

const (
	// hold is the number of periods for which a reading is reported without a new one.
	hold = 6
	// leastSpread is the least difference between the reports of a signature, as a share
	// of the universe.
	leastSpread = 1.0 / 20
)

// A signature is the reports of a meter in a window.
type signature struct {
	meter   int     // whose
	start   int64   // of the window, in microseconds
	indices []int64 // of the reports, in the universe
}

// signatures returns the signatures of all meters, by meter and time.
func (s *Study) signatures(meters []Meter) (all []signature) {
	for k, m := range meters {
		candidates := s.candidates(k, m.Readings)
		n := min(len(candidates), s.settings.Windows)
		for j := range n {
			all = append(all, candidates[j*len(candidates)/n])
		}
	}
	return all
}

// candidates returns all usable signatures of a meter.
func (s *Study) candidates(meter int, readings []Reading) (found []signature) {
	window := s.settings.Window.Microseconds()
	for k := 0; k < len(readings); {
		start := floor(readings[k].T, window)
		if indices := s.report(readings, k, start); s.varied(indices) {
			found = append(found, signature{meter, start, indices})
		}
		k += sort.Search(len(readings)-k, func(j int) bool { return readings[k+j].T >= start+window })
	}
	return found
}

// report returns the reports of the window that begins with the reading of index k, or nil if one is missing.
func (s *Study) report(readings []Reading, k int, start int64) (indices []int64) {
	period := s.settings.Period.Microseconds()
	for n := range int64(s.settings.samples()) {
		t := start + n*period
		for k < len(readings) && readings[k].T <= t {
			k++
		}
		if k == 0 || t-readings[k-1].T > hold*period {
			return nil
		}
		indices = append(indices, s.settings.Universe.Index(readings[k-1].Value))
	}
	return indices
}

// varied reports whether there are reports that differ enough.
func (s *Study) varied(indices []int64) bool {
	if indices == nil {
		return false
	}
	spread := float64(slices.Max(indices) - slices.Min(indices))
	return spread > 0 && spread >= leastSpread*float64(s.settings.Universe.Last())
}

// floor returns the largest multiple of step that is not above t.
func floor(t, step int64) int64 {
	remainder := t % step
	if remainder < 0 {
		remainder += step
	}
	return t - remainder
}
