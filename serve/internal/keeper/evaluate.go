package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

// Bounds of a session's open groups and evaluators.
const (
	mostGroups     = 1000
	mostEvaluators = 16
)

// rowsBetweenLooks is the number of rows of a group that are evaluated before the keeper looks whether the statement is canceled.
const rowsBetweenLooks = 4096

// An openGroup is a group of an aggregate that has no answer yet.
type openGroup struct {
	rows  *Rows
	group group // nil after an error
	args  int
}

var (
	errEnded      = &wire.Error{Code: "57014", Message: "the statement has ended"}
	errManyAsking = &wire.Error{Code: "53000", Message: "too many statements of the session are asking about sealed columns at a time",
		Hint: "Close cursors and portals that are not needed."}
)

// evaluate serves a frame of a worker that calls functions. An error ends the session.
func (s *Session) evaluate(kind pipe.Type, payload []byte) error {
	r := s.running
	if r == nil {
		return pipe.Violation("a function is called outside of an execution")
	}
	if r.free {
		return pipe.Violation("an execution calls a function that was said to call none")
	}
	r.asks++
	switch kind {
	case pipe.Call:
		return s.evaluateCall(r, payload)
	case pipe.Calls:
		return s.quoteCalls(r, payload)
	}
	return s.evaluateGroup(r, payload)
}

func (s *Session) evaluateGroup(r *Rows, payload []byte) error {
	frame := pipe.NewReader(payload)
	h, err := pipe.ReadGroup(frame)
	if err != nil {
		return err
	}
	if r.asks == 1 && h.Flags == pipe.GroupBegins|pipe.GroupEnds {
		r.note(payload)
	}
	g := s.groups[h.Number]
	switch {
	case h.Flags&pipe.GroupBegins != 0:
		if g, err = s.beginGroup(r, h); err != nil {
			return err
		}
	case h.Number == 0 || h.Number > s.groupNumber:
		return pipe.Violation("there is no group %d", h.Number)
	}
	// If the group is not open any more, its statement has ended, but its rows may still come.
	if g != nil {
		if err := s.steps(g, frame); err != nil {
			return err
		}
	}
	switch {
	case h.Flags&pipe.GroupDrops != 0 && g != nil:
		delete(s.groups, h.Number)
		if g.group != nil {
			g.group.Drop()
		}
	case h.Flags&pipe.GroupEnds != 0:
		delete(s.groups, h.Number)
		return s.finish(r, g)
	}
	return nil
}

// beginGroup begins a group. A bad argument is an error of the statement.
func (s *Session) beginGroup(r *Rows, h pipe.GroupHeader) (*openGroup, error) {
	switch {
	case h.Number != s.groupNumber+1:
		return nil, pipe.Violation("group %d begins after group %d", h.Number, s.groupNumber)
	case h.Args == 0:
		return nil, pipe.Violation("a group has no arguments")
	case len(s.groups) >= mostGroups:
		return nil, pipe.Violation("more than %d groups are open", mostGroups)
	}
	s.groupNumber++
	g := &openGroup{rows: r, args: h.Args}
	s.groups[h.Number] = g
	e, err := r.evaluates()
	if err == nil {
		g.group, err = e.Group(h.Function, h.Args)
	}
	if err != nil {
		r.fail(err)
	}
	return g, nil
}

// steps passes the rows of a frame to a group, as far as they are needed.
func (s *Session) steps(g *openGroup, frame *pipe.Reader) error {
	args := s.values[:g.args]
	for n := 0; frame.More(); n++ {
		frame.Arguments(args, n > 0)
		if frame.Err() != nil || g.group == nil {
			break
		}
		if n%rowsBetweenLooks == 0 {
			if _, err := g.rows.evaluates(); err != nil {
				g.group = nil
				break
			}
		}
		if err := g.group.Step(args); err != nil {
			g.rows.fail(err)
			g.group.Drop()
			g.group = nil
		}
	}
	return frame.Err()
}

// finish answers a group.
func (s *Session) finish(r *Rows, g *openGroup) error {
	if g == nil {
		return s.reply(r, nil, errEnded)
	}
	answer, err := g.answer()
	return s.reply(g.rows, answer, err)
}

