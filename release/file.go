package release

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unfinished is what the name of a temporary file ends with.
const unfinished = ".unfinished"

// A file is one that appears whole or not at all: it is written under a temporary name,
// for its owner's eyes only.
type file struct {
	*os.File
	path string // that it is to have
	left bool   // an earlier attempt left something, which may be a release that is sealed
	keep bool   // it is sealed: only publish may touch its names
}

// openFile opens the temporary file of path, or the one that an earlier attempt has left,
// for this process alone.
func openFile(path string) (*file, error) {
	f, err := openTemporary(path + unfinished)
	if err != nil {
		return nil, err
	}
	return newFile(f, path)
}

func openTemporary(temp string) (*os.File, error) {
	for {
		if info, err := os.Lstat(temp); err == nil && !info.Mode().IsRegular() { // nor a link to one
			return nil, fmt.Errorf("%s: not a regular file", temp)
		}
		f, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		here, err := claim(f)
		if err == nil && here {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", temp, err)
		}
	}
}

// openNameless opens a new file that has no name from then on: whatever ends the process,
// nothing stays of it. What has the name already goes, unless somebody writes it.
func openNameless(path string) (*os.File, error) {
	left, err := openTemporary(path)
	if err != nil {
		return nil, err
	}
	defer left.Close()
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// claim locks a file, and reports whether it still has its name.
func claim(f *os.File) (here bool, err error) {
	if lock(f) != nil {
		return false, errors.New("another process is writing it")
	}
	if here, err = named(f); !here || err != nil {
		return false, err
	}
	info, err := f.Stat()
	if err == nil && !private(info) {
		err = errors.New("it is somebody else's or has another name")
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	return err == nil, err
}

// named reports whether a file still has its name.
func named(f *os.File) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(f.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(info, there), err
}

func newFile(f *os.File, path string) (*file, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &file{File: f, path: path, left: info.Size() > 0}, nil
}

// empty begins anew.
func (f *file) empty() error {
	f.left = false
	for _, journal := range []string{"-journal", "-wal", "-shm"} { // of a GeoPackage
		if err := os.Remove(f.Name() + journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

// hash is the SHA-256 of the file's content, in hexadecimal.
func (f *file) hash() (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// synced puts the file on disk and meanwhile takes its hash.
func (f *file) synced() (hash string, err error) {
	done := make(chan error, 1)
	go func() { done <- f.Sync() }()
	hash, err = f.hash()
	return hash, cmp.Or(err, <-done)
}

// publish gives the file its name.
func (f *file) publish() error {
	if here, err := named(f.File); err != nil {
		return err
	} else if !here {
		return fmt.Errorf("%s is another file now", f.Name())
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	return syncDir(f.path)
}

// close closes the file, and removes it unless it has, or may have, been sealed.
func (f *file) close() {
	if !f.keep && !f.left {
		f.remove()
	}
	f.Close()
}

// remove removes the temporary file, if it is this one. That it cannot be removed is no
// error: whatever stays has no name that anybody would read, and is emptied by the next
// attempt.
func (f *file) remove() {
	if here, err := named(f.File); !here || err != nil {
		return
	}
	_ = os.Remove(f.Name())
	_ = os.Remove(f.Name() + "-journal")
}

// syncDir makes the name of a file last.
func syncDir(path string) error {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// exists reports whether something has the name, also a link that leads nowhere.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// same reports whether two names are those of one file.
func same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// accountsPath is where accounts are sorted that are too many for memory.
func accountsPath(out string) string { return out + ".accounts" + unfinished }

// reportPath is where the report of an output stands.
func reportPath(out string) string { return out + ".report.html" }

// layerName is the name of the output without its folder and endings.
func layerName(out string) string {
	name, _, _ := strings.Cut(filepath.Base(out), ".")
	return name
}
