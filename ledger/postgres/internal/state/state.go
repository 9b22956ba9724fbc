// Package state keeps on this machine the knowledge of its processes about the ledgers on servers that they
// have written to: for each writer the last entry that the server has acknowledged. A server that
// does not have that entry has lost charges.
//
// A writer is a file, which a process locks while it writes to the ledger. Data written to the
// file survives the end of the process, however it ends. It may not survive the end of the
// machine's power, because that would cost every charge one more wait for a disk: then the file may
// say an earlier entry.
package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/ledger"
)

// FolderVariable is the environment variable that says where the files are.
const FolderVariable = "GEOSQL_STATE_DIR"

// Folder returns the folder of the files of all ledgers. It may not exist.
func Folder() (string, error) {
	if folder := os.Getenv(FolderVariable); folder != "" {
		return filepath.Abs(folder)
	}
	if folder := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(folder) { // others are to be ignored, it is said
		return filepath.Join(folder, "geosql"), nil
	}
	folder, err := os.UserHomeDir()
	if runtime.GOOS == "windows" {
		folder, err = os.UserCacheDir() // the one that stays on this machine: another must not write as the same writer
	} else {
		folder = filepath.Join(folder, ".local", "state")
	}
	if err != nil {
		return "", fmt.Errorf("no folder for this machine's record of a ledger on a server: set %s (%w)", FolderVariable, err)
	}
	return filepath.Join(folder, "geosql"), nil
}

const prefix = "writer-"

// Writer is the right to write to a ledger under an ID that nobody else uses. One goroutine at a
// time may use it.
type Writer struct {
	file     *os.File
	ledgerID string
	slot     slot
	failed   error // the file may have an earlier entry
}

// Claim returns a writer of a ledger that has a generation: one that no process uses, or else a new
// one. Writers of older generations that no process uses are removed; their IDs are never used
// again. An error may be one of a file that is damaged: Claim never forgets the entry in it.
func Claim(folder, ledgerID string, generation int64) (*Writer, error) {
	folder = filepath.Join(folder, ledgerID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	names, err := list(folder)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		w, err := claim(filepath.Join(folder, name), ledgerID, generation)
		if w != nil || err != nil {
			return w, err
		}
	}
	return create(folder, ledgerID, generation)
}

// list returns the names of the files in a folder.
func list(folder string) (names []string, err error) {
	all, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, file := range all {
		if name := file.Name(); strings.HasPrefix(name, prefix) && !strings.HasSuffix(name, unfinished) {
			names = append(names, name)
		}
	}
	return names, nil
}

// claim claims the writer of a file. It returns nil if another process uses it, or if it is of an
// older generation.
func claim(path, ledgerID string, generation int64) (*Writer, error) {
	file, err := files.OpenShared(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, ledgerID: ledgerID}
	free, err := files.Lock(file)
	if err == nil && free && inPlace(file) {
		w.slot, err = read(file, ledgerID)
		switch {
		case err != nil:
		case w.slot.generation > generation:
			err = fmt.Errorf("the ledger is in its generation %d, but this machine has seen generation %d: an older copy of it was put back", generation, w.slot.generation)
		case w.slot.generation < generation:
			err = os.Remove(path)
		default:
			return w, nil
		}
	}
	file.Close()
	return nil, err
}

// inPlace reports whether the path of an open file still leads to it.
func inPlace(file *os.File) bool {
	open, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(file.Name())
	return err == nil && os.SameFile(open, there)
}

// read reads a file.
func read(file *os.File, ledgerID string) (s slot, err error) {
	// Another process may write each slot while it is read here, but not as fast as that.
	for range 3 {
		b := make([]byte, fileSize+1)
		n, _ := file.ReadAt(b, 0) // at the end of the file it has less than was asked for
		if s, err = parse(b[:n], ledgerID); !errors.Is(err, errDamaged) {
			break
		}
	}
	if err == nil && s.name() != filepath.Base(file.Name()) {
		err = errors.New("it is a copy of another writer's")
	}
	if err != nil {
		return slot{}, fmt.Errorf("%s is damaged: %w. It says which charges the server has acknowledged; without it, nobody notices if the server has lost them. "+
			"Check the ledger with 'geosql budget -verify -head HEAD' and a head that you have noted, then delete the file", file.Name(), err)
	}
	return s, nil
}

