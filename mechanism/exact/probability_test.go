package exact

import (
	"math"
	"math/big"
	"testing"
)

// TestProbabilityBounds checks bounds at low precision, where a unit is large,
// against those at high precision; that the latter are right is shown against
// an independent oracle elsewhere.
func TestProbabilityBounds(t *testing.T) {
	for _, p := range []probability{
		rational{big.NewRat(1, 3)},
		rational{big.NewRat(22, 7)},
		ratio{0.1, 1, 1},
		ratio{0.00693, 300, 1},
		ratio{0.00693, 300, 7},
		ratio{2.5, math.MaxUint64, math.MaxUint64 - 1},
		excess{1, 0.7, 1, 1},
		excess{0.9, 0.61, 3, -2},
		excess{0.1, 0, -20, 7},
		excess{0.005, 0.0033, 123, 45},
		overshoot{1, 2, 1, 1, false},
		overshoot{0.1, 0.3, -20, 7, true},
		overshoot{0.1, 0.3, 2, 1, true}, // certain
		overshoot{1, -1, 0, 0, false},
		overshoot{0.005, 0.7, 123, 45, false},
		tail{1, 1},
		tail{1, 2},
		tail{0.1, 7},
		tail{0.00693, 1},
		tail{3, 4},
		unmarked{1, 1, 0},
		unmarked{1, 1, 7},
		unmarked{0.1, 200, 1 << 20},
		unmarked{0.00693, 3000, 1<<40 - 1},
		unmarked{1e3, 1, 1 << 40},
	} {
		const more = 200
		for precision := uint(1); precision < 150; precision++ {
			lo, hi := p.bounds(precision)
			finelo, finehi := p.bounds(precision + more)
			if lo.Lsh(lo, more).Cmp(finehi) > 0 || hi.Lsh(hi, more).Cmp(finelo) < 0 {
				t.Errorf("%#v: not enclosed at precision %d", p, precision)
			}
			if width := hi.Sub(hi, lo); width.Rsh(width, more).Cmp(big.NewInt(32)) > 0 {
				t.Errorf("%#v: %v units wide at precision %d", p, width, precision)
			}
		}
	}
}
