package serve

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The owner's commands work beside any session, also one that has begun to read and then says nothing, and so do logins. When its
// role is dropped, the session ends by itself.
func TestOwnerBesideSessions(t *testing.T) {
	p := newPlace(t, "5")
	p.analyst("ann", "2")
	p.analyst("bob", "2")
	s := p.serve()
	silent := s.session("ann")
	for _, sql := range []string{"BEGIN", "DECLARE k CURSOR FOR SELECT * FROM reading", "FETCH 1 FROM k"} {
		if _, err := silent.conn.Exec(context.Background(), sql); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(file, []byte("meter,hour,zone,kwh,home\n"+owner+"-1,1000,east,1,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("append", p.path, "reading", file, "--key", p.key+".pub")
	s.session("bob").answers("SELECT count(*) FROM reading WHERE zone = 'east'", "1")
	p.run("erase", p.path, "--account", owner+"-2", "--key", p.key)
	s.session("bob").answers("SELECT count(*) FROM reading", "441")
	if got, err := silent.ask("FETCH 1 FROM k"); err != nil || got == "" {
		t.Errorf("the cursor goes on with %q, %v", got, err)
	}
	p.run("role", p.path, "drop", "ann")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := silent.conn.WaitForNotification(ctx); stateOf(err) != "57P01" { // it has asked nothing
		t.Errorf("the session of a role that was dropped: %v", err)
	}
	other := filepath.Join(t.TempDir(), "other.key")
	p.run("keygen", other)
	p.run("rekey", p.path, "--key", p.key, "--to", other+".pub")
}
