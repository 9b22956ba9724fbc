package file

import (
	"errors"
	"fmt"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
)

// group holds the jobs that share a transaction.
type group struct {
	jobs []*job
	room [1]*job       // memory for jobs: most callers are alone
	err  error         // nil once what they wrote is on disk
	done chan struct{} // closed at the end; nil while there is one caller
}

// job is what one caller wants to do in a transaction.
type job struct {
	work    func(*transaction) error
	adopts  bool // whether it is for a ledger that is marked as a copy
	refusal error
}

// transaction holds the write lock of the ledger.
type transaction struct {
	ledger *Ledger
	db     *store
	now    int64
	head   ledger.Head

	headKnown  bool // whether head was read
	isCopy     bool // whether the ledger is marked as a copy
	hasAnswers bool // whether it is known that the tables of answers and purses are there

	written  int      // changes
	numbered []*run   // that got their number here
	undos    []func() // called if it ends without a commit
}

// wrap says that an error of SQLite or the file system is the ledger's.
func wrap(err error) error {
	if err == nil || err == errClosed || isRefusal(err) {
		return err
	}
	return fmt.Errorf("ledger: %w", err)
}

// isRefusal reports whether an error is one caller's. Such errors come before anything is
// written.
func isRefusal(err error) bool {
	return isA[*ledger.RefusalError](err) || isA[*ledger.AlreadyChargedError](err) || isA[*ledger.TraceTakenError](err) || isA[*ledger.ReleaseError](err) || isA[*drawError](err)
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// transact runs work in a transaction. When it returns nil, what work wrote is on disk. When
// it returns an error the caller must grant nothing. (A COMMIT that fails may still have
// reached the disk. Budget is then wasted, which is safe.)
//
// Callers that wait at the same time share a transaction and one wait for the disk. The first
// of them runs the jobs of all, in the order in which they came, and commits. Callers can join
// until the transaction holds the write lock, for which processes queue. So a caller waits for
// the transaction that its process is in, then for one of every other process that asked
// before, then for its own.
//
// A refusal comes before its job has written anything, and concerns that caller alone. After
// any other error nobody is granted anything.
func (l *Ledger) transact(work func(*transaction) error) error { return l.do(&job{work: work}) }

// do runs a job in a transaction, as transact says.
func (l *Ledger) do(j *job) error {
	g, first := l.join(j)
	if first {
		l.commit(g)
	} else {
		<-g.done
	}
	if g.err != nil {
		return wrap(g.err)
	}
	return wrap(j.refusal)
}

// errAborted is the error of a group until it has ended.
var errAborted = errors.New("the transaction was given up")

// finish wakes the callers that wait. Nobody can join any more.
func (g *group) finish() {
	if g.done != nil {
		close(g.done)
	}
}

// join adds a job to the group that waits, and reports whether the job is its first.
func (l *Ledger) join(j *job) (g *group, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch first = l.waiting == nil; {
	case first:
		l.waiting = &group{err: errAborted}
		l.waiting.jobs = l.waiting.room[:0]
	case l.waiting.done == nil:
		l.waiting.done = make(chan struct{})
	}
	l.waiting.jobs = append(l.waiting.jobs, j)
	return l.waiting, first
}

// closeGroup takes the jobs of the group that waits. Callers who come later make another.
func (l *Ledger) closeGroup() []*job {
	l.mu.Lock()
	defer l.mu.Unlock()
	jobs := l.waiting.jobs
	l.waiting = nil
	return jobs
}

// commit runs the jobs of a group in a transaction.
func (l *Ledger) commit(g *group) {
	l.writer.Lock()
	defer l.writer.Unlock()
	defer g.finish()
	place := l.turns.Enter(busyTimeout * time.Millisecond)
	defer l.turns.Leave(place)
	t, err := l.begin()
	jobs := l.closeGroup()
	if err == nil {
		err = t.runJobs(jobs)
	}
	g.err = err
}

// begin begins a transaction. It is called under writer.
func (l *Ledger) begin() (*transaction, error) {
	if l.db == nil {
		return nil, errClosed
	}
	if err := l.db.begin.Run(); err != nil {
		return nil, err
	}
	t := &transaction{ledger: l, db: l.db, now: l.clock()}
	if err := t.checkPlace(); err != nil {
		t.rollBack()
		return nil, err
	}
	return t, nil
}

// checkPlace checks that the file still is the ledger that was opened.
func (t *transaction) checkPlace() (err error) {
	if err := t.ledger.place.check(); err != nil {
		return err
	}
	t.isCopy, err = t.db.sameLedger()
	return err
}

// runJobs runs the jobs and commits them, all or none.
func (t *transaction) runJobs(jobs []*job) (err error) {
	defer func() {
		if err != nil {
			t.rollBack()
		}
	}()
	err = errAborted // if a job panics
	if failed := t.doJobs(jobs); failed != nil {
		return failed
	}
	return t.commitOrRollBack()
}

// doJobs runs the jobs until one returns an error other than a refusal, or a refusal after it
// has written.
func (t *transaction) doJobs(jobs []*job) error {
	for _, j := range jobs {
		if t.isCopy && !j.adopts {
			return t.errCopy()
		}
		written := t.written
		j.refusal = j.work(t)
		switch {
		case j.refusal == nil:
		case !isRefusal(j.refusal):
			return j.refusal
		case t.written != written:
			return errLateRefusal
		}
	}
	return nil
}

// errLateRefusal stands for a refusal that came too late. It goes to all callers of the
// group, who know nothing of each other.
var errLateRefusal = errors.New("a charge was refused after it had been written")

// commitOrRollBack commits, if anything was written.
func (t *transaction) commitOrRollBack() error {
	if t.written == 0 {
		return t.db.rollback.Run()
	}
	return t.db.commit.Run()
}

// rollBack undoes the transaction, in memory and on disk.
func (t *transaction) rollBack() {
	for _, r := range t.numbered {
		r.number = 0
	}
	for _, undo := range t.undos {
		undo()
	}
	if !t.db.conn.AutoCommit() { // some errors have rolled back already
		// Should this fail, no later transaction begins, and nothing is granted.
		_ = t.db.rollback.Run()
	}
}

// standing reads the standing of an account.
func (t *transaction) standing(account string, unit budget.Unit) (ledger.Standing, error) {
	return t.db.standing(account, unit, t.now)
}

// post writes the entry of a change and the balance that it leads to. s is the standing before,
// read in this transaction.
func (t *transaction) post(c *change, s *ledger.Standing) error {
	reserved := s.ReservedChange(c.spent, c.reserved, c.term)
	w := s.WindowAfter(c.spent + reserved)
	if err := t.addEntry(c, reserved, w); err != nil {
		return err
	}
	put := t.db.putBalance
	put.BindText(1, c.account)
	put.BindText(2, string(c.unit))
	put.BindInts(3, int64(s.Spent+c.spent), int64(s.Reserved+reserved), lastCharge(c, s), w.Start, int64(w.Spent))
	return put.Run()
}

// addEntry writes a change as the next entry of the chain.
func (t *transaction) addEntry(c *change, reserved budget.Amount, w ledger.WindowUse) error {
	e, err := t.nextEntry(c, reserved, w)
	if err != nil {
		return err
	}
	return t.db.insert(&e, &t.head)
}

// nextEntry makes a change the next entry of the chain. The caller has to write the entry as
// it is returned.
func (t *transaction) nextEntry(c *change, reserved budget.Amount, w ledger.WindowUse) (ledger.Entry, error) {
	if err := t.readHead(); err != nil {
		return ledger.Entry{}, err
	}
	if c.run.number == 0 {
		c.run.number = t.head.ID + 1
		t.numbered = append(t.numbered, c.run)
	}
	e := ledger.Entry{
		Statement: c.run.number,
		Time:      c.time,
		Function:  c.function, Account: c.account, Unit: c.unit,
		Spent: c.spent, Reserved: reserved,
		Evaluations: c.evaluations,
		Window:      w,
		Limit:       ledger.NoLimit,
	}
	if c.limit != nil {
		e.Limit, e.LimitWindow = c.limit.epsilon, c.limit.seconds
	}
	t.head = t.head.Next(&e, &t.db.scratch)
	t.written++
	return e, nil
}

// readHead reads the ledger's last entry, unless the transaction knows it.
func (t *transaction) readHead() (err error) {
	if !t.headKnown {
		t.head, err = t.db.head()
		t.headKnown = err == nil
	}
	return err
}

// lastCharge returns the time of an account's last charge after a change.
func lastCharge(c *change, s *ledger.Standing) int64 {
	var last int64
	if !s.LastCharge.IsZero() {
		last = s.LastCharge.UnixMicro()
	}
	if c.spent == 0 {
		return last
	}
	return max(last, c.time)
}