// answer answers the group.
func (g *openGroup) answer() (sqlitefn.Released, error) {
	if _, err := g.rows.evaluates(); err != nil {
		return nil, err
	}
	if g.group == nil {
		return nil, errEnded // the statement has an error already
	}
	began := time.Now()
	answer, err := g.group.Final()
	g.rows.ledger += time.Since(began)
	return answer, err
}

// evaluates returns the evaluation of the execution, which begins with its first call. Once the execution has ended, is
// canceled or has failed, there is none, and nobody is charged.
func (r *Rows) evaluates() (evaluation, error) {
	if r.guard != nil && r.guard.canceled() != nil {
		r.end()
	}
	switch {
	case r.err != nil:
		return nil, r.err
	case r.ended:
		return nil, errEnded
	case r.evaluation != nil:
		return r.evaluation, nil
	}
	s := r.session
	if s.evaluators >= mostEvaluators {
		return nil, errManyAsking
	}
	size := s.keeper.evaluatorSize()
	if err := s.Hold(size); err != nil {
		return nil, err
	}
	e, err := s.keeper.evaluators.get()
	if err != nil {
		_ = s.Hold(-size)
		return nil, err
	}
	s.evaluators++
	r.evaluatorSize = size
	r.evaluator, r.evaluation = e, e.Begin(r.analyst(), r.quote)
	if r.quoted != nil {
		r.evaluation.Limit(*r.quoted)
	}
	return r.evaluation, nil
}

// analyst returns who asks, as the role was when the execution began.
func (r *Rows) analyst() sqlitefn.Analyst {
	role := r.role
	return sqlitefn.Analyst{
		Context: r.waits, Role: role.Name,
		MayAsk: role.May,
		Largest: func(u budget.Unit) (budget.Amount, bool) {
			most, ok := role.EpsilonMax[u]
			return most, ok
		},
		Budget: func(u budget.Unit) (budget.Amount, bool) {
			limit, ok := role.Epsilon[u]
			return limit, ok
		},
		Least:     role.Least,
		MaxRepeat: role.MaxRepeat,
		LeaveOut:  role.LeaveOut,
		Memory:    r.session.Hold,
		MayDraw:   func(behind int) error { return r.session.keeper.drawn.mayDraw(role, behind) },
		Drew:      func(bytes int) { r.session.keeper.drawn.drew(role, bytes) },
	}
}

// end ends the evaluation of the execution. Its groups get no answer any more.
func (r *Rows) end() {
	r.ended = true
	r.giveUp(nil)
	if !r.quote {
		r.foretold.forget(r.session)
	}
	if r.evaluation == nil {
		return
	}
	r.report, r.intervals = r.evaluation.Report(), r.evaluation.Intervals()
	r.drop()
}

// drop ends the evaluation, and another one may begin.
func (r *Rows) drop() {
	s := r.session
	for number, g := range s.groups {
		if g.rows == r {
			if g.group != nil {
				g.group.Drop()
				g.group = nil
			}
			delete(s.groups, number)
		}
	}
	r.evaluation.End()
	r.evaluation = nil
	s.evaluators--
	_ = s.Hold(-r.evaluatorSize)
	if r.outdated {
		r.evaluator.Close()
		s.keeper.renewLedger()
	} else {
		s.keeper.evaluators.put(r.evaluator, r.evaluatorSize)
	}
	r.evaluator, r.outdated = nil, false
}

// fail notes the first error of the evaluation, which is that of the statement, whatever the worker says.
func (r *Rows) fail(err error) {
	if r.err == nil && err != error(errEnded) {
		r.err = r.session.keeper.shown(err)
		if cause := context.Cause(r.waits); cause != nil && !r.ended {
			r.err = errWaited(canceledBy(cause))
		}
		r.outdated = errors.Is(err, ledger.ErrLossAccepted)
	}
}

// reply answers a call.
func (s *Session) reply(r *Rows, answer sqlitefn.Released, err error) error {
	if err == nil {
		return s.worker.conn.Send(append(pipe.Begin(s.frame, pipe.Answer), answer...))
	}
	return s.refuse(r, err)
}

// refuse answers a call or a group with an error.
func (s *Session) refuse(r *Rows, err error) error {
	r.fail(err)
	e := errEnded
	if r.err != nil {
		errors.As(r.err, &e)
	}
	return s.worker.conn.Send(append(pipe.Begin(s.frame, pipe.Refusal), marshal(e)...))
}
