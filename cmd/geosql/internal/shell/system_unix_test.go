//go:build unix

package shell

import "testing"

// The place is that of the XDG specification, which ignores names that are not absolute.
func TestHistoryFile(t *testing.T) {
	t.Setenv("HOME", "/home/ana")
	for state, want := range map[string]string{
		"":          "/home/ana/.local/state/geosql/history",
		"somewhere": "/home/ana/.local/state/geosql/history",
		"/state":    "/state/geosql/history",
	} {
		t.Setenv("XDG_STATE_HOME", state)
		if got := historyFile(); got != want {
			t.Errorf("with XDG_STATE_HOME=%q the history is %s, want %s", state, got, want)
		}
	}
}
