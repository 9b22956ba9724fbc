// Package intern assigns numbers to byte strings.
//
// A query over a hundred thousand accounts looks an account up at every row. A
// map[string]int waits for memory four times: for the control word, the key, the
// key's bytes and the value. A Table reads one slot, and 16 bytes that say a short name whole. Where names come
// in the order of their numbers, it reads no slot.
package intern

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"unsafe"
)

// A Table numbers distinct names 0, 1, 2, ... in the order of their first
// appearance. The zero value is empty. It must not be used concurrently.
type Table struct {
	seed  maphash.Seed // for the keys of long names
	salt  [2]uint64    // for the hashes of keys
	slots []slot       // open addressing, a power of two, at most half full
	keys  []key        // of the names
	ends  []uint32     // of the names in text
	text  []byte       // the names, one after the other
	last  int          // the number that Number returned last
	step  int          // the difference to the one before
	found []found      // room for names that Numbers looks for
}

// found is a name that Numbers looks for: its key, and the number in the first slot for it, plus one, or 0.
type found struct {
	key
	number uint32
}

// A key stands for a name. Different names of the same size, up to keySize bytes, have different keys; a longer
// name has a hash in place of its bytes, and is compared itself.
type key struct{ first, last uint64 }

const keySize = 16

// A slot holds the number of a name plus one, or 0 if the slot is free, and a tag: the size of the name,
// or longTag, and the rest of the hash, which distinguishes nearly all names without reading them.
type slot struct {
	tag    uint32
	number uint32
}

const longTag = keySize + 1

// key returns the key of a name. A size from 8 on, with the first and the last 8 bytes, which may
// overlap, says all bytes; so does a size from 4 on with 4 bytes; and so do 3 bytes and the size.
func (t *Table) key(name []byte) key {
	n := len(name)
	switch {
	case n > keySize:
		return key{maphash.Bytes(t.seed, name), uint64(n)}
	case n >= 8:
		return key{binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[n-8:])}
	case n >= 4:
		return key{uint64(binary.LittleEndian.Uint32(name)), uint64(binary.LittleEndian.Uint32(name[n-4:]))}
	case n > 0:
		return key{uint64(name[0]) | uint64(name[n/2])<<8 | uint64(name[n-1])<<16, 0}
	}
	return key{}
}

// hash returns a hash of the key and the size of a name: the place of its slot, and the slot's tag. It depends
// on the table's salt, so that nobody can choose names that collide. It multiplies twice, as wyhash does: names
// that differ in a few digits would differ too little after one multiplication.
func (t *Table) hash(k key, size int) (place uint64, tag uint32) {
	hi, lo := bits.Mul64(k.first^t.salt[0], k.last^t.salt[1])
	hi, lo = bits.Mul64(hi^t.salt[1]^uint64(size), lo^t.salt[0])
	place = hi ^ lo
	return place, uint32(place>>32)&^0xff | uint32(min(size, longTag))
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

// All yields the numbers and the names. The names share the memory of one string.
func (t *Table) All() iter.Seq2[int, string] { return each(string(t.text), t.ends) }

// Take is All for a table with many names, which has none afterwards: its memory becomes that of the names.
func (t *Table) Take() iter.Seq2[int, string] {
	text, ends := unsafe.String(unsafe.SliceData(t.text), len(t.text)), t.ends
	*t = Table{}
	return each(text, ends)
}

// each yields names that end in a text, and their numbers.
func each(text string, ends []uint32) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start := uint32(0)
		for i, end := range ends {
			if !yield(i, text[start:end]) {
				return
			}
			start = end
		}
	}
}

// Number returns the number of name. A new name is copied and gets the next number.
//
// A log often names one account again and again, or all accounts in the same order again and again, as meters
// report. The names to compare with then lie one after the other in memory, but their slots in no order. So a
// name is first taken for the same or the next one, if the last one was.
func (t *Table) Number(name []byte) int {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	k := t.key(name)
	if i := t.last + t.step; uint(t.step) <= 1 && i < len(t.keys) && t.keys[i] == k && string(t.Name(i)) == string(name) {
		t.last = i
		return i
	}
	place, tag := t.hash(k, len(name))
	at := t.find(k, place, tag, name)
	if t.slots[at].number == 0 {
		t.add(k, name)
		t.slots[at] = slot{tag, uint32(len(t.ends))}
	}
	i := int(t.slots[at].number - 1)
	t.last, t.step = i, i-t.last
	return i
}

