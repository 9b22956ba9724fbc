package markov

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/geosql/geosql/internal/varint"
	"github.com/geosql/geosql/mechanism/planar"
)

// formatVersion is the first byte of a model's binary form.
const formatVersion = 1

// AppendBinary appends the model in binary form, from which [ParseModel] restores
// it. It never fails. The form, all numbers varints of encoding/binary, the one
// marked ± zigzag:
//
//	version                      1, a byte
//	length name                  of the domain, bytes
//	cell                         side in metres, 8 bytes, IEEE 754 big-endian
//	period                       microseconds
//	width height                 of the grid
//	traces
//	rows                         their number, then for each
//	  gap visits-1               cells skipped since the row before
//	  moves                      their number, then for each
//	    ±offset or gap           of the first, from the row's cell; of others, cells
//	                             skipped since the move before
//	    count-1
func (m *Model) AppendBinary(b []byte) ([]byte, error) {
	name := m.grid.domain.Name()
	b = append(b, formatVersion)
	b = binary.AppendUvarint(b, uint64(len(name)))
	b = append(b, name...)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(m.grid.metres))
	b = binary.AppendUvarint(b, uint64(m.period/time.Microsecond))
	b = binary.AppendUvarint(b, uint64(m.grid.width))
	b = binary.AppendUvarint(b, uint64(m.grid.height))
	b = binary.AppendUvarint(b, uint64(m.traces))
	b = binary.AppendUvarint(b, uint64(len(m.rows)))
	next, begin := uint32(0), 0
	for _, r := range m.rows {
		b = binary.AppendUvarint(b, uint64(r.cell-next))
		b = binary.AppendUvarint(b, uint64(r.visits-1))
		b = appendMoves(b, r.cell, m.moves[begin:r.end])
		next, begin = r.cell+1, r.end
	}
	return b, nil
}

// appendMoves appends the moves from a cell.
func appendMoves(b []byte, from uint32, moves []move) []byte {
	b = binary.AppendUvarint(b, uint64(len(moves)))
	for k, v := range moves {
		if k == 0 {
			b = binary.AppendVarint(b, int64(v.cell)-int64(from))
		} else {
			b = binary.AppendUvarint(b, uint64(v.cell-moves[k-1].cell-1))
		}
		b = binary.AppendUvarint(b, uint64(v.count-1))
	}
	return b
}

var errForm = errors.New("not the binary form of a Markov model")

// ParseModel returns the model with the binary form data. The function domain returns the
// domain of a name; its errors are returned unchanged. ParseModel accepts only the output of
// AppendBinary. Its memory is bounded by a multiple of len(data) and of the grid,
// of at most 2^20 cells. It does not check who wrote the data, nor notice a different
// domain of the same name if its grid has the same size.
func ParseModel(data []byte, domain func(name string) (*planar.Domain, error)) (*Model, error) {
	d := decoder{varint.New(data)}
	h := d.header()
	if d.Failed() {
		return nil, errForm
	}
	on, err := domain(h.domain)
	if err != nil {
		return nil, err
	}
	g, err := NewGrid(on, h.metres)
	if err != nil {
		return nil, err
	}
	if uint64(g.width) != h.width || uint64(g.height) != h.height {
		return nil, fmt.Errorf("the model was trained on %d x %d cells, domain %s has %d x %d",
			h.width, h.height, on.Name(), g.width, g.height)
	}
	rows, moves := d.rows(g.Len())
	if d.Failed() || !plausible(g.Len(), h.traces, rows, moves) {
		return nil, errForm
	}
	m := newModel(g, h.period, h.traces, rows, moves)
	// A model has one form: no number is longer than necessary, and nothing follows.
	if again, _ := m.AppendBinary(make([]byte, 0, len(data))); !bytes.Equal(again, data) {
		return nil, errForm
	}
	return m, nil
}

// plausible reports whether the counts are consistent: a transition leaves one visit and
// enters another, each visit is left and entered at most once, and the first of a trace
// is not entered.
func plausible(cells int, traces int64, rows []row, moves []move) bool {
	left := make([]uint64, cells) // visits not entered yet
	begin, starts := 0, uint64(0)
	for _, r := range rows {
		departures := sum(moves[begin:r.end])
		if departures > uint64(r.visits) {
			return false
		}
		left[r.cell] = uint64(r.visits)
		starts += uint64(r.visits) - departures
		begin = r.end
	}
	for _, v := range moves {
		if left[v.cell] < uint64(v.count) {
			return false
		}
		left[v.cell] -= uint64(v.count)
	}
	return 0 < traces && uint64(traces) <= starts
}

// A decoder reads a model from its binary form.
type decoder struct{ *varint.Reader }

// A header holds the fields before the counts.
type header struct {
	domain        string
	metres        float64
	period        time.Duration
	width, height uint64
	traces        int64
}

func (d decoder) header() (h header) {
	d.Require(d.Byte() == formatVersion)
	h.domain = string(d.Bytes(d.Below(uint64(d.Len()))))
	h.metres = d.Float64()
	h.period = time.Duration(d.Below(uint64(math.MaxInt64/time.Microsecond)+1)) * time.Microsecond
	h.width = d.Below(maxCells + 1)
	h.height = d.Below(maxCells + 1)
	h.traces = int64(d.Below(math.MaxInt64))
	d.Require(validPeriod(h.period))
	return h
}

// rows reads the counts on a grid with the given number of cells. A row and a move take
// at least two bytes each, so the length of the data bounds the memory.
func (d decoder) rows(cells int) (rows []row, moves []move) {
	next := uint64(0)
	for n := d.Below(uint64(cells) + 1); n > 0 && !d.Failed(); n-- {
		cell := next + d.Below(uint64(cells)-next)
		visits := 1 + d.Below(math.MaxUint32)
		moves = d.moves(moves, cell, cells)
		rows = append(rows, row{cell: uint32(cell), visits: uint32(visits), end: len(moves)})
		next = cell + 1
	}
	return rows, moves
}

// moves reads the moves from a cell and appends them.
func (d decoder) moves(moves []move, from uint64, cells int) []move {
	n := d.Below(uint64(cells) + 1)
	next := uint64(0)
	for k := range n {
		var cell uint64
		if k == 0 {
			cell = from + uint64(d.Varint()) // modulo 2^64
		} else {
			cell = next + d.Below(uint64(cells)-next)
		}
		count := 1 + d.Below(math.MaxUint32)
		if d.Require(cell < uint64(cells)); d.Failed() {
			return moves
		}
		moves = append(moves, move{uint32(cell), uint32(count)})
		next = cell + 1
	}
	return moves
}
