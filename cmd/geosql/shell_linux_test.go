package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// A console is a pseudo-terminal with the command on it.
type console struct {
	t        *testing.T
	keys     *os.File
	terminal *os.File
	cmd      *exec.Cmd
	dir      string // of the history

	mu     sync.Mutex
	screen bytes.Buffer
	seen   int // what was waited for already
}

// newConsole starts the command on a pseudo-terminal.
func newConsole(t *testing.T, args ...string) *console {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals: %v", err)
	}
	fd := int(keys.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, keys: keys, terminal: terminal, cmd: clitest.Command(t, args...)}
	c.dir = strings.TrimPrefix(c.cmd.Env[len(c.cmd.Env)-1], "XDG_CONFIG_HOME=")
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = terminal, terminal, terminal
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.watch()
	t.Cleanup(func() { keys.Close(); terminal.Close() })
	return c
}

func (c *console) watch() {
	b := make([]byte, 4096)
	for {
		n, err := c.keys.Read(b)
		c.mu.Lock()
		c.screen.Write(b[:n])
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// press types keys.
func (c *console) press(keys string) {
	c.t.Helper()
	if _, err := c.keys.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// expect waits until text appears behind what was expected before.
func (c *console) expect(text string) {
	c.t.Helper()
	for range 30_000 { // five minutes
		c.mu.Lock()
		i := bytes.Index(c.screen.Bytes()[c.seen:], []byte(text))
		if i >= 0 {
			c.seen += i + len(text)
		}
		c.mu.Unlock()
		if i >= 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Fatalf("%q did not appear; after what was expected: %q", text, c.screen.Bytes()[c.seen:])
}

// leave waits for the command's end and demands a terminal as it was before.
func (c *console) leave(want int) {
	c.t.Helper()
	if got := clitest.ExitStatus(c.t, c.cmd.Wait()); got != want {
		c.t.Errorf("exit status %d, want %d", got, want)
	}
	state, err := unix.IoctlGetTermios(int(c.terminal.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	if cooked := uint32(unix.ICANON | unix.ECHO | unix.ISIG); state.Lflag&cooked != cooked {
		c.t.Error("the terminal is still raw")
	}
}

func TestShell(t *testing.T) {
	c := newConsole(t, clitest.TempFile(t, "x.db"))
	c.expect(prompt)
	c.press("CREATE TABLE t(a);\r")
	c.expect(prompt)
	c.press("INSERT INTO t\r")
	c.expect(continuation)
	c.press("VALUES (7);\r")
	c.expect(prompt)
	c.press("SELECT a AS answer FROM t;\r")
	c.expect("answer\r\n------\r\n     7\r\n" + prompt)

	c.press("SELECT nosuch;\r")
	c.expect("geosql: no such column: nosuch\r\n" + prompt)

	c.press("SELECT 'dropped\r")
	c.expect(continuation)
	c.press("more\x03")
	c.expect("more^C\r\n" + prompt)
	c.press("SELECT 'ke' || 'pt';\r")
	c.expect("kept\r\n" + prompt)

	c.press(".mode csv\r")
	c.expect(prompt)
	c.press(".tables\r")
	c.expect("type,name\r\ntable,t\r\n" + prompt)
	c.press(".schema T\r")
	c.expect("name,sql\r\nt,CREATE TABLE t(a)\r\n" + prompt)
	c.press(".nosuch\r")
	c.expect("geosql: .nosuch: no such command; .help lists them\r\n" + prompt)
	c.press(".help\r")
	c.expect(".schema [NAME]")
	c.expect(prompt)

	c.press(endless + "SELECT x FROM c WHERE x < 100000;\r") // and nothing any more
	c.expect("\r\n50000\r\n")
	c.press("\x03")
	c.expect("geosql: interrupted\r\n" + prompt)

	c.press("\x1b[A\x1b[A\r") // the line before the last
	c.expect(".help")
	c.expect(prompt)
	c.press("\x04")
	c.leave(0)

	file := filepath.Join(c.dir, "geosql", "history")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), "CREATE TABLE t(a);\nINSERT INTO t\nVALUES (7);\n") {
		t.Errorf("history %q", text)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("history has mode %v, %v", info.Mode(), err)
	}
}

func TestShellQuits(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(prompt)
	c.press(".quit\r")
	c.leave(0)
}

// What is typed and does not show is echoed as what does, also from the history, and runs
// as it was typed.
func TestShellEchoSteersNothing(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(prompt)
	for _, key := range []string{"SELECT 'a\u202eb\u200b' AS typed;\r", "\x1b[A\r"} {
		c.press(key)
		c.expect("SELECT 'a\ufffdb\ufffd' AS typed;")
		c.expect(`a\u202eb\u200b` + "\r\n" + prompt)
	}
	c.press("SELECT '\u009b2J';\r")
	c.expect("SELECT '\ufffd2J';")
	c.expect(prompt)
	c.press(".quit\r")
	c.leave(0)
}

// A signal from elsewhere finds the terminal raw and leaves it as it was.
func TestShellIsTerminated(t *testing.T) {
	c := newConsole(t, ":memory:")
	c.expect(prompt)
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil { // not from the keyboard: ignored
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // lets it arrive before a statement runs
	c.press("SELECT 1;\r")             // which it may end if it is late
	c.expect(prompt)
	c.press("SELECT 'he' || 're';\r")
	c.expect("here\r\n")
	c.expect(prompt)
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.expect("geosql: interrupted")
	c.leave(143)
}

func TestImportReportsToTerminal(t *testing.T) {
	c := newConsole(t, "import", clitest.TempFile(t, "x.db"), "t", clitest.WriteFile(t, "a\n1\n2\n"))
	c.expect("imported 2 rows into table t")
	c.expect("  a  INTEGER\r\n")
	c.leave(0)
}
