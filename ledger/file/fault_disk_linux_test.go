package file

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/ledger/ledgertest"
	"golang.org/x/sys/unix"
)

// chargeMany charges new accounts until that fails.
func chargeMany(l *Ledger) (granted int, err error) {
	for granted < 100_000 {
		if err := charge(l, fmt.Sprint("new account ", granted), 1); err != nil {
			return granted, err
		}
		granted++
	}
	return granted, nil
}

func TestCrashFaultFullDisk(t *testing.T) {
	dir := filestest.SmallDisk(t, 1)
	l := open(t, filepath.Join(dir, "x-ledger"))
	check(t, l.SetLimit("*", "m", 100, 0))
	s := l.NewStatement()
	p := s.Spender("f", "m")
	check(t, p.Charge([]byte("ana"), 1))
	check(t, p.Charge([]byte("ana"), 1))
	check(t, p.Charge([]byte("ana"), 1)) // reserves two
	filler := filestest.Fill(t, dir)
	granted, err := chargeMany(l)
	if err == nil || err.Error() != "ledger: database or disk is full" {
		t.Fatalf("%d granted, then %v", granted, err)
	}
	failing(t, l, "database or disk is full")
	check(t, p.Charge([]byte("ana"), 1)) // was reserved
	if p.Charge([]byte("ana"), 1) == nil {
		t.Error("charged on a full disk")
	}
	check(t, s.End()) // has nothing to return
	if _, err := Open(filepath.Join(dir, "y-ledger"), true); err == nil {
		t.Error("created on a full disk")
	}

	check(t, os.Remove(filler))
	check(t, charge(l, "bob", 1))
	if b := balance(t, l, "ana"); b.Spent != 4 || b.Reserved != 0 {
		t.Errorf("got %+v", b)
	}
	if _, err := l.Verify("", nil, nil); err != nil {
		t.Error(err)
	}
	if all := onDisk(t, l.Path()); len(all) != granted+2 {
		t.Errorf("%d granted, %d accounts on disk", granted+2, len(all))
	}
	open(t, filepath.Join(dir, "y-ledger"))
}

// COMMIT, which writes the log, fails on a full disk. The answer was drawn then, and is not returned;
// answers given before are remembered.
func TestCrashFaultFullDiskAnswer(t *testing.T) {
	dir := filestest.SmallDisk(t, 1)
	l := open(t, filepath.Join(dir, "x-ledger"))
	check(t, l.SetLimit("*", "m", 100, 0))
	before := ledgertest.Ask("before", "ana").As("sales", 100)
	before.Gets(t, l, "before 1", 1, 1)
	filler := filestest.Fill(t, dir)
	_, err := chargeMany(l) // uses up the last page
	if err == nil {
		t.Fatal("the disk is not full")
	}
	q := ledgertest.Ask("q", "ana", "bob").As("sales", 100)
	a, err := l.Answer(t.Context(), q.Question)
	if err == nil || err.Error() != "ledger: database or disk is full" || a.Answer != nil || q.Draws != 1 {
		t.Errorf("%+v, %v, %d draws", a, err, q.Draws)
	}
	before.Gets(t, l, "before 1", 0, 0)
	check(t, os.Remove(filler))
	before.Gets(t, l, "before 1", 0, 0)
	ledgertest.WantSpent(t, l, "sales", ledgertest.Amounts{"ana": {4, 4}, "bob": {0, 0}})
	q.Gets(t, l, "q 2", 2, 2)
}

// A file that may not grow any more fails in another way.
func TestCrashFaultFileSizeLimit(t *testing.T) {
	path, head := faultLedger(t)
	const want = "ledger: disk I/O error"
	if got := start(t, "limit its files", path).result(t); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	l := open(t, path)
	if _, err := l.Verify("", &head, nil); err != nil {
		t.Error(err)
	}
	check(t, l.Close())
	intact(t, path, &head)
}

// limitFiles charges until the files may not grow any more, writes why that
// fails, and makes sure that it works again afterwards.
func limitFiles(l *Ledger) error {
	signal.Ignore(syscall.SIGXFSZ)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	tight := unix.Rlimit{Cur: 1 << 17, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &tight); err != nil {
		return err
	}
	granted, err := chargeMany(l)
	fmt.Println(err)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for i := range granted {
		account := fmt.Sprint("new account ", i)
		if b, err := l.Balance(account, "m"); err != nil || b.Spent != 1 {
			return fmt.Errorf("%s was granted 1 and has %+v, %v", account, b, err)
		}
	}
	return charge(l, "new account 0", 1)
}

func init() { roles["limit its files"] = withLedger(limitFiles) }
