//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// Everything that is wrong is said at the start, in a line that names the cure.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	other, _ := p.keygen(p.out + ".other")
	plain := clitest.TempFile(t, "plain.db")
	clitest.Query(t, plain, "CREATE TABLE t(a)")
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	check(t, os.WriteFile(file("empty"), []byte("\n"), 0o600))
	moved := copyFiles(t, p.out)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer busy.Close()
	tls := func(cert, key string) []string {
		return []string{p.out, "--key", p.key, "--tls-cert", cert, "--tls-key", key}
	}
	for _, c := range []struct {
		want   string
		status int
		args   []string
	}{
		{"too few arguments", 2, nil},
		{"give the private key with --key KEY", 2, []string{p.out}},
		{"belong together: give both", 2, []string{p.out, "--key", p.key, "--tls-cert", p.pub}},
		{"--require-tls needs a certificate", 2, []string{p.out, "--key", p.key, "--require-tls"}},
		{"give --http ADDR too", 2, []string{p.out, "--key", p.key, "--owner-password-file", p.key}},
		{"give --http ADDR too", 2, []string{p.out, "--key", p.key, "--metrics-token-file", p.key}},
		{"it must be text or json", 2, []string{p.out, "--key", p.key, "--log-format", "xml"}},
		{"it must be a whole number above 0", 2, []string{p.out, "--key", p.key, "--max-sessions", "0"}},
		{"it must be from 0 to 1000000", 2, []string{p.out, "--key", p.key, "--drain", "-1"}},
		{"nosuch.db: no such database", 1, []string{file("nosuch.db"), "--key", p.key}},
		{"plain.db is not a sealed database (geosql seal makes one)", 1, []string{plain, "--key", p.key}},
		{"is not a key that", 1, []string{p.out, "--key", other}},
		{"is the public half of a key: give the private one", 1, []string{p.out, "--key", p.pub}},
		{"ledger " + moved + "-ledger is missing", 1, []string{moved, "--key", p.key}},
		{"write an address and a port", 1, []string{p.out, "--key", p.key, "--listen", "5432"}},
		{"other machines could connect, and may do so with TLS only: give --tls-cert and --tls-key, or take 127.0.0.1:0", 1,
			[]string{p.out, "--key", p.key, "--listen", ":0"}},
		{"--http 0.0.0.0:0: other machines could connect", 1,
			[]string{p.out, "--key", p.key, "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"}},
		{"another program listens there", 1, []string{p.out, "--key", p.key, "--listen", busy.Addr().String()}},
		{clitest.NoSuchFile, 1, tls(file("nosuch.pem"), p.key)},
		{p.pub + " holds no certificate in PEM", 1, tls(p.pub, p.key)},
		{"the first line of " + file("empty") + " is empty", 1,
			[]string{p.out, "--key", p.key, "--http", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--metrics-token-file", file("empty")}},
		{folder + " is not a file", 1, []string{p.out, "--key", p.key, "--listen", "127.0.0.1:0", "--audit", folder}},
	} {
		clitest.WantError(t, clitest.Run(t, "", append([]string{"serve"}, c.args...)...), c.status, c.want)
	}
	clitest.Help(t, "help", "serve")
}
