package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/geosql/geosql/internal/printable"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// A parquetReader reads the columns of a Parquet file side by side, page by page.
type parquetReader struct {
	ctx     context.Context
	path    string
	file    *os.File
	parquet *parquet.File
	fields  []Field
	chosen  []*parquetColumn
	row     int64 // number of the next row

	groups     []parquet.RowGroup // that are read
	before     int                // number of groups before them
	first, end int64              // their rows
}

func openParquet(ctx context.Context, path string) (Reader, error) {
	file, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	r := &parquetReader{ctx: ctx, path: path, file: file}
	if err := withoutPanic(func() error { return r.open(size) }); err != nil {
		file.Close()
		if !isDisk(err) {
			err = errNotParquet
		}
		return nil, wrap(path, err)
	}
	return r, nil
}

// Errors about damaged files, and files that expand too far. They replace the errors of the decoder, which are about its
// internals.
var (
	errNotParquet = errors.New("not a complete Parquet file: it is damaged, truncated or of another format")
	errUndecoded  = errors.New("a page cannot be decoded")
	errShortPage  = errors.New("a page ends too early")
	errChanged    = errors.New("a page has changed since it was written")
	errFewCells   = errors.New("there are fewer cells than rows")
	errLongTexts  = fmt.Errorf("%d rows have more than %d MiB of text", parquetStep, maxStepText>>20)
)

// withoutPanic turns panics of the decoder, which damaged files cause, into errUndecoded.
func withoutPanic(do func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errUndecoded
		}
	}()
	return do()
}

// isDisk reports whether an error is that of the system, and so not about damage.
func isDisk(err error) bool {
	var refused syscall.Errno
	return errors.As(err, &refused)
}

func (r *parquetReader) open(size int64) (err error) {
	if err := checkFooter(r.file, size); err != nil {
		return err
	}
	r.parquet, err = parquet.OpenFile(r.file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(1<<16))
	if err != nil {
		return err
	}
	for _, column := range r.parquet.Root().Columns() {
		kind, _, _ := parquetPrinter(column)
		r.fields = append(r.fields, Field{column.Name(), kind})
	}
	r.take(0, len(r.parquet.RowGroups()))
	return nil
}

// checkFooter refuses a file that says that its footer is longer than the file, before the decoder makes room for it,
// which may be 4 GiB.
func checkFooter(file io.ReaderAt, size int64) error {
	const end = 8 // the length of the footer, and the file's magic number
	if size < end {
		return errNotParquet
	}
	var length [4]byte
	if _, err := file.ReadAt(length[:], size-end); err != nil {
		return err
	}
	if int64(binary.LittleEndian.Uint32(length[:])) > size-end {
		return errNotParquet
	}
	return nil
}

// take makes the reader read some of the groups of rows, without the group to.
func (r *parquetReader) take(from, to int) {
	all := r.parquet.RowGroups()
	r.groups, r.before, r.first = all[from:to], from, 0
	for _, g := range all[:from] {
		r.first += g.NumRows()
	}
	r.end = r.first
	for _, g := range r.groups {
		r.end += g.NumRows()
	}
}

func (r *parquetReader) Fields() []Field { return r.fields }

func (r *parquetReader) Typed(int) bool { return true }

func (r *parquetReader) Progress() float64 {
	return float64(r.row-r.first) / float64(max(r.end-r.first, 1))
}

func (r *parquetReader) Start(columns []int) error {
	if err := CheckColumns(columns, len(r.fields)); err != nil {
		return wrap(r.path, err)
	}
	r.stop()
	for _, i := range columns {
		column := r.parquet.Root().Columns()[i]
		kind, print, err := parquetPrinter(column)
		if err == nil {
			err = r.checkCodecs(column.Index())
		}
		if err != nil {
			return fmt.Errorf("%s: column %s: %w", r.path, printable.Text(column.Name()), err)
		}
		r.chosen = append(r.chosen, &parquetColumn{name: column.Name(), index: column.Index(), kind: kind, print: print, group: r.before, groups: r.groups})
	}
	return nil
}

// checkCodecs refuses a column with a compression that the decoder does not know, since its pages
// would look damaged.
func (r *parquetReader) checkCodecs(column int) error {
	for _, group := range r.parquet.Metadata().RowGroups {
		switch codec := group.Columns[column].MetaData.Codec; codec {
		case format.LZO, format.Lz4:
			return fmt.Errorf("compression %s is not supported", codec)
		}
	}
	return nil
}

