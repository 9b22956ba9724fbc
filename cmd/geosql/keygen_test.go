package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/sealed"
)

func TestKeygen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "owner.key")
	if r := clitest.Run(t, "", "keygen", name); r.Status != 0 || r.Out != "" {
		t.Fatalf("%+v", r)
	}
	read := func(name string) []byte {
		t.Helper()
		info, err := os.Stat(name)
		if err != nil || forOthers(info) {
			t.Fatalf("%s: %v, %v", name, info, err)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	key, err := sealed.ParsePrivateKey(read(name), nil)
	if err != nil {
		t.Fatal(err)
	}
	public, err := sealed.ParsePublicKey(read(name + ".pub"))
	if err != nil || public.ID() != key.Public().ID() {
		t.Errorf("the public half is another: %v", err)
	}
	clitest.WantError(t, clitest.Run(t, "", "keygen", name), 1, "owner.key exists, and a key is never overwritten")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	clitest.WantError(t, clitest.Run(t, "", "keygen", name), 1, "owner.key.pub exists")
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("half a key is left: %v", err)
	}
	clitest.WantError(t, clitest.Run(t, "", "keygen", filepath.Join(name, "x", "y")), 1, "keygen: open ")

	words := clitest.WriteFile(t, "correct horse\r\nbattery staple\n")
	locked := filepath.Join(t.TempDir(), "locked.key")
	if r := clitest.Run(t, "", "keygen", locked, "--passphrase-file", words); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	if _, err := sealed.ParsePrivateKey(read(locked), nil); !errors.Is(err, sealed.ErrPassphrase) {
		t.Errorf("without the passphrase: %v", err)
	}
	if _, err := sealed.ParsePrivateKey(read(locked), func() ([]byte, error) { return []byte("correct horse"), nil }); err != nil {
		t.Error(err)
	}
	clitest.WantError(t, clitest.Run(t, "", "keygen", name, "--passphrase-file", clitest.WriteFile(t, "\nx\n")), 1, "is empty, and no passphrase")
	clitest.WantError(t, clitest.Run(t, "", "keygen", name, "--passphrase-file", words+"x"), 1, clitest.NoSuchFile)
}

// A key is not written to where a link leads that somebody else has put in its place, or in that of its public half.
func TestKeygenFollowsNoLink(t *testing.T) {
	for _, suffix := range []string{"", ".pub"} {
		name := filepath.Join(t.TempDir(), "owner.key")
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		filestest.Symlink(t, elsewhere, name+suffix)
		if r := clitest.Run(t, "", "keygen", name); r.Status != 1 || !strings.Contains(r.Err, "exists") {
			t.Errorf("a link as %s: %+v", name+suffix, r)
		}
		if _, err := os.Stat(elsewhere); err == nil {
			t.Error("the key is where the link leads")
		}
	}
}
