package engine

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Pools are a map.
func TestPools(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p pools
		m := map[string]*pool{}
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			account := strconv.Itoa(rapid.IntRange(0, 100).Draw(t, "account"))
			if got := p.of(account); got != m[account] {
				t.Fatalf("the pool of %s is %v, want %v", account, got, m[account])
			}
			if m[account] == nil && rapid.Bool().Draw(t, "add") {
				u := new(under)
				q := p.add(account, u)
				if q.account != account || q.under != u {
					t.Fatalf("got %+v", q)
				}
				m[account] = q
			}
		}
		if p.len() != len(m) {
			t.Errorf("%d pools, want %d", p.len(), len(m))
		}
	})
}

// Values of a slab stay where they are.
func TestSlab(t *testing.T) {
	var s slab[int]
	const n = 300 << smallSlab
	places := make([]*int, n)
	for i := range n {
		places[i] = s.at(i)
		if *places[i] != 0 {
			t.Fatalf("value %d is that of %d", i, *places[i]-1)
		}
		*places[i] = i + 1
	}
	for i := range n {
		if s.at(i) != places[i] {
			t.Fatalf("value %d has moved", i)
		}
	}
}
