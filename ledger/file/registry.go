package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/geosql/geosql/internal/turns"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// registry holds the ledgers of the process under their keys. A second Ledger for a file
// would not know the amounts that the first has set aside.
var registry = struct {
	sync.Mutex
	ledgers map[string]*Ledger
	busy    map[string]chan struct{} // keys being opened or closed, of no registered ledger
}{ledgers: map[string]*Ledger{}, busy: map[string]chan struct{}{}}

// claim returns the open ledger of a key. If there is none it returns nil, and the caller
// has claimed the key: it may open the ledger and has to call unclaim. It does not hold the
// registry's lock while it waits for the disk and for other programs, so that other ledgers
// go on. claim is called, and returns, under that lock.
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

// unclaim lets those go on who wait for a key. It is called under the registry's lock.
func unclaim(key string) {
	close(registry.busy[key])
	delete(registry.busy, key)
}

// key returns the ledger's name in the registry: an absolute path, or an ID, which has no
// separator.
func (l *Ledger) key() string {
	if l.path == "" {
		return l.id
	}
	return l.path
}

// An Option changes how a ledger is opened.
type Option func(*options)

type options struct {
	mode fs.FileMode
	test bool
}

// WithMode gives the ledger's file, and the files beside it, a mode that [CheckMode] allows.
// The ledger keeps it. With mode 0, a new ledger has mode 0600 and others keep theirs.
func WithMode(mode fs.FileMode) Option { return func(o *options) { o.mode = mode } }

// ForTests opens ledgers that it has made, and no other: their answers can be predicted. Without it they are refused.
func ForTests() Option { return func(o *options) { o.test = true } }

// Open returns the process's one ledger for the file at path, whatever symbolic links lead to
// it. A file with several names (hard links) is an error. With create, Open makes a ledger of
// a file that is missing or empty. Without, such a file is an error that wraps
// [fs.ErrNotExist].
func Open(path string, create bool, opts ...Option) (*Ledger, error) {
	l, err := collect(opts).open(path, create)
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err // without its path, which need not be one line
	}
	if err != nil {
		return nil, fmt.Errorf("ledger: cannot open %q: %w", path, err)
	}
	return l, nil
}

// collect returns the options that opts set.
func collect(opts []Option) (o options) {
	for _, set := range opts {
		set(&o)
	}
	return o
}

// OpenMemory returns a ledger that lives in memory: a new one if id is empty, and else the
// one with that ID, or an error if it was closed.
func OpenMemory(id string, opts ...Option) (*Ledger, error) {
	if id == "" {
		db, err := openStore(":memory:", true, collect(opts))
		if err != nil {
			return nil, engine.Wrap(err)
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

func (o options) open(path string, create bool) (*Ledger, error) {
	if o.mode != 0 {
		if err := CheckMode(o.mode); err != nil {
			return nil, err
		}
	}
	real, err := realPath(path)
	if err != nil {
		return nil, err
	}
	registry.Lock()
	defer registry.Unlock()
	if l := claim(real); l != nil {
		return l.reopen(o)
	}
	defer unclaim(real)
	registry.Unlock()
	db, at, err := openFile(real, create, o)
	registry.Lock()
	if err != nil {
		return nil, err
	}
	return register(db, real, at), nil
}

// reopen adds a reference to an open ledger for a call of Open with these options.
func (l *Ledger) reopen(o options) (*Ledger, error) {
	if err := l.place.check(); err != nil {
		return nil, err
	}
	if err := CheckID(l.id, o.test); err != nil {
		return nil, err
	}
	if o.mode != 0 {
		if err := applyMode(l.path, o.mode); err != nil {
			return nil, err
		}
	}
	l.refs++
	return l, nil
}

// openFile opens the ledger at a real path.
func openFile(path string, create bool, o options) (*store, place, error) {
	if _, err := os.Stat(path); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	if err := checkUnshared(path); err != nil {
		return nil, nil, err
	}
	db, err := openStore(path, create, o)
	if err != nil {
		return nil, nil, err
	}
	at, err := finishOpening(path, o)
	if err != nil {
		db.close()
	}
	return db, at, err
}

// finishOpening gives the files of a ledger that was opened their mode, and returns its place.
func finishOpening(path string, o options) (place, error) {
	if err := applyMode(path, o.mode); err != nil {
		return nil, err
	}
	return inspectPlace(path)
}

// register makes the Ledger of a store and adds it to the registry. It is called under the
// registry's lock.
func register(db *store, path string, at place) *Ledger {
	l := &Ledger{
		path:  path,
		place: at,
		id:    db.id,
		refs:  1,
		clock: func() int64 { return time.Now().UnixMicro() },
		db:    db,
	}
	l.Core = engine.New(disk{l})
	run := l.runJobs // once: charges should not allocate
	l.jobs.Commit = func() error { return l.commit(run) }
	l.watcher.lastSeen = db.opened.ID
	if path != "" {
		l.turns = turns.Open(path+"-queue", l.mode())
	}
	registry.ledgers[l.key()] = l
	return l
}

// realPath resolves the symbolic links of a path. The file may be missing, but no folder on
// the way to it.
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
