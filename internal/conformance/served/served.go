// Package served starts geosql serve as a program, for tests.
package served

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Build builds the command at a path.
func Build(path string) error {
	if out, err := exec.Command("go", "build", "-o", path, "github.com/geosql/geosql/cmd/geosql").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// A Server is a running geosql serve.
type Server struct {
	Address string // for clients of PostgreSQL, with its port

	cmd   *exec.Cmd
	ended chan struct{} // closed when it has
	err   error         // with which, from then on

	mu   sync.Mutex
	said bytes.Buffer
}

// patience is how long a server may take to start, and to stop.
const patience = time.Minute

// Start starts a server with arguments, at a free port. It is killed at the end of the test if it still runs then.
func Start(tb testing.TB, program string, args ...string) *Server {
	tb.Helper()
	s := &Server{cmd: exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...), ended: make(chan struct{})}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	listening := make(chan string, 1)
	go s.read(bufio.NewScanner(out), listening)
	tb.Cleanup(s.Kill)
	select {
	case s.Address = <-listening:
	case <-s.ended:
		tb.Fatalf("geosql serve ended: %v\n%s", s.err, s.Said())
	case <-time.After(patience):
		tb.Fatalf("geosql serve does not listen\n%s", s.Said())
	}
	return s
}

// read reads the server's output, until it ends.
func (s *Server) read(lines *bufio.Scanner, listening chan<- string) {
	for lines.Scan() {
		s.mu.Lock()
		s.said.WriteString(lines.Text() + "\n")
		s.mu.Unlock()
		if at, use, found := strings.Cut(lines.Text(), ": "); found && strings.HasPrefix(use, "psql ") {
			listening <- strings.TrimPrefix(at, "listening on ") // said once
		}
	}
	s.err = s.cmd.Wait()
	close(s.ended)
}

// Said returns the server's output so far.
func (s *Server) Said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said.String()
}

// PID returns the number of the server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Kill kills the server, if it runs, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.ended
}

// Stop tells the server to stop, and returns how it ended.
func (s *Server) Stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
		return s.err
	case <-time.After(patience):
		return errors.New("the server does not stop")
	}
}
