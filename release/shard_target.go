package release

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/geosql/geosql/internal/files"
)

// A Target is where the files of a release in shards go. Names are paths as in [Spec.Out]. It is
// used by several goroutines at a time.
type Target interface {
	// Create creates a new file, which nobody but its owner may read. The file is stored durably
	// when Close has returned nil. If the writer has a method Abandon(), it is called in
	// place of Close when the file is not needed.
	Create(ctx context.Context, name string) (io.WriteCloser, error)

	// Rename gives a file another name, durably. If from is missing the error is
	// [fs.ErrNotExist]. If to is the name of another file the error is [fs.ErrExist], as far as the
	// target can tell.
	Rename(ctx context.Context, from, to string) error

	// Remove removes a file. That it is missing is no error.
	Remove(ctx context.Context, name string) error

	// Exists reports whether a file exists.
	Exists(ctx context.Context, name string) (bool, error)
}

// A Lister is a [Target] that can list files. Then the drafts of processes that were killed are
// removed when the release is complete.
type Lister interface {
	// List returns the names of the files that begin with a prefix.
	List(ctx context.Context, prefix string) ([]string, error)
}

// LocalFiles is the target for files of this machine, or of a folder that machines share.
var LocalFiles Target = localFiles{}

type localFiles struct{}

// Create implements [Target].
func (localFiles) Create(_ context.Context, name string) (io.WriteCloser, error) {
	f, err := files.OpenShared(name, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	return localFile{f}, nil
}

// A localFile is stored durably when it is closed.
type localFile struct{ *os.File }

// Close syncs the file and its folder, and closes it.
func (f localFile) Close() error {
	err := f.Sync()
	if closing := f.File.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = files.SyncFolder(filepath.Dir(f.Name()))
	}
	return err
}

// Abandon closes the file.
func (f localFile) Abandon() { f.File.Close() }

// Rename implements [Target].
func (localFiles) Rename(_ context.Context, from, to string) error {
	if exists(to) && exists(from) {
		return fmt.Errorf("%s has been created meanwhile: %w", to, fs.ErrExist)
	}
	return files.Rename(from, to)
}

// List implements [Lister].
func (localFiles) List(_ context.Context, prefix string) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(prefix))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(prefix)) {
			names = append(names, filepath.Join(filepath.Dir(prefix), e.Name()))
		}
	}
	return names, err
}

// Remove implements [Target].
func (localFiles) Remove(_ context.Context, name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Exists implements [Target].
func (localFiles) Exists(_ context.Context, name string) (bool, error) {
	_, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
