package pipe

import (
	"bytes"
	"encoding/binary"

	"github.com/geosql/geosql/internal/sqlite"
)

// A GroupWriter writes the rows of a group into frames. An argument that equals that of the row before is one byte.
type GroupWriter struct {
	Frame []byte // that is not sent yet; nil if there is none

	header GroupHeader
	start  []int // of each argument of the last row in Frame
	end    []int
}

// NewGroupWriter returns a writer of a group that begins. Its first frame is in buf.
func NewGroupWriter(buf []byte, function string) *GroupWriter {
	return &GroupWriter{Frame: Begin(buf, Group), header: GroupHeader{CallHeader: CallHeader{Function: function}}}
}

// Started reports whether there is a row.
func (w *GroupWriter) Started() bool { return w.start != nil }

// SetNumber gives the group its number, before its first frame is sent and after it has a row or is finished.
func (w *GroupWriter) SetNumber(n uint32) {
	w.header.Number = n
	binary.BigEndian.PutUint32(w.Frame[headerSize:], n)
}

// Add adds a row. All rows have as many arguments.
func (w *GroupWriter) Add(args []sqlite.Value) {
	first := w.start == nil
	if first {
		w.header.Flags, w.header.Args = GroupBegins, len(args)
		ends := make([]int, 2*len(args))
		w.start, w.end = ends[:len(args)], ends[len(args):]
		w.Frame = AppendGroup(w.Frame, w.header)
	}
	for i := range args {
		at := len(w.Frame)
		w.Frame = appendArgument(w.Frame, &args[i])
		if w.end[i] > 0 && bytes.Equal(w.Frame[at:], w.Frame[w.start[i]:w.end[i]]) {
			w.Frame = append(w.Frame[:at], kindSame)
			continue
		}
		w.start[i], w.end[i] = at, len(w.Frame)
	}
}

// Next begins the next frame, in a buffer.
func (w *GroupWriter) Next(buf []byte) {
	clear(w.end)
	w.header.Flags = 0
	w.Frame = AppendGroup(Begin(buf, Group), w.header)
}

// Finish makes the frame the last one, which asks for the answer, or does not if drop is set.
func (w *GroupWriter) Finish(drop bool) {
	if w.start == nil { // without any row
		w.header.Flags = GroupBegins
		w.Frame = AppendGroup(w.Frame, w.header)
	}
	if drop {
		SetGroupFlag(w.Frame, GroupDrops)
	} else {
		SetGroupFlag(w.Frame, GroupEnds)
	}
}
