package monitor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/sqlitefn"
)

var (
	_ Observer = (*Audit)(nil)
	_ Observer = (*Metrics)(nil)
	_ Observer = Log{}
	_ Observer = Observers{}
)

// secret is a literal that nothing may keep.
const secret = "hunter2"

var (
	ana   = Session{Number: 7, Role: "ana", Remote: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9}, TLS: true, Began: time.Unix(1e9, 0)}
	asked = Statement{
		Session: ana, Began: time.Unix(1e9, 0), Took: 250 * time.Millisecond, Rows: 2, Bytes: 30, Ledger: time.Millisecond,
		SQL: "SELECT dx_sum(kwh, 0.1) FROM reading WHERE note = '" + secret + "' -- " + secret,
		Report: sqlitefn.Report{
			Answers: 2, Remembered: 1, LeftOut: 3, Columns: []string{"reading.kwh"}, Functions: []string{"dx_sum"},
			Costs: []sqlitefn.Cost{{Unit: "kWh", Accounts: 20, Most: budget.One / 10, RoleAccounts: 19, RoleMost: budget.One / 5, Multiplicity: 2}},
		},
	}
)

func tell(o Observer) {
	o.SessionBegan(ana)
	o.LoginFailed(ana.Remote, "nobody\x1b[2J"+strings.Repeat("x", 1000))
	o.StatementEnded(asked)
	o.StatementEnded(Statement{Session: ana, SQL: "SELECT 1 <> 2", State: "53400"})
	o.StatementEnded(Statement{Session: ana, SQL: "SELECT 1", State: "XX000"})
	o.SessionEnded(ana, WorkerDied)
}

func openTest(t *testing.T, logger *slog.Logger) (a *Audit, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "audit.log")
	a, err := OpenAudit(path, logger)
	if err != nil {
		t.Fatal(err)
	}
	return a, path
}

func lines(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
			t.Errorf("no line of JSON: %q", line)
		}
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

func TestAudit(t *testing.T) {
	a, path := openTest(t, slog.New(slog.DiscardHandler))
	a.now = func() time.Time { return time.Unix(1e9+1, 5000) }
	tell(a)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	got := lines(t, path)
	got[0] = got[0][strings.Index(got[0], ",")+1:] // without the time
	want := []string{
		`"event":"server started"}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"session began","session":7,"role":"ana","address":"192.0.2.1:9","tls":true}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"login failed","role":"nobody\u001b[2J` + strings.Repeat("x", 53) + `..","address":"192.0.2.1:9"}`,
		`{"time":"2001-09-09T01:46:40.000000Z","event":"statement","session":7,"role":"ana","address":"192.0.2.1:9",` +
			`"sql":"SELECT dx_sum(kwh, ?) FROM reading WHERE note = ?","functions":["dx_sum"],"columns":["reading.kwh"],` +
			`"costs":[{"unit":"kWh","accounts":20,"most":"0.1","role_accounts":19,"role_most":"0.2","multiplicity":2}],` +
			`"answers":2,"remembered":1,"left_out":3,"rows":2,"bytes":30,"sqlstate":"00000","seconds":0.25}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"statement","session":7,"role":"ana","address":"192.0.2.1:9","sql":"SELECT ? <> ?","rows":0,"bytes":0,"sqlstate":"53400","seconds":0}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"statement","session":7,"role":"ana","address":"192.0.2.1:9","sql":"SELECT ?","rows":0,"bytes":0,"sqlstate":"XX000","seconds":0}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"session ended","session":7,"role":"ana","address":"192.0.2.1:9","reason":"worker died","seconds":1.000005}`,
		`{"time":"2001-09-09T01:46:41.000005Z","event":"server stopped"}`,
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d\n%s\nwant\n%s", i, got[i], want[i])
		}
	}
}

// A line that a crash has cut off stays alone, and earlier lines stay.
func TestAuditAfterACrash(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	if err := os.WriteFile(path, []byte("{}\n{\"time"), 0o640); err != nil {
		t.Fatal(err)
	}
	a, err := OpenAudit(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(text), "{}\n{\"time\n{\"time\":\"") || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%q, %v", text, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v now", info.Mode())
	}
}

// No line is lost or torn while many write and the log is rotated.
func TestAuditRotates(t *testing.T) {
	a, path := openTest(t, slog.New(slog.DiscardHandler))
	const writers, each = 8, 200
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				a.StatementEnded(asked)
			}
		})
	}
	var files []string
	for i := range 5 {
		old := fmt.Sprint(path, ".", i)
		if err := os.Rename(path, old); err != nil {
			t.Fatal(err)
		}
		files = append(files, old)
		if err := a.Reopen(); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range append(files, path) {
		n += len(lines(t, f))
	}
	if want := writers*each + 2; n != want {
		t.Errorf("%d lines, want %d", n, want)
	}
}

