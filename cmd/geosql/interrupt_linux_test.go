package main

import (
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/shell"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// answers is the number of answers that the screen has shown.
func (c *console) answers() int {
	return strings.Count(c.shown(), "POINT(")
}

// releasing starts the shell and in it a scan, and returns once that answers, below the answer of an INSERT before it.
func releasing(t *testing.T, db string, s scan) *console {
	t.Helper()
	c := newConsole(t, "--no-preflight", db)
	c.expect(shell.Prompt)
	c.press(s.before + s.query + ";\r")
	for range 1 + strings.Count(s.before, "INSERT") {
		c.expect("POINT(")
	}
	return c
}

// Ctrl-C in the shell returns the unused reservation of the statement at once,
// and the end of the shell that of budget_reserve. The terminal drops
// output that it has not shown.
func TestShellInterruptReturnsReservations(t *testing.T) {
	t.Parallel()
	for _, s := range scans {
		t.Run(s.name, func(t *testing.T) {
			db := limited(t)
			c := releasing(t, db, s)
			c.press("\x03")
			c.expect("geosql: interrupted, after charging ")
			c.expect("\n" + shell.Prompt)
			c.press("SELECT 'reserved ' || sum(reserved) FROM ledger_balance WHERE account NOT IN ('p0', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9');\r")
			c.expect("reserved 0.0\n" + shell.Prompt)
			c.press("\x04")
			c.leave(0)
			if err := stateOf(t, db).check(c.answers(), onTheWay); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestShellTerminationReturnsReservations(t *testing.T) {
	t.Parallel()
	for _, s := range scans {
		t.Run(s.name, func(t *testing.T) {
			db := limited(t)
			c := releasing(t, db, s)
			if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			c.expect("geosql: interrupted")
			c.leave(143)
			if err := stateOf(t, db).check(c.answers(), 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// A terminal that is closed takes with it the output that it has not shown.
func TestClosedTerminalReturnsReservations(t *testing.T) {
	t.Parallel()
	for _, s := range scans {
		t.Run(s.name, func(t *testing.T) {
			db := limited(t)
			c := releasing(t, db, s)
			c.keys.Close()
			if status := clitest.ExitStatus(t, c.cmd.Wait()); status == 0 || status == -1 {
				t.Errorf("status %d", status)
			}
			if err := stateOf(t, db).check(c.answers(), onTheWay); err != nil {
				t.Error(err)
			}
		})
	}
}
