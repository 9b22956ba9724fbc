package catalog

import (
	"math/bits"
	"math/rand/v2"
)

// An accountIndex is a map from the numbers of accounts to indices from -1 on. Every opened value asks for one, and a map waits for
// memory twice, which takes as long as opening the value. The zero value is empty.
type accountIndex struct {
	salt  uint64       // so that no collector can choose numbers that collide
	slots []numberSlot // open addressing, a power of two, at most half full
	size  int
}

// A numberSlot holds an index plus two, or 0 if the slot is free.
type numberSlot struct {
	number uint64
	index  int
}

// get returns the index of a number, or 0 if it has none.
func (n *accountIndex) get(number uint64) (index int, known bool) {
	if n.size == 0 {
		return 0, false
	}
	s := n.find(number)
	if s.index == 0 {
		return 0, false
	}
	return s.index - 2, true
}

// set sets the index of a number.
func (n *accountIndex) set(number uint64, index int) {
	if 2*n.size >= len(n.slots) {
		n.grow()
	}
	s := n.find(number)
	if s.index == 0 {
		n.size++
	}
	*s = numberSlot{number, index + 2}
}

// find returns the slot of a number, or the free one where it belongs.
func (n *accountIndex) find(number uint64) *numberSlot {
	hi, lo := bits.Mul64(number^n.salt, 0x9e3779b97f4a7c15^n.salt)
	hi, lo = bits.Mul64(hi^n.salt, lo^0xbf58476d1ce4e5b9)
	mask := uint64(len(n.slots) - 1)
	for at := (hi ^ lo) & mask; ; at = (at + 1) & mask {
		if s := &n.slots[at]; s.index == 0 || s.number == number {
			return s
		}
	}
}

func (n *accountIndex) grow() {
	before := n.slots
	if before == nil {
		n.salt = rand.Uint64()
	}
	n.slots = make([]numberSlot, max(16, 4*len(before)))
	for _, s := range before {
		if s.index != 0 {
			*n.find(s.number) = s
		}
	}
}
