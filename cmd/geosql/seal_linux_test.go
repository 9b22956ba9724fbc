package main

import (
	"path/filepath"
	"testing"
)

// A person on a terminal is shown the facts that public columns tell, and asked.
func TestSealAsks(t *testing.T) {
	t.Parallel()
	dir := toSeal(t, 2000)
	for _, try := range []struct {
		answer string
		status int
	}{{"no\r", 1}, {"\x03", 130}, {"\x04", 1}, {"yes\r", 0}} {
		c := newConsole(t, sealArgs(dir, "open.db", "--public", "paid_for_it")...)
		c.expect("table r: paid_for_it rises with kwh: rank correlation 1.00\n")
		c.expect("Seal like this? Type yes: ")
		c.press(try.answer)
		c.leave(try.status)
		left, _ := filepath.Glob(filepath.Join(dir, "open.db*"))
		if want := map[bool]int{true: 2}[try.status == 0]; len(left) != want {
			t.Errorf("%q leaves %v", try.answer, left)
		}
	}
	openKeeper(t, dir, "open.db")
}
