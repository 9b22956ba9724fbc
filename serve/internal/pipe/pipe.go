// Package pipe is the protocol between the keeper and a worker of the server: frames on a stream. It knows
// neither SQL nor secrets. It imports package wire for errors. Start at Conn.
//
// The keeper sends numbered requests. The worker answers each, except requests to close something. During a
// request, the worker may send notices and calls of functions, which the keeper answers. A cancel may come at any time.
//
// A reader trusts no frame: decoding never panics, and allocates no more than the frame has.
package pipe

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/geosql/geosql/serve/internal/wire"
)

// A Type is the type of a frame.
type Type byte

// The keeper's frames. Each begins with the number of the request, except Answer, Refusal, Expected, Cost and the two that close.
const (
	Configure      Type = 'c' // JSON; the first frame
	Prepare        Type = 'p' // see Prepared
	Query          Type = 'q' // see Queried; asks for the first rows too
	Fetch          Type = 'f' // see FetchRequest
	Ready          Type = 'r' // the client's request failed
	CloseStatement Type = 's' // its number
	CloseRows      Type = 'x' // their number
	Cancel         Type = 'k' // the request with this number
	Answer         Type = 'a' // of a group: a Released, or nothing for NULL
	Answers        Type = 'A' // of a call, and of calls that are expected behind it: see AppendAnswer
	Expected       Type = 'g' // a group that the next Query may ask, Unnumbered, and its answer: see AppendAnswer
	Refusal        Type = 'e' // of a call or a group: a wire.Error in JSON
	Cost           Type = 'l' // of the last statement: the rows of geosql.last_cost, a JSON array of objects
)

// A worker's frames.
const (
	Started   Type = 'S' // JSON; the first frame
	Prepared  Type = 'P' // JSON
	Queried   Type = 'Q' // JSON; a Batch follows, or Failed
	Batch     Type = 'B' // see BatchHeader
	Status    Type = 'R' // a byte, wire.TxStatus or Holding
	Failed    Type = 'E' // see AppendFailed; in place of an answer
	Notice    Type = 'N' // a wire.Error in JSON
	Parameter Type = 'M' // JSON
	Group     Type = 'G' // see GroupHeader
	Call      Type = 'C' // see CallHeader
	Calls     Type = 'D' // of an execution that only tells its calls: each is a length and a Call
)

// Holding stands for wire.Idle where the status of a transaction belongs: with cursors that outlive transactions.
const Holding wire.TxStatus = 'H'

// Largest sizes of contents.
const (
	MaxFrame  = 1 << 20     // of most types
	MaxLarge  = 17 << 20    // a statement, its parameters, or arguments of functions
	MaxRow    = 100_000_000 // a row, which may hold a heat map
	MaxAnswer = MaxRow + MaxFrame
)

// limit returns the largest contents of a frame of a type, in bytes.
func limit(t Type) int {
	switch t {
	case Answer, Answers, Expected, Batch:
		return MaxAnswer
	case Prepare, Query, Group, Call, Calls:
		return MaxLarge
	}
	return MaxFrame
}

// headerSize is the size of a frame's header: the length of the contents, and the type.
const headerSize = 5

// readChunk is the memory that a reader allocates for a frame before the bytes are there.
const readChunk = 128 << 10

// keptBuffer is how large a buffer stays when nothing is read.
const keptBuffer = 256 << 10

// A Conn is one end of a stream of frames. One goroutine reads; any may write.
type Conn struct {
	// Room is called before a frame that is large takes so many bytes of memory, unless it is nil; if it returns an error, Read
	// does. It is called with a negative number when the frame is dropped.
	Room func(bytes int64) error

	stream io.ReadWriter
	r      *bufio.Reader
	frame  []byte // that was read last

	mu   sync.Mutex // held while a frame is written
	held []byte     // frames that the next one takes along
}

// NewConn returns a connection on a stream.
func NewConn(stream io.ReadWriter) *Conn {
	return &Conn{stream: stream, r: bufio.NewReaderSize(stream, 4<<10)}
}

// A ViolationError says that a frame breaks the protocol.
type ViolationError struct{ Reason string }

func (e *ViolationError) Error() string { return e.Reason }

// Violation returns a ViolationError.
func Violation(format string, args ...any) error {
	return &ViolationError{fmt.Sprintf(format, args...)}
}

