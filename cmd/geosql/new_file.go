package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/geosql/geosql/internal/files"
)

// A newFile is made in a folder beside its place, which only its owner can look into, and gets its
// place once it is complete. SQLite's journals of it are in the folder too.
type newFile struct{ dir, name string }

// beginFile begins a file. Nothing of that name may exist.
func beginFile(name string) (*newFile, error) {
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
	return &newFile{dir, name}, nil
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

// path returns where the file is made.
func (f *newFile) path() string { return filepath.Join(f.dir, "file") }

// publish gives the file its place, durably.
func (f *newFile) publish() error {
	if err := checkFree(f.name); err != nil {
		return err
	}
	return files.Rename(f.path(), f.name)
}

// remove removes the folder with what is left in it.
func (f *newFile) remove() {
	if f != nil {
		_ = os.RemoveAll(f.dir)
	}
}

// newBooks are the files of books that are made. Either may be nil.
type newBooks struct{ database, ledger *newFile }

// beginBooks begins a ledger and, unless its name is empty, a database.
func beginBooks(database, ledger string) (b *newBooks, err error) {
	b = &newBooks{}
	if b.ledger, err = beginFile(ledger); err == nil && database != "" {
		b.database, err = beginFile(database)
	}
	if err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

// publish gives the files their places, the ledger first: a database is never without it.
func (b *newBooks) publish() error {
	for _, f := range []*newFile{b.ledger, b.database} {
		if f == nil {
			continue
		}
		if err := f.publish(); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what is not complete.
func (b *newBooks) remove() {
	b.ledger.remove()
	b.database.remove()
}
