// Package planted has tests that skip wrongly, and their cures. A comment is the finding on its line.
package planted

import (
	"os"
	"os/exec"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// A client holds the test that it belongs to.
type client struct{ t *testing.T }

func connect(t *testing.T) *client { return &client{t} }

func (c *client) ask() string { return need.Program(c.t, "psql") }

func ask(t *testing.T) string { return need.Program(t, "psql") }

func testLooksItself(t *testing.T) {
	if _, err := exec.LookPath("psql"); err != nil { // looks for a program without internal/need
		t.Skip(err)
	}
}

func testSkipsItsParent(t *testing.T) {
	c := connect(t)
	ways := map[string]func() string{
		"by itself": func() string { return need.Program(t, "psql") },
	}
	for name, way := range ways {
		t.Run(name, func(*testing.T) {
			way() // skips a test that is not the one it is in
		})
	}
	t.Run("by its client", func(t *testing.T) {
		c.ask() // skips a test that is not the one it is in
	})
	t.Run("by name", func(sub *testing.T) {
		t.Skip() // skips a test that is not the one it is in
	})
	t.Run("itself", func(t *testing.T) {
		connect(t).ask()
		ask(t)
	})
}

func testGoesOn(t *testing.T) {
	file, n := t.TempDir()+"/file", 0
	for _, c := range []struct{ path string }{{file}} {
		t.Run(c.path, func(t *testing.T) { // its parent goes on with file
			os.WriteFile(c.path, []byte(ask(t)), 0o600)
		})
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	t.Run("count", func(t *testing.T) { // its parent goes on with n
		ask(t)
		n++
	})
	if n == 0 {
		t.Error("nothing was asked")
	}
}

func testAsksFirst(t *testing.T) {
	need.Program(t, "psql")
	n := 0
	t.Run("count", func(t *testing.T) {
		ask(t)
		n++
	})
	if n == 0 {
		t.Error("nothing was asked")
	}
}

func testLooksWhatThereIs(t *testing.T) {
	n := 0
	t.Run("count", func(t *testing.T) {
		ask(t)
		n++
	})
	if n == 0 {
		t.Skip("nothing was asked")
	}
	if n > 1 {
		t.Error("too much was asked")
	}
}