// Read returns the next frame, which is valid until the next call. The error is io.EOF if the stream ends between two
// frames.
func (c *Conn) Read() (Type, []byte, error) {
	header, err := c.r.Peek(headerSize)
	if err != nil {
		if err == io.EOF && len(header) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	n, t := binary.BigEndian.Uint32(header), Type(header[4])
	if int64(n) > int64(limit(t)) {
		return 0, nil, Violation("a frame of type %q has %d bytes", byte(t), n)
	}
	if _, err := c.r.Discard(headerSize); err != nil {
		return 0, nil, err
	}
	if err := c.fill(int(n)); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return t, c.frame, nil
}

// fill reads n bytes. It trusts n as far as the bytes arrive.
func (c *Conn) fill(n int) error {
	c.Give(c.Take())
	if err := c.room(sizeOf(n)); err != nil {
		return err
	}
	c.frame = c.frame[:0]
	for len(c.frame) < n {
		have := len(c.frame)
		more := min(n-have, max(readChunk, have))
		if cap(c.frame) < have+more {
			c.frame = append(make([]byte, 0, have+more), c.frame...)
		}
		c.frame = c.frame[:have+more]
		if _, err := io.ReadFull(c.r, c.frame[have:]); err != nil {
			return err
		}
	}
	return nil
}

// Begin begins a frame in a buffer and drops the buffer's contents. The frame's contents are appended to the result.
func Begin(buf []byte, t Type) []byte { return append(buf[:0], 0, 0, 0, 0, byte(t)) }

// Len returns the size of the contents of a frame that Begin has begun.
func Len(frame []byte) int { return len(frame) - headerSize }

// Contents returns the contents of a frame that Begin has begun.
func Contents(frame []byte) []byte { return frame[headerSize:] }

// Send sends a frame that Begin has begun.
func (c *Conn) Send(frame []byte) error {
	if err := finish(frame); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) > 0 {
		if len(frame) <= mostHeld {
			frame = append(c.held, frame...)
			c.held = frame
		} else if _, err := c.stream.Write(c.held); err != nil {
			return err
		}
		c.held = c.held[:0]
	}
	_, err := c.stream.Write(frame)
	return err
}

// mostHeld is the size of frames that are sent together with others.
const mostHeld = 16 << 10

// Hold keeps a frame that Begin has begun until the next frame is sent, or sends a large one at once.
func (c *Conn) Hold(frame []byte) error {
	if len(frame) > mostHeld {
		return c.Send(frame)
	}
	if err := finish(frame); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, frame...)
	return nil
}

// finish writes the size of the contents into a frame.
func finish(frame []byte) error {
	n, t := Len(frame), Type(frame[4])
	if n > limit(t) {
		return Violation("a frame of type %q has %d bytes", byte(t), n)
	}
	binary.BigEndian.PutUint32(frame, uint32(n))
	return nil
}

// JSON returns a frame that holds a value in JSON.
func JSON(t Type, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(Begin(nil, t), text...), err
}

// SendJSON sends a frame that holds a value in JSON.
func (c *Conn) SendJSON(t Type, v any) error {
	frame, err := JSON(t, v)
	if err != nil {
		return err
	}
	return c.Send(frame)
}

// Decode reads a value in JSON. Anything else is a violation.
func Decode(frame []byte, v any) error {
	if err := json.Unmarshal(frame, v); err != nil {
		return Violation("an unexpected message: %v", err)
	}
	return nil
}

// Take lets the caller keep the frame that was read last, until Give.
func (c *Conn) Take() []byte {
	b := c.frame
	c.frame = nil
	return b
}

// Give gives the room of a frame back that Take has returned.
func (c *Conn) Give(b []byte) {
	_ = c.room(-sizeOf(len(b)))
	if cap(b) <= keptBuffer && cap(c.frame) == 0 {
		c.frame = b[:0]
	}
}

// sizeOf returns the memory of a frame of n bytes, with that of the last smaller one from which it has grown. Small ones do not count.
func sizeOf(n int) int64 {
	if n <= keptBuffer {
		return 0
	}
	return int64(n) * 3 / 2
}

func (c *Conn) room(bytes int64) error {
	if c.Room == nil || bytes == 0 {
		return nil
	}
	return c.Room(bytes)
}
