package dataset

import (
	"bytes"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// A parquetPage is a page of cells, which are copied many at a time. If the page has
// a dictionary, the values are there.
type parquetPage struct {
	levels []byte // for each cell that is left: 0 if it is NULL; nil if none can be
	left   int    // cells
	next   int    // number of the next of the values, which leave out NULLs

	index    []int32 // of the values in the dictionary; nil if there is none
	integers []int64
	reals    []float64
	text     []byte
	ends     []uint32 // of the texts, behind the 0 that the first begins at

	wide []int64 // room for integers of 32 bits
}

// begin goes to the first cell of a page of a column of a kind.
func (p *parquetPage) begin(page parquet.Page, kind Kind) {
	*p = parquetPage{levels: page.DefinitionLevels(), left: int(page.NumValues()), wide: p.wide}
	data := page.Data()
	if dictionary := page.Dictionary(); dictionary != nil {
		p.index = data.Int32()
		data = dictionary.Page().Data()
	}
	switch kind {
	case Real:
		p.reals = data.Double()
	case Text:
		p.text, p.ends = data.ByteArray()
	default:
		if data.Kind() == encoding.Int64 {
			p.integers = data.Int64()
			break
		}
		p.wide = p.wide[:0]
		for _, v := range data.Int32() {
			p.wide = append(p.wide, int64(v))
		}
		p.integers = p.wide
	}
}

// read appends up to n cells, and returns io.EOF with the last one of the page.
func (p *parquetPage) read(to *Column, n int) (int, error) {
	n = min(n, p.left)
	p.left -= n
	if p.levels == nil {
		if err := p.append(to, n); err != nil {
			return 0, err
		}
	} else {
		levels := p.levels[:n]
		p.levels = p.levels[n:]
		for len(levels) > 0 {
			k := bytes.IndexByte(levels, 0)
			if k < 0 {
				k = len(levels)
			}
			if err := p.append(to, k); err != nil {
				return 0, err
			}
			for levels = levels[k:]; len(levels) > 0 && levels[0] == 0; levels = levels[1:] {
				to.AppendNull()
			}
		}
	}
	if p.left == 0 {
		return n, io.EOF
	}
	return n, nil
}

// maxStepText bounds the text that a few rows add to a column. A dictionary has a long text once, and rows have it as often
// as a few bytes of the file say.
const maxStepText = 256 << 20

// append appends the next n values.
func (p *parquetPage) append(to *Column, n int) error {
	first, end := p.next, p.next+n
	p.next = end
	if p.index != nil {
		return p.appendIndexed(to, p.index[first:end])
	}
	switch to.kind {
	case Integer:
		to.integers = append(to.integers, p.integers[first:end]...)
		to.appendPresent(n)
	case Real:
		to.reals = append(to.reals, p.reals[first:end]...)
		to.appendPresent(n)
	default:
		if len(to.text)+int(p.ends[end]-p.ends[first]) > maxStepText {
			return errLongTexts
		}
		// Where a text ends in the column follows from where it ends in the page, modulo 2^32.
		shift := uint32(len(to.text)) - p.ends[first]
		to.text = append(to.text, p.text[p.ends[first]:p.ends[end]]...)
		ends := slices.Grow(to.ends, n)
		for _, end := range p.ends[first+1 : end+1] {
			ends = append(ends, (end+shift)<<1)
		}
		to.ends = ends
	}
	return nil
}

// appendIndexed appends values of the dictionary.
func (p *parquetPage) appendIndexed(to *Column, index []int32) error {
	switch to.kind {
	case Integer:
		for _, i := range index {
			to.integers = append(to.integers, p.integers[i])
		}
		to.appendPresent(len(index))
	case Real:
		for _, i := range index {
			to.reals = append(to.reals, p.reals[i])
		}
		to.appendPresent(len(index))
	default:
		for _, i := range index {
			text := p.text[p.ends[i]:p.ends[i+1]]
			if len(to.text)+len(text) > maxStepText {
				return errLongTexts
			}
			to.Append(text)
		}
	}
	return nil
}

// appendPresent says that n more numbers are not NULL.
func (c *Column) appendPresent(n int) {
	c.null = slices.Grow(c.null, n)[:len(c.null)+n]
	clear(c.null[len(c.null)-n:])
}
