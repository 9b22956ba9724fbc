//go:build unix && !geosql_loadable

// Package powerloss tells what a power cut would leave of the files that SQLite
// writes. It is for tests, and imported by nothing else.
//
// A [Recording] puts a VFS over SQLite's own that notes every change of the files in
// a folder: writes, truncations, new and removed files, and what was synced when,
// folders included. The [Trace] it leaves is then played again, up to every point:
// the [Disk] of that point knows what is certain to be there and what may be, and
// makes images of what could be found afterwards. A recording can also make changes
// fail, as those of a disk that is full or broken.
//
// The indexes of write-ahead logs (-shm) are not recorded: SQLite makes them anew.
package powerloss

/*
#cgo CFLAGS: -std=c11 -O2 -Wall -Wextra
#include "vfs.h"
*/
import "C"

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // links SQLite
)

// Result codes of SQLite for [Recording.Fail].
const (
	IOError = 10
	Full    = 13
)

// Recording records the files of one folder.
type Recording struct {
	folder  string         // real path
	others  int            // files of earlier recordings have numbers up to this one
	files   map[string]int // numbers of the files that are there, by name
	done    []operation
	failing failure
}

// failure is which changes are to fail.
type failure struct {
	code    int // 0: none
	in      int // changes before the first
	lasting bool
	reached bool
}

// recording is the one that is under way. A connection may outlive its recording, so
// no number is given to two files.
var recording struct {
	sync.Mutex
	*Recording
	numbers int
}

// Record begins to record what SQLite does to the files that are or will be in a
// folder, through connections that are opened from now on. What is in the folder
// counts as synced. There is one recording at a time.
func Record(folder string) (*Recording, error) {
	real, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	recording.Lock()
	defer recording.Unlock()
	if recording.Recording != nil {
		return nil, errors.New("powerloss: a recording is under way")
	}
	r := &Recording{folder: real, others: recording.numbers, files: map[string]int{}}
	if err := r.readFolder(); err != nil {
		return nil, err
	}
	if rc := C.pl_install(); rc != 0 {
		return nil, errors.New("powerloss: SQLite's default VFS cannot be recorded")
	}
	recording.Recording = r
	return r, nil
}

func (r *Recording) readFolder() error {
	entries, err := os.ReadDir(r.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(r.folder, e.Name()))
		if err != nil {
			return err
		}
		r.add(e.Name(), operation{kind: existed, data: content})
	}
	return nil
}

// add notes that there is a file which was not there.
func (r *Recording) add(name string, how operation) {
	recording.numbers++
	r.files[name] = recording.numbers
	how.file, how.name = recording.numbers, name
	r.done = append(r.done, how)
}

// Len is how many operations were recorded so far. What is promised now must hold
// after every power cut from that point on.
func (r *Recording) Len() int {
	recording.Lock()
	defer recording.Unlock()
	return len(r.done)
}

// Fail makes the change after the next n fail with a result code, and with lasting
// all that follow it, until [Recording.Heal].
func (r *Recording) Fail(n, code int, lasting bool) {
	recording.Lock()
	defer recording.Unlock()
	r.failing = failure{code: code, in: n, lasting: lasting}
}

// Heal ends what Fail began. It reports whether a change has failed.
func (r *Recording) Heal() bool {
	recording.Lock()
	defer recording.Unlock()
	reached := r.failing.reached
	r.failing = failure{}
	return reached
}

// Stop ends the recording. Connections that are open may still be used and closed.
func (r *Recording) Stop() *Trace {
	recording.Lock()
	defer recording.Unlock()
	if recording.Recording == r {
		recording.Recording = nil
		C.pl_remove()
	}
	return &Trace{r.done}
}

// next is the code with which the next change has to fail, 0 if it has not.
func (f *failure) next() (code int) {
	if f.code == 0 {
		return 0
	}
	f.in--
	if f.in == -1 || f.in < -1 && f.lasting {
		f.reached = true
		return f.code
	}
	return 0
}

// change records a change, or what is left of it where it has to fail.
func (r *Recording) change(succeeds, fails operation) (code int) {
	if succeeds.file <= r.others {
		return 0
	}
	o := succeeds
	if code = r.failing.next(); code != 0 {
		o = fails
	}
	if o.kind != nothing {
		r.done = append(r.done, o)
	}
	return code
}

// name is the name of a path in the recorded folder.
func (r *Recording) name(path *C.char) (name string, inside bool) {
	folder, name := filepath.Split(C.GoString(path))
	return name, filepath.Clean(folder) == r.folder
}

// recorded calls work with the recording that is under way, if there is one.
func recorded(work func(*Recording) int) C.int {
	recording.Lock()
	defer recording.Unlock()
	if recording.Recording == nil {
		return 0
	}
	return C.int(work(recording.Recording))
}

//export powerlossOpen
func powerlossOpen(path *C.char) C.int {
	return recorded(func(r *Recording) int {
		name, inside := r.name(path)
		if !inside {
			return 0
		}
		if r.files[name] == 0 {
			r.add(name, operation{kind: created})
		}
		return r.files[name]
	})
}

//export powerlossWrite
func powerlossWrite(file C.int, data unsafe.Pointer, n C.int, at C.longlong) C.int {
	return recorded(func(r *Recording) int {
		write := operation{kind: written, file: int(file), at: int64(at), data: C.GoBytes(data, n)}
		half := write
		half.data = write.data[:n/2]
		return r.change(write, half)
	})
}

//export powerlossTruncate
func powerlossTruncate(file C.int, size C.longlong) C.int {
	return recorded(func(r *Recording) int {
		return r.change(operation{kind: truncated, file: int(file), at: int64(size)}, operation{})
	})
}

//export powerlossSync
func powerlossSync(file C.int) C.int {
	return recorded(func(r *Recording) int {
		return r.change(operation{kind: synced, file: int(file)}, operation{kind: notSynced, file: int(file)})
	})
}

//export powerlossDelete
func powerlossDelete(path *C.char) C.int {
	return recorded(func(r *Recording) int {
		name, inside := r.name(path)
		if !inside || r.files[name] == 0 {
			return 0
		}
		code := r.change(operation{kind: deleted, file: r.files[name], name: name}, operation{})
		if code == 0 {
			delete(r.files, name)
		}
		return code
	})
}

//export powerlossSyncFolder
func powerlossSyncFolder(path *C.char) {
	recorded(func(r *Recording) int {
		if _, inside := r.name(path); inside {
			r.done = append(r.done, operation{kind: folderSynced})
		}
		return 0
	})
}
