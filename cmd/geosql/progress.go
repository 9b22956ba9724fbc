package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// A progress shows on the terminal how far a file has been read. A nil one,
// where there is no terminal, shows nothing.
type progress struct {
	what string
	file *os.File
	size int64
	next time.Time
}

func newProgress(what string, file *os.File) *progress {
	info, err := file.Stat()
	if err != nil || !term.IsTerminal(int(os.Stderr.Fd())) {
		return nil
	}
	return &progress{what: what, file: file, size: info.Size()}
}

// show renews the line, several times a second at most.
func (p *progress) show(rows int64) {
	if p == nil || time.Now().Before(p.next) {
		return
	}
	p.next = time.Now().Add(200 * time.Millisecond)
	at, err := p.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return
	}
	const mb = 1e6
	fmt.Fprintf(os.Stderr, "\r\x1b[K%s: %.1f of %.1f MB, %d rows", p.what, float64(at)/mb, float64(p.size)/mb, rows)
}

// clear removes the line.
func (p *progress) clear() {
	if p != nil {
		fmt.Fprint(os.Stderr, "\r\x1b[K")
	}
}
