//go:build unix && !geosql_loadable

// Package powerloss computes the files of SQLite that a power cut would leave.
// It is for tests only.
//
// A [Recording] puts a VFS over SQLite's own that records every change of the files in
// a folder: writes, truncations, new and removed files, and syncs, also of folders. The
// resulting [Trace] is then replayed up to every point. The [Disk] of a point knows
// the certain and the possible content, and makes images that could be found
// afterwards. A recording can also make changes fail, as on a full or broken disk.
//
// The indexes of write-ahead logs (-shm) are not recorded, since SQLite rebuilds them.
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

// A Recording records the files of one folder.
type Recording struct {
	folder  string         // real path
	others  int            // files of earlier recordings have numbers up to this one
	files   map[string]int // numbers of the files that are there, by name
	done    []operation
	failing failure
}

// A failure says which changes are to fail.
type failure struct {
	code    int // 0: none
	in      int // changes before the first
	lasting bool
	reached bool
}

// recording is the current recording. No two files have the same number, since a
// connection may outlive its recording.
var recording struct {
	sync.Mutex
	*Recording
	numbers int
}

// Record begins to record SQLite's changes to the files of a folder, through
// connections that are opened from now on. Existing files count as synced. There is
// one recording at a time.
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

// add records a new file.
func (r *Recording) add(name string, how operation) {
	recording.numbers++
	r.files[name] = recording.numbers
	how.file, how.name = recording.numbers, name
	r.done = append(r.done, how)
}

// Len returns the number of operations recorded so far. A promise made now must hold
// after every power cut from that point on.
func (r *Recording) Len() int {
	recording.Lock()
	defer recording.Unlock()
	return len(r.done)
}

// Fail makes the change after the next n changes fail with a result code, and, if lasting,
// also all later ones, until [Recording.Heal].
func (r *Recording) Fail(n, code int, lasting bool) {
	recording.Lock()
	defer recording.Unlock()
	r.failing = failure{code: code, in: n, lasting: lasting}
}

// Heal ends the failures that Fail began. It reports whether a change has failed.
func (r *Recording) Heal() bool {
	recording.Lock()
	defer recording.Unlock()
	reached := r.failing.reached
	r.failing = failure{}
	return reached
}

// Stop ends the recording. Open connections may still be used and closed.
func (r *Recording) Stop() *Trace {
	recording.Lock()
	defer recording.Unlock()
	if recording.Recording == r {
		recording.Recording = nil
		C.pl_remove()
	}
	return &Trace{r.done}
}

// next returns the code with which the next change has to fail, or 0.
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

// change records a change, or the rest of it if it has to fail.
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

// name returns the name of a path within the recorded folder.
func (r *Recording) name(path *C.char) (name string, inside bool) {
	folder, name := filepath.Split(C.GoString(path))
	return name, filepath.Clean(folder) == r.folder
}

// withRecording calls work with the current recording, if there is one.
func withRecording(work func(*Recording) int) C.int {
	recording.Lock()
	defer recording.Unlock()
	if recording.Recording == nil {
		return 0
	}
	return C.int(work(recording.Recording))
}

//export powerlossOpen
func powerlossOpen(path *C.char) C.int {
	return withRecording(func(r *Recording) int {
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
	return withRecording(func(r *Recording) int {
		write := operation{kind: written, file: int(file), at: int64(at), data: C.GoBytes(data, n)}
		half := write
		half.data = write.data[:n/2]
		return r.change(write, half)
	})
}

//export powerlossTruncate
func powerlossTruncate(file C.int, size C.longlong) C.int {
	return withRecording(func(r *Recording) int {
		return r.change(operation{kind: truncated, file: int(file), at: int64(size)}, operation{})
	})
}

//export powerlossSync
func powerlossSync(file C.int) C.int {
	return withRecording(func(r *Recording) int {
		return r.change(operation{kind: synced, file: int(file)}, operation{kind: notSynced, file: int(file)})
	})
}

//export powerlossDelete
func powerlossDelete(path *C.char) C.int {
	return withRecording(func(r *Recording) int {
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
	withRecording(func(r *Recording) int {
		if _, inside := r.name(path); inside {
			r.done = append(r.done, operation{kind: folderSynced})
		}
		return 0
	})
}
