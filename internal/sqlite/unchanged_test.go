package sqlite

import (
	"errors"
	"path/filepath"
	"testing"
)

// What was read is read again after a commit of somebody else, after an error, and over a connection that may write itself.
func TestUnchanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	writer, err := Open(path, ReadWrite|Create)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	write := func() {
		if err := writer.Exec("CREATE TABLE IF NOT EXISTS t(x); INSERT INTO t VALUES (1)"); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []string{"delete", "wal"} {
		if err := writer.Exec("PRAGMA journal_mode = " + mode); err != nil {
			t.Fatal(err)
		}
		write()
		reader, err := Open(path, ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		var seen, written Unchanged
		reads := 0
		var fails error
		looks := func(u *Unchanged, c *Conn, want int) {
			t.Helper()
			err := u.Since(c, func() error {
				reads++
				return fails
			})
			if reads != want || err != fails {
				t.Errorf("%s: %d reads, want %d; %v", mode, reads, want, err)
			}
		}
		looks(&seen, reader, 1)
		looks(&seen, reader, 1)
		write()
		fails = errors.New("it cannot be read")
		looks(&seen, reader, 2)
		looks(&seen, reader, 3)
		fails = nil
		looks(&seen, reader, 4)
		looks(&seen, reader, 4)
		looks(&written, writer, 5)
		looks(&written, writer, 6)
	}
}
