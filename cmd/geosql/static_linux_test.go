package main

import (
	"bytes"
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/session"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/sqlitefn"
)

// buildStatic builds the static command into a folder of its own, which it returns.
func buildStatic(t *testing.T) (folder string) {
	t.Helper()
	if os.Getenv("GEOSQL_STATIC") == "" {
		t.Skip("SQLite is not compiled with musl, which takes minutes, unless GEOSQL_STATIC is set, as make long does")
	}
	need.Programs(t, "make", "musl-gcc")
	build := t.TempDir()
	if out, err := exec.Command("make", "-C", "../..", "static", "BUILD="+build).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(build, "static")
}

// The static command is one file that needs no other: it runs on Alpine, and where there is nothing at all.
func TestStatic(t *testing.T) {
	root := buildStatic(t)
	t.Run("File", func(t *testing.T) { checkStaticFile(t, filepath.Join(root, session.Program)) })
	if os.Geteuid() != 0 {
		t.Skip("only root may change the root of a process")
	}
	c := chroot{t, root}
	c.want("geosql "+sqlitefn.Version+", SQLite ", "--version")
	c.want("0.05/m asked, 0.03/m short", "demo")

	c.want("every account", "t.db", "SELECT geo_domain('city', 48, 2, 49, 3, 1), budget_limit('*', 'm', 0.03), budget_limit('*', 'kWh', 9)")
	c.want("POINT(", "t.db", "SELECT geoind_laplace('ana', 48.5, 2.5, 0.02)")
	c.want("0.02", "t.db", "SELECT budget_spent('ana', 'm')")
	if _, err := os.Stat(filepath.Join(root, "t.db-ledger")); err != nil {
		t.Error(err)
	}

	// So deep did SQLite crash on the stack that musl gives a thread unless the program asks for more.
	c.want("1000", "t.db", "SELECT 1"+strings.Repeat("+1", 999))
	c.want("Expression tree is too large", "t.db", "SELECT 1"+strings.Repeat("+1", 1000))
	c.want("Recursion limit", "t.db", "SELECT "+strings.Repeat("abs(", 900)+"1"+strings.Repeat(")", 900))

	c.want("dx_universe", "t.db", "SELECT dx_universe('load', 0, 10, 0.5, 'kWh'); CREATE TABLE meter AS SELECT 'ana' AS who, 3 AS kwh")
	c.want("wrote KEY", "keygen", "KEY")
	c.want("sealed 1 value", "seal", "t.db", "out.db", "--key", "KEY.pub", "--table", "meter", "--account", "who", "--seal", "kwh:load", "--yes")
	check(t, os.WriteFile(filepath.Join(root, "password"), []byte("sesame\n"), 0o600))
	c.want("ana may ask", "role", "out.db", "add", "ana", "--password-file", "password",
		"--columns", "meter.kwh", "--epsilon-max", "kWh=1", "--epsilon", "kWh=5")
	c.want("/proc/self/exe", "serve", "out.db", "--key", "KEY", "--listen", "127.0.0.1:0") // it starts itself
	t.Run("Serve", c.serve)
}

// checkStaticFile checks that a program asks for no loader and no library, and for stacks as large as those of glibc.
func checkStaticFile(t *testing.T, path string) {
	f, err := elf.Open(path)
	check(t, err)
	defer f.Close()
	if needed, err := f.ImportedLibraries(); err != nil || len(needed) > 0 {
		t.Errorf("it needs %v, %v", needed, err)
	}
	var stack uint64
	for _, p := range f.Progs {
		switch p.Type {
		case elf.PT_INTERP, elf.PT_DYNAMIC:
			t.Errorf("it has a header of type %v", p.Type)
		case elf.PT_GNU_STACK:
			stack = p.Memsz
		}
	}
	if stack != 8<<20 {
		t.Errorf("stacks have %d bytes", stack)
	}
}

// A chroot is a folder in which there is the command, and nothing that it did not make itself.
type chroot struct {
	*testing.T
	root string
}

// command returns the command in the folder, without an environment.
func (c chroot) command(args ...string) *exec.Cmd {
	cmd := exec.Command("/"+session.Program, args...)
	cmd.Dir, cmd.Env = "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.root}
	return cmd
}

// want runs the command and demands that it prints a text, whether as its answer or as its error.
func (c chroot) want(text string, args ...string) {
	c.Helper()
	var out bytes.Buffer
	cmd := c.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	status := clitest.ExitStatus(c.T, cmd.Run())
	if status > 1 || !strings.Contains(out.String(), text) {
		c.Errorf("%.200q: status %d, %.2000s\nwant %q", args, status, out.String(), text)
	}
}

// serve runs the server. It needs /proc and /dev/null, as every container has: it starts itself once for each session.
func (c chroot) serve(t *testing.T) {
	for _, folder := range []string{"proc", "dev"} {
		check(t, os.Mkdir(filepath.Join(c.root, folder), 0o755))
	}
	const characterDevice1And3 = 1<<8 | 3
	if err := syscall.Mknod(filepath.Join(c.root, "dev/null"), syscall.S_IFCHR|0o666, characterDevice1And3); err != nil {
		t.Skip("a device cannot be made here: ", err)
	}
	proc := filepath.Join(c.root, "proc")
	if err := syscall.Mount("proc", proc, "proc", 0, ""); err != nil {
		t.Skip("/proc cannot be mounted here: ", err)
	}
	t.Cleanup(func() { check(t, syscall.Unmount(proc, syscall.MNT_DETACH)) })

	s := startServer(t, c.command(serveArgs("out.db", "KEY")...))
	conn := s.MustConnect("")
	var sum float64
	check(t, conn.QueryRow(context.Background(), "SELECT dx_sum(kwh, 1) FROM meter").Scan(&sum))
	var deep int
	check(t, conn.QueryRow(context.Background(), "SELECT 1"+strings.Repeat("+1", 90)).Scan(&deep)) // a session's limit is 100
	if deep != 91 {
		t.Errorf("a sum of 91 ones is %d", deep)
	}
	s.wait(`sessions run in processes of their own.*(not dumpable limits.*seccomp)`, 1)
}
