package pipe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/wire"
)

func TestFrames(t *testing.T) {
	var stream bytes.Buffer
	c := NewConn(&stream)
	big := bytes.Repeat([]byte("x"), MaxLarge)
	for _, holds := range [][]byte{nil, []byte("a"), big, []byte("b")} {
		if err := c.Send(append(Begin(nil, Batch), holds...)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range [][]byte{{}, []byte("a"), big, []byte("b")} {
		kind, got, err := c.Read()
		if err != nil || kind != Batch || !bytes.Equal(got, want) {
			t.Fatalf("%c, %d bytes, %v; want %d bytes", kind, len(got), err, len(want))
		}
	}
	if _, _, err := c.Read(); err != io.EOF {
		t.Errorf("the stream ends with %v", err)
	}
	if err := c.Send(append(Begin(nil, Notice), big...)); err == nil {
		t.Error("a frame was sent that nobody takes")
	}
}

func TestFramesThatAreCutOff(t *testing.T) {
	whole := []byte{0, 0, 0, 3, byte(Batch), 1, 2, 3}
	for n := 1; n < len(whole); n++ {
		if _, _, err := NewConn(bytes.NewBuffer(whole[:n])).Read(); err != io.ErrUnexpectedEOF {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

// A frame that says that it is large costs memory only as far as it is there.
func TestAnnouncedFramesCostNothing(t *testing.T) {
	frame := []byte{5, 0, 0, 0, byte(Batch), 1, 2, 3}
	n := testing.AllocsPerRun(1, func() {
		c := NewConn(bytes.NewBuffer(append([]byte{}, frame...)))
		if _, _, err := c.Read(); err != io.ErrUnexpectedEOF {
			t.Error(err)
		}
		if cap(c.frame) > 2*readChunk {
			t.Errorf("%d bytes are allocated", cap(c.frame))
		}
	})
	_ = n
	_, _, err := NewConn(bytes.NewBuffer([]byte{0x7f, 0, 0, 0, byte(Batch)})).Read()
	if _, ok := errors.AsType[*ViolationError](err); !ok {
		t.Errorf("a frame of 2 GB: %v", err)
	}
}

func TestHeldFrames(t *testing.T) {
	var stream bytes.Buffer
	c := NewConn(&stream)
	for _, size := range []int{3, MaxLarge, 5} {
		if err := c.Hold([]byte("\x00\x00\x00\x00Q{\"Free\":true}")); err != nil {
			t.Fatal(err)
		}
		if stream.Len() > 0 {
			t.Errorf("%d bytes are sent too early", stream.Len())
		}
		if err := c.Send(append(Begin(nil, Batch), make([]byte, size)...)); err != nil {
			t.Fatal(err)
		}
		kind, frame, err := c.Read()
		if err != nil || kind != Queried || string(frame) != `{"Free":true}` {
			t.Fatalf("%c %q %v", kind, frame, err)
		}
		if kind, frame, err = c.Read(); err != nil || kind != Batch || len(frame) != size {
			t.Fatalf("%c, %d bytes, %v", kind, len(frame), err)
		}
	}
}

func TestFailures(t *testing.T) {
	want := &wire.Error{Code: "22012", Message: "division by zero"}
	frame, err := AppendFailed(nil, wire.InTransaction, want)
	if err != nil {
		t.Fatal(err)
	}
	status, got, err := ReadFailed(frame)
	if err != nil || status != wire.InTransaction || !reflect.DeepEqual(got, want) {
		t.Errorf("%c %+v %v", status, got, err)
	}
	for _, frame := range []string{"", "I", "Inull{"} {
		if _, _, err := ReadFailed([]byte(frame)); err == nil {
			t.Errorf("%q is a failure", frame)
		}
	}
}

func TestParameters(t *testing.T) {
	args := []any{nil, int64(-5), math.Inf(1), true, false, "tëxt", []byte{0, 255}, "", []byte{}}
	frame, err := AppendQuery(nil, 1, 2, FetchRequest{3, 4}, true, args)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReader(frame)
	r.Uint32()
	statement, rows, tells, got, err := ReadQuery(r)
	if err != nil || !tells || statement != 2 || rows != (FetchRequest{3, 4}) || !reflect.DeepEqual(got, args) {
		t.Errorf("%d, %d, %v, %v", statement, rows, got, err)
	}
	if _, err := AppendParameter(nil, struct{}{}); err == nil {
		t.Error("a struct is a parameter")
	}
}

func TestStatements(t *testing.T) {
	r := NewReader(AppendPrepare(nil, 1, 2, []uint32{20, 0}, "SELECT $1"))
	r.Uint32()
	number, types, sql, err := ReadPrepare(r)
	if err != nil || number != 2 || !reflect.DeepEqual(types, []uint32{20, 0}) || sql != "SELECT $1" {
		t.Errorf("%d, %v, %q, %v", number, types, sql, err)
	}
}

// A recorder writes its values as text.
type recorder struct{ strings.Builder }

func (r *recorder) Null()              { fmt.Fprint(r, "null ") }
func (r *recorder) Int(v int64)        { fmt.Fprint(r, v, " ") }
func (r *recorder) Float(v float64)    { fmt.Fprint(r, v, " ") }
func (r *recorder) Bool(v bool)        { fmt.Fprint(r, v, " ") }
func (r *recorder) Text(v string)      { fmt.Fprintf(r, "%q ", v) }
func (r *recorder) TextBytes(v []byte) { fmt.Fprintf(r, "%q ", v) }
func (r *recorder) Bytes(v []byte)     { fmt.Fprintf(r, "%x ", v) }

func TestRows(t *testing.T) {
	e := &Encoder{Frame: BeginBatch(nil)}
	for range 2 {
		e.Null()
		e.Int(math.MinInt64)
		e.Float(-0.5)
		e.Bool(true)
		e.Bool(false)
		e.Text("é")
		e.TextBytes([]byte("b"))
		e.Bytes([]byte{0, 1})
	}
	frame := EndBatch(e.Frame, BatchHeader{Count: 2, Status: wire.Idle, Done: true, Tag: "SELECT ", Counts: true})
	r := NewReader(frame[headerSize:])
	h, err := ReadBatch(r)
	if err != nil || h != (BatchHeader{Count: 2, Status: wire.Idle, Done: true, Tag: "SELECT ", Counts: true}) {
		t.Fatalf("%+v, %v", h, err)
	}
	var got recorder
	r.Row(8, &got)
	r.Row(8, &got)
	const want = `null -9223372036854775808 -0.5 true false "é" "b" 0001 `
	if err := r.End(); err != nil || got.String() != want+want {
		t.Errorf("%s, %v", got.String(), err)
	}
}

// rowsOf returns rows of arguments as text.
func rowsOf(args []sqlite.Value) string {
	var b strings.Builder
	for i := range args {
		switch v := &args[i]; v.Type() {
		case sqlite.Null:
			b.WriteString("null ")
		case sqlite.Integer:
			fmt.Fprint(&b, v.Int(), " ")
		case sqlite.Float:
			fmt.Fprint(&b, v.Float(), " ")
		default:
			fmt.Fprintf(&b, "%v %q ", v.Type(), v.Bytes())
		}
	}
	return b.String()
}

func TestGroups(t *testing.T) {
	w := NewGroupWriter(nil, "dx_sum")
	value := bytes.Repeat([]byte{7}, 56)
	args := make([]sqlite.Value, 4)
	var want, got strings.Builder
	var frames [][]byte
	metric := []byte("d1") // args does not keep it alive
	for i := range 100 {
		value[0] = byte(i)
		args[0].SetBlob(value)
		args[1].SetFloat(0.1)
		args[2].SetText(metric)
		if args[3].SetNull(); i%10 == 0 {
			args[3].SetInt(int64(i))
		}
		want.WriteString(rowsOf(args))
		w.Add(args)
		if i == 0 {
			w.SetNumber(3)
		}
		if i%40 == 39 {
			frames = append(frames, append([]byte{}, w.Frame...))
			w.Next(w.Frame)
		}
	}
	if n := Len(w.Frame); n > 20*(58+4)+100 {
		t.Errorf("20 rows have %d bytes", n)
	}
	w.Finish(false)
	frames = append(frames, w.Frame)
	for i, frame := range frames {
		r := NewReader(frame[headerSize:])
		h, err := ReadGroup(r)
		flags := byte(0)
		if i == 0 {
			flags = GroupBegins
		}
		if i == len(frames)-1 {
			flags |= GroupEnds
		}
		if err != nil || h.Number != 3 || h.Flags != flags || i == 0 && (h.Function != "dx_sum" || h.Args != 4) {
			t.Fatalf("frame %d: %+v, %v", i, h, err)
		}
		values := make([]sqlite.Value, 4)
		for n := 0; r.More(); n++ {
			r.Arguments(values, n > 0)
			got.WriteString(rowsOf(values))
		}
		if err := r.End(); err != nil {
			t.Fatal(err)
		}
	}
	if got.String() != want.String() {
		t.Error("other rows are read than were written")
	}
}

func TestGroupWithoutRows(t *testing.T) {
	w := NewGroupWriter(nil, "dx_sum")
	w.Finish(true)
	w.SetNumber(9)
	r := NewReader(w.Frame[headerSize:])
	h, err := ReadGroup(r)
	if err != nil || r.More() || h.Number != 9 || h.Flags != GroupBegins|GroupDrops {
		t.Errorf("%+v, %v", h, err)
	}
}

// Reading steps allocates nothing.
func TestStepsDoNotAllocate(t *testing.T) {
	args := make([]sqlite.Value, 2)
	args[0].SetBlob(make([]byte, 56))
	args[1].SetFloat(0.1)
	w := NewGroupWriter(nil, "dx_sum")
	for range 100 {
		w.Add(args)
	}
	values := make([]sqlite.Value, 2)
	r := &Reader{}
	if n := testing.AllocsPerRun(100, func() {
		*r = Reader{b: w.Frame[headerSize+4+1+1+7:]}
		for n := 0; r.More(); n++ {
			r.Arguments(values, n > 0)
		}
	}); n != 0 || r.End() != nil {
		t.Errorf("%g allocations, %v", n, r.End())
	}
}

// No frame makes a reader panic, go on for ever or allocate more than the frame has.
func FuzzReader(f *testing.F) {
	batch := EndBatch(append(BeginBatch(nil), "nns\x03abci\x05"...), BatchHeader{Count: 1, Done: true, Tag: "SELECT ", Counts: true})
	f.Add(batch[headerSize:])
	w := NewGroupWriter(nil, "dx_sum")
	args := make([]sqlite.Value, 2)
	args[0].SetBlob(make([]byte, 56))
	args[1].SetFloat(0.1)
	w.Add(args)
	w.Add(args)
	f.Add(w.Frame[headerSize:])
	f.Add(AppendPrepare(nil, 1, 2, []uint32{20}, "SELECT 1"))
	query, _ := AppendQuery(nil, 1, 2, FetchRequest{3, 4}, false, []any{int64(1), "text", []byte{1}, nil, true, 0.5})
	f.Add(query)
	f.Add(AppendCall(nil, "dx_value", 2))
	failed, _ := AppendFailed(nil, wire.Failed, &wire.Error{Code: "22012", Message: "division by zero"})
	f.Add(failed)
	f.Fuzz(func(t *testing.T, frame []byte) {
		r := NewReader(frame)
		r.Uint32()
		ReadPrepare(r)
		r = NewReader(frame)
		r.Uint32()
		ReadQuery(r)
		r = NewReader(frame)
		r.Uint32()
		ReadFetch(r)
		ReadFailed(frame)
		r = NewReader(frame)
		if h, err := ReadBatch(r); err == nil {
			for n := uint32(0); n < h.Count && r.More(); n++ {
				r.Row(3, &recorder{})
			}
		}
		values := make([]sqlite.Value, MaxArgs)
		r = NewReader(frame)
		if h, err := ReadGroup(r); err == nil && h.Args > 0 {
			for n := 0; r.More(); n++ {
				r.Arguments(values[:h.Args], n > 0)
				rowsOf(values[:h.Args])
			}
		}
		r = NewReader(frame)
		if h, err := ReadCall(r); err == nil {
			r.Arguments(values[:h.Args], false)
		}
	})
}

// No stream makes a connection panic.
func FuzzConn(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 'B', 0, 0, 0, 0, 0, 'Q'})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 'B'})
	f.Fuzz(func(t *testing.T, stream []byte) {
		c := NewConn(bytes.NewBuffer(stream))
		for {
			if _, frame, err := c.Read(); err != nil || len(frame) > len(stream) {
				return
			}
		}
	})
}
