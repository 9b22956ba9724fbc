package optimal

import (
	"testing"

	"pgregory.net/rapid"
)

// TestAliasRowsAreExact adds up the units of a table which each outcome owns.
func TestAliasRowsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "n")
		b := capacityBits(n)
		weights := make([]uint64, n)
		rest := uint64(n) << b
		for z := range n - 1 {
			weights[z] = rapid.Uint64Range(0, rest).Draw(t, "weight")
			rest -= weights[z]
		}
		weights[n-1] = rest
		if got := owned(newAliasRow(weights, b), b); !equal(got, weights) {
			t.Errorf("%d: outcomes own %d", weights, got)
		}
	})
}

// owned returns how many of its n*2^b units a table gives to each outcome.
func owned(row aliasRow, b int) []uint64 {
	units := make([]uint64, len(row))
	for z, c := range row {
		units[z] += c.cut
		units[c.other] += 1<<b - c.cut
	}
	return units
}

func equal(a, b []uint64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestCapacity has the totals fit the 64 bits of a draw with room for a sum.
func TestCapacity(t *testing.T) {
	for n := MinPlaces; n <= MaxPlaces; n++ {
		total := uint64(n) << capacityBits(n)
		if total > 1<<62 || total <= 1<<61 {
			t.Errorf("%d places: total %d", n, total)
		}
	}
}
