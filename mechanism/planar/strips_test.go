package planar

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// points returns the cells of strips.
func points(strips []strip) map[Cell]bool {
	set := map[Cell]bool{}
	for _, s := range strips {
		for i := s.lo; i <= s.hi; i++ {
			set[Cell{int64(i), int64(s.row)}] = true
		}
	}
	return set
}

func drawStrips(t *rapid.T, label string) []strip {
	return rapid.SliceOf(rapid.Custom(func(t *rapid.T) strip {
		lo := rapid.Int32Range(-300, 300).Draw(t, "lo")
		return strip{rapid.Int32Range(-3, 3).Draw(t, "row"), lo, lo + rapid.Int32Range(0, 40).Draw(t, "more")}
	})).Draw(t, label)
}

func mustUnion(t *rapid.T, strips []strip) []strip {
	t.Helper()
	joined, err := union(t.Context(), strips)
	if err != nil {
		t.Fatal(err)
	}
	return joined
}

// apartInOrder reports whether strips are sorted by row, with gaps between those of a row.
func apartInOrder(strips []strip) bool {
	for k := 1; k < len(strips); k++ {
		if a, b := strips[k-1], strips[k]; b.row < a.row || b.row == a.row && b.lo <= a.hi+1 {
			return false
		}
	}
	return true
}

func TestStripsAreSets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawStrips(t, "a"), drawStrips(t, "b")
		inA, inB := points(a), points(b)
		a, b = mustUnion(t, a), mustUnion(t, b)
		left := subtract(a, b)
		for _, strips := range [][]strip{a, b, left} {
			if !apartInOrder(strips) {
				t.Fatalf("not in order, or not apart: %v", strips)
			}
		}
		all := points(slices.Concat(a, b))
		for c := range all {
			if points(a)[c] != inA[c] || points(b)[c] != inB[c] {
				t.Fatalf("the union differs at %v", c)
			}
			if points(left)[c] != (inA[c] && !inB[c]) {
				t.Fatalf("the difference differs at %v", c)
			}
		}
		if len(points(a)) != len(inA) || len(points(b)) != len(inB) {
			t.Fatal("a union has other points")
		}
	})
}

// Strips come in the order of their keys, with all of the range of indices.
func TestSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		strips := rapid.SliceOf(rapid.Custom(func(t *rapid.T) strip {
			lo := rapid.Int32Range(-maxCell, maxCell).Draw(t, "lo")
			return strip{rapid.Int32Range(-maxCell, maxCell).Draw(t, "row"), lo, rapid.Int32Range(lo, maxCell).Draw(t, "hi")}
		})).Draw(t, "strips")
		for _, key := range []func(strip) uint64{strip.rowKey, strip.zKey} {
			want := slices.Clone(strips)
			slices.SortStableFunc(want, func(a, b strip) int { return cmp.Compare(key(a), key(b)) })
			if got, err := sorted(t.Context(), slices.Clone(strips), key); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%v, error %v, want %v", got, err, want)
			}
		}
	})
}

// The keys are in the order that they stand for.
func TestKeys(t *testing.T) {
	inOrder := []strip{{-maxCell, -5, 5}, {-1, maxCell, maxCell}, {0, -maxCell, 0}, {0, -1, 7}, {0, 0, 0}, {1, -maxCell, 0}, {maxCell, 0, 0}}
	for k := 1; k < len(inOrder); k++ {
		if inOrder[k-1].rowKey() >= inOrder[k].rowKey() {
			t.Errorf("%v does not come before %v", inOrder[k-1], inOrder[k])
		}
	}
	// The quarters of a square come one after the other: south-west, south-east, north-west,
	// north-east, and within each of them likewise.
	var curve []strip
	for row := range int32(4) {
		for i := range int32(4) {
			curve = append(curve, strip{row, i, i})
		}
	}
	curve, err := sorted(t.Context(), curve, strip.zKey)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []strip{{0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 1}, {0, 2, 2}, {0, 3, 3}, {1, 2, 2}, {1, 3, 3}, {2, 0, 0}} {
		if curve[k] != want {
			t.Errorf("place %d of the curve: %v, want %v", k, curve[k], want)
		}
	}
}
