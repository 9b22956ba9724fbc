package file

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
)

// A ledger is one file under one name, with its log (-wal) and the log's index (-shm)
// beside it. Each of these faults makes two ledgers of one, of which both grant all that
// the limits allow, and each is in order by itself:
//
//   - the file has a second name (a hard link): the log goes by the name, so whoever comes
//     by the other name has another log;
//   - the file, the log or the index was removed or replaced while it is open: whoever
//     comes next makes new ones;
//   - the file now is another ledger, put there by a copy or by SQLite's backup.
//
// They are looked for when a ledger is opened and in every transaction.

// companions are what the names of the files beside a ledger end with.
var companions = []string{"-wal", "-shm"}

// A place is a ledger's files as they were when it was opened.
type place []placedFile

type placedFile struct {
	path string
	id   fileID
}

// lookAt looks at the files of an open ledger.
func lookAt(path string) (p place, err error) {
	var look looker
	for _, suffix := range append([]string{""}, companions...) {
		id, _, err := look.identify(path + suffix)
		if err != nil {
			return nil, err
		}
		p = append(p, placedFile{path + suffix, id})
	}
	return p, p.check()
}

// check makes sure that the names still lead to the open files, and no other name to the
// ledger's: what is charged to a file that was removed or replaced is lost. The files are
// looked at without opening them: see the package's comment.
func (p place) check() error {
	var look looker
	for i, open := range p {
		id, names, err := look.identify(open.path)
		there := err == nil && id.same(open.id)
		switch {
		case i == 0 && !there:
			return errors.New("the file was removed or replaced while in use")
		case i == 0 && names > 1:
			return errNames(names)
		case !there:
			return fmt.Errorf("its %s file was removed or replaced while in use: "+
				"end every process that uses the ledger, which saves what they have charged", open.path[len(p[0].path):])
		}
	}
	return nil
}

func errNames(names uint64) error {
	return fmt.Errorf("the file has %d names (hard links), each of which would get a log of its own: "+
		"put a copy of the file in its place", names)
}

// unshared makes sure that a file which is to be opened has one name, and that no process
// has it open whose log or index was removed: new ones would be made beside those.
func unshared(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // it is new, or opening it says what is wrong
	}
	_, names, err := new(looker).identify(path)
	switch {
	case err != nil:
		return err
	case names > 1:
		return errNames(names)
	}
	const pause = 5 * time.Millisecond
	for waited := time.Duration(0); !complete(path) && usedElsewhere(path); waited += pause {
		if waited >= busyTimeout*time.Millisecond {
			return errors.New("database is locked by a process whose -wal or -shm file is not there: " +
				"end that process, which saves what it has charged")
		}
		time.Sleep(pause) // it may be about to make them, or to remove them as it closes
	}
	return nil
}

// complete reports whether the log and its index are there.
func complete(path string) bool {
	for _, suffix := range companions {
		if _, err := os.Stat(path + suffix); err != nil {
			return false
		}
	}
	return true
}

// usedElsewhere reports whether another connection has the file open, in which case it
// cannot be locked for this one alone. Who has a file in WAL mode open holds a shared lock
// on it all the time.
func usedElsewhere(path string) bool {
	conn, err := sqlite.Open(path, sqlite.ReadWrite)
	if err != nil {
		return false // opening it says why
	}
	defer conn.Close()
	err = conn.Exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA schema_version")
	var locked *sqlite.Error
	return errors.As(err, &locked) && locked.Busy()
}
