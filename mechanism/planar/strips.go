package planar

import (
	"cmp"
	"context"
	"slices"
)

// A strip holds the lattice points (lo, row), .., (hi, row). The indices of a box are
// bounded by maxCell.
type strip struct{ row, lo, hi int32 }

// rowKey returns a key that orders strips by row, then by lo.
func (s strip) rowKey() uint64 {
	return uint64(unsigned(int64(s.row)))<<32 | uint64(unsigned(int64(s.lo)))
}

// zKey returns a key that orders strips by their middles along a Z-order curve (Morton
// 1966), so that neighbours are mostly near each other.
func (s strip) zKey() uint64 {
	middle := (int64(s.lo) + int64(s.hi)) >> 1
	return spread(unsigned(int64(s.row)))<<1 | spread(unsigned(middle))
}

// unsigned maps indices to unsigned numbers in the same order.
func unsigned(index int64) uint32 { return uint32(index + 1<<31) }

// spread returns v with a zero bit above each bit.
func spread(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
	x = (x | x<<2) & 0x3333333333333333
	return (x | x<<1) & 0x5555555555555555
}

// sorted returns the strips in the order of their keys, and may overwrite them. It sorts
// by one byte of the keys after the other, since strips are many and most of their bytes
// are equal. Its error is that of the context.
func sorted(ctx context.Context, strips []strip, key func(strip) uint64) ([]strip, error) {
	if slices.IsSortedFunc(strips, func(a, b strip) int { return cmp.Compare(key(a), key(b)) }) {
		return strips, nil
	}
	var places [8][256]int // first the number of strips that have a byte
	for _, s := range strips {
		k := key(s)
		for n := range places {
			places[n][byte(k>>(8*n))]++
		}
	}
	other := make([]strip, len(strips))
	for n := range places {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		place := &places[n]
		if slices.Contains(place[:], len(strips)) {
			continue
		}
		next := 0
		for b, count := range place {
			place[b] = next
			next += count
		}
		for _, s := range strips {
			b := byte(key(s) >> (8 * n))
			other[place[b]] = s
			place[b]++
		}
		strips, other = other, strips
	}
	return strips, nil
}

// union returns the strips sorted by row, with those joined that overlap or are
// adjacent. It may overwrite them. Its error is that of the context.
func union(ctx context.Context, strips []strip) ([]strip, error) {
	strips, err := sorted(ctx, strips, strip.rowKey)
	if err != nil {
		return nil, err
	}
	joined := strips[:0]
	for _, s := range strips {
		joined = join(joined, s)
	}
	return joined, nil
}

// join appends a strip to sorted strips, none of which starts after it.
func join(strips []strip, s strip) []strip {
	if last := len(strips) - 1; last >= 0 && strips[last].row == s.row && s.lo <= strips[last].hi+1 {
		strips[last].hi = max(strips[last].hi, s.hi)
		return strips
	}
	return append(strips, s)
}

// subtract returns the points that are in from and not in less. Both are unions.
func subtract(from, less []strip) []strip {
	var left []strip
	for _, s := range from {
		for len(less) > 0 && (less[0].row < s.row || less[0].row == s.row && less[0].hi < s.lo) {
			less = less[1:]
		}
		for _, l := range less {
			if l.row != s.row || l.lo > s.hi {
				break
			}
			if s.lo < l.lo {
				left = append(left, strip{s.row, s.lo, l.lo - 1})
			}
			s.lo = l.hi + 1
		}
		if s.lo <= s.hi {
			left = append(left, s)
		}
	}
	return left
}
