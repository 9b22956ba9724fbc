package keeper

import (
	"bytes"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// Calls of scalar functions, one a row, are answered several at a time. Answers do not decide which calls a statement makes, if it may be
// quoted at all. So its quote tells them all without waiting for an answer, and they are priced together. Then the execution asks for
// the answer of one, and the calls behind it in the quote are answered with it, in one transaction of the ledger. An answer that the
// execution does not ask for after all, since the database has changed or nobody reads so far, is charged and remembered.

// mostAhead is the largest number of calls that are answered together. It doubles up to that, so that no more are answered ahead than have been
// asked for.
const mostAhead = 1024

// A foretelling has the calls that an execution is expected to make, as a quote of the statement has told them.
type foretelling struct {
	frames [][]byte // each of calls
	calls  [][]byte // of the frame before
	many   int      // that are answered together
	held   int64    // bytes of memory
}

// add adds a frame of calls, if there is memory for it; otherwise no more are expected.
func (f *foretelling) add(s *Session, frame []byte) {
	size := int64(len(frame)) + 1
	if f.held < 0 || s.Hold(size) != nil {
		f.forget(s)
		f.held = -1
		return
	}
	f.held += size
	f.frames = append(f.frames, bytes.Clone(frame))
}

// forget forgets all calls.
func (f *foretelling) forget(s *Session) {
	if f.held > 0 {
		_ = s.Hold(-f.held)
	}
	*f = foretelling{}
}

// from returns a call with the calls that are expected behind it, to be answered together.
func (f *foretelling) from(call []byte) [][]byte {
	if len(f.calls) == 0 && len(f.frames) > 0 {
		for r := pipe.NewReader(f.frames[0]); r.More(); {
			f.calls = append(f.calls, r.Bytes())
		}
		f.frames = f.frames[1:]
	}
	if len(f.calls) == 0 || !bytes.Equal(f.calls[0], call) {
		f.frames, f.calls = nil, nil
		return [][]byte{call}
	}
	f.many = min(max(1, 2*f.many), mostAhead)
	return f.calls[:min(f.many, len(f.calls))]
}

// answered takes the first calls away.
func (f *foretelling) answered(n int) { f.calls = f.calls[min(n, len(f.calls)):] }

// readCall reads a call. The arguments are valid until the next one.
func (s *Session) readCall(call []byte) (function string, args []sqlite.Value, err error) {
	frame := pipe.NewReader(call)
	h, err := pipe.ReadCall(frame)
	if err != nil {
		return "", nil, err
	}
	args = s.values[:h.Args]
	frame.Arguments(args, false)
	return h.Function, args, frame.End()
}

// evaluateCall answers a call, and others ahead.
func (s *Session) evaluateCall(r *Rows, call []byte) error {
	if _, _, err := s.readCall(call); err != nil {
		return err
	}
	e, err := r.evaluates()
	var calls [][]byte
	var answers []sqlitefn.Released
	if err == nil {
		began := time.Now()
		calls = r.foretold.from(call)
		if err = s.put(e, calls); err == nil {
			answers, err = e.Answers()
		}
		r.foretold.answered(len(answers))
		r.ledger += time.Since(began)
	}
	if err != nil {
		return s.refuse(r, err)
	}
	frame := pipe.Begin(s.frame, pipe.Answers)
	for i, answer := range answers {
		frame = pipe.AppendAnswer(frame, calls[i], answer)
	}
	return s.worker.conn.Send(frame)
}

// put puts calls that can be read.
func (s *Session) put(e evaluation, calls [][]byte) error {
	for _, call := range calls {
		function, args, err := s.readCall(call)
		if err == nil {
			err = e.Put(function, args)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// quoteCalls quotes the calls of a frame. After an error the worker is told to end the execution.
func (s *Session) quoteCalls(r *Rows, frame []byte) error {
	if !r.tells() {
		return pipe.Violation("an execution tells calls that it should make")
	}
	var calls [][]byte
	reader := pipe.NewReader(frame)
	for reader.More() {
		call := reader.Bytes()
		if _, _, err := s.readCall(call); err != nil {
			return err
		}
		calls = append(calls, call)
	}
	if err := reader.End(); err != nil {
		return err
	}
	e, err := r.evaluates()
	if err == nil {
		err = s.put(e, calls)
	}
	if err == nil {
		_, err = e.Answers()
	}
	if err == nil {
		r.foretold.add(s, frame)
		return nil
	}
	r.fail(err)
	if r.guard != nil {
		go r.guard.cancel(r.err)
	}
	return nil
}

// tells reports whether the execution tells its calls of scalar functions, which have no answers.
func (r *Rows) tells() bool { return r.quote && !r.statement.questions.Uncertain }

// mostExpected is the size of the largest group that a statement remembers.
const mostExpected = 16 << 10

// A question is the only one of an execution, a small group. If the statement is executed with the same parameters again, the question is
// checked and answered before the worker begins, and the worker, which asks it unless the database has changed, need not wait for the answer.
// Only an answer that the role has seen is taken, so that nobody is charged for an expectation. If the worker asks another question, that is
// answered as any other, and no later one of the statement is expected.
type question struct {
	group      []byte // its frame; nil if none is expected
	parameters []byte // of the execution
	never      bool   // none is expected any more
}

// forget forgets the question.
func (q *question) forget(s *Session) {
	_ = s.Hold(-int64(len(q.group) + len(q.parameters)))
	q.group, q.parameters = nil, nil
}

// note notes the first group of an execution.
func (r *Rows) note(group []byte) {
	if r.expects && !r.statement.again.never && len(group) <= mostExpected {
		r.group = bytes.Clone(group)
	}
}

// remember makes the question of an execution that has ended the one that is expected.
func (r *Rows) remember() {
	q, s := &r.statement.again, r.session
	switch {
	case r.expected && r.asks == 0 || r.statement.closed:
		return // it has asked the question that was expected
	case r.expected:
		q.never = true
		q.forget(s)
	case r.asks == 1 && r.group != nil && r.state == nil && r.header.Done:
		q.forget(s)
		parameters := appendParameters(r.args)
		if s.Hold(int64(len(r.group)+len(parameters))) == nil {
			q.group, q.parameters = r.group, parameters
		}
	}
}

func appendParameters(args []any) (b []byte) {
	for _, v := range args {
		b, _ = pipe.AppendParameter(b, v) // it has been sent before
	}
	return b
}

// expect answers the question that the execution is expected to ask, before it begins, if the role has seen the answer. Otherwise the worker
// has to ask it, and gets the error too, if there is one.
func (r *Rows) expect() error {
	q, s := &r.statement.again, r.session
	if !r.expects || r.there || q.group == nil || s.status == wire.Failed || !bytes.Equal(q.parameters, appendParameters(r.args)) {
		return nil
	}
	s.evaluating.Store(true)
	defer s.evaluating.Store(false)
	answer, err := r.recall(q.group)
	if err != nil {
		if r.evaluation != nil {
			r.drop()
		}
		r.err = nil
		q.forget(s)
		return nil
	}
	r.expected = true
	return s.worker.conn.Hold(pipe.AppendAnswer(pipe.Begin(nil, pipe.Expected), pipe.Unnumbered(q.group), answer))
}

// recall answers a group that the role has asked before.
func (r *Rows) recall(payload []byte) (sqlitefn.Released, error) {
	frame := pipe.NewReader(payload)
	h, err := pipe.ReadGroup(frame)
	if err != nil {
		return nil, err
	}
	e, err := r.evaluates()
	if err != nil {
		return nil, err
	}
	e.Recall(true)
	defer e.Recall(false)
	g := &openGroup{rows: r, args: h.Args}
	if g.group, err = e.Group(h.Function, h.Args); err != nil {
		return nil, err
	}
	if err := r.session.steps(g, frame); err != nil {
		return nil, err
	}
	return g.answer()
}
