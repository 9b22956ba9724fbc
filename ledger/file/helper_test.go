package file

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

const (
	one   budget.Amount = 1e12
	tenth               = one / 10
)

// failer is the common interface of *testing.T and *rapid.T.
type failer interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func newFile(t testing.TB) *Ledger {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "x-ledger"))
}

// open opens a ledger that the end of the test closes.
func open(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := Open(path, true)
	check(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
	return l
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused(t failer, err error) *ledger.RefusalError {
	t.Helper()
	var r *ledger.RefusalError
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	return r
}

func charge(l *Ledger, account string, eps budget.Amount) error {
	return l.Charge("f", "m", []ledger.Item{{Account: account, Epsilon: eps, Evaluations: 1}})
}

func balance(t failer, l *Ledger, account string) ledger.Balance {
	t.Helper()
	b, err := l.Balance(account, "m")
	check(t, err)
	return b
}

func charges(t failer, l *Ledger) []ledger.Charge {
	t.Helper()
	var all []ledger.Charge
	for c, err := range l.Charges() {
		check(t, err)
		all = append(all, c)
	}
	return all
}

// row is the row in the file for an account and a unit.
type row struct{ spent, reserved budget.Amount }

func (r row) total() budget.Amount { return r.spent + r.reserved }

type key struct {
	account string
	unit    budget.Unit
}

// auditor reads a ledger's file through a connection of its own, as another
// process would.
type auditor struct {
	conn              *sqlite.Conn
	balances, entries *sqlite.Stmt
}

func newAuditor(t failer, path string) *auditor {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadOnly)
	check(t, err)
	conn.BusyTimeout(busyTimeout)
	a := &auditor{conn: conn}
	a.balances, _, err = conn.Prepare("SELECT account, unit, spent, reserved FROM balance")
	check(t, err)
	a.entries, _, err = conn.Prepare("SELECT account, unit, sum(spent), sum(reserved) FROM entry WHERE epsilon_limit IS NULL AND unit <> '' GROUP BY account, unit")
	check(t, err)
	return a
}

func (a *auditor) close() {
	a.balances.Close()
	a.entries.Close()
	a.conn.Close()
}

// audit returns the balances on disk, or an error when one is not the sum of its
// entries.
func (a *auditor) audit() (map[key]row, error) {
	if err := a.conn.Exec("BEGIN"); err != nil {
		return nil, err
	}
	defer a.conn.Exec("COMMIT")
	balances, err := rows(a.balances)
	if err != nil {
		return nil, err
	}
	sums, err := rows(a.entries)
	if err != nil {
		return nil, err
	}
	if len(sums) != len(balances) {
		return nil, fmt.Errorf("%d balances, entries for %d", len(balances), len(sums))
	}
	for k, b := range balances {
		if b != sums[k] || b.spent < 0 || b.reserved < 0 {
			return nil, fmt.Errorf("balance of %v is %v, its entries sum to %v", k, b, sums[k])
		}
	}
	return balances, nil
}

func rows(s *sqlite.Stmt) (map[key]row, error) {
	all := map[key]row{}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return all, err
		}
		account, unit, spent, reserved := s.Column(0), s.Column(1), s.Column(2), s.Column(3)
		all[key{account.Text(), budget.Unit(unit.Text())}] =
			row{budget.Amount(spent.Int()), budget.Amount(reserved.Int())}
	}
}

// onDisk audits a ledger's file once.
func onDisk(t failer, path string) map[key]row {
	t.Helper()
	a := newAuditor(t, path)
	defer a.close()
	all, err := a.audit()
	check(t, err)
	return all
}

// spoil runs SQL on a file behind the ledger's back.
func spoil(t failer, path, sql string) {
	t.Helper()
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	check(t, err)
	conn.BusyTimeout(busyTimeout)
	check(t, conn.Exec(sql))
	check(t, conn.Close())
}

// noon is when the clocks of these tests start.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// atClock gives a ledger a clock that the test sets.
func atClock(l *Ledger) (set func(time.Duration)) {
	at := noon
	l.clock = func() int64 { return at.UnixMicro() }
	return func(d time.Duration) { at = noon.Add(d) }
}
