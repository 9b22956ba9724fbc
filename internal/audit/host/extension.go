package host

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Extension is the host that evaluates SQL in other processes, which have loaded the extension. Each
// session is a process of its own. It has no sealed databases, which need the command.
type Extension struct {
	file, python, describe string
}

//go:embed extension.py
var extensionScript string

// NewExtension returns the host of an extension. It takes the first python3 in PATH with an SQLite that can load extensions, and
// loads it once.
func NewExtension(ctx context.Context, file string) (*Extension, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(file); err != nil {
		return nil, err
	}
	e := &Extension{file: file}
	var failed error
	for _, e.python = range pythons() {
		if e.describe, err = e.load(ctx); err == nil {
			return e, nil
		}
		failed = cmp.Or(failed, err)
	}
	return nil, cmp.Or(failed, errors.New("a Python has to load the extension, and there is no python3 in PATH"))
}

// pythons lists the programs called python3 in PATH.
func pythons() (list []string) {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		if path, err := exec.LookPath(filepath.Join(folder, "python3")); err == nil && filepath.IsAbs(path) {
			list = append(list, path)
		}
	}
	return list
}

// load loads the extension, and names it and its program in a few words.
func (e *Extension) load(ctx context.Context) (string, error) {
	s, err := e.open(ctx, ":memory:")
	if err != nil {
		return "", err
	}
	defer s.Close()
	var version string
	err = s.Query(ctx, `SELECT geosql_version()`, func(row []any) error {
		version = fmt.Sprint(row[0])
		return nil
	})
	return fmt.Sprintf("geosql %s as the extension %s, %s", version, filepath.Base(e.file), s.host), err
}

// open starts a process with a connection to a database.
func (e *Extension) open(ctx context.Context, database string) (*extensionSession, error) {
	return startExtension(ctx, exec.Command(e.python, "-I", "-c", extensionScript, e.file, database))
}

// Describe implements [Host].
func (e *Extension) Describe() string { return e.describe }

// Makes implements [Host].
func (e *Extension) Makes(sealed bool) bool { return !sealed }

// Create implements [Host].
func (e *Extension) Create(ctx context.Context, folder string, setup Setup) (Database, error) {
	path := filepath.Join(folder, "plain.db")
	d := &fileDatabase{connect: func(ctx context.Context) (Session, error) {
		s, err := e.open(ctx, path)
		if err != nil {
			return nil, err // without s: a Session of a nil *extensionSession is not nil
		}
		return s, nil
	}}
	return d, d.fill(ctx, setup.SQL)
}
