package file

import (
	"fmt"
	"testing"
)

// SQLite may not make the file any larger, which it reports as a full disk.
func TestCrashFaultPageLimit(t *testing.T) {
	l := newFile(t)
	check(t, l.SetLimit("*", "m", 100, 0))
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 16"))
	granted := map[string]bool{}
	var full error
	for i := 0; full == nil && i < 10_000; i++ {
		account := fmt.Sprint("account number ", i)
		if full = charge(l, account, 1); full == nil {
			granted[account] = true
		}
	}
	if full == nil || full.Error() != "ledger: database or disk is full" {
		t.Fatalf("got %v", full)
	}
	if all := onDisk(t, l.Path()); len(all) != len(granted) {
		t.Errorf("%d granted, %d on disk", len(granted), len(all))
	}
	check(t, l.db.conn.Exec("PRAGMA max_page_count = 1000000"))
	check(t, charge(l, "ana", 1))
}
