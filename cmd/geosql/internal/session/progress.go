package session

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/geosql/geosql/cmd/geosql/internal/output"
	"github.com/geosql/geosql/internal/cli"
	"github.com/geosql/geosql/internal/decimal"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
)

// progressAfter is the time after which the progress of statements shows.
const progressAfter = time.Second

// A progress shows on a line of the terminal how far statements are, until it is stopped: their number of
// rows and their charges. A nil progress shows nothing.
type progress struct {
	rows    atomic.Int64
	charged *sqlitefn.Meter
	begun   time.Time
	line    *cli.TerminalLine

	once  sync.Once
	quit  chan struct{}
	ended chan struct{}
}

// watch shows the progress of statements until stop is called, or until rows appear on the
// terminal.
func (s *Session) watch() (stop func()) {
	line := cli.NewTerminalLine()
	if line == nil {
		return func() {}
	}
	p := &progress{
		charged: s.meter, begun: time.Now(), line: line,
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	s.progress = p
	go p.show()
	return p.stop
}

// show rewrites the line until the end, and clears it then.
func (p *progress) show() {
	defer close(p.ended)
	wait := time.NewTimer(progressAfter)
	defer wait.Stop()
	for shown := false; ; shown = true {
		select {
		case <-p.quit:
			if shown {
				p.line.Clear()
			}
			return
		case <-wait.C:
			p.line.Show("%s", p.text())
			wait.Reset(250 * time.Millisecond)
		}
	}
}

func (p *progress) text() string {
	parts := []string{fmt.Sprintf("%.0f s", time.Since(p.begun).Seconds())}
	if n := p.rows.Load(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d rows", n))
	}
	for _, c := range p.charged.Charged() {
		eps, _ := c.Epsilon.Float64()
		parts = append(parts, rounded(eps)+"/"+string(c.Unit)+" charged")
	}
	return strings.Join(parts, ", ")
}

// rounded returns a number to four significant digits, without exponent.
func rounded(x float64) string {
	return decimal.Format(decimal.Round(x, 4))
}

// stop removes the line. When it has returned, the line shows no more.
func (p *progress) stop() {
	if p != nil {
		p.once.Do(func() { close(p.quit) })
		<-p.ended
	}
}

// countedRows counts the rows that a Writer writes.
type countedRows struct {
	output.Writer
	session *Session
}

func (c countedRows) Row(cells []sqlite.Value) error {
	if p := c.session.progress; p != nil {
		p.rows.Add(1)
	}
	return c.Writer.Row(cells)
}

// A RowFile is where rows go. Before they appear on a terminal, it removes the progress there.
type RowFile struct {
	file     *os.File
	terminal bool
	session  *Session
}

// RowFile returns where the session's rows go if they go to a file, which may be a terminal.
func (s *Session) RowFile(file *os.File, terminal bool) RowFile { return RowFile{file, terminal, s} }

// HideProgress removes the progress from the terminal.
func (f RowFile) HideProgress() { f.session.progress.stop() }

func (f RowFile) Write(p []byte) (int, error) {
	if f.terminal {
		f.HideProgress()
	}
	return f.file.Write(p)
}
