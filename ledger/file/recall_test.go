package file

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// A ledger that is closed stays closed: looking for limits does not open it again.
func TestClosedLedgerIsNotLookedAt(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 30}}))
	check(t, charge(l, "ana", 1)) // which looks
	check(t, l.Close())
	for range 2 {
		if err := charge(l, "ana", 1); err != engine.ErrClosed {
			t.Errorf("got %v", err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(l.Path())); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}
