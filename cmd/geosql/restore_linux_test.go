package main

import (
	"os"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// On a terminal, restoring asks, and only yes means yes.
func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	db := administered(t)
	to := backupOf(t, db)
	if err := os.Remove(db + "-ledger"); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []struct {
		keys   string
		status int
		said   string
	}{
		{"no\r", 1, "geosql: restore: nothing was changed"},
		{"\r", 1, "geosql: restore: nothing was changed"},
		{"\x04", 1, "geosql: restore: nothing was changed"},
		{"\x03", 130, "geosql: interrupted"},
		{"yes\r", 0, "restored " + to},
	} {
		clitest.WantError(t, clitest.Run(t, "", to, charging), 1, "is a backup")
		c := newConsole(t, "restore", to)
		c.expect("Charges after that are unknown to it.")
		c.expect("Restore it? Type yes: ")
		c.press(answer.keys)
		c.expect(answer.said)
		c.leave(answer.status)
	}
	clitest.Query(t, to, charging)
}

// On a terminal, a backup shows its progress and names its files.
func TestBackupOnATerminal(t *testing.T) {
	t.Parallel()
	db := administered(t)
	clitest.Query(t, db, filler)
	to := clitest.TempFile(t, "copy.db")
	c := newConsole(t, "backup", db, to)
	c.wrote("copying " + db + ": ")
	c.wrote(" %")
	c.expect("copied " + db + " to " + to + ", and its ledger to " + to + "-ledger: ")
	c.expect(" s\n")
	c.leave(0)
}
