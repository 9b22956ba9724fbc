package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/ledgertest"
)

// sums are the sums of the listed charges by account and unit.
func sums(t failer, l *Ledger) map[key]ledger.Charge {
	t.Helper()
	all := map[key]ledger.Charge{}
	for _, c := range charges(t, l) {
		k := key{c.Account, c.Unit}
		s := all[k]
		s.Epsilon += c.Epsilon
		s.Evaluations += c.Evaluations
		all[k] = s
	}
	return all
}

func entryTime(t failer, l *Ledger, id int64) time.Time {
	t.Helper()
	at, err := l.db.readInt(fmt.Sprintf("SELECT time FROM entry WHERE id = %d", id))
	check(t, err)
	return time.UnixMicro(at)
}

// standings returns the stored standing of every account, whichever entry it comes from.
func standings(t *testing.T, l *Ledger) (all []ledger.Standing) {
	t.Helper()
	balances := ledgertest.Balances(t, l)
	check(t, l.read(func(db *store) error {
		for _, b := range balances {
			s, err := db.standing(b.Account, b.Unit, l.clock())
			if err != nil {
				return err
			}
			s.Term = ledger.Term{} // where no window has started it depends on the time
			all = append(all, s)
		}
		return nil
	}))
	return all
}

func TestArchive(t *testing.T) {
	l := newFilled(t)
	path := filepath.Join(t.TempDir(), "archive")
	first := head(t, l)
	before := standings(t, l)
	charged := sums(t, l)
	limits := fmt.Sprint(l.LimitChanges())
	early := ledger.Head{}
	check(t, l.read(func(db *store) (err error) { early, err = db.headAt(5); return err }))

	cut := entryTime(t, l, 12)
	moved, err := l.Archive(path, cut)
	check(t, err)
	if moved != 11 {
		t.Errorf("moved %d entries", moved)
	}
	same := func() {
		t.Helper()
		now := standings(t, l)
		if !slices.Equal(now, before) {
			t.Errorf("balances were %+v, are %+v", before, now)
		}
		if now := sums(t, l); fmt.Sprint(now) != fmt.Sprint(charged) {
			t.Errorf("charges were %v, are %v", charged, now)
		}
		onDisk(t, l.Path())
		check(t, verify(l, "", nil))
		check(t, verify(l, path, nil))
		check(t, verify(l, path, &early))
		check(t, verify(l, "", &first))
		if err := verify(l, "", &early); err == nil || !strings.Contains(err.Error(), "archive") {
			t.Errorf("a head of the archive: %v", err)
		}
	}
	same()
	if now := fmt.Sprint(l.LimitChanges()); now == limits {
		t.Error("the limits that were archived are still listed as they were")
	}

	// An archive stays as it is when there is nothing to move, and later entries go to
	// the same archive, sums carried over too.
	moved, err = l.Archive(path, cut)
	check(t, err)
	if moved != 0 {
		t.Errorf("moved %d entries twice", moved)
	}
	_, err = l.Archive(path, entryTime(t, l, first.ID))
	check(t, err)
	same()
	_, err = l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	path2 := l.Path()
	v, err := l.Verify(path, nil, nil)
	check(t, err)
	check(t, l.Close())
	again := open(t, path2)
	check(t, verify(again, path, &v.Head))
	check(t, charge(again, "ana", 1))
	check(t, verify(again, path, &v.Head))

	// The archive is evidence too.
	for _, sql := range []string{
		"UPDATE entry SET spent = spent + 1 WHERE id = 4",
		"DELETE FROM entry WHERE id = 4",
		"DELETE FROM entry WHERE id = (SELECT max(id) FROM entry)",
	} {
		copied := filepath.Join(t.TempDir(), "copy")
		bytes, err := os.ReadFile(path)
		check(t, err)
		check(t, os.WriteFile(copied, bytes, 0o600))
		spoil(t, copied, sql)
		if verify(again, copied, nil) == nil {
			t.Errorf("%s was not noticed", sql)
		}
	}
	// So are the sums that stand for it.
	spoil(t, again.Path(), "UPDATE entry SET spent = spent - 1 WHERE function = 'ledger_archive' AND spent > 0; UPDATE balance SET spent = spent - 1")
	if verify(again, path, nil) == nil {
		t.Error("a changed sum was not noticed")
	}
}

// Moved entries are gone also where nothing has to be carried over.
func TestArchiveSupersededLimit(t *testing.T) {
	l := newFile(t)
	clock := atClock(l)
	check(t, l.SetLimit("ana", "m", 1, 0))
	clock(time.Hour)
	check(t, l.SetLimit("ana", "m", 2, 0))
	path := filepath.Join(t.TempDir(), "archive")
	moved, err := l.Archive(path, noon.Add(time.Minute))
	check(t, err)
	if changes, err := l.LimitChanges(); err != nil || moved != 1 || len(changes) != 1 {
		t.Errorf("moved %d, left %v, %v", moved, changes, err)
	}
	check(t, verify(l, path, nil))
}

// A call that ends between its two transactions leaves the entries in both
// files; the next one goes on.
func TestArchiveInterrupted(t *testing.T) {
	l := newFilled(t)
	path := filepath.Join(t.TempDir(), "archive")
	cut := entryTime(t, l, 12)
	check(t, l.read(func(db *store) error {
		_, err := db.copyEntries(path, privateMode, cut.UnixMicro())
		return err
	}))
	check(t, verify(l, path, nil))
	later := entryTime(t, l, 15)
	moved, err := l.Archive(path, later)
	check(t, err)
	if moved != 14 {
		t.Errorf("moved %d entries", moved)
	}
	check(t, verify(l, path, nil))
}

func TestArchiveErrors(t *testing.T) {
	dir := t.TempDir()
	archive := filepath.Join(dir, "archive")
	other := newFilled(t)
	_, err := other.Archive(filepath.Join(dir, "other"), time.Now())
	check(t, err)
	foreign := filepath.Join(dir, "foreign")
	spoil(t, foreign, "CREATE TABLE t(a)")
	l := newFilled(t)
	first := entryTime(t, l, 9)
	_, err = l.Archive(archive, first)
	check(t, err)
	old, err := os.ReadFile(archive)
	check(t, err)
	_, err = l.Archive(archive, entryTime(t, l, 12))
	check(t, err)
	behind := filepath.Join(dir, "behind")
	check(t, os.WriteFile(behind, old, 0o600))

	for path, want := range map[string]string{
		filepath.Join(dir, "other"):     "that of ledger",
		foreign:                         "not an archive",
		l.Path():                        "not an archive",
		behind:                          "are in another",
		filepath.Join(dir, "new"):       "are in another",
		dir:                             "unable to open",
		filepath.Join(dir, "none", "x"): "unable to open",
	} {
		before := head(t, l)
		_, err := l.Archive(path, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if head(t, l) != before {
			t.Errorf("%s: the ledger was changed", path)
		}
	}
	check(t, verify(l, archive, nil))
	for _, path := range []string{filepath.Join(dir, "missing"), behind, foreign} {
		if verify(l, path, nil) == nil {
			t.Errorf("verified with %s", path)
		}
	}
}
