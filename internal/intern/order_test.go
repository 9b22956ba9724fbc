package intern

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The order is that of the bytes, however names begin and end, and keeps that of equal names.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.StringN(0, 20, 20).Draw(t, "alike")
		names := rapid.SliceOf(rapid.OneOf(
			rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 'a'}), 0, 12, -1),
			rapid.String(),
		)).Draw(t, "names")
		for range rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "doublings") { // so that they are many
			names = slices.Concat(names, names)
		}
		for i := range names {
			names[i] = alike + names[i]
		}
		want := make([]int32, len(names))
		for i := range want {
			want[i] = int32(i)
		}
		slices.SortStableFunc(want, func(a, b int32) int { return strings.Compare(names[a], names[b]) })
		if got := Order(len(names), func(i int) string { return names[i] }); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got := Order(len(names), func(i int) []byte { return []byte(names[i]) }); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