func TestAuditCannotBeReopened(t *testing.T) {
	a, path := openTest(t, slog.New(slog.DiscardHandler))
	defer a.Close()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := a.Reopen(); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: %v", err)
	}
	a.SessionBegan(ana)
	if n := len(lines(t, path+".1")); n != 2 {
		t.Errorf("%d lines in the old file", n)
	}
}

// A log that cannot be written says so once, and again once it can.
func TestAuditFails(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	var said bytes.Buffer
	a, path := openTest(t, slog.New(slog.NewTextHandler(&said, nil)))
	good := a.file
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	swap := func(f *os.File) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.file = f
	}
	swap(full)
	a.SessionBegan(ana)
	a.SessionBegan(ana)
	if err := a.Check(); err == nil || strings.Count(said.String(), "cannot be written") != 1 {
		t.Errorf("error %v, said %q", err, &said)
	}
	swap(good)
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	a.SessionBegan(ana)
	if err := a.Close(); err != nil || strings.Count(said.String(), `can be written again" "lines lost"=2`) != 1 {
		t.Errorf("error %v, said %q", err, &said)
	}
	if all := lines(t, path); len(all) != 4 || !strings.Contains(all[1], `"event":"log resumed","lost":2`) {
		t.Errorf("%v", all)
	}
}

