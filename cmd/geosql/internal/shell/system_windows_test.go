package shell

import "testing"

func TestHistoryFile(t *testing.T) {
	for local, want := range map[string]string{`C:\Users\Ana\AppData\Local`: `C:\Users\Ana\AppData\Local\geosql\history`, "": ""} {
		t.Setenv("LOCALAPPDATA", local)
		if got := historyFile(); got != want {
			t.Errorf("with LOCALAPPDATA=%s the history is %s, want %s", local, got, want)
		}
	}
}
