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
}{ledgers: map[string]*Ledger{}}

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
	registry.Lock()
	defer registry.Unlock()
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
	registry.Lock()
	defer registry.Unlock()
	if id == "" {
		db, err := openStore(":memory:", true)
		if err != nil {
			return nil, wrap(err)
		}
		return register(db, "", nil), nil
	}
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
	if l := registry.ledgers[real]; l != nil {
		if err := l.inPlace(); err != nil {
			return nil, err
		}
		l.refs++
		return l, nil
	}
	if _, err := os.Stat(real); err != nil && !(create && errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	return openNew(real, create)
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

func openNew(path string, create bool) (*Ledger, error) {
	db, err := openStore(path, create)
	if err != nil {
		return nil, err
	}
	real, err := realPath(path) // once more: a link may have led to nothing before
	if err == nil {
		var file fs.FileInfo
		if file, err = os.Stat(real); err == nil {
			return register(db, real, file), nil
		}
	}
	db.close()
	return nil, err
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

// realPath resolves the links of path, all but the last of which must exist.
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
	return filepath.Join(dir, filepath.Base(abs)), err
}
