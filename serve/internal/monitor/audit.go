package monitor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/geosql/geosql/internal/files"
	"github.com/geosql/geosql/internal/sqltext"
	"github.com/geosql/geosql/sqlitefn"
)

const (
	// syncEvery bounds the part of the log that a crash of the machine may lose. A crash of the process loses nothing.
	syncEvery = time.Second

	mostSQL = 4000 // bytes of a statement
)

// An Audit is a log of the roles' statements with their times and costs: a file to which a line of JSON is added for each
// event. The ledger, not this log, holds the spending.
type Audit struct {
	path   string
	logger *slog.Logger
	now    func() time.Time

	mu    sync.Mutex
	file  *os.File
	dirty bool  // since it was synced
	err   error // of the last line, or sync
	lost  int   // lines since the log could be written

	stop    chan struct{}
	stopped chan struct{}
}

// OpenAudit opens an audit log. A new file is for its owner alone. The logger is told once when
// it cannot be written any more, and once when it can.
func OpenAudit(path string, logger *slog.Logger) (*Audit, error) {
	a := &Audit{path: path, logger: logger, now: time.Now, stop: make(chan struct{}), stopped: make(chan struct{})}
	var err error
	if a.file, err = openAudit(path); err != nil {
		return nil, err
	}
	go a.syncNow()
	a.write(entry{Event: "server started"})
	if err := a.Check(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// openAudit opens the file. A line that a crash has cut off does not spoil the next.
func openAudit(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path) // opening a pipe would wait
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// endLine ends the last line of a file.
func endLine(f *os.File) error {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.WriteString("\n")
	return err
}

// An entry is a line.
type entry struct {
	Time       string   `json:"time"`
	Event      string   `json:"event"`
	Session    uint32   `json:"session,omitempty"`
	Role       string   `json:"role,omitempty"`
	Address    string   `json:"address,omitempty"`
	TLS        *bool    `json:"tls,omitempty"`
	Reason     string   `json:"reason,omitempty"`
	SQL        string   `json:"sql,omitempty"`
	Functions  []string `json:"functions,omitempty"`
	Columns    []string `json:"columns,omitempty"`
	Costs      []cost   `json:"costs,omitempty"`
	Answers    *int     `json:"answers,omitempty"`
	Remembered *int     `json:"remembered,omitempty"`
	LeftOut    *int     `json:"left_out,omitempty"`
	Rows       *int64   `json:"rows,omitempty"`
	Bytes      *int64   `json:"bytes,omitempty"`
	State      string   `json:"sqlstate,omitempty"`
	Seconds    *float64 `json:"seconds,omitempty"`
	Lost       int      `json:"lost,omitempty"`
}

// A cost is the cost of a statement in one unit. Amounts are decimals, as the ledger has them.
type cost struct {
	Unit         string `json:"unit"`
	Accounts     int    `json:"accounts"`
	Most         string `json:"most"`
	RoleAccounts int    `json:"role_accounts"`
	RoleMost     string `json:"role_most"`
	Multiplicity int    `json:"multiplicity"`
}

// SessionBegan adds a line.
func (a *Audit) SessionBegan(s Session) {
	a.write(entry{Event: "session began", Session: s.Number, Role: s.Role, Address: addressText(s.Remote), TLS: &s.TLS})
}

// SessionEnded adds a line.
func (a *Audit) SessionEnded(s Session, reason Reason) {
	seconds := a.now().Sub(s.Began).Seconds()
	a.write(entry{Event: "session ended", Session: s.Number, Role: s.Role, Address: addressText(s.Remote), Reason: string(reason), Seconds: &seconds})
}

// LoginFailed adds a line. Nobody may have the role that it names.
func (a *Audit) LoginFailed(remote net.Addr, user string) {
	a.write(entry{Event: "login failed", Role: short(user), Address: addressText(remote)})
}

// StatementEnded adds a line with the time when the statement began.
func (a *Audit) StatementEnded(s Statement) {
	seconds := s.Took.Seconds()
	e := entry{
		Event: "statement", Session: s.Session.Number, Role: s.Session.Role, Address: addressText(s.Session.Remote),
		SQL: sqltext.PostgreSQL.Mask(s.SQL, mostSQL), Functions: s.Report.Functions, Columns: s.Report.Columns, Costs: costs(s.Report),
		Rows: &s.Rows, Bytes: &s.Bytes, State: s.state(), Seconds: &seconds,
	}
	if len(s.Report.Functions) > 0 {
		e.Answers, e.Remembered, e.LeftOut = &s.Report.Answers, &s.Report.Remembered, &s.Report.LeftOut
	}
	if !s.Began.IsZero() {
		e.Time = timeText(s.Began)
	}
	a.write(e)
}

func costs(r sqlitefn.Report) (all []cost) {
	for _, c := range r.Costs {
		all = append(all, cost{string(c.Unit), c.Accounts, c.Most.String(), c.RoleAccounts, c.RoleMost.String(), c.Multiplicity})
	}
	return all
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// write adds a line, and counts it if it is lost.
func (a *Audit) write(e entry) {
	if e.Time == "" {
		e.Time = timeText(a.now())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.resume() != nil || a.add(e) != nil {
		a.lost++
	}
}

// resume adds a line that says how many lines are lost, if some are. It is called under mu.
func (a *Audit) resume() error {
	if a.lost == 0 {
		return nil
	}
	if err := endLine(a.file); err != nil { // of a line written in part
		return err
	}
	return a.add(entry{Time: timeText(a.now()), Event: "log resumed", Lost: a.lost})
}

// add adds a line. It is called under mu.
func (a *Audit) add(e entry) error {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)              // SQL has < and >
	if err := encoder.Encode(e); err != nil { // an infinite number of seconds, which no clock shows
		a.logger.Error("a line of the audit log is lost", "error", err)
		return nil
	}
	_, err := a.file.Write(line.Bytes())
	a.dirty = true
	a.note(err)
	return err
}

// note notes whether the log can be written.
func (a *Audit) note(err error) {
	switch {
	case err != nil && a.err == nil:
		a.logger.Error("the audit log cannot be written", "error", err)
	case err == nil && a.err != nil:
		a.logger.Info("the audit log can be written again", "lines lost", a.lost)
		a.lost = 0
	}
	a.err = err
}

// Check returns why a line could not be written now, or nil. After an error it tries, since perhaps nobody writes one any more.
func (a *Audit) Check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.resume()
	if err == nil && a.err != nil { // of the last sync
		err = a.file.Sync()
		a.note(err)
	}
	if err == nil && files.IsFull(files.Room(a.path)) {
		err = syscall.ENOSPC
	}
	return err
}

// syncNow writes the log to disk, now and then.
func (a *Audit) syncNow() {
	defer close(a.stopped)
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-a.stop:
			return
		}
		a.mu.Lock()
		file, dirty := a.file, a.dirty
		a.dirty = false
		a.mu.Unlock()
		if !dirty {
			continue
		}
		err := file.Sync() // while others write
		a.mu.Lock()
		if err != nil && file == a.file {
			a.note(err)
		}
		a.mu.Unlock()
	}
}

// Reopen opens the file of that name anew, after the log was renamed. If that fails, the log goes on where it was.
func (a *Audit) Reopen() error {
	file, err := openAudit(a.path)
	if err != nil {
		return err
	}
	a.mu.Lock()
	old := a.file
	a.file = file
	a.mu.Unlock()
	return closeSynced(old)
}

// Close ends the log.
func (a *Audit) Close() error {
	close(a.stop)
	<-a.stopped
	a.write(entry{Event: "server stopped"})
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.err, closeSynced(a.file))
}

func closeSynced(f *os.File) error { return cmp.Or(f.Sync(), f.Close()) }