func (r *parquetReader) stop() {
	for _, c := range r.chosen {
		c.close()
	}
	r.chosen, r.row = r.chosen[:0], r.first
}

func (r *parquetReader) Close() error {
	r.stop()
	return r.file.Close()
}

func (r *parquetReader) Read(rows *Rows, max int) error {
	rows.Reset(r.row, len(r.chosen))
	for i, c := range r.chosen {
		if c.print == nil {
			rows.Columns[i].Reset(c.kind)
		}
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	left := min(int64(max), r.end-r.row)
	if left <= 0 {
		return io.EOF
	}
	return wrap(r.path, r.read(rows, int(left)))
}

// read reads n rows, or fewer if their text fills the batch.
func (r *parquetReader) read(rows *Rows, n int) error {
	for n > 0 && !rows.Full() {
		k := min(n, parquetStep)
		for i, c := range r.chosen {
			if err := withoutPanic(func() error { return c.read(&rows.Columns[i], k) }); err != nil {
				return c.explain(err)
			}
		}
		r.row += int64(k)
		n -= k
	}
	return nil
}

// parquetStep is the number of rows that are read of one column before the next column.
const parquetStep = 256

// A parquetColumn reads the pages of a column one after another.
type parquetColumn struct {
	name   string
	index  int // among the leaves of the schema
	kind   Kind
	print  printer
	group  int                // number of the current group, from 1
	groups []parquet.RowGroup // the groups that are not begun
	pages  parquet.Pages      // of the current group, or nil
	page   parquet.Page       // the current one, or nil
	plain  parquetPage        // the same, unless values are printed
	values parquet.ValueReader
	buffer [parquetStep]parquet.Value
}

// read appends n cells.
func (c *parquetColumn) read(to *Column, n int) error {
	for n > 0 {
		if c.page == nil {
			if err := c.nextPage(); err != nil {
				return err
			}
		}
		k, err := c.readPage(to, n)
		n -= k
		if err == io.EOF {
			parquet.Release(c.page)
			c.page = nil
		} else if err != nil {
			return err
		} else if k == 0 {
			return io.ErrNoProgress
		}
	}
	return nil
}

// readPage appends up to n cells of the current page, and returns io.EOF with its last one.
func (c *parquetColumn) readPage(to *Column, n int) (k int, err error) {
	if c.print == nil {
		return c.plain.read(to, n)
	}
	k, err = c.values.ReadValues(c.buffer[:min(n, len(c.buffer))])
	to.appendValues(c.buffer[:k], c.print)
	return k, err
}

// appendValues appends the text of each value.
func (c *Column) appendValues(values []parquet.Value, print printer) {
	text, ends := c.text, c.ends
	for i := range values {
		null := uint32(1)
		if v := &values[i]; !v.IsNull() {
			text, null = print(text, *v), 0
		}
		ends = append(ends, uint32(len(text))<<1|null)
	}
	c.text, c.ends = text, ends
}

// nextPage goes to the next page, if necessary in the next group.
func (c *parquetColumn) nextPage() (err error) {
	for {
		if c.pages == nil {
			if len(c.groups) == 0 {
				return errFewCells
			}
			c.group++
			c.pages = c.groups[0].ColumnChunks()[c.index].Pages()
			c.groups = c.groups[1:]
		}
		c.page, err = c.pages.ReadPage()
		if err == nil {
			if c.print == nil {
				c.plain.begin(c.page, c.kind)
			} else {
				c.values = c.page.Values()
			}
			return nil
		}
		c.page = nil
		if err != io.EOF {
			return err
		}
		c.pages.Close()
		c.pages = nil
	}
}

// explain returns an error that says where a file cannot be read, and why.
func (c *parquetColumn) explain(err error) error {
	where := fmt.Sprintf("row group %d, column %s", c.group, printable.Text(c.name))
	switch {
	case isDisk(err), errors.Is(err, encoding.ErrNotSupported), errors.Is(err, errLongTexts):
		return fmt.Errorf("%s: %w", where, err)
	case errors.Is(err, errFewCells):
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errShortPage
	case errors.Is(err, parquet.ErrCorrupted):
		err = errChanged
	default:
		err = errUndecoded
	}
	return fmt.Errorf("the file is damaged: %s: %w", where, err)
}

func (c *parquetColumn) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	if c.pages != nil {
		c.pages.Close()
	}
}
