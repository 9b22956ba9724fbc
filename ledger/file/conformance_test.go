package file_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// reopen opens a ledger for the tests that every engine passes.
func reopen(path string) (ledger.Ledger, error) { return file.Open(path, false) }

func setClock(l ledger.Ledger, at time.Time) { l.(*file.Ledger).SetClock(at.UnixMicro()) }

// A file is a ledger.
func TestConformance(t *testing.T) {
	ledgertest.Run(t, ledgertest.Engine{
		New: func(t testing.TB) string {
			path := filepath.Join(t.TempDir(), "x-ledger")
			l, err := file.Open(path, true)
			check(t, err)
			check(t, l.Close())
			return path
		},
		Open:     reopen,
		SetClock: setClock,
	})
}

// So is a ledger in memory.
func TestConformanceInMemory(t *testing.T) {
	ledgertest.Run(t, ledgertest.Engine{
		New: func(t testing.TB) string {
			l, err := file.OpenMemory("")
			check(t, err)
			t.Cleanup(func() { check(t, l.Close()) })
			return l.ID()
		},
		Open:     func(id string) (ledger.Ledger, error) { return file.OpenMemory(id) },
		SetClock: setClock,
		Alone:    true,
	})
}