// Numbers appends the numbers of names to a list, as Number returns them. Where names come in no order, each waits for memory: for
// a slot, and for a key. A loop that does one of both for all names waits for several at once.
func (t *Table) Numbers(names [][]byte, to []int32) []int32 {
	if uint(t.step) <= 1 || len(t.slots) == 0 {
		for _, name := range names {
			to = append(to, int32(t.Number(name)))
		}
		return to
	}
	t.found = t.found[:0]
	mask := uint64(len(t.slots) - 1)
	for _, name := range names {
		f := found{key: t.key(name)}
		place, tag := t.hash(f.key, len(name))
		if s := t.slots[place&mask]; s.tag == tag {
			f.number = s.number
		}
		t.found = append(t.found, f)
	}
	before := t.last
	for i, name := range names {
		f := &t.found[i]
		if f.number == 0 || !t.is(f.number, f.key, name) {
			to = append(to, int32(t.Number(name)))
			continue
		}
		before, t.last = t.last, int(f.number-1)
		to = append(to, int32(t.last))
	}
	t.step = t.last - before
	return to
}

// add adds a new name.
func (t *Table) add(k key, name []byte) {
	if uint64(len(t.text))+uint64(len(name)) > math.MaxUint32 {
		panic("intern: more than 4 GiB of names")
	}
	t.text = append(t.text, name...)
	t.ends = append(t.ends, uint32(len(t.text)))
	t.keys = append(t.keys, k)
}

// Find returns the number of name, if it has one. It may be called concurrently with itself.
func (t *Table) Find(name []byte) (number int, found bool) {
	if len(t.ends) == 0 {
		return 0, false
	}
	k := t.key(name)
	place, tag := t.hash(k, len(name))
	n := t.slots[t.find(k, place, tag, name)].number
	return int(n) - 1, n != 0
}

// find returns the slot of a name, or the free slot where it belongs.
func (t *Table) find(k key, place uint64, tag uint32, name []byte) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := place & mask
	for {
		s := t.slots[at]
		if s.number == 0 || s.tag == tag && t.is(s.number, k, name) {
			return at
		}
		at = (at + 1) & mask
	}
}

// is reports whether the name in a slot with the tag of a name is that name, which has key k. A tag and a key say all of a short name.
func (t *Table) is(number uint32, k key, name []byte) bool {
	i := int(number - 1)
	return t.keys[i] == k && (len(name) <= keySize || string(t.Name(i)) == string(name))
}

// manySlots is how many slots a table has before it saves memory.
const manySlots = 1 << 18

func (t *Table) grow() {
	if t.slots == nil {
		t.seed, t.salt = maphash.MakeSeed(), [2]uint64{rand.Uint64(), rand.Uint64()}
	}
	size := max(16, 4*len(t.slots))
	if size > manySlots {
		size = max(manySlots, 2*len(t.slots))
	}
	if size <= cap(t.slots) {
		t.slots = t.slots[:size]
		clear(t.slots)
	} else {
		t.slots = make([]slot, size)
	}
	if n := len(t.ends); n > 0 {
		more := size/2 - n // before it grows again
		t.keys, t.ends = slices.Grow(t.keys, more), slices.Grow(t.ends, more)
		t.text = slices.Grow(t.text, more*(len(t.text)/n+1))
	}
	for i, k := range t.keys {
		name := t.Name(i)
		place, tag := t.hash(k, len(name))
		t.slots[t.find(k, place, tag, name)] = slot{tag, uint32(i + 1)}
	}
}

// Reset forgets all names and keeps the memory. A table that had few names for its size becomes
// smaller, so that the next Reset takes less time.
func (t *Table) Reset() {
	if len(t.slots) > 16*max(1, len(t.ends)) {
		t.slots = t.slots[:len(t.slots)/4]
	}
	clear(t.slots)
	t.keys, t.ends, t.text, t.last, t.step = t.keys[:0], t.ends[:0], t.text[:0], 0, 0
}