func TestLog(t *testing.T) {
	var said bytes.Buffer
	tell(Observers{Log{slog.New(slog.NewTextHandler(&said, nil))}})
	text := said.String()
	if strings.Contains(text, secret) || strings.Contains(text, "SELECT") || strings.Contains(text, "\x1b") {
		t.Errorf("the log says\n%s", text)
	}
	for _, want := range []string{
		`msg="a session began" session=7 role=ana remote=192.0.2.1:9 tls=true`,
		`level=WARN msg="a login failed" remote=192.0.2.1:9 user="nobody\x1b[2Jxxx`,
		`level=WARN msg="a statement failed" session=7 role=ana sqlstate=XX000`,
		`level=WARN msg="a session ended" session=7 role=ana reason="worker died"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not say %s but\n%s", want, text)
		}
	}
	if strings.Count(text, "a statement failed") != 1 {
		t.Errorf("a refusal is a failure:\n%s", text)
	}
}

// get asks a handler.
func get(t *testing.T, h http.Handler, method, remote string, header ...string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, "/", nil)
	r.RemoteAddr = remote
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	text, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(text)
}

func TestMetrics(t *testing.T) {
	m := NewMetrics()
	m.Gauge("certificate_expires_seconds", "When.", func() float64 { return 5 })
	m.Sessions(func() map[State]int { return map[State]int{Idle: 2} })
	var size *ledger.Size
	m.Ledger(func() *ledger.Size { return size })
	tell(m)
	for i := range 2 * mostUnits {
		m.StatementEnded(Statement{State: fmt.Sprintf("Q%d", i), Rows: -1, Report: sqlitefn.Report{
			Remembered: 1, Costs: []sqlitefn.Cost{{Unit: budget.Unit(fmt.Sprint("u\xff", i)), Most: 1}}}})
		m.SessionBegan(ana)
		m.SessionEnded(ana, Reason(fmt.Sprint(i)))
	}
	if _, text := get(t, m.Handler(), "GET", "127.0.0.1:1"); strings.Contains(text, "geosql_ledger_bytes") {
		t.Error("a size that is not known")
	}
	size = &ledger.Size{Bytes: 4096, Room: 1 << 20, Answers: 7, Waits: 3}
	status, text := get(t, m.Handler(), "GET", "127.0.0.1:1")
	if status != 200 {
		t.Fatal(status, text)
	}
	for _, want := range []string{
		`geosql_sessions{state="idle"} 2`, `geosql_sessions{state="active"} 0`, "geosql_ledger_bytes 4096", "geosql_ledger_room_bytes 1.048576e+06",
		"geosql_ledger_answers 7", "geosql_ledger_pool_waits_total 3", `geosql_sessions_ended_total{reason="worker died"} 1`, `geosql_sessions_ended_total{reason="other"} 100`,
		`geosql_logins_total{result="ok"} 101`, `geosql_logins_total{result="failed"} 1`,
		`geosql_statements_total{class="00"} 1`, `geosql_statements_total{class="53"} 1`, `geosql_statements_total{class="XX"} 1`,
		`geosql_statements_total{class="other"} 100`, `geosql_answers_total{origin="drawn"} 1`, `geosql_answers_total{origin="remembered"} 101`,
		"geosql_refusals_total 1", "geosql_left_out_accounts_total 3", `geosql_charged_epsilon_total{unit="kWh"} 0.1`,
		"geosql_rows_total 2", "geosql_bytes_total 30", "geosql_statement_seconds_count 103", "geosql_ledger_seconds_count 1",
		"geosql_certificate_expires_seconds 5", "go_goroutines ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "\ngeosql_charged_epsilon_total{"); n != mostUnits+1 {
		t.Errorf("%d units", n)
	}
	for _, not := range []string{secret, "192.0.2.1", "ana", "reading"} {
		if strings.Contains(text, not) {
			t.Errorf("the metrics have %s", not)
		}
	}
}

func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, now := 0, error(nil)
		h := Health(NewProbe(func(context.Context) error {
			asked++
			return now
		}, nil).Check)
		for range 3 {
			if status, text := get(t, h, "GET", "192.0.2.1:1"); status != 200 || text != "ok\n" {
				t.Errorf("%d %q", status, text)
			}
		}
		if asked != 1 {
			t.Errorf("asked %d times", asked)
		}
		time.Sleep(probeFor + 1)
		now = ErrDraining
		if status, text := get(t, h, "HEAD", "192.0.2.1:1"); status != 503 || text != "draining\n" || asked != 2 {
			t.Errorf("%d %q", status, text)
		}
		if status, _ := get(t, h, "POST", "127.0.0.1:1"); status != 405 {
			t.Errorf("POST: %d", status)
		}
	})
}

// A check that hangs is answered for, and its late result is old.
func TestProbeIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late, stale := errors.New("late"), errors.New("stale")
		results := make(chan error)
		began := 0
		p := NewProbe(func(context.Context) error {
			began++
			return <-results
		}, late)
		for n := range 3 {
			asked := time.Now()
			if err := p.Check(); err != late || time.Since(asked) != probeWithin || began != 1 {
				t.Errorf("%v after %v, %d began", err, time.Since(asked), began)
			}
			time.Sleep(time.Duration(n+1) * time.Minute)
		}
		results <- stale
		go func() { results <- nil }()
		if err := p.Check(); err != nil || began != 2 {
			t.Errorf("%v, %d began", err, began)
		}
	})
}

func TestGuarded(t *testing.T) {
	token := ""
	h := Guarded(func() string { return token }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	for _, c := range []struct {
		token, remote string
		header        []string
		want          int
	}{
		{"", "127.0.0.1:1", nil, 200},
		{"", "[::1]:1", nil, 200},
		{"", "[::ffff:127.0.0.1]:1", nil, 200},
		{"", "192.0.2.1:1", nil, 403},
		{"", "127.0.0.1:1", []string{"X-Forwarded-For", "192.0.2.1"}, 403},
		{"", "127.0.0.1:1", []string{"Forwarded", "for=192.0.2.1"}, 403},
		{"", "192.0.2.1:1", []string{"Authorization", "Bearer "}, 403},
		{"abc", "127.0.0.1:1", nil, 401},
		{"abc", "192.0.2.1:1", []string{"Authorization", "Bearer abd"}, 401},
		{"abc", "192.0.2.1:1", []string{"Authorization", "Bearer abc"}, 200},
		{"abc", "192.0.2.1:1", []string{"Authorization", "bearer abc"}, 200},
		{"abc", "192.0.2.1:1", []string{"Authorization", "Basic abc"}, 401},
	} {
		token = c.token
		if got, _ := get(t, h, "GET", c.remote, c.header...); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestObservers(t *testing.T) {
	a, b := NewMetrics(), NewMetrics()
	tell(Observers{a, b})
	_, first := get(t, a.Handler(), "GET", "127.0.0.1:1")
	_, second := get(t, b.Handler(), "GET", "127.0.0.1:1")
	for _, text := range []string{first, second} {
		if !strings.Contains(text, "geosql_refusals_total 1") {
			t.Error(text)
		}
	}
}

func TestOpenAuditFails(t *testing.T) {
	if _, err := OpenAudit(filepath.Join(t.TempDir(), "no", "audit.log"), slog.New(slog.DiscardHandler)); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := OpenAudit(t.TempDir(), slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Error(err)
	}
}
