package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/turns"
)

// registry holds the ledgers of the process under their keys. A second object
// for a file would not know what the first has set aside.
var registry = struct {
	sync.Mutex
	ledgers map[string]*Ledger
	busy    map[string]chan struct{} // keys being opened or closed, of no registered ledger
}{ledgers: map[string]*Ledger{}, busy: map[string]chan struct{}{}}

// claim returns the open ledger of a key. Where there is none the caller has
// claimed the key, to open it, and has to give it up. Opening and closing wait for
// the disk and for other programs, and the registry's lock is not held then: other
// ledgers go on. It is called, and returns, under that lock.
func claim(key string) *Ledger {
	for registry.busy[key] != nil {
		done := registry.busy[key]
		registry.Unlock()
		<-done
		registry.Lock()
	}
	l := registry.ledgers[key]
	if l == nil {
		registry.busy[key] = make(chan struct{})
	}
	return l
}

func giveUp(key string) {
	close(registry.busy[key])
	delete(registry.busy, key)
}

// key is the ledger's name in the registry: an absolute path, or an id, which
// has no separator.
func (l *Ledger) key() string {
	if l.path == "" {
		return l.id
	}
	return l.path
}

// Open returns the process's one ledger for the file at path, whatever links
// lead to it. With create it makes a file that is missing or empty into a
// ledger; without, such a file is an error that wraps [fs.ErrNotExist].
func Open(path string, create bool) (*Ledger, error) {
	l, err := openShared(path, create)
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err // without its path, which need not be one line
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: cannot open %q: %w", path, err)
	}
	return l, nil
}

// OpenMemory returns a ledger that lives in memory: a new one for an empty id,
// else the one of that id, which is an error when it is gone.
func OpenMemory(id string) (*Ledger, error) {
	if id == "" {
		db, err := openStore(":memory:", true)
		if err != nil {
			return nil, wrap(err)
		}
		registry.Lock()
		defer registry.Unlock()
		return register(db, "", nil), nil
	}
	registry.Lock()
	defer registry.Unlock()
	l := registry.ledgers[id]
	if l == nil || l.path != "" {
		return nil, fmt.Errorf("ledger: no ledger %q is open in memory", id)
	}
	l.refs++
	return l, nil
}

func openShared(path string, create bool) (*Ledger, error) {
	real, err := realPath(path)
	if err != nil {
		return nil, err
	}
	registry.Lock()
	defer registry.Unlock()
	if l := claim(real); l != nil {
		return l.share()
	}
	defer giveUp(real)
	registry.Unlock()
	db, file, err := openFile(real, create)
	registry.Lock()
	if err != nil {
		return nil, err
	}
	return register(db, real, file), nil
}

// share adds a reference.
func (l *Ledger) share() (*Ledger, error) {
	if err := l.inPlace(); err != nil {
		return nil, err
	}
	l.refs++
	return l, nil
}

// inPlace makes sure that the path still leads to the open file: what is charged
// to a file that was removed or replaced is lost. The file is looked at without
// opening it: see the package's comment.
func (l *Ledger) inPlace() error {
	if l.path == "" {
		return nil
	}
	file, err := os.Stat(l.path)
	if err != nil || !os.SameFile(file, l.file) {
		return errors.New("the file was removed or replaced while in use")
	}
	return nil
}

func openFile(path string, create bool) (*store, fs.FileInfo, error) {
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	db, err := openStore(path, create)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Stat(path)
	if err != nil {
		db.close()
	}
	return db, file, err
}

func register(db *store, path string, file fs.FileInfo) *Ledger {
	l := &Ledger{
		path:  path,
		file:  file,
		id:    db.id,
		refs:  1,
		clock: func() int64 { return time.Now().UnixMicro() },
		db:    db,
		pools: map[budget.Unit]map[string]*pool{},
	}
	if path != "" {
		l.turns = turns.Open(path+"-queue", file.Mode().Perm())
	}
	registry.ledgers[l.key()] = l
	return l
}

// realPath resolves the links of path. The file that it leads to may be missing,
// but no folder on the way.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	abs = filepath.Join(dir, filepath.Base(abs))
	to, err := os.Readlink(abs)
	switch {
	case err != nil: // no link
		return abs, nil
	case !filepath.IsAbs(to):
		to = filepath.Join(dir, to)
	}
	return realPath(to)
}
