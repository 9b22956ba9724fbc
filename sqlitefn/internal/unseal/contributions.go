package unseal

import (
	"encoding/binary"

	"github.com/geosql/geosql/sealed"
)

// A contribution is a value of a group, once for each time that the group has it.
type contribution struct {
	counter         uint64
	session, member uint32
	data            sealed.Data // if these are kept
}

// contributions is a list of contributions, of which each has its difference from the one before: 4 bytes or so where the rows of
// a table come in order.
type contributions struct {
	keepsData bool
	pieces    [][]byte // so that nothing is copied as the list grows
	taken     int64    // bytes of memory
	last      contribution
}

// Sizes in bytes. The first piece is short: most groups are small.
const (
	firstPiece       = 64
	longestPiece     = 1 << 17
	mostContribution = 2*binary.MaxVarintLen32 + binary.MaxVarintLen64 + 8
)

// add adds a contribution.
func (l *contributions) add(c contribution) {
	if size := l.nextPiece(); size > 0 {
		l.pieces = append(l.pieces, make([]byte, 0, size))
		l.taken += size
	}
	b := &l.pieces[len(l.pieces)-1]
	another := uint64(0)
	if c.session != l.last.session {
		another = 1
	}
	*b = binary.AppendUvarint(*b, uint64(c.member)<<1|another)
	if another == 1 {
		*b = binary.AppendUvarint(*b, uint64(c.session))
	}
	*b = binary.AppendVarint(*b, int64(c.counter-l.last.counter))
	if l.keepsData {
		*b = binary.BigEndian.AppendUint64(*b, uint64(c.data))
	}
	l.last = c
}

// nextPiece returns the size of the piece that another contribution needs, or 0.
func (l *contributions) nextPiece() int64 {
	if len(l.pieces) == 0 {
		return firstPiece
	}
	if last := l.pieces[len(l.pieces)-1]; cap(last)-len(last) < mostContribution {
		return int64(min(2*cap(last), longestPiece))
	}
	return 0
}

// all is the sequence of all of them.
func (l *contributions) all(yield func(contribution) bool) {
	var c contribution
	for _, b := range l.pieces {
		number := func() uint64 {
			x, n := binary.Uvarint(b)
			b = b[n:]
			return x
		}
		for len(b) > 0 {
			first := number()
			c.member = uint32(first >> 1)
			if first&1 == 1 {
				c.session = uint32(number())
			}
			difference, n := binary.Varint(b)
			c.counter += uint64(difference)
			b = b[n:]
			if l.keepsData {
				c.data = sealed.Data(binary.BigEndian.Uint64(b))
				b = b[8:]
			}
			if !yield(c) {
				return
			}
		}
	}
}
