package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/cmd/geosql/internal/shell"
	"github.com/geosql/geosql/internal/cli/clitest"
)

// A console is a terminal with the command on it.
type console struct {
	t        *testing.T
	keys     *os.File
	terminal *os.File
	cmd      *exec.Cmd
	state    string // the folder of the history

	mu     sync.Mutex
	output []byte // all of the command's
	screen testScreen
	seen   int // the end of the text that was waited for
}

// newConsole starts the command on a terminal of 120 columns and 30 rows.
func newConsole(t *testing.T, args ...string) *console {
	t.Helper()
	return newConsoleWith(t, nil, args...)
}

// newSilentConsole starts the shell on a terminal that does not say where its cursor is.
func newSilentConsole(t *testing.T, name string) *console {
	t.Helper()
	return startConsole(t, true, []string{"TERM=" + name}, ":memory:")
}

// newConsoleWith starts the command on a terminal, with more in its environment. There is no
// pager unless it is in there.
func newConsoleWith(t *testing.T, env []string, args ...string) *console {
	t.Helper()
	return startConsole(t, false, env, args...)
}

func startConsole(t *testing.T, silent bool, env []string, args ...string) *console {
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
	c.screen.init(120, 30)
	c.screen.silent = silent
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 120}); err != nil {
		t.Fatal(err)
	}
	c.state = t.TempDir()
	c.cmd.Env = append(c.cmd.Env, "XDG_STATE_HOME="+c.state, "TERM=xterm", "PAGER=", "INPUTRC="+os.DevNull)
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = terminal, terminal, terminal
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.watch()
	t.Cleanup(func() { keys.Close(); terminal.Close() })
	return c
}

// watch shows the command's output, and answers as a terminal does.
func (c *console) watch() {
	b := make([]byte, 4096)
	for {
		n, err := c.keys.Read(b)
		c.mu.Lock()
		c.output = append(c.output, b[:n]...)
		answer := c.screen.write(b[:n])
		c.mu.Unlock()
		if answer != "" {
			c.keys.WriteString(answer)
		}
		if err != nil {
			return
		}
	}
}

// historyFile returns the file of the command's history.
func (c *console) historyFile() string { return filepath.Join(c.state, "geosql", "history") }

// press types keys.
func (c *console) press(keys string) {
	c.t.Helper()
	if _, err := c.keys.WriteString(keys); err != nil {
		c.t.Fatal(err)
	}
}

// paste pastes a text as a terminal does that was told to mark pasted text.
func (c *console) paste(text string) {
	c.t.Helper()
	c.press("\x1b[200~" + strings.ReplaceAll(text, "\n", "\r") + "\x1b[201~")
}

// run types a statement or a command and waits for its output, up to the next prompt.
func (c *console) run(line, want string) {
	c.t.Helper()
	c.press(line + "\r")
	c.expect(line + "\n" + want + shell.Prompt)
}

