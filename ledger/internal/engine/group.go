package engine

import (
	"errors"
	"sync"
)

// Job is one caller's work in a transaction.
type Job struct {
	Needs   Needs
	Work    func(Transaction) error
	Refusal error // that Work has returned
}

// Queue gathers the callers that wait at the same time, so that they share a transaction and its
// wait for the disk.
type Queue struct {
	// Commit runs the jobs that Take returns in a transaction. It is set before the queue is used. Until it
	// calls Take, callers can join.
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
}

// ErrAborted is the error of a group until it has ended.
var ErrAborted = errors.New("the transaction was given up")

// Do runs a job in a transaction, and returns its refusal or the error of the transaction.
//
// Callers that wait at the same time share a transaction. The first of them runs the jobs of all,
// in the order in which they came.
func (q *Queue) Do(j *Job) error {
	g, first := q.join(j)
	if first {
		defer g.finish()
		g.err = q.Commit()
	} else {
		<-g.done
	}
	if g.err != nil {
		return g.err
	}
	return j.Refusal
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
		q.waiting.done = make(chan struct{})
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
