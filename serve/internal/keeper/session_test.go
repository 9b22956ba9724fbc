package keeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/sqlitefn"
)

func TestAnswersOverTheProtocol(t *testing.T) {
	s := newSite(t, nil)
	c, notices := connect(t, s.serve())
	ctx := context.Background()
	var n int64
	if err := c.QueryRow(ctx, "SELECT count(*) FROM reading").Scan(&n); err != nil || n != hours*int64(len(homes)) {
		t.Fatalf("%d rows, %v", n, err)
	}
	if len(*notices) > 0 {
		t.Errorf("a free answer has the notices %q", *notices)
	}
	var sum float64
	if err := c.QueryRow(ctx, "SELECT dx_sum(kwh, 0.5) FROM reading").Scan(&sum); err != nil {
		t.Fatal(err)
	}
	if sum < 0 || sum > 200 { // 96, with a scale of 2: below e^-48
		t.Errorf("the sum is %g, want about 96", sum)
	}
	if got := s.spent("ana"); got != amount(t, "0.5") {
		t.Errorf("%v is spent, want 0.5", got)
	}
	if want := "cost up to 0.5/kWh for each of 4 accounts; 95 % of answers are within 5.99 kWh"; len(*notices) != 1 || (*notices)[0] != want {
		t.Errorf("notices %q, want %q", *notices, want)
	}
	e := s.events.last()
	if len(e.Report.Functions) != 1 || e.Report.Functions[0] != "dx_sum" || e.Rows != 1 || e.State != "" || e.Ledger <= 0 || e.Session.Role != "ann" {
		t.Errorf("the observer was told of %+v", e)
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	s := newSite(t, nil)
	const sql = "SELECT dx_sum(kwh, 0.25) FROM reading WHERE hour < 12"
	first := s.session().want(sql)
	again := s.session()
	if got := again.want(sql); got != first {
		t.Errorf("the answer is %s, and was %s", got, first)
	}
	if got := again.client.all(); !strings.HasPrefix(got, "given before, on 20") || !strings.Contains(got, "UTC: no cost; 95 %") {
		t.Errorf("notice %q", got)
	}
	if got := s.spent("bo"); got != amount(t, "0.25") {
		t.Errorf("%v is spent, want 0.25", got)
	}
}

// Clients that drop notices read the cost from geosql.last_cost, for nothing.
func TestLastCost(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const last = "SELECT unit, epsilon, accounts, payer, answers, remembered, radius_unit, left_out FROM geosql.last_cost"
	if got := x.want(last); got != "" {
		t.Errorf("before any cost it is %q", got)
	}
	x.want("SELECT dx_sum(kwh, 0.25), dx_max(kwh, 0.125) FROM reading")
	x.want("SELECT count(*) FROM reading") // which has no notice
	x.want("BEGIN")
	for range 2 {
		if got := x.want(last); got != "kWh|0.375|4|account|2|0|<nil>|0" {
			t.Errorf("it is %q", got)
		}
	}
	x.want("ROLLBACK")
	x.want("SELECT dx_sum(kwh, 0.25), dx_avg(kwh, 0.0625) FROM reading")
	said := strings.Split(x.client.all(), "\n")
	if got := x.want("SELECT answers, remembered, epsilon, notice FROM geosql.last_cost"); got != "2|1|0.0625|"+said[len(said)-1] {
		t.Errorf("it is %q, and the notices are %q", got, said)
	}
	x.want("SELECT dx_avg(kwh, 0.0625) FROM reading")
	if got := x.want("SELECT unit, epsilon, payer, remembered, radius > 0, radius_unit FROM geosql.last_cost"); got != "<nil>|0|<nil>|1|true|kWh" {
		t.Errorf("of a remembered answer it is %q", got)
	}
	if got := s.session().want(last); got != "" {
		t.Errorf("another session reads %q", got)
	}
	if got := s.events.last().Report.Answers; got != 0 {
		t.Errorf("it has %d answers itself", got)
	}
}

func TestRefusalsNameNobody(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	x.want("SELECT dx_sum(kwh, 0.75) FROM reading")
	e := x.wantError("53400", "SELECT dx_sum(kwh, 0.5) FROM reading WHERE hour > 3")
	whole := describe(e)
	for _, home := range homes {
		if strings.Contains(whole, "'"+home) || strings.Contains(whole, " "+home+" ") {
			t.Errorf("the refusal names %s: %s", home, whole)
		}
	}
	if !strings.Contains(e.Detail, "0.25/kWh left of 1/kWh; 0.5/kWh is asked. Nobody was charged.") || !strings.Contains(e.Hint, "smaller epsilon") {
		t.Errorf("the refusal is %s", whole)
	}
	pseudonym := strings.Fields(e.Detail)[1]
	if got := x.want("SELECT count(*) FROM reading WHERE home = $1", pseudonym); got != strconv.Itoa(hours) {
		t.Errorf("%s rows have the pseudonym %s", got, pseudonym)
	}
	if got := s.spent("ana"); got != amount(t, "0.75") {
		t.Errorf("%v is spent, want 0.75", got)
	}
	if got := s.events.last(); got.State != "" && got.State != "53400" {
		t.Errorf("the observer was told of %q", got.State)
	}
	x.want("SELECT dx_sum(kwh, 0.25) FROM reading WHERE hour > 3") // the session goes on
}

func TestErrorsOfArguments(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	for sql, state := range map[string]string{
		"SELECT dx_sum(kwh, -1) FROM reading":                        "22023",
		"SELECT dx_sum(kwh, 'x') FROM reading":                       "22023",
		"SELECT dx_sum(substr(kwh, 2), 0.1) FROM reading":            "22023",
		"SELECT dx_sum(home, 0.1) FROM reading":                      "22023",
		"SELECT dx_sum(a.kwh, 0.1) FROM reading a, reading b":        "22023",
		"SELECT dx_value(zeroblob(56), 0.1)":                         "22023",
		"SELECT no_such(kwh) FROM reading":                           "42883",
		"SELECT dx_sum(kwh, 0.1, 'nd9') FROM reading":                "22023",
		"SELECT dx_median(kwh, 0.1) FROM reading LIMIT 'x'":          "",
		"SELECT dx_sum(dx_narrow(kwh, 5, 1), 0.1) FROM reading":      "",
		"SELECT dx_histogram(kwh, 0.1, 1e9) FROM reading":            "",
		"SELECT dx_curve(kwh, 0.1, 'dh') FROM reading":               "22023",
		"SELECT dx_curve(dx_person(kwh, 0, 9), 0.1) FROM reading":    "22023",
		"SELECT dx_curve_percentile('{}', 50) FROM reading":          "22023",
		"SELECT (SELECT dx_sum(kwh, 0.1)) FROM reading LIMIT 1 ; ; ": "",
	} {
		_, err := x.query(sql)
		var e *wire.Error
		if !errors.As(err, &e) {
			if state != "" {
				t.Errorf("%s: %v", sql, err)
			}
			continue
		}
		if state == "22023" && e.Code == "22000" { // found by the worker
			continue
		}
		if state != "" && e.Code != state || e.Code == "XX000" || e.Code == "57P01" {
			t.Errorf("%s: %s, want %s", sql, describe(err), state)
		}
	}
	if got := s.spent("ana"); got > amount(t, "0.2") {
		t.Errorf("errors have cost %v", got)
	}
}

// An error behind rows of a batch is the error of the statement, and of nothing else.
func TestErrorsBehindRows(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	for _, sql := range []string{
		"SELECT abs(x) FROM (SELECT 1 AS x UNION ALL SELECT -9223372036854775807 - 1)",
		"SELECT CASE hour WHEN 7 THEN dx_sum(kwh, -1) ELSE 1 END FROM reading GROUP BY hour",
	} {
		if _, err := x.query(sql); err == nil || strings.Contains(describe(err), "57P01") {
			t.Errorf("%s: %v", sql, err)
		}
		x.want("SELECT 1")
	}
}

// rowsOf begins a statement and reads so many rows of it.
func (x *session) rowsOf(sql string, n int) *Rows {
	x.t.Helper()
	st, _, err := x.Compile(context.Background(), sql, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	r, err := st.Run(context.Background(), nil)
	for i := 0; i < n && err == nil; i++ {
		_, err = r.Values()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	return r
}

// Batches that are fetched ahead stay with their rows, whatever else the session asks meanwhile.
func TestRowsAreFetchedAhead(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const (
		many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i, 'row ' || i FROM n"
		some = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT abs(CASE i WHEN 90000 THEN -9223372036854775807 - 1 ELSE i END) FROM n"
	)
	all, bad, closed := x.rowsOf(many, 1), x.rowsOf(some, 1), x.rowsOf(many, 1)
	if x.ahead != closed {
		t.Error("nothing is fetched ahead")
	}
	x.want("SELECT 1")
	if closed.next == nil || all.next == nil {
		t.Error("a batch was not taken in")
	}
	closed.Close()
	for i := int64(2); i <= 100000; i++ {
		v, err := all.Values()
		if err != nil || v[0] != i || v[1] != "row "+strconv.FormatInt(i, 10) {
			t.Fatalf("row %d is %v, %v", i, v, err)
		}
		if i%30000 == 0 {
			x.want("SELECT 1")
		}
	}
	if _, err := all.Values(); err != io.EOF {
		t.Error(err)
	}
	all.Close()
	for i := int64(2); ; i++ {
		v, err := bad.Values()
		if i == 90000 {
			if err == nil || !strings.Contains(describe(err), "integer overflow") {
				t.Errorf("row %d is %v, %v", i, v, err)
			}
			break
		}
		if err != nil || v[0] != i {
			t.Fatalf("row %d is %v, %v", i, v, err)
		}
	}
	bad.Close()
	x.rowsOf(many, 1).Close()
	x.want("SELECT 1")
}

// Nothing is charged for a row that nobody has asked for, whether a statement asks for one row or for many.
func TestNothingIsAskedAhead(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	x.want("SET geosql.preflight = off") // all rows together cost more than is left
	r := x.rowsOf("SELECT dx_value(kwh, 0.125) FROM reading WHERE home = (SELECT min(home) FROM reading)", 2)
	x.want("SELECT 1")
	if r.next != nil || x.ahead != nil {
		t.Error("rows that ask are fetched ahead")
	}
	if c := r.Report().Costs; len(c) != 1 || c[0].Most != amount(t, "0.25") {
		t.Errorf("two rows have cost %+v", c)
	}
	r.Close()
	x.want("SELECT 1")
	r = x.rowsOf("SELECT dx_sum(kwh, 0.0625) FROM reading", 1)
	if !r.header.Done {
		t.Error("the end of a single row has an answer of its own")
	}
	if _, err := r.Values(); err != io.EOF {
		t.Error(err)
	}
	r.Close()
}

func TestGrants(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) {
		r.Columns = []catalog.ColumnName{{Table: "reading", Column: "other"}}
		r.EpsilonMax = map[budget.Unit]budget.Amount{"kWh": amount(t, "0.1")}
	})
	x := s.session()
	x.wantError("42501", "SELECT dx_sum(kwh, 0.1) FROM reading")
	s.addRole(func(r *role.Role) { r.EpsilonMax = map[budget.Unit]budget.Amount{"kWh": amount(t, "0.1")} })
	x.want("SELECT dx_sum(kwh, 0.1) FROM reading") // at once
	if e := x.wantError("42501", "SELECT dx_sum(kwh, 0.2) FROM reading"); !strings.Contains(e.Message, "0.1") {
		t.Errorf("the error is %s", describe(e))
	}
	s.addRole(func(r *role.Role) { r.Epsilon = map[budget.Unit]budget.Amount{"kWh": amount(t, "0.15")} })
	if e := x.wantError("53400", "SELECT dx_sum(kwh, 0.1) FROM reading WHERE hour = 1"); !strings.Contains(e.Message, "role") {
		t.Errorf("the error is %s", describe(e))
	}
	r := s.addRole(func(*role.Role) {})
	if err := s.ledger.Record(r.Dropped()); err != nil {
		t.Fatal(err)
	}
	if e := x.wantError("57P01", "SELECT 1"); e.Severity != "FATAL" {
		t.Errorf("the error is %s", describe(e))
	}
	x.Close()
	if got := s.events.reasons(); len(got) != 1 || got[0] != monitor.RoleDropped {
		t.Errorf("the session ended because %q", got)
	}
	if _, ok, err := s.Login(context.Background(), "ann", "homes"); ok || err != nil {
		t.Errorf("the role may log in: %v", err)
	}
	if _, err := s.begin(); err == nil {
		t.Error("a session of the role began")
	}
}

// Sessions are those of a role, and not of another one that gets its name.
func TestSessionsEndWithTheirRole(t *testing.T) {
	s := newSite(t, nil)
	idle, fetching := s.session(), s.session()
	st, _, err := fetching.Compile(context.Background(), "SELECT hex(zeroblob(20000)) FROM reading", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := st.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	old := s.addRole(func(*role.Role) {}) // with other settings it would be the same still
	if err := s.ledger.Record(old.Dropped()); err != nil {
		t.Fatal(err)
	}
	again, err := wire.NewVerifier("another secret", wire.DefaultIterations)
	if err != nil {
		t.Fatal(err)
	}
	s.addRole(func(r *role.Role) { r.Verifier, r.Added = again, old.Added })
	for err == nil {
		_, err = rows.Values()
	}
	if !strings.Contains(describe(err), "57P01") {
		t.Errorf("rows that are left: %v", describe(err))
	}
	idle.wantError("57P01", "SELECT 1")
	if _, err := s.begin(); !strings.Contains(describe(err), "57P01") { // its password was right a moment ago
		t.Errorf("a session begins: %v", describe(err))
	}
	idle.Close()
	fetching.Close()
	if got := s.events.reasons(); len(got) != 2 || got[0] != monitor.RoleDropped || got[1] != monitor.RoleDropped {
		t.Errorf("the sessions ended because %q", got)
	}
}

func TestNewSessionsAreLimited(t *testing.T) {
	s := newSite(t, func(o *Options) { o.MaxSessions = 1 })
	_, err := s.Begin(context.Background(), &wire.Login{User: "ann", Verifier: verifier, Database: "ann"})
	if !strings.Contains(describe(err), `3D000: database "ann" does not exist () (This server has the database "homes".)`) {
		t.Errorf("the error is %s", describe(err))
	}
	x := s.session()
	if _, err := s.begin(); !strings.Contains(describe(err), "53300") {
		t.Errorf("the error is %v", describe(err))
	}
	x.Close()
	s.session()
}

const endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

func TestTimeout(t *testing.T) {
	s := newSite(t, nil)
	s.addRole(func(r *role.Role) { r.Timeout = 300 * time.Millisecond })
	x := s.session()
	began := time.Now()
	if e := x.wantError("57014", endless); !strings.Contains(e.Message, "timeout") {
		t.Errorf("the error is %s", describe(e))
	}
	if took := time.Since(began); took > patience {
		t.Errorf("it took %v", took)
	}
	s.addRole(func(*role.Role) {})
	x.want("SELECT 1") // the session goes on
}

func TestCancel(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(200*time.Millisecond, func() { cancel(&wire.Error{Code: "57014", Message: "as the client wishes"}) })
	_, err := x.queryContext(ctx, endless)
	if !strings.Contains(describe(err), "57014: as the client wishes") {
		t.Errorf("the error is %s", describe(err))
	}
	if _, err := x.queryContext(ctx, "SELECT 1"); !strings.Contains(describe(err), "57014") {
		t.Errorf("a statement whose context has ended: %v", describe(err))
	}
	x.want("SELECT 1")

	c, _ := connect(t, s.serve())
	if _, err := c.Prepare(context.Background(), "endless", endless); err != nil { // so that it begins before the deadline
		t.Fatal(err)
	}
	deadline, stop := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer stop()
	if _, err := c.Exec(deadline, "endless"); err == nil {
		t.Error("a canceled statement has no error")
	}
	for begun := time.Now(); !strings.Contains(s.events.last().SQL, "RECURSIVE") || s.events.last().State != "57014"; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > patience {
			t.Fatalf("the last statement is %+v", s.events.last())
		}
	}
}

// Only fetched rows are paid for: a client that takes three groups of 24 pays for these.
func TestPortalsPayForWhatIsFetched(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	st, _, err := x.Compile(context.Background(), "SELECT hour, dx_sum(kwh, 0.01) FROM reading GROUP BY hour", nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := st.Run(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := st.Run(context.Background(), nil) // another portal, in between
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		v, err := a.Values()
		if err != nil || v[0] != int64(i) {
			t.Fatalf("row %d is %v, %v", i, v, err)
		}
		w, err := b.Values()
		if err != nil || w[1] != v[1] {
			t.Fatalf("row %d of the second portal is %v, of the first %v: %v", i, w, v, err)
		}
	}
	if report := a.Report(); report.Answers != 3 || report.Remembered != 0 {
		t.Errorf("the first portal has %+v", report)
	}
	if report := b.Report(); report.Answers != 3 || report.Remembered != 3 {
		t.Errorf("the second portal has %+v", report)
	}
	a.Close()
	b.Close()
	st.Close()
	// Each hour is a value of its own, and the dearest counts.
	if got := s.spent("ana"); got != amount(t, "0.01") {
		t.Errorf("%v is spent, want 0.01", got)
	}
	if got := s.events.last().Report.Answers; got != 3 {
		t.Errorf("the observer was told of %d answers", got)
	}
	x.want("SELECT 1")
	if n := len(x.groups); n != 0 || x.evaluators != 0 {
		t.Errorf("%d groups and %d evaluators are open", n, x.evaluators)
	}
}

func TestSeveralGroupsAtATime(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	got := x.want("SELECT dx_sum(kwh, 0.1), dx_avg(kwh, 0.1), dx_max(kwh, 0.1), (SELECT dx_min(kwh, 0.1) FROM reading) FROM reading")
	if n := len(strings.Split(got, "|")); n != 4 {
		t.Errorf("the answers are %s", got)
	}
	if got := s.spent("di"); got <= 0 || got > amount(t, "0.4") {
		t.Errorf("%v is spent", got)
	}
	if n := strings.Count(x.want("SELECT dx_value(kwh, 0.001) FROM reading WHERE hour = 2"), "\n"); n != len(homes)-1 {
		t.Errorf("%d lines", n+1)
	}
}

func TestQuotes(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	ctx := context.Background()
	st, _, err := x.Compile(ctx, "SELECT dx_sum(kwh, 0.25) FROM reading WHERE hour < ?", nil)
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := st.Quote(ctx, []any{int64(5)})
	if err != nil {
		t.Fatal(describe(err))
	}
	if len(quoted.Costs) != 1 || quoted.Costs[0].Accounts != len(homes) || quoted.Costs[0].Most != amount(t, "0.25") {
		t.Errorf("the quote is %+v", quoted)
	}
	if got := s.spent("ana"); got != 0 {
		t.Fatalf("a quote has cost %v", got)
	}
	if x.client.all() != "" || s.events.last().SQL != "" {
		t.Error("a quote was told of as an answer")
	}
	run := func(quoted sqlitefn.Report) error {
		r, err := st.RunWithin(ctx, []any{int64(5)}, quoted)
		if err != nil {
			return err
		}
		defer r.Close()
		for {
			if _, err := r.Values(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	err = run(sqlitefn.Report{})
	if _, ok := errors.AsType[*sqlitefn.OverQuoteError](err); !ok {
		t.Errorf("a statement that costs more than it was quoted for: %v", describe(err))
	}
	if err := run(quoted); err != nil {
		t.Errorf("a statement that costs what it was quoted for: %s", describe(err))
	}
	if got := s.spent("ana"); got != amount(t, "0.25") {
		t.Errorf("%v is spent, want 0.25", got)
	}
}

// A worker that is killed costs its session, and is told of in the log.
func TestKilledWorkers(t *testing.T) {
	s := newSite(t, nil)
	other := s.session()
	for i := range 8 {
		x := s.session()
		answers := 0
		ask := func() error {
			_, err := x.query(fmt.Sprintf("SELECT hour, dx_sum(kwh, 0.001) FROM reading WHERE hour > %d GROUP BY hour", answers%20))
			answers++
			return err
		}
		var err error
		if i%2 == 1 { // some have an evaluator before they are killed, however slow the machine is
			err = ask()
		}
		kill := func() { _ = x.worker.cmd.Process.Kill() }
		timer := time.AfterFunc(time.Duration(i)*5*time.Millisecond, kill)
		for err == nil {
			err = ask()
		}
		timer.Stop()
		if !strings.Contains(describe(err), "57P01") {
			t.Errorf("the error is %s", describe(err))
		}
		if _, err := x.query("SELECT 1"); !strings.Contains(describe(err), "FATAL 57P01") {
			t.Errorf("the next error is %s", describe(err))
		}
		if status := x.Ready(true); status != wire.Idle {
			t.Errorf("the status is %q", status)
		}
		x.Close()
	}
	if got := strings.Count(s.log.String(), "signal: killed"); got != 8 {
		t.Errorf("the log tells of %d, want 8", got)
	}
	for _, reason := range s.events.reasons() {
		if reason != monitor.WorkerDied {
			t.Errorf("a session ended because %s", reason)
		}
	}
	other.want("SELECT 1")
	if len(s.evaluators.spare) == 0 {
		t.Error("no evaluator came back")
	}
}

// A session takes the worker that waits, unless that has died.
func TestWaitingWorker(t *testing.T) {
	s := newSite(t, nil)
	waiting := func() *workerProcess {
		t.Helper()
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			s.mu.Lock()
			w := s.waiting
			s.mu.Unlock()
			if w != nil {
				return w
			}
		}
		t.Fatal("no worker waits")
		return nil
	}
	s.session().want("SELECT 1", "1")
	first := waiting()
	second := s.session()
	if second.worker != first {
		t.Error("a session did not take the worker that waits")
	}
	second.want("SELECT count(*) FROM reading WHERE hour < 0", "0")

	dead := waiting()
	_ = dead.cmd.Process.Kill()
	<-dead.exited
	third := s.session()
	if third.worker == dead {
		t.Error("a session took a worker that has died")
	}
	third.want("SELECT 1", "1")

	last := waiting()
	if err := s.Keeper.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-last.exited:
	default:
		t.Error("a worker waits for a keeper that is closed")
	}
}

func TestCloseKillsWorkers(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	failed := make(chan error, 1)
	go func() {
		_, err := x.query(endless)
		failed <- err
	}()
	time.Sleep(100 * time.Millisecond)
	if err := s.Keeper.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if !strings.Contains(describe(err), "FATAL 57P01: terminating connection due to administrator command") {
			t.Errorf("the error is %s", describe(err))
		}
	case <-time.After(patience):
		t.Fatal("the statement goes on")
	}
	if _, err := s.begin(); err == nil {
		t.Error("a session began")
	}
}

func TestPostgresErrors(t *testing.T) {
	s := newSite(t, nil)
	c, _ := connect(t, s.serve())
	_, err := c.Exec(context.Background(), "SELECT dx_sum(kwh, 2) FROM reading")
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "53400" || e.Detail == "" || e.Hint == "" {
		t.Errorf("the error is %+v", e)
	}
	if _, err := c.Exec(context.Background(), "SELECT sum(kwh) FROM reading"); !errors.As(err, &e) || e.Code != "42804" {
		t.Errorf("the error is %v", err)
	}
	if _, err := c.Exec(context.Background(), "DELETE FROM reading"); !errors.As(err, &e) || e.Code != "25006" {
		t.Errorf("the error is %v", err)
	}
}

// Large results arrive whole.
func TestManyRows(t *testing.T) {
	s := newSite(t, nil)
	x := s.session()
	const rows = 200000
	got := x.want(fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'row ' || i, i * 0.5 FROM n", rows))
	lines := strings.Split(got, "\n")
	if len(lines) != rows || lines[rows-1] != "200000|row 200000|100000" {
		t.Errorf("%d rows, the last is %s", len(lines), lines[len(lines)-1])
	}
	big := x.want("SELECT hex(zeroblob(1000000)), 1")
	if len(big) != 2000002 {
		t.Errorf("a large row has %d characters", len(big))
	}
	c, _ := connect(t, s.serve())
	var n, text int
	r, err := c.Query(context.Background(), fmt.Sprintf("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i, 'row ' || i FROM n", rows))
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		n++
		text += len(r.RawValues()[1])
	}
	if r.Err() != nil || n != rows {
		t.Errorf("%d rows, %v", n, r.Err())
	}
}