// unfinished ends the names of files left by a process that was killed while it made them.
const unfinished = ".new"

// create makes a writer. The file gets its name when it is whole and locked.
func create(folder, ledgerID string, generation int64) (*Writer, error) {
	w := &Writer{ledgerID: ledgerID, slot: slot{generation: generation}}
	_, _ = rand.Read(w.slot.id[:]) // never fails
	path := filepath.Join(folder, w.slot.name())
	var err error
	if w.file, err = files.OpenShared(path+unfinished, os.O_CREATE|os.O_EXCL); err != nil {
		return nil, err
	}
	if err := w.finish(path); err != nil {
		w.file.Close()
		os.Remove(path + unfinished)
		return nil, err
	}
	return w, nil
}

// finish writes and locks the file of a new writer, and then gives it its name.
func (w *Writer) finish(path string) error {
	if _, err := w.file.WriteAt(make([]byte, fileSize), 0); err != nil {
		return err
	}
	for range 2 { // slots
		if err := w.write(); err != nil {
			return err
		}
	}
	if err := w.file.Sync(); err != nil { // so that the end of the power leaves a file that can be read
		return err
	}
	if _, err := files.Lock(w.file); err != nil {
		return err
	}
	return os.Rename(path+unfinished, path)
}

// write writes the slot that is older.
func (w *Writer) write() error {
	w.slot.count++
	_, err := w.file.WriteAt(w.slot.append(nil, w.ledgerID), int64(w.slot.count%2)*slotDistance)
	return err
}

// ID returns the writer's ID, 32 hexadecimal digits.
func (w *Writer) ID() string { return hex.EncodeToString(w.slot.id[:]) }

// Last returns the last entry that the server has acknowledged. For a new writer it has ID 0 and
// no hash.
func (w *Writer) Last() ledger.Head { return w.slot.last }

// Doubt returns the last entry of a transaction in doubt, which may or may not be committed, or
// nil.
func (w *Writer) Doubt() *ledger.Head {
	if w.slot.doubt.ID == 0 {
		return nil
	}
	doubt := w.slot.doubt
	return &doubt
}

// Acknowledge stores the last entry that the server has acknowledged. There is no doubt any more.
func (w *Writer) Acknowledge(h ledger.Head) error {
	if h.ID < w.slot.last.ID {
		return fmt.Errorf("the server has acknowledged entry %d before entry %d", w.slot.last.ID, h.ID)
	}
	w.slot.last, w.slot.doubt = h, ledger.Head{}
	return w.store()
}

// InDoubt stores the last entry of a transaction in doubt.
func (w *Writer) InDoubt(h ledger.Head) error {
	w.slot.doubt = h
	return w.store()
}

// store writes to the file. After an error of one write the file says too little, and so every
// later one fails too, until another process claims the file.
func (w *Writer) store() error {
	if w.failed == nil {
		if err := w.write(); err != nil {
			w.failed = fmt.Errorf("the acknowledgement of the server cannot be noted: %w", err)
		}
	}
	return w.failed
}

// Close leaves the writer to other processes.
func (w *Writer) Close() error { return w.file.Close() }

// Seen is the content of a file of this machine.
type Seen struct {
	ID         string // of the writer
	Generation int64
	Last       ledger.Head
	Doubt      *ledger.Head
}

// All returns the contents of all files of a ledger on this machine, also of the files that processes use. A process that
// compares them with the server reads them first: the server has then at least as much.
func All(folder, ledgerID string) (all []Seen, err error) {
	folder = filepath.Join(folder, ledgerID)
	names, err := list(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		file, err := os.Open(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := read(file, ledgerID)
		file.Close()
		if err != nil {
			return nil, err
		}
		w := Writer{slot: s}
		all = append(all, Seen{w.ID(), s.generation, s.last, w.Doubt()})
	}
	return all, nil
}
