package catalog

import (
	"testing"

	"pgregory.net/rapid"
)

// An accountIndex is a map.
func TestAccountIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n accountIndex
		m := map[uint64]int{}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			number := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64()).Draw(t, "number")
			want, there := m[number]
			if got, known := n.get(number); known != there || known && got != want {
				t.Fatalf("%d has %d, %v, want %d, %v", number, got, known, want, there)
			}
			if rapid.Bool().Draw(t, "set") {
				m[number] = rapid.IntRange(unclear, 1000).Draw(t, "index")
				n.set(number, m[number])
			}
		}
		if n.size != len(m) {
			t.Errorf("%d numbers, want %d", n.size, len(m))
		}
	})
}
