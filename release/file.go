package release

import (
	"bufio"
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

	"github.com/geosql/geosql/internal/files"
)

// unfinished is the ending of the name of a temporary file.
const unfinished = ".unfinished"

// A file is an output file that appears complete or not at all: it is written under a
// temporary name, readable by its owner only.
type file struct {
	*os.File
	path string // its final name
	left bool   // an earlier attempt left something, which may be a sealed release
	keep bool   // it is sealed: only publish may change its names
}

// openFile opens the temporary file of path, which an earlier attempt may have left, and
// locks it for this process.
func openFile(path string) (*file, error) {
	f, err := openTemporary(path + unfinished)
	if err != nil {
		return nil, err
	}
	return newFile(f, path)
}

// lookAtFile returns the file that openFile would return, but creates and removes nothing.
func lookAtFile(path string) (*file, error) {
	if !exists(path + unfinished) {
		folder := filepath.Dir(path)
		info, err := os.Stat(folder)
		if err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", folder)
		}
		return &file{path: path, keep: true}, err
	}
	f, err := openFile(path)
	if err == nil {
		f.keep = true
	}
	return f, err
}

func openTemporary(temp string) (*os.File, error) {
	for {
		if info, err := os.Lstat(temp); err == nil && !info.Mode().IsRegular() { // a link is not regular either
			return nil, fmt.Errorf("%s is not a regular file", temp)
		}
		f, err := files.OpenShared(temp, os.O_CREATE)
		if err != nil {
			return nil, err
		}
		named, err := claim(f)
		if err == nil && named {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", temp, err)
		}
	}
}

// openNameless opens a new file that leaves nothing behind however the process ends. It first removes an existing file of
// that name, unless another process
// is writing it.
func openNameless(path string) (*os.File, error) {
	left, err := openTemporary(path)
	if err != nil {
		return nil, err
	}
	err = os.Remove(path)
	left.Close() // Windows may keep the name until then
	if err != nil {
		return nil, err
	}
	return files.CreateNameless(path)
}

// claim locks a file and reports whether it still has its name.
func claim(f *os.File) (named bool, err error) {
	free, err := files.Lock(f)
	if err == nil && !free {
		err = errors.New("another process is writing it")
	}
	if err != nil {
		return false, err
	}
	if named, err = hasName(f); !named || err != nil {
		return false, err
	}
	private, err := files.Private(f)
	if err == nil && !private {
		err = errors.New("it belongs to another user or has a second name")
	}
	if err == nil {
		err = f.Chmod(0o600)
	}
	return err == nil, err
}

// hasName reports whether a file still has its name.
func hasName(f *os.File) (bool, error) {
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

// empty truncates the file and removes the journals of a GeoPackage.
func (f *file) empty() error {
	f.left = false
	for _, journal := range []string{"-journal", "-wal", "-shm"} {
		if err := os.Remove(f.Name() + journal); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return f.Truncate(0)
}

// hash returns the SHA-256 of the file's content, in hexadecimal.
func (f *file) hash() (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// hashFile returns the hash of a file.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return (&file{File: f}).hash()
}

// syncAndHash syncs the file and returns its hash, which it computes meanwhile.
func (f *file) syncAndHash() (hash string, err error) {
	done := make(chan error, 1)
	go func() { done <- f.Sync() }()
	hash, err = f.hash()
	return hash, cmp.Or(err, <-done)
}

// fill writes the file's content and syncs it.
func (f *file) fill(write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// publish gives the file its final name.
func (f *file) publish() error {
	if named, err := hasName(f.File); err != nil {
		return err
	} else if !named {
		return fmt.Errorf("%s has been replaced by another file", f.Name())
	}
	return files.Rename(f.Name(), f.path)
}

// close closes the file. It removes the file unless it is, or may be, sealed.
func (f *file) close() {
	if !f.keep && !f.left {
		f.remove()
	}
	f.Close()
}

// remove removes the temporary file, if it still has its name. Failing to remove it is not
// an error: nobody reads a file of that name, and the next attempt empties it.
func (f *file) remove() {
	if named, err := hasName(f.File); !named || err != nil {
		return
	}
	_ = os.Remove(f.Name())
	_ = os.Remove(f.Name() + "-journal")
}

// exists reports whether the path exists, also as a broken link.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// accountsPath returns the path of the file in which accounts are sorted that do not fit
// into memory.
func accountsPath(out string) string { return out + ".accounts" + unfinished }

// reportPath returns the path of the report on an output.
func reportPath(out string) string { return out + ".report.html" }

// metadataPath returns the path of the metadata of an output.
func metadataPath(out string) string { return out + ".metadata.json" }

// layerName returns the name of the output without its folder and extensions.
func layerName(out string) string {
	name, _, _ := strings.Cut(filepath.Base(out), ".")
	return name
}
