package engines_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger/engines"
)

func TestCheck(t *testing.T) {
	for _, where := range []string{
		"city.db-ledger", "/var/lib/books", "./postgres:x", "./host=x", "a:b", "C:/books", "a=b", "x/postgres://y",
		"postgres://host/database", "postgresql://ana@host:5433/database?sslmode=verify-full",
	} {
		if err := engines.Check(where); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	for where, want := range map[string]string{
		"":                              "empty",
		"postgres:/x":                   "begins with postgres://, as in postgres://host/database",
		"postgresql:x":                  "begins with postgresql://",
		"postgres://ana:hunter2@host/x": "PGPASSFILE",
		"mysql://ana:hunter2@host/x":    "not with mysql://",
		"https://ana:hunter2@host/x":    "not with https://",
		"host=db password=hunter2":      "has a URL, such as postgres://host/database",
		"password=hunter2 host=db":      "has a URL, such as postgres://host/database",
	} {
		err := engines.Check(where)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", where, err, want)
		}
		if _, err := engines.Open(where, true, 0); err == nil {
			t.Errorf("%s is opened", where)
		}
	}
}

func TestOpenFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := engines.Open("books", false, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	mode := fs.FileMode(0o640)
	if runtime.GOOS == "windows" {
		mode = 0 // files have none
	}
	l, err := engines.Open("books", true, mode)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if filepath.Base(l.Path()) != "books" {
		t.Errorf("its path is %s", l.Path())
	}
	if info, err := os.Stat("books"); err != nil || mode != 0 && info.Mode().Perm() != mode {
		t.Errorf("%v, %v", info, err)
	}
	again, err := engines.Open("./books", false, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again != l {
		t.Error("a file has two ledgers in one process")
	}
}

func TestServerHasNoMode(t *testing.T) {
	if _, err := engines.Open("postgres://host/database", true, 0o640); err == nil || !strings.Contains(err.Error(), "GRANT") {
		t.Error(err)
	}
}
