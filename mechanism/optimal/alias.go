package optimal

import (
	"math/bits"

	"github.com/geosql/geosql/mechanism/exact"
)

// capacityBits returns the greatest b with n*2^b <= 2^62, where n*2^b is the sum of a row's
// weights. The alias tables need a multiple of n, and with a power of two for the factor
// a draw needs no division.
func capacityBits(n int) int { return 62 - bits.Len(uint(n-1)) }

// A column of an alias table holds up to two outcomes: that of its own index below cut, and
// the other above.
type column struct {
	cut   uint64 // at most 2^b
	other uint32
}

// An aliasRow draws from integer weights in constant time: n columns of capacity
// 2^b, which n weights with the sum n*2^b fill without remainder (Walker, An
// Efficient Method for Generating Discrete Random Variables with General
// Distributions, 1977; the construction is that of Vose, 1991). In integers nothing
// is rounded: each outcome owns exactly as many of the n*2^b units as its weight.
type aliasRow []column

func newAliasRow(weights []uint64, b int) aliasRow {
	n, capacity := len(weights), uint64(1)<<b
	row := make(aliasRow, n)
	left := append([]uint64(nil), weights...)
	small, large := make([]int, 0, n), make([]int, 0, n)
	for z, w := range left {
		if w < capacity {
			small = append(small, z)
		} else {
			large = append(large, z)
		}
	}
	// While a column is short, another outcome has too much, since the mean is the
	// capacity.
	for len(small) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		row[s] = column{cut: left[s], other: uint32(l)}
		left[l] -= capacity - left[s]
		if left[l] < capacity {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, l := range large {
		row[l] = column{cut: capacity, other: uint32(l)}
	}
	return row
}

// draw returns an outcome, by one uniform integer below n*2^b.
func (r aliasRow) draw(src *exact.Source, b int) int {
	unit := src.Below(uint64(len(r)) << b)
	z := unit >> b
	c := &r[z]
	if unit&(1<<b-1) < c.cut {
		return int(z)
	}
	return int(c.other)
}
