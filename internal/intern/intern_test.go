package intern

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// The names that are taken from a table do not change when others are added.
func TestTake(t *testing.T) {
	var table Table
	for range 2 {
		for i := range 3 {
			table.Number([]byte{'a' + byte(i)})
		}
		taken := table.Take()
		if table.Len() != 0 {
			t.Fatal("the table has names")
		}
		if got := table.Number([]byte("x")); got != 0 {
			t.Errorf("a new name has number %d", got)
		}
		for i, name := range taken {
			if want := string(rune('a' + i)); name != want {
				t.Errorf("name %d is %s, want %s", i, name, want)
			}
		}
		table.Reset()
	}
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

// Names that come again one by one, in the order of their numbers, or in it with others between, keep their
// numbers, whether they are short or long.
func TestOrders(t *testing.T) {
	var table Table
	const n = 100
	var names []string
	for i := range n {
		names = append(names, fmt.Sprint("account", i))
		if i%3 == 0 {
			names[i] = "a name that is longer than a key " + names[i]
		}
	}
	number := func(i int) {
		t.Helper()
		if got := table.Number([]byte(names[i])); got != i {
			t.Errorf("%s has number %d, want %d", names[i], got, i)
		}
	}
	for round := range 3 {
		for i := range n {
			for range round {
				number(i)
			}
			number(i)
			if round == 2 && i%7 == 0 {
				number(i / 2)
			}
		}
	}
	for i, name := range table.All() {
		if name != names[i] {
			t.Errorf("number %d is %q, want %q", i, name, names[i])
		}
	}
	if table.Len() != n {
		t.Errorf("%d names, want %d", table.Len(), n)
	}
}

// Names of every length, of few different bytes, are told apart.
func TestLengths(t *testing.T) {
	var table Table
	numbers := map[string]int{}
	for n := range 40 {
		for _, at := range []int{0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 20, 39} {
			name := bytes.Repeat([]byte("a"), n)
			if at < n {
				name[at] = 'b'
			}
			if _, known := numbers[string(name)]; !known {
				numbers[string(name)] = len(numbers)
			}
			if got, want := table.Number(name), numbers[string(name)]; got != want {
				t.Errorf("%q has number %d, want %d", name, got, want)
			}
		}
	}
}

// Long names with equal keys and hashes are told apart by their bytes, and short ones with equal hashes by their keys.
func TestCollisions(t *testing.T) {
	var table Table
	table.grow()
	table.slots = make([]slot, 64)
	find := func(name []byte) (uint64, key) {
		k := key{}
		if len(name) <= keySize {
			k = table.key(name)
		}
		return table.find(k, 7, 7, name), k
	}
	var names [][]byte
	for i := range 15 {
		names = append(names, fmt.Appendf(nil, "a name that is long %d", i), fmt.Appendf(nil, "%d", i+10))
	}
	for i, name := range names {
		at, k := find(name)
		if table.slots[at].number != 0 {
			t.Fatalf("%s was found", name)
		}
		table.text = append(table.text, name...)
		table.ends = append(table.ends, uint32(len(table.text)))
		table.keys = append(table.keys, k)
		table.slots[at] = slot{7, uint32(i + 1)}
	}
	for i, name := range names {
		if at, _ := find(name); table.slots[at].number != uint32(i+1) {
			t.Errorf("%s has number %d", name, table.slots[at].number-1)
		}
	}
}

// A table that was large shrinks while it has few names.
func TestResetShrinks(t *testing.T) {
	var table Table
	for i := range 1000 {
		table.Number(fmt.Appendf(nil, "account%d", i))
	}
	for range 10 {
		table.Reset()
		for i := range 3 {
			if got := table.Number(fmt.Appendf(nil, "account%d", i)); got != i {
				t.Fatalf("account%d has number %d", i, got)
			}
		}
	}
	if len(table.slots) > 64 {
		t.Errorf("three names have %d slots", len(table.slots))
	}
	for i := range 1000 {
		if got := table.Number(fmt.Appendf(nil, "account%d", i)); got != i {
			t.Fatalf("account%d has number %d", i, got)
		}
	}
}

func BenchmarkNumber(b *testing.B) {
	for _, n := range []int{60, 100_000} {
		names := make([][]byte, n)
		for i, j := range rand.Perm(n) {
			names[i] = fmt.Appendf(nil, "account%d", j)
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

// Names that are looked up together get the numbers that they get one by one.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var together, single Table
		for range rapid.IntRange(0, 20).Draw(t, "batches") {
			if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
				together.Reset()
				single.Reset()
			}
			var names [][]byte
			for range rapid.IntRange(0, 40).Draw(t, "names") {
				name := rapid.OneOf(rapid.StringN(0, 2, 4), rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 15, 18, -1)).Draw(t, "name")
				names = append(names, []byte(name))
			}
			for i, got := range together.Numbers(names, nil) {
				if want := single.Number(names[i]); int(got) != want {
					t.Fatalf("%q has number %d, want %d", names[i], got, want)
				}
			}
			if together.Len() != single.Len() {
				t.Fatalf("%d names, want %d", together.Len(), single.Len())
			}
		}
	})
}
