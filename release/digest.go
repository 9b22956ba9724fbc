package release

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/maphash"

	"github.com/geosql/geosql/dataset"
)

// A digest is the SHA-256 of the names of the columns and the hashes of the batches. It
// covers every cell that a release reads. It must not be published: somebody who can guess all of
// a small data set can confirm the guess by the digest.
type digest struct {
	columns []dataset.Field // the columns that are read, in the order of the input
	batches [][sha256.Size]byte
}

func (d *digest) add(hash [sha256.Size]byte) { d.batches = append(d.batches, hash) }

func (d *digest) String() string {
	h := sha256.New()
	h.Write([]byte("geosql release 2\n"))
	names := binary.AppendUvarint(nil, uint64(len(d.columns)))
	for _, c := range d.columns {
		names = binary.AppendUvarint(names, uint64(len(c.Name)))
		names = append(names, c.Name...)
	}
	h.Write(names)
	for i := range d.batches {
		h.Write(d.batches[i][:])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// A fingerprint tells a batch from any other that may be read in its place, to the process that has
// computed it. Its seed is random, so that a batch that has changed has the same with a probability of
// about 2^-64. It guards against a file that is written while it is read, by its owner: a hash that others
// compare, or that is kept, is a [digest]. It costs a tenth of that.
type fingerprint uint64

var fingerprintSeed = maphash.MakeSeed()

// A digester hashes batches.
type digester struct {
	hash  hash.Hash
	sizes []byte
	texts dataset.Column // of numbers
	cells []byte
}

// fingerprint returns that of a batch.
func (d *digester) fingerprint(rows *dataset.Rows) fingerprint {
	var h maphash.Hash
	h.SetSeed(fingerprintSeed)
	d.cells = binary.LittleEndian.AppendUint64(d.cells[:0], uint64(rows.Len()))
	for c := range rows.Columns {
		d.cells = rows.Columns[c].AppendBinary(d.cells)
		h.Write(d.cells)
		d.cells = d.cells[:0]
	}
	return fingerprint(h.Sum64())
}

// sum hashes the cells column by column: the size of each cell, which is 0 for NULL and
// otherwise its length plus one, and then the text of all cells. So different batches are
// different input to the hash. A number counts as its text, as it always did: a release that an
// earlier version has made is recognised.
func (d *digester) sum(rows *dataset.Rows) (sum [sha256.Size]byte) {
	if d.hash == nil {
		d.hash = sha256.New()
	}
	d.hash.Reset()
	d.sizes = binary.AppendUvarint(d.sizes[:0], uint64(rows.Len()))
	for c := range rows.Columns {
		texts := rows.Columns[c].Texts(&d.texts)
		d.sizes = texts.AppendSizes(d.sizes)
		d.hash.Write(d.sizes)
		d.hash.Write(texts.Text())
		d.sizes = d.sizes[:0]
	}
	d.hash.Sum(sum[:0])
	return sum
}
