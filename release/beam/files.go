package beam

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs" // gs://
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"  // s3://
	"github.com/geosql/geosql/release"
)

// objectStores are the schemes of paths on object stores, which Beam's filesystems open.
var objectStores = []string{"gs", "s3"}

// scheme returns the scheme of a path, or "" for a path of this machine.
func scheme(path string) string {
	scheme, _, found := strings.Cut(path, "://")
	if !found {
		return ""
	}
	return scheme
}

// checkPath returns an error unless a path means the same file to all workers.
func checkPath(path string) error {
	s := scheme(path)
	switch {
	case s == "" && !filepath.IsAbs(path):
		return fmt.Errorf("%s is relative, and workers may look elsewhere for it: write the whole path, or gs:// or s3://", path)
	case s == "":
		return nil
	case !slices.Contains(objectStores, s):
		return fmt.Errorf("%s: there is no filesystem %s://: use gs://, s3://, or a folder that all workers see", path, s)
	}
	bucket, object, _ := strings.Cut(strings.TrimPrefix(path, s+"://"), "/")
	if bucket == "" || object == "" || strings.HasSuffix(object, "/") {
		return fmt.Errorf("%s names no file: it must be like %s://BUCKET/FOLDER/FILE", path, s)
	}
	return nil
}

// checkObjectName returns an error if an object store could not look for the file of that name:
// Beam's filesystems take names for patterns.
func checkObjectName(path string) error {
	if scheme(path) != "" && strings.ContainsAny(path, `*?[\`) {
		return fmt.Errorf(`%s: the name of an output on an object store must not have *, ?, [ or \`, path)
	}
	return nil
}

// openStore returns the filesystem of an object store. Beam's filesystems panic where they find no
// settings.
func openStore(path string) (store filesystem.Interface, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", path, r)
		}
	}()
	// The client of a store refreshes its credentials in this context, after the call is over.
	return filesystem.New(context.Background(), path)
}

// openFile opens a file of this machine or of an object store.
func openFile(ctx context.Context, path string) (io.ReadCloser, error) {
	if scheme(path) == "" {
		return os.Open(path)
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	store, err := openStore(path)
	if err != nil {
		return nil, err
	}
	r, err := store.OpenRead(ctx, path)
	if err != nil {
		store.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &storeReader{r, store}, nil
}

// A storeReader closes its store with the file.
type storeReader struct {
	io.ReadCloser
	store io.Closer
}

func (r *storeReader) Close() error { return errors.Join(r.ReadCloser.Close(), r.store.Close()) }

// fetch copies a file of an object store into a folder, and returns the path of the copy. A file
// of this machine stays where it is.
func fetch(ctx context.Context, file, folder string) (local string, err error) {
	if scheme(file) == "" {
		return file, nil
	}
	r, err := openFile(ctx, file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	local = filepath.Join(folder, path.Base(file))
	w, err := os.OpenFile(local, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(w, &interruptible{ctx, r})
	if err = cmp.Or(err, w.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return local, nil
}

// An interruptible reader fails when its context is cancelled.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// openTarget returns where the files of an output go. Close closes it.
func openTarget(out string) (target release.Target, close func() error, err error) {
	if scheme(out) == "" {
		return release.LocalFiles, func() error { return nil }, nil
	}
	store, err := openStore(out)
	if err != nil {
		return nil, nil, err
	}
	t, err := newObjectTarget(store)
	return t, store.Close, err
}

// An objectTarget is an object store. An object is there, durably, when its writer is closed, and not
// at all before. Renaming is copying and removing.
type objectTarget struct{ store objectStore }

// An objectStore is a filesystem that can publish files.
type objectStore interface {
	filesystem.Interface
	filesystem.Copier
	filesystem.Remover
}

func newObjectTarget(store filesystem.Interface) (release.Target, error) {
	s, ok := store.(objectStore)
	if !ok {
		return nil, fmt.Errorf("%T can neither copy nor remove files", store)
	}
	return &objectTarget{s}, nil
}

// Create implements [release.Target].
func (t *objectTarget) Create(ctx context.Context, name string) (io.WriteCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	w, err := t.store.OpenWrite(ctx, name)
	if err != nil {
		cancel()
		return nil, err
	}
	return &objectWriter{w, cancel}, nil
}

// An objectWriter writes an object.
type objectWriter struct {
	io.WriteCloser
	cancel context.CancelFunc
}

// Close ends the upload, and makes the object.
func (w *objectWriter) Close() error {
	defer w.cancel()
	return w.WriteCloser.Close()
}

// Abandon ends the upload without an object.
func (w *objectWriter) Abandon() {
	w.cancel()
	w.WriteCloser.Close()
}

// Rename implements [release.Target]. Several processes may rename a file at a time, and one may be
// killed between copy and removal: then both names have the same bytes.
func (t *objectTarget) Rename(ctx context.Context, from, to string) error {
	taken, err := t.Exists(ctx, to)
	if err != nil {
		return err
	}
	if taken {
		same, err := t.same(ctx, from, to)
		if err != nil {
			return t.missing(ctx, from, err)
		}
		if !same {
			return fmt.Errorf("%s has been created meanwhile: %w", to, fs.ErrExist)
		}
	} else if err := t.store.Copy(ctx, from, to); err != nil {
		return t.missing(ctx, from, fmt.Errorf("copying %s to %s: %w", from, to, err))
	}
	return t.Remove(ctx, from)
}

// missing returns fs.ErrNotExist if an error has the cause that a file is missing, which each store
// says in its own words.
func (t *objectTarget) missing(ctx context.Context, name string, err error) error {
	if there, unknown := t.Exists(ctx, name); unknown == nil && !there {
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrNotExist}
	}
	return err
}

// same reports whether two objects have the same bytes.
func (t *objectTarget) same(ctx context.Context, a, b string) (bool, error) {
	x, err := t.hash(ctx, a)
	if err != nil {
		return false, err
	}
	y, err := t.hash(ctx, b)
	return x == y, err
}

func (t *objectTarget) hash(ctx context.Context, name string) (sum [sha256.Size]byte, err error) {
	r, err := t.store.OpenRead(ctx, name)
	if err != nil {
		return sum, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	h := sha256.New()
	_, err = io.Copy(h, r)
	h.Sum(sum[:0])
	return sum, err
}

// Remove implements [release.Target].
func (t *objectTarget) Remove(ctx context.Context, name string) error {
	err := t.store.Remove(ctx, name)
	if err == nil {
		return nil
	}
	if there, unknown := t.Exists(ctx, name); unknown == nil && !there {
		return nil
	}
	return fmt.Errorf("removing %s: %w", name, err)
}

// Exists implements [release.Target]. It lists, since the errors of stores about missing objects
// differ, and without the right to list some cannot tell a missing object from a forbidden one.
func (t *objectTarget) Exists(ctx context.Context, name string) (bool, error) {
	names, err := t.store.List(ctx, name)
	return slices.Contains(names, name), err
}

// List implements [release.Lister].
func (t *objectTarget) List(ctx context.Context, prefix string) ([]string, error) {
	return t.store.List(ctx, prefix+"*")
}
