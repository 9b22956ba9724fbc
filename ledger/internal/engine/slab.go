package engine

import "math/bits"

// A slab holds values by number. They are allocated together and stay where they are: value i below 2^smallSlab is
// in slice n with those from 2^(n-1) on, up to 2^n, and later slices have 2^smallSlab values each.
type slab[T any] [][]T

const smallSlab = 12

// at returns value i, which is zero at first. The values before it were asked for earlier.
func (s *slab[T]) at(i int) *T {
	n := bits.Len(uint(i))
	k := i - 1<<n>>1
	if i >= 1<<smallSlab {
		n, k = smallSlab+i>>smallSlab, i&(1<<smallSlab-1)
	}
	if n == len(*s) {
		*s = append(*s, make([]T, max(1, 1<<min(n, smallSlab+1)>>1)))
	}
	return &(*s)[n][k]
}
