package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/sealed"
)

func TestReadKeys(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte, err error) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := sealed.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	text, err := key.MarshalText()
	plain := write("plain", text, err)
	text, err = key.Encrypt([]byte("one"))
	first := write("first", text, err)
	text, err = key.Encrypt([]byte("two"))
	second := write("second", text, err)
	text, err = key.Public().MarshalText()
	public := write("public", text, err)
	words := write("words", []byte("one\r\ntwo\n"), nil)
	empty := write("empty", []byte("\n"), nil)

	keys, err := ReadPrivateKeys([]string{plain, first, second}, words)
	if err != nil || len(keys) != 3 || keys[2].Public().ID() != key.Public().ID() {
		t.Errorf("%v, %v", keys, err)
	}
	if k, err := ReadPublicKey(public); err != nil || k.ID() != key.Public().ID() {
		t.Errorf("the public key: %v", err)
	}
	for _, c := range []struct{ name, passphrase, want string }{
		{first, "", "give --passphrase-file"},
		{first, public, "another passphrase"},
		{first, empty, "holds no passphrase"},
		{first, filepath.Join(dir, "none"), clitest.NoSuchFile},
		{filepath.Join(dir, "none"), "", clitest.NoSuchFile},
		{public, "", "public half"},
		{words, "", "is not a private key"},
	} {
		if _, err := ReadPrivateKeys([]string{c.name}, c.passphrase); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %q", c.name, c.passphrase, err, c.want)
		}
	}
	for _, name := range []string{plain, first} {
		if _, err := ReadPublicKey(name); err == nil || !strings.Contains(err.Error(), "give its public half") {
			t.Errorf("%s as a public key: %v", name, err)
		}
	}
}
