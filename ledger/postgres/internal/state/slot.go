package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/geosql/geosql/ledger"
)

// A file has two slots, in different sectors of a disk. A write goes to the slot that is older, so
// that one that is torn leaves the other as it was.
const (
	slotDistance = 512
	fileSize     = 2 * slotDistance
	magic        = "geosqlW1"
	idSize       = 16
	textSize     = len(magic) + 8 + idSize + 8 + 2*(8+sha256.Size)
	slotSize     = textSize + sha256.Size
)

// slot is one record of a file.
type slot struct {
	count      uint64 // of the writes; the slot with the higher one is newer
	id         [idSize]byte
	generation int64
	last       ledger.Head
	doubt      ledger.Head // ID 0 for none
}

// append appends the bytes of the slot in a file of a ledger.
func (s *slot) append(b []byte, ledgerID string) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint64(b, s.count)
	b = append(b, s.id[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.generation))
	for _, h := range []ledger.Head{s.last, s.doubt} {
		b = binary.BigEndian.AppendUint64(b, uint64(h.ID))
		b = append(b, h.Hash[:]...)
	}
	sum := checksum(b[start:], ledgerID)
	return append(b, sum[:]...)
}

// checksum depends on the ledger, so that its files cannot be taken for those of another.
func checksum(text []byte, ledgerID string) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte("geosql writer of ledger " + ledgerID + "\n"))
	h.Write(text)
	return [sha256.Size]byte(h.Sum(nil))
}

// parseSlot reads a slot. It reports false if the slot is damaged.
func parseSlot(b []byte, ledgerID string) (s slot, ok bool) {
	text := b[:textSize]
	if sum := checksum(text, ledgerID); !bytes.HasPrefix(text, []byte(magic)) || !bytes.Equal(sum[:], b[textSize:slotSize]) {
		return slot{}, false
	}
	text = text[len(magic):]
	number := func() (n uint64) {
		n, text = binary.BigEndian.Uint64(text), text[8:]
		return n
	}
	s.count = number()
	text = text[copy(s.id[:], text):]
	s.generation = int64(number())
	for _, h := range []*ledger.Head{&s.last, &s.doubt} {
		h.ID = int64(number())
		text = text[copy(h.Hash[:], text):]
	}
	return s, s.generation > 0 && s.last.ID >= 0 && s.doubt.ID >= 0
}

var errDamaged = errors.New("neither of its two records is whole")

// parse reads a file: its newer slot that is whole.
func parse(b []byte, ledgerID string) (slot, error) {
	if len(b) != fileSize {
		return slot{}, errors.New("it has another size than it was made with")
	}
	first, one := parseSlot(b, ledgerID)
	second, two := parseSlot(b[slotDistance:], ledgerID)
	switch {
	case !one && !two:
		return slot{}, errDamaged
	case one && two && (first.id != second.id || first.generation != second.generation || first.count == second.count):
		return slot{}, errors.New("its two records contradict each other")
	case !one || two && second.count > first.count:
		return second, nil
	}
	return first, nil
}

// name returns the name of the file of a writer.
func (s *slot) name() string { return prefix + hex.EncodeToString(s.id[:]) }
