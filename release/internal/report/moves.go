package report

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

const (
	// bins is the number of bars of a histogram, without the bar of all greater distances.
	bins = 24
	// shownMoves is the probability of the distances that the bars cover.
	shownMoves = 0.99
)

// Moves is a histogram of distances between raw and released locations. Its bins depend
// only on the noise. It must not be used concurrently.
type Moves struct {
	width  float64         // of a bin, metres
	counts [bins + 1]int64 // the last one counts all greater distances
	sum    float64         // of the distances
}

// NewMoves returns an empty histogram with bins that suit the noise.
func NewMoves(noise planar.Accuracy) *Moves {
	return &Moves{width: binWidth(noise)}
}

// binWidth returns a round width with which the bins cover the noise.
func binWidth(noise planar.Accuracy) float64 {
	radius, err := noise.Radius(shownMoves)
	if err != nil {
		return math.NaN() // Write refuses such an epsilon
	}
	return roundUp(radius/bins, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
}

// Add counts a distance in metres. It does not allocate.
func (m *Moves) Add(metres float64) {
	bin := bins
	if share := metres / m.width; share < bins {
		bin = int(max(share, 0))
	}
	m.counts[bin]++
	m.sum += metres
}

// Merge adds the counts of another histogram for the same noise.
func (m *Moves) Merge(other *Moves) {
	for i, n := range other.counts {
		m.counts[i] += n
	}
	m.sum += other.sum
}

// Total returns the number of distances.
func (m *Moves) Total() (n int64) {
	for _, count := range m.counts {
		n += count
	}
	return n
}

// shares returns the share of each bin, all 0 if there are no distances.
func (m *Moves) shares() (shares [bins + 1]float64) {
	total := float64(max(m.Total(), 1))
	for i, n := range m.counts {
		shares[i] = float64(n) / total
	}
	return shares
}

// expectedShares returns the probability of each bin.
func expectedShares(noise planar.Accuracy, width float64) (shares [bins + 1]float64) {
	below := 0.
	for i := range bins {
		within := noise.Confidence(float64(i+1) * width)
		shares[i] = within - below
		below = within
	}
	shares[bins] = 1 - below
	return shares
}
