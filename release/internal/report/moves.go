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
// depend on epsilon alone. It is not safe for concurrent use.
type Moves struct {
	width  float64         // of a bin, metres
	counts [bins + 1]int64 // the last: farther than all bins
	sum    float64         // of the distances
}

// NewMoves returns an empty histogram with bins that suit epsilon per metre, which
// must be positive and finite.
func NewMoves(epsilon float64) *Moves {
	return &Moves{width: binWidth(epsilon)}
}

// binWidth returns the round width with which bins show what planar Laplace noise of
// epsilon per metre does.
func binWidth(epsilon float64) float64 {
	radius, err := planar.Radius(epsilon, shownMoves)
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

// Merge adds the counts of another histogram of the same epsilon.
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

// expectedShares returns the probability of each bin for the continuous planar Laplace
// mechanism.
func expectedShares(epsilon, width float64) (shares [bins + 1]float64) {
	below := 0.
	for i := range bins {
		within := planar.Confidence(epsilon, float64(i+1)*width)
		shares[i] = within - below
		below = within
	}
	shares[bins] = 1 - below
	return shares
}
