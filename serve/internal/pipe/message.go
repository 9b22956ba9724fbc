package pipe

import (
	"encoding/binary"
	"encoding/json"

	"github.com/geosql/geosql/serve/internal/wire"
)

// A Start is a worker's first message.
type Start struct {
	Error   *wire.Error `json:",omitempty"` // why there is no session
	Sandbox []string    `json:",omitempty"` // restrictions that hold the worker
	Lacks   []string    `json:",omitempty"` // restrictions that the kernel lacks
}

// A Statement answers Prepare.
type Statement struct {
	Parameters []uint32
	Columns    []wire.Column
	Questions
}

// Questions tell how many private functions an execution of a SELECT may ask.
type Questions struct {
	Several   bool `json:",omitempty"` // more than one, so that a later one may be refused when the first are paid
	Uncertain bool `json:",omitempty"` // whether answers may decide which questions are asked
}

// An Execution answers Query, in front of the first rows.
type Execution struct {
	Copy *wire.Copy `json:",omitempty"`
	Free bool       `json:",omitempty"` // whether it calls no function, so that rows may be fetched before they are asked for
}

// A Setting is the contents of Parameter.
type Setting struct{ Name, Value string }

// AppendPrepare appends the contents of Prepare: the number for the new statement, the types of parameters,
// and the text.
func AppendPrepare(frame []byte, request, statement uint32, types []uint32, sql string) []byte {
	frame = AppendUint32(AppendUint32(frame, request), statement)
	frame = AppendUint32(frame, uint32(len(types)))
	for _, t := range types {
		frame = AppendUint32(frame, t)
	}
	return append(frame, sql...)
}

// ReadPrepare reads a Prepare behind its number.
func ReadPrepare(r *Reader) (statement uint32, types []uint32, sql string, err error) {
	statement = r.Uint32()
	n := r.Uint32()
	if int64(n)*4 > int64(len(r.b)) {
		r.fail("a statement has %d types", n)
		return 0, nil, "", r.err
	}
	types = make([]uint32, n)
	for i := range types {
		types[i] = r.Uint32()
	}
	return statement, types, string(r.Rest()), r.End()
}

// AppendQuery appends the contents of Query: the number of the statement, the wanted amount of rows, whether they are not wanted at
// all but the calls of the execution are to be told, and the parameters.
func AppendQuery(frame []byte, request, statement uint32, f FetchRequest, tells bool, args []any) ([]byte, error) {
	frame = AppendUint32(AppendUint32(AppendUint32(AppendUint32(frame, request), statement), f.Rows), f.Bytes)
	if tells {
		frame = append(frame, kindTrue)
	} else {
		frame = append(frame, kindFalse)
	}
	for _, v := range args {
		var err error
		if frame, err = AppendParameter(frame, v); err != nil {
			return nil, err
		}
	}
	return frame, nil
}

// ReadQuery reads a Query behind its number.
func ReadQuery(r *Reader) (statement uint32, f FetchRequest, tells bool, args []any, err error) {
	statement, f = r.Uint32(), FetchRequest{r.Uint32(), r.Uint32()}
	tells = r.Byte() == kindTrue
	for r.More() {
		args = append(args, r.Parameter())
	}
	return statement, f, tells, args, r.End()
}

// A FetchRequest asks for the next rows of an execution, until they have so many bytes.
type FetchRequest struct{ Rows, Bytes uint32 }

// AppendFetch appends the contents of Fetch.
func AppendFetch(frame []byte, request uint32, f FetchRequest) []byte {
	return AppendUint32(AppendUint32(AppendUint32(frame, request), f.Rows), f.Bytes)
}

// ReadFetch reads a Fetch behind its number.
func ReadFetch(r *Reader) (f FetchRequest, err error) {
	f = FetchRequest{r.Uint32(), r.Uint32()}
	return f, r.End()
}

// AppendFailed appends the contents of Failed: the state of the transaction, and the error.
func AppendFailed(frame []byte, status wire.TxStatus, e *wire.Error) ([]byte, error) {
	text, err := json.Marshal(e)
	return append(append(frame, byte(status)), text...), err
}

// ReadFailed reads a Failed.
func ReadFailed(frame []byte) (status wire.TxStatus, e *wire.Error, err error) {
	r := NewReader(frame)
	status, e = wire.TxStatus(r.Byte()), new(wire.Error)
	if text := r.Rest(); r.err == nil {
		r.err = Decode(text, e)
	}
	return status, e, r.err
}

// A BatchHeader is in front of the rows of a batch.
type BatchHeader struct {
	Count  uint32        // of rows
	Status wire.TxStatus // of the transaction, behind them
	Done   bool          // whether they are the last, which closes them
	// Tag is the command tag of a statement that ended. If Counts is set, the number of rows follows it.
	Tag    string
	Counts bool
	Failed bool // whether an error follows, in another frame
}

