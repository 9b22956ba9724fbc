package file

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// A ledger is one file under one name, with its log (-wal) and the log's index (-shm) beside
// it. Each of these faults makes two ledgers of one. Both then grant all that the limits
// allow, and each is consistent by itself:
//
//   - The file has a second name (a hard link). The log has the file's name, so a process that opens
//     the file by its other name has another log.
//   - The file, the log or the index was removed or replaced while it is open. A process that opens
//     the ledger next makes new ones.
//   - The file now holds another ledger, put there by a copy or by SQLite's backup.
//
// These faults are looked for when a ledger is opened and in every transaction.

// companions are the suffixes of the files beside a ledger.
var companions = []string{"-wal", "-shm"}

// place holds a ledger's files as they were when it was opened.
type place []placedFile

type placedFile struct {
	path string
	id   fileID
}

// fileID identifies a file among all that exist at the time.
type fileID struct{ volume, number uint64 }

// inspectPlace returns the place of an open ledger.
func inspectPlace(path string) (p place, err error) {
	var files inspector
	for _, suffix := range append([]string{""}, companions...) {
		id, _, err := files.identify(path + suffix)
		if err != nil {
			return nil, err
		}
		p = append(p, placedFile{path + suffix, id})
	}
	return p, p.check()
}

// check checks that the names still lead to the open files, and that the ledger's file has no
// other name. A charge to a file that was removed or replaced is lost. It does not open
// the files: see the package's documentation.
func (p place) check() error {
	var files inspector
	for i, open := range p {
		id, names, err := files.identify(open.path)
		there := err == nil && id == open.id
		switch {
		case i == 0 && !there:
			return errors.New("the file was removed or replaced while in use")
		case i == 0 && names > 1:
			return errNames(names)
		case !there:
			return fmt.Errorf("its %s file was removed or replaced while in use: "+
				"end every process that uses the ledger, which saves their charges", open.path[len(p[0].path):])
		}
	}
	return nil
}

// errNames returns the error of a file with several names.
func errNames(names uint64) error {
	return fmt.Errorf("the file has %d names (hard links), and each would get a log of its own: "+
		"put a copy of the file in its place", names)
}

// checkUnshared checks that a file which is to be opened has one name, and that no process
// uses it with a log or index that was removed. SQLite would make new ones beside those.
func checkUnshared(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // it is new, or opening it returns the error
	}
	_, names, err := new(inspector).identify(path)
	switch {
	case err != nil:
		return err
	case names > 1:
		return errNames(names)
	}
	const pause = 5 * time.Millisecond
	for waited := time.Duration(0); !hasCompanions(path) && openElsewhere(path); waited += pause {
		if waited >= busyTimeout*time.Millisecond {
			return errors.New("database is locked by a process with a missing -wal or -shm file: " +
				"end that process, which saves its charges")
		}
		time.Sleep(pause) // it may be about to make them, or to remove them as it closes
	}
	return nil
}

// hasCompanions reports whether the log and its index are there.
func hasCompanions(path string) bool {
	for _, suffix := range companions {
		if _, err := os.Stat(path + suffix); err != nil {
			return false
		}
	}
	return true
}

// openElsewhere reports whether another connection has the file open. A connection holds a
// shared lock on a file in WAL mode all the time, so that nobody else can lock it exclusively.
func openElsewhere(path string) bool {
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		return false // opening it says why
	}
	defer conn.Close()
	err = conn.Exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA schema_version")
	var locked *sqlite.Error
	return errors.As(err, &locked) && locked.Busy()
}
