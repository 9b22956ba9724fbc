package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// newFilled returns a ledger with the history of [ledgertest.Fill], its entries a second apart.
func newFilled(t testing.TB) *Ledger {
	t.Helper()
	l := newFile(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro()
	l.clock = func() int64 { at += 1e6; return at }
	ledgertest.Fill(t, l)
	return l
}

func verify(l *Ledger, archive string, earlier *ledger.Head) error {
	_, err := l.Verify(archive, earlier, nil)
	return err
}

func head(t failer, l *Ledger) ledger.Head {
	t.Helper()
	h, err := l.Head()
	check(t, err)
	return h
}

// Every way to change the file that does not write another history whole must be
// noticed, in every column of every table.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	changes := []string{
		"DELETE FROM entry WHERE id = 7",
		"DELETE FROM entry WHERE id = 1",
		"DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)",
		"DELETE FROM entry WHERE id > 9",
		"DELETE FROM entry",
		"UPDATE entry SET id = 1000 WHERE id = 7",
		"INSERT INTO entry SELECT max(id) + 1, statement, time, function, account, unit, 0, 0, 0, window_start, window_spent, NULL, NULL, hash FROM entry",
		"UPDATE entry SET id = -1 WHERE id = 7; UPDATE entry SET id = 7 WHERE id = 10; UPDATE entry SET id = 10 WHERE id = -1",
		"UPDATE entry SET hash = randomblob(32) WHERE id = 7",
		"UPDATE entry SET hash = x'00' WHERE id = 7",
		"UPDATE entry SET spent = spent - 1 WHERE id = 4; UPDATE balance SET spent = spent - 1 WHERE account = 'ana' AND unit = 'm'",
		"UPDATE balance SET spent = spent - 1, reserved = reserved + 1 WHERE account = 'ana' AND unit = 'm'",
		"DELETE FROM balance WHERE account = 'ana'",
		"INSERT INTO balance(account, unit, spent, reserved, last_charge) VALUES ('new', 'm', 0, 0, 0)",
		"DELETE FROM budget WHERE account = 'ana'",
		"INSERT INTO budget VALUES ('new', 'm', 5, NULL, 0, 1)",
		"UPDATE meta SET value = 'other' WHERE key = 'id'",
	}
	for _, column := range []string{"statement", "time", "spent", "reserved", "evaluations", "window_spent"} {
		changes = append(changes, fmt.Sprintf("UPDATE entry SET %s = %[1]s + 1 WHERE id = 7", column))
	}
	for _, column := range []string{"function", "account", "unit"} {
		changes = append(changes, fmt.Sprintf("UPDATE entry SET %s = %[1]s || 'x' WHERE id = 7", column))
	}
	for _, column := range []string{"window_start", "epsilon_limit", "window_seconds"} {
		changes = append(changes, fmt.Sprintf("UPDATE entry SET %s = coalesce(%[1]s, 0) + 1 WHERE id = 7", column))
	}
	for _, column := range []string{"spent", "reserved", "window_start", "window_spent", "last_charge"} {
		changes = append(changes, fmt.Sprintf("UPDATE balance SET %s = coalesce(%[1]s, 0) + 1 WHERE account = 'eve'", column))
	}
	for _, column := range []string{"epsilon", "window_seconds", "changed", "entry"} {
		changes = append(changes, fmt.Sprintf("UPDATE budget SET %s = coalesce(%[1]s, 0) + 1 WHERE account = 'eve'", column))
	}
	for _, sql := range changes {
		l := newFilled(t)
		path := l.Path()
		check(t, l.Close())
		spoil(t, path, sql)
		again := open(t, path)
		err := verify(again, "", nil)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "ledger: ") {
			t.Errorf("%s: %v", sql, err)
		}
		check(t, again.Close())
	}
}

// An older file that is put back verifies by itself; with a head that was noted
// after it was copied it does not.
func TestVerifyFindsAnOldFile(t *testing.T) {
	l := newFilled(t)
	old := filepath.Join(t.TempDir(), "old")
	spoil(t, l.Path(), "VACUUM INTO '"+old+"'")
	before := head(t, l)
	check(t, charge(l, "ana", 1))
	noted := head(t, l)
	check(t, l.Close())

	restored := open(t, old)
	check(t, verify(restored, "", nil))
	check(t, verify(restored, "", &before))
	if err := verify(restored, "", &noted); err == nil || !strings.Contains(err.Error(), "an older file was put back") {
		t.Errorf("got %v", err)
	}
	check(t, charge(restored, "ana", 2)) // another history than the one noted
	if err := verify(restored, "", &noted); err == nil || !strings.Contains(err.Error(), "was rewritten") {
		t.Errorf("got %v", err)
	}
}
