package intern

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A table is a map from names to the order of their first appearance.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		numbers := map[string]int{}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			if rapid.IntRange(0, 99).Draw(t, "reset") == 0 {
				table.Reset()
				clear(numbers)
			}
			name := rapid.StringN(0, 3, 6).Draw(t, "name")
			want, known := numbers[name]
			if !known {
				want = len(numbers)
				numbers[name] = want
			}
			if got := table.Number([]byte(name)); got != want {
				t.Fatalf("%q has number %d, want %d", name, got, want)
			}
			if got := string(table.Name(want)); got != name {
				t.Fatalf("number %d is %q, want %q", want, got, name)
			}
			if table.Len() != len(numbers) {
				t.Fatalf("%d names, want %d", table.Len(), len(numbers))
			}
		}
	})
}

func TestTableGrows(t *testing.T) {
	var table Table
	const n = 200_000
	for round := range 2 {
		for i := range n {
			if got := table.Number(fmt.Appendf(nil, "account%d", i)); got != i {
				t.Fatalf("round %d: account%d has number %d", round, i, got)
			}
		}
	}
}

// Names that collide in the half of the hash that a slot keeps are told apart by
// their bytes: here every name is given the same hash.
func TestCollisions(t *testing.T) {
	var table Table
	table.grow()
	table.slots = make([]slot, 64)
	for i := range 20 {
		name := fmt.Appendf(nil, "n%d", i)
		at := table.find(7, name)
		if table.slots[at].number != 0 {
			t.Fatalf("n%d was found", i)
		}
		table.text = append(table.text, name...)
		table.ends = append(table.ends, uint32(len(table.text)))
		table.slots[at] = slot{0, uint32(i + 1)}
	}
	for i := range 20 {
		if got := table.slots[table.find(7, fmt.Appendf(nil, "n%d", i))].number; got != uint32(i+1) {
			t.Errorf("n%d has number %d", i, got-1)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	for _, n := range []int{60, 100_000} {
		names := make([][]byte, n)
		for i := range names {
			names[i] = fmt.Appendf(nil, "account%d", i)
		}
		b.Run(fmt.Sprintf("table/%d", n), func(b *testing.B) {
			var table Table
			for i := range b.N {
				table.Number(names[i%n])
			}
		})
		b.Run(fmt.Sprintf("map/%d", n), func(b *testing.B) {
			m := map[string]int{}
			for i := range b.N {
				name := names[i%n]
				if _, ok := m[string(name)]; !ok {
					m[string(name)] = len(m)
				}
			}
		})
	}
}
