package dataset_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/geosql/geosql/dataset"
)

// numberColumns draws a column of numbers and one with the texts of the same.
func numberColumns(t *rapid.T) (numbers, texts *dataset.Column) {
	numbers, texts = new(dataset.Column), new(dataset.Column)
	kind := rapid.SampledFrom([]dataset.Kind{dataset.Integer, dataset.Real}).Draw(t, "kind")
	numbers.Reset(kind)
	for range rapid.IntRange(0, 20).Draw(t, "cells") {
		integer, real := rapid.Int64().Draw(t, "integer"), rapid.Float64().Draw(t, "real")
		for _, c := range []*dataset.Column{numbers, texts} {
			switch {
			case integer%5 == 0:
				c.AppendNull()
			case kind == dataset.Integer:
				c.AppendInteger(integer)
			default:
				c.AppendReal(real)
			}
		}
	}
	return numbers, texts
}

// A column of numbers read as texts, and one of texts read as numbers, gives the same.
func TestNumbersAndTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers, texts := numberColumns(t)
		var room, cells dataset.Column
		printed := numbers.Texts(&room)
		if numbers.Len() != texts.Len() || !bytes.Equal(printed.Text(), texts.Text()) || !bytes.Equal(printed.AppendSizes(nil), texts.AppendSizes(nil)) {
			t.Fatalf("%q, want %q", printed.Text(), texts.Text())
		}
		for i := range numbers.Len() {
			got, gotNull := numbers.At(i)
			want, null := texts.At(i)
			if !bytes.Equal(got, want) || gotNull != null || numbers.Null(i) != null || texts.Null(i) != null {
				t.Fatalf("cell %d is %q, want %q", i, got, want)
			}
			same := func(v, null, ok any, w, wantNull, wantOK any) {
				if fmt.Sprint(v, null, ok) != fmt.Sprint(w, wantNull, wantOK) {
					t.Fatalf("cell %d is %v, want %v", i, v, w)
				}
			}
			a, b, c := numbers.Integer(i)
			d, e, f := texts.Integer(i)
			if c || f {
				same(a, b, c, d, e, f)
			}
			v, b, c := numbers.Real(i)
			w, e, f := texts.Real(i)
			same(math.Float64bits(v), b, c, math.Float64bits(w), e, f)
			cells.AppendCell(numbers, i)
		}
		if !bytes.Equal(cells.Text(), texts.Text()) || !bytes.Equal(cells.AppendSizes(nil), texts.AppendSizes(nil)) {
			t.Fatalf("copied cells are %q", cells.Text())
		}
	})
}

// Numbers fill a batch as their texts do, so that batches end where they ended when all cells were texts.
func TestNumbersFill(t *testing.T) {
	fill := func(kind dataset.Kind, secret bool) (rows int) {
		r := &dataset.Rows{Secret: []bool{secret}}
		r.Reset(0, 2)
		r.Columns[0].Reset(kind)
		text := make([]byte, 1000)
		for ; !r.Full(); rows++ {
			r.Columns[0].AppendInteger(int64(rows) * 1_000_003)
			r.Columns[1].Append(text)
		}
		return rows
	}
	for _, secret := range []bool{false, true} {
		if got, want := fill(dataset.Integer, secret), fill(dataset.Text, secret); got != want {
			t.Errorf("full with %d numbers and with %d texts", got, want)
		}
	}
}

// HoldsAll is true only if every cell can be written.
func TestHoldsAll(t *testing.T) {
	kind := rapid.SampledFrom([]dataset.Kind{dataset.Text, dataset.Integer, dataset.Real})
	rapid.Check(t, func(t *rapid.T) {
		column, texts := numberColumns(t)
		if rapid.Bool().Draw(t, "text") {
			column = texts
			for range rapid.IntRange(0, 3).Draw(t, "more") { // parts of characters, which together may be some
				column.Append(rapid.SampledFrom([][]byte{{}, []byte("a"), []byte("é"), {0xc3}, {0xa9}}).Draw(t, "cell"))
			}
		}
		if rapid.Bool().Draw(t, "infinite") && column.Kind() == dataset.Real {
			column.AppendReal(math.Inf(1))
		}
		format, want := rapid.SampledFrom(formats).Draw(t, "format"), kind.Draw(t, "want")
		all := true
		for i := range column.Len() {
			all = all && format.Holds(want, column, i)
		}
		if format.HoldsAll(want, column) && !all {
			t.Fatalf("%v does not hold all of %v", format, column)
		}
		if want == dataset.Text && column.Kind() == dataset.Text && all && !format.HoldsAll(want, column) && utf8.Valid(column.Text()) {
			t.Fatalf("%q are UTF-8", column.Text())
		}
	})
}
