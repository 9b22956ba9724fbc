package report

import (
	"math"

	"github.com/geosql/geosql/mechanism/planar"
)

const (
	// bins is how many bars a histogram has, before the one for all that is farther.
	bins = 24
	// shownMoves is the probability of a move that the bars are wide enough for.
	shownMoves = 0.99
)

// Moves is a histogram of distances between raw and released locations. Its bins
// depend on the noise alone. It is not safe for concurrent use.
type Moves struct {
	width  float64         // of a bin, metres
	counts [bins + 1]int64 // the last: farther than all bins
	sum    float64         // of the distances
}

// NewMoves returns an empty histogram with bins that suit the noise in the plane.
func NewMoves(noise planar.Accuracy) *Moves {
	return &Moves{width: binWidth(noise)}
}

// binWidth returns the round width with which bins show what the noise does.
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

// Total returns how many distances were added.
func (m *Moves) Total() (n int64) {
	for _, count := range m.counts {
		n += count
	}
	return n
}

// shares returns the share of each bin, all 0 when there is no distance.
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
