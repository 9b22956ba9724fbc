package file_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/ledger/file"
)

// A ledger of tests and any other refuse each other's programs, as files, as copies, as moves and in a process that has the file open.
func TestForTests(t *testing.T) {
	folder := t.TempDir()
	const ofTest, ofNone = "a test made that ledger", "no test made that ledger"
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	tested, real, copied := filepath.Join(folder, "tested"), filepath.Join(folder, "real"), filepath.Join(folder, "copied")
	l, err := file.Open(tested, true, file.ForTests())
	check(t, err)
	check(t, l.SetLimit("ana", "m", 100, 0))
	check(t, l.Copy(copied, func(float64) error { return nil }))
	other, err := file.Open(real, true)
	check(t, err)
	for range 2 { // open, and closed
		for _, create := range []bool{false, true} {
			_, err := file.Open(tested, create)
			refused(ofTest, err)
			_, err = file.Open(real, create, file.ForTests())
			refused(ofNone, err)
		}
		if l != nil {
			check(t, l.Close())
			check(t, other.Close())
			l = nil
		}
	}
	_, err = file.Open(copied, false)
	refused(ofTest, err)
	_, err = file.NewPlace(tested, 0)
	refused(ofTest, err)
	l, err = file.Open(tested, true, file.ForTests())
	check(t, err)
	defer l.Close()
	if b, err := l.Balance("ana", "m"); err != nil || b.Limit != 100 {
		t.Errorf("%+v, %v", b, err)
	}
	if _, err := l.Verify("", nil, nil); err != nil {
		t.Error(err)
	}
}
