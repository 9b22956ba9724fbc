package main

import "testing"

// On a terminal a key shows the next statement, and q or Ctrl-C ends the tour.
func TestDemoWaitsForKeys(t *testing.T) {
	t.Parallel()
	for _, try := range []struct {
		key    string
		status int
	}{{"q", 0}, {"\x1b", 0}, {"\x03", 130}} {
		c := newConsole(t, "demo")
		c.expect("[1 of ")
		c.press(" ")
		c.expect("dx_universe")
		c.expect("[2 of ")
		c.press(try.key)
		c.leave(try.status)
	}
}
