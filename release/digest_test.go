package release

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
)

// rowsOf is a batch of cells; a nil one is NULL.
func rowsOf(columns ...[]*string) *dataset.Rows {
	rows := new(dataset.Rows)
	rows.Reset(0, len(columns))
	for c, cells := range columns {
		for _, cell := range cells {
			if cell == nil {
				rows.Columns[c].AppendNull()
			} else {
				rows.Columns[c].Append([]byte(*cell))
			}
		}
	}
	return rows
}

// Batches that differ in a cell have different digests, also where the text of all cells
// together is the same.
func TestDigestTellsCellsApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a", "b", "ab", "\x00", "\x01", strings.Repeat("x", 130), strings.Repeat("y", 9000)})
		cell := rapid.Ptr(text, true)
		n := rapid.IntRange(1, 4).Draw(t, "rows")
		draw := func(label string) [][]*string {
			columns := make([][]*string, 2)
			for c := range columns {
				columns[c] = rapid.SliceOfN(cell, n, n).Draw(t, label)
			}
			return columns
		}
		a, b := draw("a"), draw("b")
		same := true
		for c := range a {
			for i := range a[c] {
				x, y := a[c][i], b[c][i]
				same = same && (x == nil) == (y == nil) && (x == nil || *x == *y)
			}
		}
		var d digester
		if (d.sum(rowsOf(a...)) == d.sum(rowsOf(b...))) != same || (d.fingerprint(rowsOf(a...)) == d.fingerprint(rowsOf(b...))) != same {
			t.Fatalf("%v and %v", a, b)
		}
	})
}

// A number counts as its text, so that a release which an earlier version has made of a Parquet file
// is recognised. A fingerprint is kept by nobody, and tells them apart.
func TestDigestOfNumbers(t *testing.T) {
	var texts, numbers dataset.Rows
	texts.Reset(0, 2)
	numbers.Reset(0, 2)
	numbers.Columns[0].Reset(dataset.Integer)
	numbers.Columns[1].Reset(dataset.Real)
	for _, r := range []*dataset.Rows{&texts, &numbers} {
		for i := range 1000 {
			r.Columns[0].AppendInteger(int64(i) - 500)
			r.Columns[1].AppendReal(float64(i) / 7)
		}
		r.Columns[0].AppendNull()
		r.Columns[1].AppendNull()
	}
	var d digester
	if d.sum(&texts) != d.sum(&numbers) {
		t.Error("a number has another digest than its text")
	}
	first, again := d.fingerprint(&numbers), d.fingerprint(&numbers)
	if first != again || first == d.fingerprint(&texts) {
		t.Error("fingerprints do not tell numbers and texts apart")
	}
}

func TestDigestOrder(t *testing.T) {
	var a, b digest
	a.add([32]byte{1})
	a.add([32]byte{2})
	b.add([32]byte{2})
	b.add([32]byte{1})
	if a.String() == b.String() || len(a.String()) != 64 {
		t.Errorf("%v, %v", &a, &b)
	}
}
