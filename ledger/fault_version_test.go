package ledger_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
)

// A ledger of version 1 is converted with everything in it.
func TestCrashFaultVersion1(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	writeVersion1(t, path, 500)
	before, err := readState(path)
	check(t, err)
	l, err := ledger.Open(path, false)
	check(t, err)
	defer l.Close()
	v, err := l.Verify("", nil)
	check(t, err)
	if v.Entries != 502 || v.Balances != scanAccounts || v.Limits != 2 {
		t.Errorf("verified %+v", v)
	}
	after, err := readState(path)
	check(t, err)
	if fmt.Sprint(before) != fmt.Sprint(after) || len(after.balances) != scanAccounts {
		t.Errorf("%v became %v", before, after)
	}
	n, first := 0, ledger.Charge{}
	for c, err := range l.Charges() {
		check(t, err)
		if n++; n == 1 {
			first = c
		}
	}
	if want := 5 * scanAccounts; n != want || first.Epsilon != 20*half || first.Evaluations != 20 || first.Time.UnixMicro() != 1000 {
		t.Errorf("%d charges, the first is %+v", n, first)
	}
	check(t, charge(l, "ana", "m"))
	var r *ledger.Refusal
	if err := charge(l, "ana", "m"); !errors.As(err, &r) {
		t.Errorf("got %v", err)
	}
}

// A program of version 1 that has the ledger open while it is converted charges
// nothing and sets no limit any more: each of its transactions fails.
func TestCrashFaultVersion1InUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	writeVersion1(t, path, 10)
	old, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer old.Close()
	prepared := map[string]*sqlite.Stmt{}
	for _, sql := range []string{standing1, addEntry1, putBalance1, putLimit1} {
		s, _, err := old.Prepare(sql)
		check(t, err)
		defer s.Close()
		prepared[sql] = s
	}
	charge1 := func(id int64) error {
		s := prepared[standing1]
		s.BindText(1, "bob")
		s.BindText(2, "m")
		if err := s.Run(); err != nil {
			return err
		}
		s = prepared[addEntry1]
		s.BindInts(1, id, 7)
		s.BindText(3, "f")
		s.BindText(4, "m")
		s.BindText(5, "bob")
		s.BindInts(6, 1, 0, 1, id)
		if err := s.Run(); err != nil {
			return err
		}
		s = prepared[putBalance1]
		s.BindText(1, "m")
		s.BindText(2, "bob")
		s.BindInts(3, 1, 0, 7)
		return s.Run()
	}
	limit1 := func(int64) error {
		s := prepared[putLimit1]
		s.BindText(1, "ana")
		s.BindText(2, "m")
		s.BindInts(3, 7, 7)
		return s.Run()
	}
	// Version 1 rolls back after an error.
	transact1 := func(work func(int64) error, id int64) error {
		check(t, old.Exec("BEGIN IMMEDIATE"))
		err := work(id)
		if err != nil {
			check(t, old.Exec("ROLLBACK"))
			return err
		}
		return old.Exec("COMMIT")
	}
	check(t, transact1(charge1, 11))
	check(t, transact1(limit1, 0))

	l, err := ledger.Open(path, false)
	check(t, err)
	defer l.Close()
	before, err := l.Verify("", nil)
	check(t, err)
	for id := range int64(3) {
		if err := transact1(charge1, 20+id); err == nil || !strings.Contains(err.Error(), "NOT NULL") {
			t.Errorf("charged: %v", err)
		}
		if err := transact1(limit1, 0); err == nil || !strings.Contains(err.Error(), "NOT NULL") {
			t.Errorf("limited: %v", err)
		}
	}
	after, err := l.Verify("", &before.Head)
	if err != nil || after != before {
		t.Errorf("%+v became %+v, %v", before, after, err)
	}
	check(t, charge(l, "bob", "m"))
}

// A ledger of a later version is refused and left as it is, with what is in its
// log.
func TestCrashFaultLaterVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x-ledger")
	l, err := ledger.Open(path, true)
	check(t, err)
	check(t, l.Close())
	later, err := sqlite.Open(path, sqlite.ReadWrite)
	check(t, err)
	defer later.Close()
	check(t, later.Exec("CREATE TABLE later(x); PRAGMA user_version = 3"))
	before := contents(t, path)
	for _, create := range []bool{false, true} {
		_, err := ledger.Open(path, create)
		if err == nil || !strings.Contains(err.Error(), "written by a newer geosql (ledger version 3, this is 2)") {
			t.Errorf("got %v", err)
		}
	}
	if after := contents(t, path); after != before {
		t.Error("changed")
	}
}

// contents are those of a ledger's file and its log. They are read by another
// process: this one must not open them while the ledger is.
func contents(t *testing.T, path string) string {
	t.Helper()
	var all string
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(path + suffix)
		check(t, err)
		all += string(content)
	}
	return all
}
