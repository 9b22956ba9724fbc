package file

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// The ledger of a fault has the account ana, who may spend faultLimit and has
// spent faultSpent, and many others.
const (
	faultLimit budget.Amount = 20
	faultSpent budget.Amount = 8
	faultOther               = 60
)

// faultLedger makes such a ledger, which is closed, and returns its last head.
func faultLedger(t *testing.T) (path string, head ledger.Head) {
	t.Helper()
	l := newFile(t)
	check(t, l.SetLimit("ana", "m", faultLimit, 0))
	check(t, l.SetLimit("*", "m", one, 0))
	for i := range faultOther {
		check(t, charge(l, fmt.Sprint("account number ", i), 3))
	}
	for range faultSpent {
		check(t, charge(l, "ana", 1))
	}
	head, err := l.Head()
	check(t, err)
	check(t, l.Close())
	return l.Path(), head
}

// attempt is the result of an attempt to use a broken ledger.
type attempt struct {
	granted           budget.Amount // to ana, in charges of 1
	opening, charging error
	verifying         error // with the head from before, where there is one
}

// use charges ana until that fails and verifies the ledger.
func use(path string, head *ledger.Head) (a attempt) {
	l, err := Open(path, false)
	if err != nil {
		a.opening = err
		return a
	}
	for a.charging == nil && a.granted < 10*faultLimit {
		if a.charging = charge(l, "ana", 1); a.charging == nil {
			a.granted++
		}
	}
	_, a.verifying = l.Verify("", head, nil)
	l.Close()
	return a
}

// allowed demands that nothing was granted beyond the limit unless the ledger is
// known to be broken, and that all errors are clear.
func (a attempt) allowed() error {
	for _, err := range []error{a.opening, a.charging, a.verifying} {
		if err != nil && !engine.IsRefusal(err) && (!strings.HasPrefix(err.Error(), "ledger: ") || strings.Contains(err.Error(), "\n")) {
			return fmt.Errorf("unclear error %q", err)
		}
	}
	if a.granted > faultLimit-faultSpent && a.verifying == nil {
		return fmt.Errorf("%d granted, where %d were left, by a ledger that verifies", int64(a.granted), int64(faultLimit-faultSpent))
	}
	return nil
}

func (a attempt) String() string {
	switch {
	case a.opening != nil:
		return "not opened: " + a.opening.Error()
	case a.verifying != nil:
		return fmt.Sprintf("%d granted, does not verify: %v", int64(a.granted), a.verifying)
	case engine.IsRefusal(a.charging):
		return fmt.Sprintf("%d granted, verifies", int64(a.granted))
	}
	return fmt.Sprintf("%d granted, verifies: %v", int64(a.granted), a.charging)
}

// intact demands that a ledger which is no longer broken grants ana the remaining budget
// and no more, and has grown out of head.
func intact(t *testing.T, path string, head *ledger.Head) {
	t.Helper()
	a := use(path, head)
	if a.granted != faultLimit-faultSpent || !engine.IsRefusal(a.charging) || a.opening != nil || a.verifying != nil {
		t.Errorf("once the fault is gone: %v", a)
	}
}

// failing demands that nobody is granted anything, for a reason that contains
// want.
func failing(t *testing.T, l *Ledger, want string) {
	t.Helper()
	s := l.NewStatement()
	defer s.End()
	for what, err := range map[string]error{
		"charge":    charge(l, "ana", 1),
		"reserve":   l.Reserve("m", []ledger.Item{{Account: "ana", Epsilon: 1}}),
		"limit":     l.SetLimit("ana", "m", 1000, 0),
		"statement": s.Spender("f", "m").Charge([]byte("ana"), 1),
	} {
		if err == nil || engine.IsRefusal(err) || !strings.HasPrefix(err.Error(), "ledger: ") ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
}

// helper is another process that has to be told to end.
type helper struct {
	*player
	in io.Closer
}

// startHolding starts a process and waits until it has its lock. It lets go
// when it is released.
func startHolding(t *testing.T, cmd *exec.Cmd, script string) *helper {
	t.Helper()
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	cmd.Stderr = os.Stderr
	check(t, cmd.Start())
	h := &helper{&player{cmd, out}, in}
	t.Cleanup(func() { h.cmd.Process.Kill(); h.cmd.Wait() })
	_, err = io.WriteString(in, script)
	check(t, err)
	var held [5]byte
	if _, err := io.ReadFull(out, held[:]); err != nil || string(held[:]) != "held\n" {
		t.Fatalf("%q, %v", held, err)
	}
	return h
}

// release lets the process end by itself.
func (h *helper) release(t *testing.T) {
	t.Helper()
	check(t, h.in.Close())
	_, err := io.Copy(io.Discard, h.out)
	check(t, err)
	check(t, h.cmd.Wait())
}

// copyFiles copies a ledger's file, its log and its index as another process
// does: this one must not open them while the ledger is.
func copyFiles(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, s := range suffixes {
		if out, err := playing("copy", from+s, to+s).CombinedOutput(); err != nil {
			t.Fatalf("%s", out)
		}
	}
}

// copyFile copies a file to a new one.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}

// writeNew writes a file in a new folder.
func writeNew(t *testing.T, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x-ledger")
	check(t, os.WriteFile(path, content, 0o600))
	return path
}
