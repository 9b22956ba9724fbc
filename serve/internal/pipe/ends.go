package pipe

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Ends are one process's ends of two pipes, a stream between two processes. A socket would be one too, but it wakes a process that waits
// for input also when the other one has read.
type Ends struct{ In, Out *os.File }

// Pair returns the ends for two processes.
func Pair() (ours, theirs *Ends, err error) {
	ours, theirs = new(Ends), new(Ends)
	if ours.In, theirs.Out, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	if theirs.In, ours.Out, err = os.Pipe(); err != nil {
		return nil, nil, errors.Join(err, ours.In.Close(), theirs.Out.Close())
	}
	return ours, theirs, nil
}

// inFile and outFile are the numbers of the first files that a process inherits.
const inFile, outFile = 3, 4

// Inherited returns the ends that a process was started with as its first files, or nil if it was not.
func Inherited() *Ends {
	_ = syscall.SetNonblock(inFile, true) // so that no thread waits in a read
	_ = syscall.SetNonblock(outFile, true)
	e := &Ends{os.NewFile(inFile, "keeper"), os.NewFile(outFile, "keeper")}
	for _, f := range []*os.File{e.In, e.Out} {
		if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			return nil
		}
	}
	return e
}

// Read reads from the other process.
func (e *Ends) Read(b []byte) (int, error) { return e.In.Read(b) }

// Write writes to the other process.
func (e *Ends) Write(b []byte) (int, error) { return e.Out.Write(b) }

// GiveUp ends all reads and writes.
func (e *Ends) GiveUp() {
	_ = e.In.SetDeadline(time.Unix(1, 0))
	_ = e.Out.SetDeadline(time.Unix(1, 0))
}

// Close closes the ends.
func (e *Ends) Close() error { return errors.Join(e.In.Close(), e.Out.Close()) }
