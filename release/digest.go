package release

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/geosql/geosql/release/table"
)

// A digest is the SHA-256 of the hashes of the batches. It stands for every cell that a
// release reads. Who can guess all of a small data set confirms the guess by it: it is the
// owner's.
type digest struct {
	batches [][sha256.Size]byte
}

func (d *digest) add(hash [sha256.Size]byte) { d.batches = append(d.batches, hash) }

func (d *digest) String() string {
	h := sha256.New()
	h.Write([]byte("geosql release 1\n"))
	for i := range d.batches {
		h.Write(d.batches[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A digester hashes batches.
type digester struct {
	hash hash.Hash
	room []byte
}

// piece is how many bytes are hashed at a time.
const piece = 1 << 13

// sum hashes the cells column by column, each behind its length, which is 0 for NULL and
// else one more, so that different batches are different input.
func (d *digester) sum(rows *table.Rows) (sum [sha256.Size]byte) {
	if d.hash == nil {
		d.hash, d.room = sha256.New(), make([]byte, 0, 2*piece)
	}
	d.hash.Reset()
	b := binary.AppendUvarint(d.room[:0], uint64(rows.Len()))
	for c := range rows.Columns {
		column := &rows.Columns[c]
		for i := range column.Len() {
			text, null := column.At(i)
			if null {
				b = append(b, 0)
			} else {
				b = binary.AppendUvarint(b, uint64(len(text))+1)
				b = append(b, text...)
			}
			if len(b) >= piece {
				d.hash.Write(b)
				b = b[:0]
			}
		}
	}
	d.hash.Write(b)
	d.room = b[:0]
	d.hash.Sum(sum[:0])
	return sum
}
