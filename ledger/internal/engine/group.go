package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Job is one caller's work in a transaction.
type Job struct {
	Context context.Context // the caller waits until it is done
	Needs   Needs
	Work    func(Transaction) error
	Refusal error // that Work has returned
}

// Queue gathers the callers that wait at the same time, so that they share a transaction and its
// wait for the disk.
type Queue struct {
	// Enter waits for the turn of this process, unless it is nil. Commit runs the jobs that Take returns in a transaction, and ends
	// the turn. Until it calls Take, callers can join. Both are set before the queue is used.
	Enter  func(context.Context) error
	Commit func() error

	mu      sync.Mutex
	waiting *group // that callers join; nil if nobody waits
}

// group holds the jobs that share a transaction.
type group struct {
	jobs []*Job
	room [1]*Job       // memory for jobs: most callers are alone
	err  error         // nil once its writes are stored
	done chan struct{} // closed at the end; nil while there is one caller
	lead chan struct{} // has a token if the first caller has left; nil while there is one
}

// ErrAborted is the error of a group until it has ended.
var ErrAborted = errors.New("the transaction was given up")

// ErrGaveUp is the error of a transaction that was ended because one of its callers had given up. The others wait for another one.
var ErrGaveUp = errors.New("a caller has given up")

// Do runs a job in a transaction, and returns its refusal or the error of the transaction.
//
// Callers that wait at the same time share a transaction. The first of them runs the jobs of all,
// in the order in which they came. A caller who gives up before the turn has come leaves the others to it, and one who gives up
// later ends the transaction.
func (q *Queue) Do(j *Job) error {
	for {
		err := q.share(j)
		if err != ErrGaveUp {
			return err
		}
		if j.Context.Err() != nil {
			return context.Cause(j.Context)
		}
	}
}

// share runs a job in a transaction with those of others.
func (q *Queue) share(j *Job) error {
	g, first := q.join(j)
	if !first {
		select {
		case <-g.done:
			return g.outcome(j)
		case <-g.lead:
		case <-j.Context.Done():
			if q.leave(g, j, false) {
				return context.Cause(j.Context)
			}
			<-g.done // soon: see Within
			return g.outcome(j)
		}
	}
	if q.Enter != nil {
		if err := q.Enter(j.Context); err != nil {
			q.leave(g, j, true)
			return err
		}
	}
	defer g.finish()
	g.err = q.Commit()
	return g.outcome(j)
}

// outcome returns the error of a job once its group has ended.
func (g *group) outcome(j *Job) error {
	if g.err != nil {
		return g.err
	}
	return j.Refusal
}

// leave takes a job out of a group that waits, and reports whether it still did. If the job was leading, one of the others does.
func (q *Queue) leave(g *group, j *Job, leading bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting != g {
		return false
	}
	g.jobs = slices.DeleteFunc(g.jobs, func(other *Job) bool { return other == j })
	switch {
	case len(g.jobs) == 0:
		q.waiting = nil
	case leading:
		g.lead <- struct{}{}
	}
	return true
}

// Within returns a context for a transaction of jobs. It is done soon after a caller has given up: not at once, so that a commit
// that is on its way ends well.
func Within(jobs []*Job) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	stops := []func() bool{}
	for _, j := range jobs {
		if j.Context.Done() != nil {
			stops = append(stops, context.AfterFunc(j.Context, func() { time.AfterFunc(soon, cancel) }))
		}
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}

// soon is the time that a transaction has to end after a caller has given up.
const soon = 500 * time.Millisecond

// GivenUp reports whether a caller of a job has given up.
func GivenUp(jobs []*Job) bool {
	return slices.ContainsFunc(jobs, func(j *Job) bool { return j.Context.Err() != nil })
}

// finish wakes the callers that wait. Nobody can join any more.
func (g *group) finish() {
	if g.done != nil {
		close(g.done)
	}
}

// join adds a job to the group that waits, and reports whether the job is its first.
func (q *Queue) join(j *Job) (g *group, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch first = q.waiting == nil; {
	case first:
		q.waiting = &group{err: ErrAborted}
		q.waiting.jobs = q.waiting.room[:0]
	case q.waiting.done == nil:
		q.waiting.done, q.waiting.lead = make(chan struct{}), make(chan struct{}, 1)
	}
	q.waiting.jobs = append(q.waiting.jobs, j)
	return q.waiting, first
}

// Take takes the jobs of the group that waits. Callers who come later make another.
func (q *Queue) Take() []*Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.waiting.jobs
	q.waiting = nil
	return jobs
}

// RunJobs runs jobs in a transaction until one returns an error other than a refusal, or a refusal
// after it has written.
func RunJobs(jobs []*Job, t Transaction) error {
	for _, j := range jobs {
		before := t.Written()
		j.Refusal = j.Work(t)
		switch {
		case j.Refusal == nil:
		case !IsRefusal(j.Refusal):
			return j.Refusal
		case t.Written() != before:
			return errLateRefusal
		}
	}
	return nil
}

// errLateRefusal stands for a refusal that came too late. It goes to all callers of the
// group, who know nothing of each other.
var errLateRefusal = errors.New("a charge was refused after it had been written")
