package sealing

import (
	"encoding/binary"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
)

// pageSize is the size of the pages that rows are kept in. A longer row has a page of its own.
const (
	pageBits = 20
	pageSize = 1 << pageBits
)

// noAccount is the index of the account of a row that has none.
const noAccount = ^uint32(0)

// rows keeps the rows of a table in memory, in any order. A row is the index of its account in 4
// bytes, and then for each column of the sealed table but the account's: of a secret, a byte that
// is 1 and 8 bytes of data, or a byte that is 0; of a public column, a cell.
type rows struct {
	pages [][]byte
	refs  []uint64 // page << pageBits | offset
}

// add adds a row.
func (r *rows) add(row []byte) {
	last := len(r.pages) - 1
	if last < 0 || len(r.pages[last])+len(row) > pageSize {
		r.pages = append(r.pages, make([]byte, 0, max(pageSize, len(row))))
		last++
	}
	r.refs = append(r.refs, uint64(last)<<pageBits|uint64(len(r.pages[last])))
	r.pages[last] = append(r.pages[last], row...)
}

// at returns row i and the rows after it in its page.
func (r *rows) at(i int) []byte {
	ref := r.refs[i]
	return r.pages[ref>>pageBits][ref&(pageSize-1):]
}

// shuffle puts the rows into random order.
func (r *rows) shuffle() { sealed.Shuffle(len(r.refs), r.swap) }

func (r *rows) swap(i, j int) { r.refs[i], r.refs[j] = r.refs[j], r.refs[i] }

// appendSecret appends a secret to a row.
func appendSecret(row []byte, d sealed.Data, present bool) []byte {
	if !present {
		return append(row, 0)
	}
	return binary.NativeEndian.AppendUint64(append(row, 1), uint64(d))
}

// nextAccount returns the account of a row, and the cells that follow.
func nextAccount(row []byte) (account uint32, rest []byte) {
	return binary.NativeEndian.Uint32(row), row[4:]
}

// nextSecret returns the first of the cells of a row, a secret, and the others.
func nextSecret(row []byte) (d sealed.Data, present bool, rest []byte) {
	if row[0] == 0 {
		return 0, false, row[1:]
	}
	return sealed.Data(binary.NativeEndian.Uint64(row[1:])), true, row[9:]
}

// nextPublic returns the first of the cells of a row, which is public, as bytes, and the others.
func nextPublic(row []byte) (cell, rest []byte) {
	_, rest = sqlite.NextCell(row)
	return row[:len(row)-len(rest)], rest
}
