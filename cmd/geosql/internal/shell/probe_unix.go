//go:build unix

package shell

import (
	"io"
	"os"
	"regexp"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// probeTimeout is the time that a terminal has to answer. A terminal that answers at all does so at
// once, but for the way to it.
const probeTimeout = time.Second

// cursorAnswer is a terminal's answer to the question for the position of its cursor.
var cursorAnswer = regexp.MustCompile("\x1b\\[[0-9]+;[0-9]+R")

// answersProbe reports whether the terminal says where its cursor is. The line editor waits for
// the answer, so it must not ask a terminal that is silent: then lists at the bottom of the screen
// are drawn badly. Text that was typed meanwhile is returned too.
func answersProbe() (answers bool, typed string) {
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return false, ""
	}
	fd := int(os.Stdin.Fd())
	state, err := term.MakeRaw(fd)
	if err != nil {
		return false, ""
	}
	defer term.Restore(fd, state)
	if _, err := io.WriteString(os.Stderr, "\x1b[6n"); err != nil {
		return false, ""
	}
	var read []byte
	buffer := make([]byte, 1024)
	for end := time.Now().Add(probeTimeout); ; {
		left := max(time.Until(end), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || n == 0:
			return false, string(read)
		}
		n, err = os.Stdin.Read(buffer)
		if err != nil {
			return false, string(read)
		}
		read = append(read, buffer[:n]...)
		if at := cursorAnswer.FindIndex(read); at != nil {
			return true, string(read[:at[0]]) + string(read[at[1]:])
		}
	}
}
