package sqlite

/*
#cgo noescape gs_fetch
#cgo noescape gs_insert
#include "shim.h"
*/
import "C"

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"
)

// A Fetcher reads the rows of a statement, many in one call to C.
type Fetcher struct {
	stmt    *Stmt
	waiting bool // whether the statement has a row that was not read
	ended   bool
}

// Fetch returns a fetcher of the rows that follow.
func (s *Stmt) Fetch() *Fetcher { return &Fetcher{stmt: s} }

// Next reads rows until they fill the capacity of buf, which it grows for a longer row. It returns
// their cells in the memory of buf, for [NextCell], and the number of rows: 0 after the last one.
func (f *Fetcher) Next(buf []byte) (cells []byte, rows int, err error) {
	for !f.ended {
		buf = slices.Grow(buf[:0], 512)
		buf = buf[:cap(buf)]
		var used, n C.int
		rc := C.gs_fetch(f.stmt.p, C.int(f.stmt.columns), cBool(f.waiting), (*C.uchar)(unsafe.SliceData(buf)), C.int(len(buf)), &used, &n)
		f.waiting, f.ended = rc == 100, rc != 100 // SQLITE_ROW
		switch {
		case f.ended && rc != 101: // SQLITE_DONE
			err := f.stmt.conn.lastError()
			f.stmt.Reset()
			return nil, 0, err
		case f.waiting && n == 0:
			buf = make([]byte, 2*len(buf))
			continue
		}
		return buf[:used], int(n), nil
	}
	return nil, 0, nil
}

// InsertRows runs the statement for each row, with its cells bound to the parameters. Cells are
// as the Append functions make them.
func (s *Stmt) InsertRows(cells []byte, columns, rows int) error {
	if rc := C.gs_insert(s.p, C.int(columns), (*C.uchar)(unsafe.SliceData(cells)), C.int(rows)); rc != 101 {
		err := s.conn.lastError()
		s.Reset()
		return err
	}
	return nil
}

// A Cell is a value of a row. Its bytes are in the memory of the cells that it was read from.
type Cell struct {
	Type  Type
	Bytes []byte // of Text and Blob
	bits  uint64
}

// Int returns the value of an Integer.
func (c *Cell) Int() int64 { return int64(c.bits) }

// Float returns the value of a Float.
func (c *Cell) Float() float64 { return math.Float64frombits(c.bits) }

// NextCell returns the first of cells, and the others.
func NextCell(cells []byte) (c Cell, rest []byte) {
	c.Type, rest = Type(cells[0]), cells[1:]
	switch c.Type {
	case Integer, Float:
		c.bits, rest = binary.NativeEndian.Uint64(rest), rest[8:]
	case Text, Blob:
		n := int(binary.NativeEndian.Uint32(rest))
		c.Bytes, rest = rest[4:4+n], rest[4+n:]
	}
	return c, rest
}

// AppendNull appends NULL to cells.
func AppendNull(cells []byte) []byte { return append(cells, byte(Null)) }

// AppendInt appends an integer to cells.
func AppendInt(cells []byte, v int64) []byte {
	return binary.NativeEndian.AppendUint64(append(cells, byte(Integer)), uint64(v))
}

// AppendText appends a text to cells.
func AppendText(cells []byte, text string) []byte {
	cells = binary.NativeEndian.AppendUint32(append(cells, byte(Text)), uint32(len(text)))
	return append(cells, text...)
}

// AppendBlob appends a blob to cells.
func AppendBlob(cells, blob []byte) []byte {
	cells = binary.NativeEndian.AppendUint32(append(cells, byte(Blob)), uint32(len(blob)))
	return append(cells, blob...)
}
