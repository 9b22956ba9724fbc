package release

import (
	"crypto/sha256"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/release/internal/accounts"
)

// A batch holds some rows of the input on their way to the output. Its memory is reused.
type batch struct {
	number int // from 0
	rows   dataset.Rows
	share  float64       // of the data set read up to here, roughly
	done   chan struct{} // receives a value when a worker has processed the batch
	err    error         // of the worker

	hash        [sha256.Size]byte
	fingerprint fingerprint
	invalid     []invalid // rows, in their order
	dropped     []int     // valid rows that are more than their accounts may have, ascending

	locations int64 // first pass
	accounts  accounts.Tally
	kinds     []infer.Column

	released []dataset.Column // second pass: the drawn columns, in the order of the plan's output
	leftOut  []int            // rows, invalid or dropped, ascending
	kept     []dataset.Column // the kept columns, if rows are left out
	out      dataset.Rows
	block    dataset.Block
	rejects  dataset.Rows
	rejected dataset.Block
}

func newBatch() *batch { return &batch{done: make(chan struct{}, 1)} }

// An invalid is an invalid row and the reason.
type invalid struct {
	row int // in the batch
	why error
}
