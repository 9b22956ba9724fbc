package release

import (
	"crypto/sha256"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/release/internal/accounts"
)

// A batch is some rows of the input on their way to the output. Its memory is used
// again and again.
type batch struct {
	number int // from 0
	rows   dataset.Rows
	share  float64       // of the data set that was read up to here, about
	done   chan struct{} // a worker has dealt with it
	err    error         // of the worker

	hash    [sha256.Size]byte
	invalid []invalid // rows, in their order

	locations int64 // first pass
	accounts  accounts.Tally
	kinds     []infer.Column

	released []dataset.Column // second pass: of the columns that are drawn, in the order of the plan's output
	kept     []dataset.Column // of those that are kept, where rows are left out
	out      dataset.Rows
	block    dataset.Block
	rejects  dataset.Rows
	rejected dataset.Block
}

func newBatch() *batch { return &batch{done: make(chan struct{}, 1)} }

// invalid is a row that has no meaning.
type invalid struct {
	row int // in the batch
	why error
}

// last is the number of the row behind the batch.
func (b *batch) last() int64 { return b.rows.First + int64(b.rows.Len()) }
