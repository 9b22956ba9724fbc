package keeper

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/pipe"
)

// environment is all that a worker's environment has. glibc would reserve much address space for each thread, and Go would collect
// garbage several times until the session is open: from then on worker.Serve has it do so.
var environment = []string{"MALLOC_ARENA_MAX=1", "GOGC=off"}

// A workerProcess is the process of a session.
type workerProcess struct {
	cmd    *exec.Cmd
	stream *pipe.Ends
	conn   *pipe.Conn
	tail   tail
	exited chan struct{} // closed when the process has ended
	how    error         // it did, from then on

	mu     sync.Mutex
	reason monitor.Reason // why it was killed, or that it died; "" if neither
	why    string
	done   bool // with its work, so that it may end
}

// startWorkers starts workers, one after the other. It does so in a thread that does nothing else and lives as long as the
// keeper: the kernel kills a worker when the thread that started it ends, not when the process does.
func (k *Keeper) startWorkers() {
	runtime.LockOSThread()
	lateTimers()
	for {
		select {
		case start := <-k.starts:
			start()
		case <-k.stopped:
			return
		}
	}
}

// takeWorker returns the worker that waits, or starts one, and reports whether it has waited.
func (k *Keeper) takeWorker() (w *workerProcess, waited bool, err error) {
	if w := k.takeWaiting(); w != nil {
		return w, true, nil
	}
	w, err = k.startWorker()
	return w, false, err
}

// takeWaiting returns the worker that waits, which does so no longer, or nil.
func (k *Keeper) takeWaiting() *workerProcess {
	k.mu.Lock()
	defer k.mu.Unlock()
	w := k.waiting
	k.waiting = nil
	return w
}

// prepareWorker has the worker of the next session started, unless one waits: most of the time in which a session opens is that of a
// new process. It has neither the database nor a role, and no sandbox, until it is told the session.
func (k *Keeper) prepareWorker() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting != nil || k.preparing || k.closed {
		return
	}
	k.preparing = true
	go func() {
		w, err := k.startWorker()
		k.mu.Lock()
		defer k.mu.Unlock()
		k.preparing = false
		switch {
		case err != nil: // the next session says why
		case k.closed:
			w.stop(0)
		default:
			k.waiting = w
		}
	}()
}

// startWorker starts a worker.
func (k *Keeper) startWorker() (*workerProcess, error) {
	ours, theirs, err := pipe.Pair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	w := &workerProcess{stream: ours, conn: pipe.NewConn(ours), exited: make(chan struct{})}
	w.cmd = k.options.Worker()
	w.cmd.Env = append(environment, w.cmd.Env...)
	w.cmd.Dir = "/"
	w.cmd.ExtraFiles = []*os.File{theirs.In, theirs.Out}
	w.cmd.Stderr = &w.tail
	w.cmd.SysProcAttr = attributes()
	w.cmd.WaitDelay = time.Second // for its output to standard error
	started := make(chan error, 1)
	select {
	case k.starts <- func() {
		err := w.cmd.Start()
		if err == nil {
			k.workers.Go(w.wait)
		}
		started <- err
	}:
		err = <-started
	case <-k.stopped:
		err = errStops
	}
	if err != nil {
		ours.Close()
		return nil, err
	}
	return w, nil
}

// wait waits for the end of the process.
func (w *workerProcess) wait() {
	w.how = w.cmd.Wait()
	w.mu.Lock()
	if w.reason == "" && !w.done {
		w.reason = monitor.WorkerDied
	}
	w.mu.Unlock()
	close(w.exited)
}

// died reports whether the process has ended, or does so within a time, and was not killed by the keeper.
func (w *workerProcess) died(within time.Duration) bool {
	select {
	case <-w.exited:
		reason, _ := w.killed()
		return reason == monitor.WorkerDied
	case <-time.After(within):
		return false
	}
}

// kill kills the process. The first caller says why.
func (w *workerProcess) kill(reason monitor.Reason, why string) {
	w.mu.Lock()
	if w.reason == "" {
		w.reason, w.why = reason, why
	}
	w.mu.Unlock()
	_ = w.cmd.Process.Kill()
	w.stream.GiveUp() // nobody waits for it any more
}

// killed returns why the process was killed, or that it died, or "".
func (w *workerProcess) killed() (monitor.Reason, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason, w.why
}

// stop ends a process that has nothing to do: it gets a moment to do so itself.
func (w *workerProcess) stop(grace time.Duration) {
	w.mu.Lock()
	w.done = true
	w.mu.Unlock()
	w.stream.Close()
	go func() {
		select {
		case <-w.exited:
		case <-time.After(grace):
			_ = w.cmd.Process.Kill()
		}
	}()
}

// ending says how a process ended that was not told to.
func (w *workerProcess) ending() string {
	<-w.exited
	if w.how == nil {
		return "exit status 0"
	}
	return w.how.Error()
}

// mostTail bounds the bytes kept of a worker's standard error.
const mostTail = 4 << 10

// A tail keeps the last lines that are written.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b[max(0, len(b)-mostTail):]...)
	if len(t.b) > 2*mostTail {
		t.b = append(t.b[:0], t.b[len(t.b)-mostTail:]...)
	}
	return len(b), nil
}

// String returns them, made printable.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return printable.Text(string(bytes.TrimSpace(t.b[max(0, len(t.b)-mostTail):])))
}
