package report

import (
	"math/rand/v2"
	"testing"
)

// Counts are read as they were written, and nothing else is read.
func TestEncodedCounts(t *testing.T) {
	for range 300 {
		g := NewGrid(Box{South: 48, West: 2, North: 49, East: 4})
		for range rand.IntN(300) {
			g.counts[rand.IntN(len(g.counts))] = rand.Int64N(1 << rand.IntN(62))
		}
		text, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		again := NewGrid(g.box)
		again.counts[7] = 9
		if err := again.UnmarshalBinary(text); err != nil {
			t.Fatal(err)
		}
		for i, n := range g.counts {
			if again.counts[i] != n {
				t.Fatalf("count %d is %d, want %d", i, again.counts[i], n)
			}
		}
		for _, bad := range [][]byte{text[:len(text)-1], append(text[:len(text):len(text)], 0), nil, {0}, {0, 0}} {
			if again.UnmarshalBinary(bad) == nil {
				t.Fatalf("%v was read", bad)
			}
		}
	}
	m, again := &Moves{width: 5}, &Moves{width: 5}
	m.Add(7)
	m.Add(1000)
	text, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.UnmarshalBinary(text); err != nil || *again != *m {
		t.Errorf("%+v, %v, want %+v", again, err, m)
	}
	if again.UnmarshalBinary(text[:7]) == nil {
		t.Error("a short text was read")
	}
}
