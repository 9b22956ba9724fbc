package report

import (
	"math"
	"testing"

	"github.com/geosql/geosql/mechanism/planar"
)

func TestMovesPlacesDistances(t *testing.T) {
	m := NewMoves(planar.LaplaceLaw.Plane(washingtonEpsilon))
	if m.width != 40 {
		t.Fatalf("bins of %v m, want 40", m.width)
	}
	for metres, bin := range map[float64]int{0: 0, 39.999: 0, 40: 1, 959.9: 23, 960: bins, 1e9: bins} {
		m := NewMoves(planar.LaplaceLaw.Plane(washingtonEpsilon))
		m.Add(metres)
		if m.counts[bin] != 1 {
			t.Errorf("%v m does not count in bin %d", metres, bin)
		}
	}
}

// The bins suit noise of any epsilon, and are not much too wide for it.
func TestBinsSuitEpsilon(t *testing.T) {
	for eps := minEpsilon; eps <= maxEpsilon; eps *= 1.7 {
		noise := planar.LaplaceLaw.Plane(eps)
		shares, sum := expectedShares(noise, binWidth(noise)), 0.
		for _, share := range shares {
			if !(share >= 0) {
				t.Fatalf("epsilon %v: a share of %v", eps, share)
			}
			sum += share
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("epsilon %v: the shares sum to %v", eps, sum)
		}
		if more := shares[bins]; !(more <= 1-shownMoves+1e-9 && more > 1e-5) {
			t.Errorf("epsilon %v: %v is beyond the bins", eps, more)
		}
	}
}

// farthest returns how far the measured cumulative shares are from the expected ones at
// most.
func farthest(measured, expected [bins + 1]float64) (d float64) {
	var sum float64
	for i := range measured {
		sum += measured[i] - expected[i]
		d = max(d, math.Abs(sum))
	}
	return d
}

// The expected histogram is that of the mechanism. With n = 40,000 draws the
// cumulative shares are farther than 0.0195 from the true ones with a probability of at
// most 2*exp(-2*n*0.0195^2) < 1e-12 (Dvoretzky, Kiefer and Wolfowitz, with Massart's
// constant); half a thousandth is for the lattice and for distances on a sphere, and
// draws moved to the border. An epsilon wrong by a tenth is noticed: it moves the
// cumulative shares by 0.05, ten standard deviations more than that.
func TestExpectedDistancesAreTheMechanisms(t *testing.T) {
	const allowed = 0.0195 + 0.0005
	moved := NewMoves(planar.LaplaceLaw.Plane(washingtonEpsilon))
	drawInside(t, 40_000, moved)
	measured := moved.shares()
	if d := farthest(measured, expectedShares(planar.LaplaceLaw.Plane(washingtonEpsilon), moved.width)); d > allowed {
		t.Errorf("measured distances are %v from the expected ones", d)
	}
	for _, wrong := range []float64{0.9, 1.1} {
		if d := farthest(measured, expectedShares(planar.LaplaceLaw.Plane(wrong*washingtonEpsilon), moved.width)); d <= allowed {
			t.Errorf("an epsilon wrong by %v passes, at %v", wrong, d)
		}
	}
}