// expect waits until a text is on the screen, or was, behind the last expected one.
func (c *console) expect(text string) {
	c.t.Helper()
	at := c.shows(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen += at + len(text)
}

// shows is expect for text that may go away again. It returns the position of the text.
func (c *console) shows(text string) (at int) {
	c.t.Helper()
	return c.await(text, func() string { return c.screen.text(c.seen) })
}

// wrote waits until the command has written a text, which may be gone from the screen before anybody looks.
func (c *console) wrote(text string) {
	c.t.Helper()
	c.await(text, func() string { return string(c.output) })
}

// await waits until a text is in another one, which is read under mu, and returns its position.
func (c *console) await(text string, in func() string) (at int) {
	c.t.Helper()
	for range 6_000 { // a minute
		c.mu.Lock()
		i := strings.Index(in(), text)
		c.mu.Unlock()
		if i >= 0 {
			return i
		}
		time.Sleep(10 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t.Fatalf("%q did not appear in %q", text, in())
	return 0
}

// shown returns all that the screen shows and has shown.
func (c *console) shown() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.screen.text(0)
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

// A testScreen is the screen of a terminal, with the lines that have left it at the top. It knows the
// escape codes that the line editor writes.
type testScreen struct {
	width, height int
	silent        bool // does not say where the cursor is
	gone          strings.Builder
	rows          []testRow
	x, y          int
	unread        []rune
	partial       []byte // of a character
}

// A testRow is a row of the screen. A row that is full may go on in the next.
type testRow struct {
	cells []rune
	goes  bool
}

func (s *testScreen) init(width, height int) {
	s.width, s.height, s.rows = width, height, make([]testRow, height)
}

// text returns the present and earlier text of the screen, from an offset on.
func (s *testScreen) text(from int) string {
	var b strings.Builder
	b.WriteString(s.gone.String()[min(from, s.gone.Len()):])
	shown := max(from-s.gone.Len(), 0)
	var rows strings.Builder
	last := len(s.rows) - 1
	for last > s.y && len(s.rows[last].cells) == 0 {
		last--
	}
	for _, r := range s.rows[:last+1] {
		rows.WriteString(r.String())
	}
	text := strings.TrimSuffix(rows.String(), "\n")
	b.WriteString(text[min(shown, len(text)):])
	return b.String()
}

func (r testRow) String() string {
	if r.goes {
		return string(r.cells)
	}
	return string(r.cells) + "\n"
}

var escapeCode = regexp.MustCompile(`^\x1b(\[([?0-9;]*)( ?[@-~])|[^\[])`)

// write shows a program's output, and returns the terminal's answer.
func (s *testScreen) write(p []byte) (answer string) {
	s.partial = append(s.partial, p...)
	for utf8.FullRune(s.partial) {
		r, n := utf8.DecodeRune(s.partial)
		s.unread = append(s.unread, r)
		s.partial = s.partial[n:]
	}
	for len(s.unread) > 0 {
		if s.unread[0] != '\x1b' {
			s.put(s.unread[0])
			s.unread = s.unread[1:]
			continue
		}
		m := escapeCode.FindStringSubmatch(string(s.unread))
		if m == nil {
			return answer // the rest is on its way
		}
		s.unread = s.unread[len([]rune(m[0])):]
		if m[3] == "n" && m[2] == "6" && !s.silent {
			answer += fmt.Sprintf("\x1b[%d;%dR", s.y+1, min(s.x, s.width-1)+1)
		}
		n, err := strconv.Atoi(m[2])
		if err != nil || n == 0 {
			n = 1
		}
		s.steer(m[3], n, m[2])
	}
	return answer
}

// put shows a character at the cursor, or moves the cursor.
func (s *testScreen) put(r rune) {
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.down()
	case r < ' ':
	default:
		if s.x == s.width {
			s.rows[s.y].goes = true
			s.x = 0
			s.down()
		}
		row := &s.rows[s.y]
		for len(row.cells) <= s.x {
			row.cells = append(row.cells, ' ')
		}
		row.cells[s.x] = r
		s.x++
	}
}

// down moves the cursor down, and at the bottom everything up.
func (s *testScreen) down() {
	if s.y < s.height-1 {
		s.y++
		return
	}
	s.gone.WriteString(s.rows[0].String())
	s.rows = append(s.rows[1:], testRow{})
}

// steer obeys an escape code.
func (s *testScreen) steer(code string, n int, argument string) {
	switch code {
	case "A":
		s.y = max(s.y-n, 0)
	case "B":
		s.y = min(s.y+n, s.height-1)
	case "C":
		s.x = min(s.x+n, s.width-1)
	case "D":
		s.x = max(min(s.x, s.width-1)-n, 0)
	case "K", "J":
		row := &s.rows[s.y]
		if code == "K" && argument == "1" {
			for i := range min(s.x+1, len(row.cells)) {
				row.cells[i] = ' '
			}
			return
		}
		row.cells, row.goes = row.cells[:min(s.x, len(row.cells))], false
		if code == "J" {
			clear(s.rows[s.y+1:])
		}
	}
}
