package accounts

import (
	"bytes"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/geosql/geosql/internal/intern"
)

// A Tally counts locations by account, in memory. The zero value is empty.
type Tally struct {
	names  intern.Table
	text   int     // bytes of the names
	counts []int64 // by the number of the account's name
}

// Reset empties the tally and keeps its memory.
func (t *Tally) Reset() {
	t.names.Reset()
	t.text = 0
	t.counts = t.counts[:0]
}

// Add adds locations to an account.
func (t *Tally) Add(account []byte, locations int64) {
	i := t.names.Number(account)
	if i == len(t.counts) {
		t.counts = append(t.counts, 0)
		t.text += len(account)
	}
	t.counts[i] += locations
}

// all returns the accounts with the given numbers.
func (t *Tally) all(numbers []int32) iter.Seq2[Account, error] {
	return func(yield func(Account, error) bool) {
		for _, i := range numbers {
			if !yield(Account{t.names.Name(int(i)), t.counts[i]}, nil) {
				return
			}
		}
	}
}

// A key is the number of an account's name, and eight bytes of the name.
type key struct {
	head   uint64
	number int32
}

// order returns the numbers of the accounts, in ascending order of their names. Names often
// have a common prefix; the eight bytes after it distinguish most of them.
func (t *Tally) order() []int32 {
	prefix := t.commonPrefix()
	keys := make([]key, t.names.Len())
	for i := range keys {
		var head [8]byte
		copy(head[:], t.names.Name(i)[prefix:])
		keys[i] = key{binary.BigEndian.Uint64(head[:]), int32(i)}
	}
	keys = sortByHead(keys)
	for i := 0; i < len(keys); {
		alike := i + 1
		for alike < len(keys) && keys[alike].head == keys[i].head {
			alike++
		}
		if alike > i+1 {
			slices.SortFunc(keys[i:alike], func(a, b key) int {
				return bytes.Compare(t.names.Name(int(a.number)), t.names.Name(int(b.number)))
			})
		}
		i = alike
	}
	order := make([]int32, len(keys))
	for i, k := range keys {
		order[i] = k.number
	}
	return order
}

// sortByHead returns the keys in ascending order of their heads. It distributes them by each byte that
// differs, the last byte first (Knuth, The Art of Computer Programming, volume 3 (1998), section
// 5.2.5), three times as fast as comparing a quarter of a million.
func sortByHead(keys []key) []key {
	var counts [8][256]int
	for _, k := range keys {
		for b := range counts {
			counts[b][byte(k.head>>(8*b))]++
		}
	}
	other := make([]key, len(keys))
	for b := range counts {
		places, sum := &counts[b], 0
		if len(keys) == 0 || places[byte(keys[0].head>>(8*b))] == len(keys) {
			continue
		}
		for v, n := range places {
			places[v], sum = sum, sum+n
		}
		for _, k := range keys {
			v := byte(k.head >> (8 * b))
			other[places[v]] = k
			places[v]++
		}
		keys, other = other, keys
	}
	return keys
}

// commonPrefix returns the length of the prefix that all names have.
func (t *Tally) commonPrefix() int {
	if t.names.Len() == 0 {
		return 0
	}
	prefix := t.names.Name(0)
	for i := range t.names.Len() {
		name := t.names.Name(i)
		n := min(len(prefix), len(name))
		for !bytes.Equal(prefix[:n], name[:n]) {
			n--
		}
		prefix = prefix[:n]
	}
	return len(prefix)
}
