package beam

import (
	"errors"
	"os"
	"path/filepath"
)

// privateFolders is the pattern of the names of folders for inputs that were downloaded. They lie in
// the folder for temporary files.
const privateFolders = "geosql-release-beam-*"

// A privateFolder holds downloads of a process. Nobody else may read it.
type privateFolder struct {
	path string
	lock *os.File // of the folder, held while the process lives
}

// newPrivateFolder makes a folder, after it has removed those of processes that were killed.
func newPrivateFolder() (*privateFolder, error) {
	removeAbandoned()
	for range 10 { // another process may remove the folder before it is locked
		path, err := os.MkdirTemp("", privateFolders) // 0700
		if err != nil {
			return nil, err
		}
		lock, err := lockFolder(path)
		if _, gone := os.Stat(path); err == nil && gone == nil {
			return &privateFolder{path, lock}, nil
		}
		lock.Close()
	}
	return nil, errors.New("cannot make a private folder in " + os.TempDir())
}

// removeAbandoned removes the folders of processes that have ended.
func removeAbandoned() {
	if !foldersLock {
		return
	}
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), privateFolders))
	for _, path := range left {
		if lock, err := lockFolder(path); err == nil {
			os.RemoveAll(path)
			lock.Close()
		}
	}
}

// remove removes the folder and all that is in it.
func (f *privateFolder) remove() error {
	err := os.RemoveAll(f.path)
	f.lock.Close()
	return err
}
