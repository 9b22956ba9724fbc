package host

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strings"
	"time"
)

// How a session that should end a statement is told.
const (
	askAgain = 20 * time.Millisecond // SQLite forgets an interrupt that finds no statement running
	patience = 10 * time.Second      // then its process is killed
)

// An extensionSession is a process that runs extension.py, which has the protocol.
type extensionSession struct {
	host string // the program that loaded the extension
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // on its standard error
}

// startExtension starts a process and waits until it has loaded the extension.
func startExtension(ctx context.Context, cmd *exec.Cmd) (s *extensionSession, err error) {
	s = &extensionSession{cmd: cmd}
	cmd.Stderr, cmd.WaitDelay = &s.said, patience
	if s.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReaderSize(out, 1<<16)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	letter, body, err := s.read()
	if err == nil && letter == 'e' {
		err = errors.New(string(body))
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.host = string(body)
	return s, nil
}

// Query implements [Session].
func (s *extensionSession) Query(ctx context.Context, sql string, row func([]any) error) error {
	return s.ask(ctx, 'q', sql, func(_ byte, values []any) error { return row(values) })
}

// Fork implements [Forker]. A fork that refuses to answer has no rows.
func (s *extensionSession) Fork(ctx context.Context, sql string) (rows [2][][]any, err error) {
	err = s.ask(ctx, 'f', sql, func(from byte, values []any) error {
		i := 0
		if from == 'c' {
			i = 1
		}
		rows[i] = append(rows[i], append([]any(nil), values...))
		return nil
	})
	return rows, err
}

// ask sends a statement, and calls row for each row with the letter of its frame.
func (s *extensionSession) ask(ctx context.Context, letter byte, sql string, row func(from byte, values []any) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.write(letter, strings.TrimSpace(sql)); err != nil {
		return s.ended(err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer s.interruptOn(ctx)()
	var failed error
	var values []any
	for {
		from, body, err := s.read()
		switch {
		case err != nil:
			return cmp.Or(context.Cause(ctx), err)
		case from == 'd':
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return failed
		case from == 'e':
			failed = errors.New(string(body))
			continue
		}
		for len(body) > 0 && ctx.Err() == nil {
			if values, body, err = decodeRow(values[:0], body); err == nil {
				err = row(from, values)
			}
			if err != nil {
				stop(err)
			}
		}
	}
}

// interruptOn interrupts the statement that runs once a context ends, until release is called.
func (s *extensionSession) interruptOn(ctx context.Context) (release func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-quit:
			return
		}
		for begun := time.Now(); ; {
			if time.Since(begun) > patience || s.write('i', "") != nil {
				_ = s.cmd.Process.Kill()
			}
			select {
			case <-time.After(askAgain):
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-ended
	}
}

// write sends a frame.
func (s *extensionSession) write(letter byte, body string) error {
	frame := binary.LittleEndian.AppendUint32([]byte{letter}, uint32(len(body)))
	_, err := s.in.Write(append(frame, body...))
	return err
}

// read receives a frame.
func (s *extensionSession) read() (letter byte, body []byte, err error) {
	var head [5]byte
	if _, err = io.ReadFull(s.out, head[:]); err == nil {
		body = make([]byte, binary.LittleEndian.Uint32(head[1:]))
		_, err = io.ReadFull(s.out, body)
	}
	if err != nil {
		return 0, nil, s.ended(err)
	}
	return head[0], body, nil
}

// ended returns the error of a process that has ended by itself.
func (s *extensionSession) ended(err error) error {
	_ = s.in.Close()
	if waited := s.cmd.Wait(); waited != nil {
		err = waited
	}
	lines := strings.Split(strings.TrimSpace(s.said.String()), "\n")
	return fmt.Errorf("%s has ended: %w: %s", s.cmd.Path, err, lines[len(lines)-1])
}

// Close implements [Session].
func (s *extensionSession) Close() error {
	_ = s.in.Close()
	defer time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() }).Stop()
	return s.cmd.Wait()
}

// sizes are the lengths of the number after the letter of a value: a number, or how long it is.
var sizes = [256]int{'i': 8, 'f': 8, 't': 4, 'b': 4}

// errFrame is the error about a frame that is not as extension.py writes it.
var errFrame = errors.New("the extension's process has written a line that is no row")

// decodeRow appends the values of a row, and returns the rest.
func decodeRow(values []any, b []byte) (row []any, rest []byte, err error) {
	for len(b) > 0 {
		letter := b[0]
		b = b[1:]
		size := sizes[letter]
		if len(b) < size {
			break
		}
		content := b[:size]
		b = b[size:]
		switch letter {
		case '.':
			return values, b, nil
		case 'n':
			values = append(values, nil)
		case 'i':
			values = append(values, int64(binary.LittleEndian.Uint64(content)))
		case 'f':
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(content)))
		case 't', 'b':
			n := int(binary.LittleEndian.Uint32(content))
			if len(b) < n {
				return nil, nil, errFrame
			}
			if letter == 't' {
				values = append(values, string(b[:n]))
			} else {
				values = append(values, b[:n])
			}
			b = b[n:]
		default:
			return nil, nil, errFrame
		}
	}
	return nil, nil, errFrame
}
