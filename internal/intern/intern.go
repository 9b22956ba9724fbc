// Package intern assigns numbers to byte strings.
//
// A query over a hundred thousand accounts looks an account up at every row. A
// map[string]int waits for memory four times: for the control word, the key, the
// key's bytes and the value. A Table reads one slot and the name, which halves the
// time once the names exceed the processor's caches.
package intern

import (
	"hash/maphash"
	"math"
)

// A Table numbers distinct names 0, 1, 2, ... in the order of their first
// appearance. The zero value is empty. It must not be used concurrently.
type Table struct {
	seed  maphash.Seed
	slots []slot   // open addressing, a power of two, at most half full
	ends  []uint32 // of the names in text
	text  []byte   // the names, one after the other
}

// A slot holds the number of a name plus one, or 0 if the slot is free, and half of
// the name's hash, which distinguishes nearly all names without reading them.
type slot struct {
	hash   uint32
	number uint32
}

// Len returns the number of names.
func (t *Table) Len() int { return len(t.ends) }

// Name returns name number i. It is valid until Reset.
func (t *Table) Name(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]:t.ends[i]]
}

// Number returns the number of name. A new name is copied and gets the next number.
func (t *Table) Number(name []byte) int {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	hash := maphash.Bytes(t.seed, name)
	at := t.find(hash, name)
	if n := t.slots[at].number; n != 0 {
		return int(n - 1)
	}
	if uint64(len(t.text))+uint64(len(name)) > math.MaxUint32 {
		panic("intern: more than 4 GiB of names")
	}
	t.text = append(t.text, name...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.slots[at] = slot{uint32(hash >> 32), uint32(len(t.ends))}
	return len(t.ends) - 1
}

// Find returns the number of name, if it has one. It may be called concurrently with itself.
func (t *Table) Find(name []byte) (number int, found bool) {
	if len(t.ends) == 0 {
		return 0, false
	}
	n := t.slots[t.find(maphash.Bytes(t.seed, name), name)].number
	return int(n) - 1, n != 0
}

// find returns the slot of name, or the free slot where it belongs.
func (t *Table) find(hash uint64, name []byte) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := hash & mask
	for {
		s := t.slots[at]
		if s.number == 0 || s.hash == uint32(hash>>32) && string(t.Name(int(s.number-1))) == string(name) {
			return at
		}
		at = (at + 1) & mask
	}
}

func (t *Table) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = make([]slot, max(16, 4*len(t.slots)))
	for i := range t.ends {
		hash := maphash.Bytes(t.seed, t.Name(i))
		t.slots[t.find(hash, t.Name(i))] = slot{uint32(hash >> 32), uint32(i + 1)}
	}
}

// Reset forgets all names and keeps the memory.
func (t *Table) Reset() {
	clear(t.slots)
	t.ends, t.text = t.ends[:0], t.text[:0]
}
