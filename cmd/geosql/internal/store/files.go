package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/files"
)

// WriteDurably writes a new file for its owner alone, or leaves none.
func WriteDurably(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Sync(), f.Close()); err != nil {
		_ = os.Remove(name)
	}
	return err
}

// A NewFile is made in a folder beside its place, which only its owner can look into, and gets its
// place once it is complete. SQLite's journals of it are in the folder too.
type NewFile struct{ dir, name string }

// BeginFile begins a file. Nothing of that name may exist.
func BeginFile(name string) (*NewFile, error) {
	if err := checkFree(name); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(name), filepath.Base(name)+".unfinished-")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no folder %s", name, filepath.Dir(name))
	}
	if err != nil {
		return nil, err
	}
	return &NewFile{dir, name}, nil
}

// checkFree returns an error if a file is there, or a journal that SQLite would take for one of
// its own.
func checkFree(name string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		switch _, err := os.Lstat(name + suffix); {
		case err == nil:
			return fmt.Errorf("%s%s exists, and nothing is overwritten: give another name, or move it away", name, suffix)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	return nil
}

// Path returns where the file is made.
func (f *NewFile) Path() string { return filepath.Join(f.dir, "file") }

// Publish gives the file its place, durably.
func (f *NewFile) Publish() error {
	if err := checkFree(f.name); err != nil {
		return err
	}
	return files.Rename(f.Path(), f.name)
}

// Remove removes the folder with its contents.
func (f *NewFile) Remove() {
	if f != nil {
		_ = os.RemoveAll(f.dir)
	}
}

// Draft are the files of a new store. Either may be nil.
type Draft struct{ Database, Ledger *NewFile }

// Begin begins a ledger and, unless its name is empty, a database.
func Begin(database, ledger string) (b *Draft, err error) {
	b = &Draft{}
	if b.Ledger, err = BeginFile(ledger); err == nil && database != "" {
		b.Database, err = BeginFile(database)
	}
	if err != nil {
		b.Remove()
		return nil, err
	}
	return b, nil
}

// Publish gives the files their places, the ledger first: a database is never without it.
func (b *Draft) Publish() error {
	for _, f := range []*NewFile{b.Ledger, b.Database} {
		if f == nil {
			continue
		}
		if err := f.Publish(); err != nil {
			return err
		}
	}
	return nil
}

// Remove removes the incomplete files.
func (b *Draft) Remove() {
	b.Ledger.Remove()
	b.Database.Remove()
}