// batchSize is the size of the fixed part of a BatchHeader.
const batchSize = 6

// BeginBatch leaves room for the header of a batch.
func BeginBatch(frame []byte) []byte { return append(Begin(frame, Batch), make([]byte, batchSize)...) }

// EndBatch writes the header of a batch. The tag is behind its rows.
func EndBatch(frame []byte, h BatchHeader) []byte {
	binary.BigEndian.PutUint32(frame[headerSize:], h.Count)
	flags := byte(0)
	if h.Done {
		flags |= 1
	}
	if h.Counts {
		flags |= 2
	}
	if h.Failed {
		flags |= 4
	}
	frame[headerSize+4], frame[headerSize+5] = flags, byte(h.Status)
	if h.Done {
		frame = append(frame, h.Tag...)
		frame = binary.BigEndian.AppendUint16(frame, uint16(len(h.Tag)))
	}
	return frame
}

// ReadBatch reads the header of a batch, and leaves its rows in the reader.
func ReadBatch(r *Reader) (h BatchHeader, err error) {
	h.Count = r.Uint32()
	flags := r.Byte()
	h.Status = wire.TxStatus(r.Byte())
	h.Done, h.Counts, h.Failed = flags&1 != 0, flags&2 != 0, flags&4 != 0
	if flags > 7 || h.Done && h.Failed {
		r.fail("a batch has the flags %d", flags)
	}
	if h.Done && r.err == nil {
		h.Tag = r.tail()
	}
	return h, r.err
}

// tail takes a text from the end, which its length follows.
func (r *Reader) tail() string {
	end := len(r.b) - 2
	if end < 0 {
		r.fail("a frame ends too early")
		return ""
	}
	n := int(binary.BigEndian.Uint16(r.b[end:]))
	if n > end {
		r.fail("a tag is cut off")
		return ""
	}
	text := string(r.b[end-n : end])
	r.b = r.b[:end-n]
	return text
}

// A CallHeader is in front of the arguments of a call.
type CallHeader struct {
	Function string
	Args     int
}

// MaxArgs is the most arguments that a function has.
const MaxArgs = 12

// AppendCall appends a CallHeader.
func AppendCall(frame []byte, function string, args int) []byte {
	return AppendBytes(append(frame, byte(args)), function)
}

// ReadCall reads a CallHeader.
func ReadCall(r *Reader) (h CallHeader, err error) {
	h.Args = int(r.Byte())
	h.Function = string(r.Bytes())
	if h.Args > MaxArgs || len(h.Function) > maxFunction {
		r.fail("a call has %d arguments, and a name of %d bytes", h.Args, len(h.Function))
	}
	return h, r.err
}

// AppendAnswer appends a call and its answer, a Released.
func AppendAnswer(frame, call, answer []byte) []byte {
	return AppendBytes(AppendBytes(frame, call), answer)
}

// ReadAnswer reads a call and its answer.
func ReadAnswer(r *Reader) (call, answer []byte) { return r.Bytes(), r.Bytes() }

// maxFunction is the most bytes that the name of a function has.
const maxFunction = 64

// Flags of a Group, in its GroupHeader.
const (
	GroupBegins = 1 << iota // a CallHeader follows
	GroupEnds               // with an answer
	GroupDrops              // without
)

// A GroupHeader is in front of rows of a group.
type GroupHeader struct {
	Number uint32 // from 1 on, in the order in which groups begin
	Flags  byte
	CallHeader
}

// AppendGroup appends a GroupHeader.
func AppendGroup(frame []byte, h GroupHeader) []byte {
	frame = append(AppendUint32(frame, h.Number), h.Flags)
	if h.Flags&GroupBegins != 0 {
		frame = AppendCall(frame, h.Function, h.Args)
	}
	return frame
}

// SetGroupFlag adds a flag to a frame that has a GroupHeader.
func SetGroupFlag(frame []byte, flag byte) { frame[headerSize+4] |= flag }

// Unnumbered returns the contents of a Group without the group's number: groups with the same ask the same question, if they begin and end.
func Unnumbered(group []byte) []byte { return group[4:] }

// ReadGroup reads a GroupHeader.
func ReadGroup(r *Reader) (h GroupHeader, err error) {
	h.Number, h.Flags = r.Uint32(), r.Byte()
	if h.Flags > GroupBegins|GroupEnds|GroupDrops || h.Flags&GroupEnds != 0 && h.Flags&GroupDrops != 0 {
		r.fail("a group has the flags %d", h.Flags)
	}
	if r.err == nil && h.Flags&GroupBegins != 0 {
		h.CallHeader, _ = ReadCall(r)
	}
	return h, r.err
}
