package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/declaration"
	"github.com/geosql/geosql/internal/processes"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/file"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sealed/catalog"
	"github.com/geosql/geosql/sealed/sealedtest"
	"github.com/geosql/geosql/serve/internal/keeper"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
	"github.com/geosql/geosql/sqlitefn"
)

// TestMain makes the program of the tests the worker, too, if its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(worker.Main())
	}
	os.Exit(m.Run())
}

// A site is a keeper of a sealed database with its console, in a test.
type site struct {
	t testing.TB
	*keeper.Keeper
	ledger  *file.Ledger
	served  *Served
	history *History
	events  *events
	read    func(home string, hour int) // adds a row
}

// events are an observer's events.
type events struct {
	History
	mu       sync.Mutex
	sessions []monitor.Session
	states   []string
}

func (e *events) SessionBegan(s monitor.Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions = append(e.sessions, s)
}

func (e *events) StatementEnded(s monitor.Statement) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states = append(e.states, s.State)
}

// homes are the accounts of the database: each has a reading of 1 kWh and is somewhere in Beijing in each of four hours.
var homes = []string{"ana-home", "bo-home", "cy-home"}

const hours = 4

// triangle is the region of the domain, in which all of them are.
const triangle = "POLYGON((116.2 39.8, 116.6 39.8, 116.4 40.1, 116.2 39.8))"

// newSite seals a database of homes and serves it for the role ann, with the password of all tests.
func newSite(t testing.TB, change func(*keeper.Options)) *site {
	t.Helper()
	path, key := filepath.Join(t.TempDir(), "homes.db"), sealedtest.NewKey(t)
	s := &site{t: t, history: &History{}, events: &events{}}
	s.seal(path, key)
	s.put(func(*role.Role) {})
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := keeper.Options{
		Path: path, Keyring: sealed.NewKeyring(key), Observer: monitor.Observers{s.history, s.events},
		Worker: func() *exec.Cmd { return exec.Command(program, "worker") },
	}
	if change != nil {
		change(&o)
	}
	if s.Keeper, err = keeper.Open(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Keeper.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.served, err = Serve(s.Keeper, s.history, path+"-questions", "owner's password"); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) seal(path string, key *sealed.PrivateKey) {
	t := s.t
	conn, err := sqlite.Open(path, sqlite.ReadWrite|sqlite.Create)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if s.ledger, err = file.Open(sqlitefn.LedgerPath(path), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.ledger.Close() })
	run := func(sql string) {
		t.Helper()
		if err := conn.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run(declaration.Schema + `; INSERT INTO geosql_universe VALUES ('halfhour', 0, 10, 0.001, 'kWh');
		INSERT INTO geosql_domain VALUES ('beijing', 39.8, 116.2, 40.1, 116.6, 1, '` + triangle + `');
		CREATE TABLE reading(id INTEGER PRIMARY KEY, home TEXT, hour INTEGER, kwh BLOB, place BLOB);
		CREATE VIEW morning AS SELECT home, hour FROM reading WHERE hour < 2`)
	d := sealedtest.Seal(t, conn, s.ledger, key.Public(),
		catalog.Column{Table: "reading", Name: "kwh", Account: "home", Universe: &catalog.Universe{Name: "halfhour", Lo: 0, Hi: 10, Step: 0.001, Unit: "kWh"}},
		catalog.Column{Table: "reading", Name: "place", Account: "home", Domain: &catalog.Domain{Name: "beijing", South: 39.8, West: 116.2, North: 40.1, East: 116.6, StepM: 1, Region: triangle}})
	if err := sqlitefn.Attach(conn.Handle(), sqlitefn.WithKeyring(sealed.NewKeyring(key))); err != nil {
		t.Fatal(err)
	}
	run("SELECT budget_limit('*', 'kWh', 1), budget_limit('*', 'm', 1), budget_limit('*', 'record', 5)")
	s.read = func(home string, hour int) {
		t.Helper()
		run(fmt.Sprintf("INSERT INTO reading(home, hour, kwh, place) VALUES ('%s', %d, %s, %s)", d.Account(home).Pseudonym, hour,
			d.Reading(1, home, 1000), d.Location(2, home, 39.9+float64(hour)/100, 116.3)))
	}
	run("BEGIN")
	for h := range hours {
		for _, home := range homes {
			s.read(home, h)
		}
	}
	run("COMMIT")
}

const password = "secret password"

var verifier = func() wire.Verifier {
	v, err := wire.NewVerifier(password, wire.DefaultIterations)
	if err != nil {
		panic(err)
	}
	return v
}()

// hundredths returns an amount.
func hundredths(n budget.Amount) budget.Amount { return budget.One / 100 * n }

func someRole(name string) *role.Role {
	return &role.Role{Verifier: verifier, Terms: role.Terms{
		Name: name, Columns: []catalog.ColumnName{{Table: "reading", Column: "kwh"}},
		Epsilon:   map[budget.Unit]budget.Amount{"kWh": hundredths(80), "record": hundredths(100)},
		MaxRepeat: 1, Timeout: 20 * time.Second, Added: time.Now().UTC(),
	}}
}

// put adds the role ann, or replaces it, as geosql role does.
func (s *site) put(change func(*role.Role)) *role.Role {
	s.t.Helper()
	r := someRole("ann")
	change(r)
	if err := s.ledger.Record(r.Fact()); err != nil {
		s.t.Fatal(err)
	}
	return r
}

// login logs a user in.
func (s *site) login(user, password string) Session {
	s.t.Helper()
	x, err := s.served.Login(context.Background(), Credentials{User: user, Password: password, Remote: remoteAddr("192.0.2.1:99"), TLS: true})
	if err != nil {
		s.t.Fatalf("%s: %v", user, err)
	}
	s.t.Cleanup(x.Close)
	return x
}

func (s *site) ann() Session {
	s.t.Helper()
	return s.login("ann", password)
}

// spent returns the largest amount in kWh charged to one account.
func (s *site) spent() (most budget.Amount) {
	s.t.Helper()
	for _, home := range homes {
		b, err := s.ledger.Balance(home, "kWh")
		if err != nil {
			s.t.Fatal(err)
		}
		most = max(most, b.Spent)
	}
	return most
}

// ask runs a statement within a quote and returns its rows.
func ask(x Session, q Question, quoted sqlitefn.Report) (rows [][]any, o Outcome, err error) {
	r, err := x.Run(context.Background(), q, quoted)
	if err != nil {
		return nil, Outcome{}, err
	}
	for err == nil {
		var row []any
		if row, err = r.Next(); err == nil {
			if len(row) != len(r.Columns()) {
				err = fmt.Errorf("%d values for %d columns", len(row), len(r.Columns()))
			}
			rows = append(rows, row)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return rows, r.Close(), err
}

// pay asks for the cost of a statement and pays it.
func pay(t testing.TB, x Session, q Question) ([][]any, Outcome) {
	t.Helper()
	quote, err := x.Quote(context.Background(), q)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	rows, o, err := ask(x, q, quote.Report)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	return rows, o
}

// state returns the SQLSTATE of an error.
func state(err error) string {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

func isOverQuote(err error) bool {
	_, ok := errors.AsType[*sqlitefn.OverQuoteError](err)
	return ok
}

const (
	sumHours = "SELECT hour, dx_sum(kwh, 0.25) FROM reading GROUP BY hour"
	free     = "SELECT count(*) FROM reading"
)

func TestLogins(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		user, password string
		ok             bool
	}{
		{"ann", password, true}, {"ann", "secret passwore", false}, {"ann", "", false}, {"ann", "owner's password", false},
		{"nobody", password, false}, {"", "", false}, {"Ann", password, false},
		{OwnerName, "owner's password", true}, {OwnerName, password, false}, {"OWNER", "owner's password", false},
	} {
		x, err := s.served.Login(context.Background(), Credentials{User: c.user, Password: c.password})
		switch {
		case c.ok && err != nil, !c.ok && err != ErrLogin:
			t.Errorf("%s with %q: %v", c.user, c.password, err)
		case c.ok && x.Owner() != (c.user == OwnerName):
			t.Errorf("%s is the owner: %v", c.user, x.Owner())
		}
	}
	// A role of the owner's name does not log in here, with and without a password of the owner.
	s.put(func(r *role.Role) { r.Name = OwnerName })
	without, err := Serve(s.Keeper, s.history, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, served := range []*Served{s.served, without} {
		for _, p := range []string{password, ""} {
			if _, err := served.Login(context.Background(), Credentials{User: OwnerName, Password: p}); err != ErrLogin {
				t.Errorf("the owner with %q: %v", p, err)
			}
		}
	}
}

func TestSchema(t *testing.T) {
	s := newSite(t, nil)
	for _, c := range []struct {
		x       Session
		granted string
	}{{s.ann(), "kwh"}, {s.login(OwnerName, "owner's password"), ""}} {
		schema, err := c.x.Schema(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if schema.Database != "homes" || len(schema.Tables) != 2 || schema.Tables[0].Name != "morning" || !schema.Tables[0].View || schema.Tables[1].View {
			t.Fatalf("%+v", schema)
		}
		var columns []string
		for _, col := range schema.Tables[1].Columns {
			text := col.Name + " " + col.Type
			if x := col.Sealed; x != nil {
				text += fmt.Sprintf(" %s%s %s %v", x.Universe, x.Domain, x.Unit, x.Granted)
			}
			columns = append(columns, text)
		}
		want := fmt.Sprintf("[id bigint home text hour bigint kwh sealed halfhour kWh %v place sealed beijing m false]", c.granted == "kwh")
		if got := fmt.Sprint(columns); got != want {
			t.Errorf("the columns are %s, want %s", got, want)
		}
		if len(schema.Domains) != 1 || schema.Domains[0] != (Domain{"beijing", 39.8, 116.2, 40.1, 116.6, triangle}) {
			t.Errorf("the domains are %v", schema.Domains)
		}
		if i := slices.IndexFunc(schema.Functions, func(f Function) bool { return f.Name == "dx_sum" }); i < 0 || !schema.Functions[i].Charges || len(schema.Functions[i].Signatures) == 0 {
			t.Errorf("%d functions, dx_sum at %d", len(schema.Functions), i)
		}
	}
}

func TestAQuoteIsWhatIsPaid(t *testing.T) {
	s := newSite(t, nil)
	x := s.ann()
	q := Question{SQL: sumHours}
	quote, err := x.Quote(context.Background(), q)
	if err != nil || len(quote.Report.Costs) != 2 && len(quote.Report.Costs) != 1 || s.spent() != 0 {
		t.Fatalf("%+v, %v, %v is spent", quote, err, s.spent())
	}
	// Nothing is charged without a quote, and that is no refusal.
	if _, _, err := ask(x, q, sqlitefn.Report{}); !isOverQuote(err) || s.spent() != 0 {
		t.Errorf("without a quote: %v, %v is spent", err, s.spent())
	}
	rows, o, err := ask(x, q, quote.Report)
	if err != nil || len(rows) != hours {
		t.Fatalf("%v, %v", rows, err)
	}
	if fmt.Sprint(o.Report.Costs) != fmt.Sprint(quote.Report.Costs) || s.spent() != hundredths(25) || o.Report.Answers != hours || o.Report.Remembered != 0 {
		t.Errorf("quoted %+v, paid %+v, %v is spent", quote.Report, o.Report, s.spent())
	}
	if o.Report.Radius <= 0 || o.Report.Unit != "kWh" {
		t.Errorf("the answers are within %v %s", o.Report.Radius, o.Report.Unit)
	}
	for _, row := range rows {
		if within := o.Intervals(row[1].(float64)); within.Times == 0 || within.String() != fmt.Sprint("± ", o.Report.Radius) {
			t.Errorf("%v %v, and all are within %v", row, within, o.Report.Radius)
		}
	}
	if len(o.Notices) != 0 { // that of the cost is the report
		t.Errorf("notices %v", o.Notices[0])
	}
	// It is remembered: without a quote, by another login too.
	again, o, err := ask(s.ann(), q, sqlitefn.Report{})
	if err != nil || fmt.Sprint(again) != fmt.Sprint(rows) || o.Report.Remembered != hours || s.spent() != hundredths(25) {
		t.Errorf("%v, %+v, %v", again, o.Report, err)
	}
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	if slices.Contains(s.events.states, "53400") {
		t.Errorf("statements ended with %q", s.events.states)
	}
	if e := s.events.sessions[0]; e.Role != "ann" || e.Remote.String() != "192.0.2.1:99" || !e.TLS || e.Number <= 1<<31 {
		t.Errorf("the observer was told of %+v", e)
	}
}

func TestAQuoteThatIsOutrun(t *testing.T) {
	s := newSite(t, nil)
	x, other := s.ann(), s.ann()
	q := Question{SQL: "SELECT dx_sum(kwh, 0.3) FROM reading"}
	pay(t, other, q)
	quote, err := x.Quote(context.Background(), q)
	if err != nil || charges(quote.Report) {
		t.Fatalf("a remembered answer costs %+v, %v", quote.Report, err)
	}
	s.read(homes[0], 1)
	if _, _, err := ask(x, q, quote.Report); !isOverQuote(err) || s.spent() != hundredths(30) {
		t.Errorf("the answer over other rows: %v, %v is spent", err, s.spent())
	}
	// Another session takes the rest.
	if quote, err = x.Quote(context.Background(), q); err != nil || !charges(quote.Report) {
		t.Fatalf("%+v, %v", quote.Report, err)
	}
	pay(t, other, Question{SQL: "SELECT dx_sum(kwh, 0.4) FROM reading"})
	if _, _, err := ask(x, q, quote.Report); state(err) != "53400" || s.spent() != hundredths(70) {
		t.Errorf("%v, %v is spent", err, s.spent())
	}
	// So is a quote that nobody can pay.
	if _, err := x.Quote(context.Background(), q); state(err) != "53400" {
		t.Errorf("the quote is %v", err)
	}
	if list := mustHistory(t, x); len(list) == 0 || list[0].Refused != "53400" || list[len(list)-1].Refused != "" {
		t.Errorf("the history is %+v", list)
	}
}

// A statement has no quote if its answers decide its further questions: a quote could only guess.
func TestNoQuoteOfWhatAnswersDecide(t *testing.T) {
	s := newSite(t, nil)
	x := s.ann()
	q := Question{SQL: "WITH g AS MATERIALIZED (SELECT hour, dx_sum(kwh, 0.01) AS s FROM reading GROUP BY hour) SELECT dx_avg(kwh, 0.01) FROM reading JOIN g USING (hour) WHERE s > 4"}
	if _, err := x.Quote(context.Background(), q); state(err) != "53400" || !strings.Contains(err.Error(), "might cost more") || s.spent() != 0 {
		t.Errorf("the quote is %v, %v is spent", err, s.spent())
	}
}

func mustHistory(t testing.TB, x Session) []Asked {
	t.Helper()
	list, err := x.History(context.Background(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestServedEpsilon(t *testing.T) {
	s := newSite(t, nil)
	x := s.ann()
	const sql = "SELECT sum(kwh) FROM reading"
	defer func() { // which the history has, for those who ask again
		if h := mustHistory(t, x); len(h) != 3 || h[0].Epsilon != "0.1" || h[2].Epsilon != "0.2" || h[2].SQL != sql {
			t.Errorf("the history is %+v", h)
		}
	}()
	for _, epsilon := range []budget.Amount{0, hundredths(20), 0, hundredths(20), hundredths(10)} {
		q := Question{SQL: sql, Epsilon: epsilon}
		if epsilon == 0 {
			if _, _, err := ask(x, q, sqlitefn.Report{}); state(err) != "42804" {
				t.Errorf("without epsilon: %v", err)
			}
			continue
		}
		pay(t, x, q)
	}
	if s.spent() != hundredths(30) { // one of 0.2 is remembered
		t.Errorf("%v is spent", s.spent())
	}
	// A context that ends while epsilon is set leaves nothing behind.
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Run(ended, Question{SQL: free}, sqlitefn.Report{}); state(err) != "57014" {
		t.Errorf("a canceled statement: %v", err)
	}
	if _, _, err := ask(x, Question{SQL: sql}, sqlitefn.Report{}); state(err) != "42804" {
		t.Errorf("without epsilon: %v", err)
	}
}

func TestStatementsOfTheConsole(t *testing.T) {
	s := newSite(t, nil)
	x := s.ann()
	for _, c := range []struct {
		sql, state string
		position   int
	}{
		{free, "", 0}, {free + "; -- that is all", "", 0}, {" ;; " + free + " ; ", "", 0}, {"SHOW server_version", "", 0}, {"EXPLAIN " + free, "", 0},
		{"SELECT 'é';\n  SELECT 2", "42601", 15}, {"", "42601", 0}, {" ; -- nothing", "42601", 0}, {"SELECT $1", "42P02", 0},
		{"SET geosql.epsilon = 0.5", "0A000", 0}, {"; SET geosql.epsilon = 0.5", "0A000", 0}, {"BEGIN", "0A000", 0}, {"COMMIT", "0A000", 0},
		{"DECLARE c CURSOR FOR SELECT dx_sum(kwh, 0.1) FROM reading", "0A000", 0}, {"FETCH 1 FROM c", "0A000", 0},
		{"COPY (SELECT 1) TO STDOUT", "0A000", 0}, {"DISCARD ALL", "0A000", 0},
		{"SELEC 1", "42601", 1}, {"DELETE FROM reading", "25006", 0}, {"SELECT dx_sum(place, 0.1) FROM reading", "42501", 0},
	} {
		_, _, err := ask(x, Question{SQL: c.sql}, sqlitefn.Report{})
		if got := state(err); got != c.state && !(c.state == "" && err == nil) {
			t.Errorf("%q: %v, want %s", c.sql, err, c.state)
		}
		if e, ok := errors.AsType[*wire.Error](err); ok && c.position > 0 && e.Position != c.position {
			t.Errorf("%q: the error is at %d, want %d", c.sql, e.Position, c.position)
		}
		if _, err := x.Quote(context.Background(), Question{SQL: c.sql}); (err == nil) != (c.state == "") {
			t.Errorf("the quote of %q: %v", c.sql, err)
		}
	}
	if s.spent() != 0 {
		t.Errorf("%v is spent", s.spent())
	}
	rows, _, err := ask(x, Question{SQL: "SELECT 1, 0.5, 'x', x'0102', NULL, true"}, sqlitefn.Report{})
	if want := "[[1 0.5 x [1 2] <nil> true]]"; err != nil || fmt.Sprint(rows) != want && fmt.Sprint(rows) != "[[1 0.5 x [1 2] <nil> 1]]" {
		t.Errorf("%v, %v, want %s", rows, err, want)
	}
	owner := s.login(OwnerName, "owner's password")
	if _, _, err := ask(owner, Question{SQL: free}, sqlitefn.Report{}); state(err) != "42501" {
		t.Errorf("the owner asks: %v", err)
	}
}

func TestLeftOutAccountsAreSaid(t *testing.T) {
	s := newSite(t, nil)
	s.put(func(r *role.Role) { r.LeaveOut = true })
	x := s.ann()
	pay(t, x, Question{SQL: "SELECT dx_sum(kwh, 0.6) FROM reading WHERE id % 3 = 1"}) // of one home
	_, o := pay(t, x, Question{SQL: "SELECT dx_sum(kwh, 0.3) FROM reading"})
	if o.Report.LeftOut != 1 || o.Report.Costs[0].Accounts != 2 || o.Report.Radius != 0 {
		t.Errorf("%+v", o.Report)
	}
}

// A worker that dies costs its statement: the login goes on with another one.
func TestAWorkerThatDies(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc, which lists the workers")
	}
	var started atomic.Int32
	s := newSite(t, func(o *keeper.Options) {
		start := o.Worker
		o.Worker = func() *exec.Cmd {
			started.Add(1)
			return start()
		}
	})
	kill := func() { // the session's, and the one that waits for the next
		for end := time.Now().Add(time.Minute); len(processes.Children(os.Getpid())) != 2; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d workers run, want 2", len(processes.Children(os.Getpid())))
			}
		}
		for pids := processes.Children(os.Getpid()); len(pids) > 0; pids = processes.Children(os.Getpid()) {
			for _, pid := range pids {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill() // it may have ended
				}
			}
			time.Sleep(time.Millisecond)
		}
	}
	x := s.ann()
	if _, _, err := ask(x, Question{SQL: "SELECT sum(kwh) FROM reading", Epsilon: hundredths(10)}, sqlitefn.Report{}); !isOverQuote(err) {
		t.Fatal(err)
	}
	kill()
	wantEnded := func(err error) {
		t.Helper()
		if state(err) != errWorkerEnded.Code {
			t.Errorf("%v", err)
		}
		if f := (&Server{}).faultOf(context.Background(), err); f.endsLogin() {
			t.Error("the login ends")
		}
	}
	_, _, err := ask(x, Question{SQL: free}, sqlitefn.Report{})
	wantEnded(err)
	if _, _, err := ask(x, Question{SQL: "SELECT sum(kwh) FROM reading"}, sqlitefn.Report{}); state(err) != "42804" { // epsilon is not set in the next one
		t.Errorf("the next statement: %v", err)
	}
	// While rows are read.
	rows, err := x.Run(context.Background(), Question{SQL: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"}, sqlitefn.Report{})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; err == nil; n++ {
		if n == 1000 {
			kill()
		}
		_, err = rows.Next()
	}
	wantEnded(err)
	rows.Close()
	if got, _, err := ask(x, Question{SQL: free}, sqlitefn.Report{}); err != nil || fmt.Sprint(got) != "[[12]]" {
		t.Errorf("the next statement: %v, %v", got, err)
	}
	kill()
	if n := started.Load(); n != 6 {
		t.Errorf("%d workers were started, want 6: three, and one that waits beside each", n)
	}
}

// A result is kept until it has been sent, and counts against the role's memory until then.
func TestMemoryOfAResult(t *testing.T) {
	s := newSite(t, nil)
	s.put(func(r *role.Role) { r.Memory = 16 << 20 })
	x := s.ann()
	long := Question{SQL: "WITH n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1000) SELECT printf('%9000d', i) FROM n"}
	var e *wire.Error
	if _, _, err := ask(x, long, sqlitefn.Report{}); !errors.As(err, &e) || e.Code != "53200" {
		t.Errorf("9 MB of cells: %v", err)
	}
	long.SQL += " LIMIT 300"
	for range 3 {
		if rows, _, err := ask(x, long, sqlitefn.Report{}); err != nil || len(rows) != 300 {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	}
}

func TestARoleIsDroppedDuringItsLogin(t *testing.T) {
	s := newSite(t, nil)
	asked, idle := s.ann(), s.ann()
	if _, _, err := ask(asked, Question{SQL: free}, sqlitefn.Report{}); err != nil {
		t.Fatal(err)
	}
	r := s.put(func(*role.Role) {})
	if err := s.ledger.Record(r.Dropped()); err != nil {
		t.Fatal(err)
	}
	s.put(func(r *role.Role) { // another one of its name
		var err error
		if r.Verifier, err = wire.NewVerifier("another password", wire.DefaultIterations); err != nil {
			t.Fatal(err)
		}
	})
	ctx := context.Background()
	for name, x := range map[string]Session{"one that has asked": asked, "one that has not": idle} {
		for what, f := range map[string]func() error{
			"run":     func() error { _, _, err := ask(x, Question{SQL: free}, sqlitefn.Report{}); return err },
			"quote":   func() error { _, err := x.Quote(ctx, Question{SQL: free}); return err },
			"schema":  func() error { _, err := x.Schema(ctx); return err },
			"budgets": func() error { _, err := x.Budgets(ctx); return err },
			"history": func() error { _, err := x.History(ctx, 1); return err },
		} {
			err := f()
			if err == nil {
				t.Errorf("%s of %s: no error", what, name)
				continue
			}
			if f := (&Server{}).faultOf(ctx, err); !f.endsLogin() || !strings.Contains(f.Message, "has been dropped") {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
}

// The owner adds a role, which is used at once, changes nothing of others, and is gone once it is dropped.
func TestTheOwnerAndRoles(t *testing.T) {
	s := newSite(t, nil)
	owner, ctx := s.login(OwnerName, "owner's password"), context.Background()
	if err := owner.AddRole(ctx, someRole("bo")); err != nil {
		t.Fatal(err)
	}
	bo := s.login("bo", password)
	pay(t, bo, Question{SQL: "SELECT dx_sum(kwh, 0.5) FROM reading"})
	for _, c := range []struct {
		r     *role.Role
		state string
		says  string
	}{
		{someRole("bo"), "42710", "there is a role bo"},
		{func() *role.Role {
			r := someRole("cy")
			r.Columns = []catalog.ColumnName{{Table: "reading", Column: "hour"}}
			return r
		}(), "22023", "not a sealed column"},
		{func() *role.Role {
			r := someRole("cy")
			r.Epsilon = map[budget.Unit]budget.Amount{"EUR": budget.One}
			return r
		}(), "22023", "EUR"},
		{func() *role.Role { r := someRole("cy"); r.MaxRepeat = 0; return r }(), "22023", ""},
	} {
		if err := owner.AddRole(ctx, c.r); state(err) != c.state || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is added: %v", c.r.Name, err)
		}
	}
	budgets, err := owner.Budgets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := []Budget{
		{Role: "ann", Unit: "kWh", Limit: hundredths(80)}, {Role: "ann", Unit: "record", Limit: hundredths(100)},
		{Role: "bo", Unit: "kWh", Limit: hundredths(80), Accounts: len(homes), Most: hundredths(50)}, {Role: "bo", Unit: "record", Limit: hundredths(100)},
	}
	if !slices.Equal(budgets, want) {
		t.Errorf("the budgets are %+v, want %+v", budgets, want)
	}
	if budgets, err = bo.Budgets(ctx); err != nil || !slices.Equal(budgets, want[2:]) {
		t.Errorf("those of bo are %+v, %v", budgets, err)
	}
	if err := owner.DropRole(ctx, "bo"); err != nil {
		t.Fatal(err)
	}
	if err := owner.DropRole(ctx, "bo"); state(err) != "42704" {
		t.Errorf("dropped again: %v", err)
	}
	if _, err := s.served.Login(ctx, Credentials{User: "bo", Password: password}); err != ErrLogin {
		t.Errorf("bo logs in: %v", err)
	}
	roles, err := owner.Roles(ctx)
	if err != nil || len(roles) != 1 || roles[0].Name != "ann" {
		t.Errorf("%v, %v", roles, err)
	}
}

// The history has statements over the protocol of PostgreSQL too, and each role sees its own.
func TestHistory(t *testing.T) {
	s := newSite(t, nil)
	s.put(func(r *role.Role) { r.Name = "bo" })
	other, err := s.Begin(context.Background(), &wire.Login{User: "bo", Verifier: verifier, Database: "homes", Remote: &net.TCPAddr{}, ProcessID: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	st, _, err := other.Compile(context.Background(), "SELECT dx_avg(kwh, 0.1) FROM reading", nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := st.Run(context.Background(), nil)
	for err == nil {
		_, err = rows.Values()
	}
	rows.Close()
	ann := s.ann()
	if _, _, err := ask(ann, Question{SQL: free}, sqlitefn.Report{}); err != nil {
		t.Fatal(err)
	}
	pay(t, ann, Question{SQL: sumHours})
	for user, want := range map[string]string{"ann": "ann dx_sum", "bo": "bo dx_avg", OwnerName: "ann dx_sum;bo dx_avg"} {
		p := password
		if user == OwnerName {
			p = "owner's password"
		}
		var got []string
		for _, a := range mustHistory(t, s.login(user, p)) {
			got = append(got, a.Role+" "+strings.Join(a.Report.Functions, ","))
			if sql := map[string]string{"ann": sumHours, "bo": "SELECT dx_avg(kwh, 0.1) FROM reading", OwnerName: ""}[user]; a.SQL != sql {
				t.Errorf("%s reads the statement %q, want %q", user, a.SQL, sql)
			}
		}
		if strings.Join(got, ";") != want {
			t.Errorf("%s sees %q, want %s", user, got, want)
		}
	}
	if list, err := s.login(OwnerName, "owner's password").History(context.Background(), 1); err != nil || len(list) != 1 || list[0].Role != "ann" {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	var h History
	for i := range keptHistory + 10 {
		h.StatementEnded(monitor.Statement{Session: monitor.Session{Role: fmt.Sprint(i)}, Report: sqlitefn.Report{Answers: 1}})
	}
	list := h.of(nil, 2*keptHistory)
	if len(list) > keptHistory || len(list) < keptHistory*3/4 || list[0].Role != fmt.Sprint(keptHistory+9) {
		t.Errorf("%d are kept, the last one of %s", len(list), list[0].Role)
	}
}

// Questions are kept for their role, in a file that nobody else reads, until they are removed or the role is dropped.
func TestSavedQuestions(t *testing.T) {
	s, ctx := newSite(t, nil), context.Background()
	ann := s.ann()
	for _, q := range []SavedQuestion{{"b", "SELECT 2", ""}, {"a", "SELECT 0", ""}, {"a", "SELECT sum(kwh) FROM reading", "0.1"}, {"c", "SELECT 3", ""}, {Name: "c"}} {
		if err := ann.Save(ctx, q); err != nil {
			t.Fatal(err)
		}
	}
	want := []SavedQuestion{{"a", "SELECT sum(kwh) FROM reading", "0.1"}, {"b", "SELECT 2", ""}}
	if got, err := s.ann().Saved(ctx); err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := os.Stat(s.served.saved.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
	owner := s.login(OwnerName, "owner's password")
	if got, err := owner.Saved(ctx); len(got) > 0 || err != nil {
		t.Errorf("the owner reads %+v, %v", got, err)
	}
	if err := owner.Save(ctx, want[0]); state(err) != "42501" {
		t.Errorf("the owner saves: %v", err)
	}
	for i := 2; i < maxSaved; i++ {
		if err := ann.Save(ctx, SavedQuestion{Name: fmt.Sprint(i), SQL: "SELECT 1"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ann.Save(ctx, SavedQuestion{Name: "more", SQL: "SELECT 1"}); state(err) != "54000" {
		t.Errorf("one more: %v", err)
	}
	pay(t, ann, Question{SQL: sumHours})
	time.Sleep(time.Millisecond)
	if err := owner.DropRole(ctx, "ann"); err != nil {
		t.Fatal(err)
	}
	again := someRole("ann")
	again.Added = time.Now()
	if err := owner.AddRole(ctx, again); err != nil {
		t.Fatal(err)
	}
	if got, err := s.ann().Saved(ctx); len(got) > 0 || err != nil {
		t.Errorf("another role of the name reads %+v, %v", got, err)
	}
	if h := mustHistory(t, s.ann()); len(h) != 1 || h[0].SQL != "" {
		t.Errorf("its history is %+v", h)
	}
}

// The owner sees how many accounts have how much left.
func TestLeft(t *testing.T) {
	s := newSite(t, nil)
	pay(t, s.ann(), Question{SQL: "SELECT dx_sum(kwh, 0.25) FROM reading"})
	pay(t, s.ann(), Question{SQL: "SELECT dx_sum(kwh, 0.5) FROM reading WHERE home = (SELECT min(home) FROM reading)"})
	list, err := s.login(OwnerName, "owner's password").Left(context.Background())
	if want := []Left{{"kWh", len(homes), [11]int{3: 1, 8: len(homes) - 1}}}; err != nil || !slices.Equal(list, want) {
		t.Errorf("%+v, %v, want %+v", list, err, want)
	}
	one := func(limit, spent budget.Amount) ledger.Balance {
		return ledger.Balance{Account: "a", Unit: "m", Limited: limit > 0, Limit: limit, Spent: spent}
	}
	for tenth, balances := range map[int][]ledger.Balance{
		0:  {one(0, 0), one(budget.One, budget.One), one(budget.One, 2*budget.One)},
		1:  {one(budget.One, budget.One-1), one(budget.One, hundredths(90)), one(budget.Max, budget.Max-1)},
		2:  {one(budget.One, hundredths(90)-1), one(budget.One, hundredths(80))},
		10: {one(budget.One, 0), one(budget.One, hundredths(10)-1), one(3, 0), one(budget.Max, 1)},
	} {
		for _, b := range balances {
			if got := tenthsLeft(b); got != tenth {
				t.Errorf("%v of %v spent: %d tenths are left, want %d", b.Spent, b.Limit, got, tenth)
			}
		}
	}
}

// Many users at once use the whole of the console. Some leave while their statements run.
func TestManyUsers(t *testing.T) {
	s := newSite(t, func(o *keeper.Options) { o.MaxSessions = 6 })
	web := New(s.served, Options{})
	defer web.Close()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			v := newVisitor(t, web)
			v.addr = fmt.Sprintf("192.0.2.%d:1", i)
			if a := v.login("ann", password); a.status != http.StatusOK {
				t.Errorf("login: %d %s", a.status, a.text)
			}
			var requests sync.WaitGroup
			for _, path := range []string{"/api/schema", "/api/budgets", "/api/history"} {
				requests.Go(func() {
					if a := v.get(path); a.status != http.StatusOK {
						t.Errorf("%s: %d %s", path, a.status, a.text)
					}
				})
			}
			for n := range 3 {
				q := object{"sql": fmt.Sprintf("SELECT dx_sum(kwh, 0.01) FROM reading WHERE hour = %d", n), "epsilon": "", "quote": ""}
				a := v.post("/api/run", q)
				if a.code() == codeCosts {
					quote := v.post("/api/quote", object{"sql": q["sql"], "epsilon": ""})
					q["quote"], _ = quote.body["quote"].(string)
					a = v.post("/api/run", q)
				}
				if a.status != http.StatusOK && a.code() != "53300" {
					t.Errorf("%d %s", a.status, a.text)
				}
			}
			requests.Wait()
			if i%2 == 0 {
				v.post("/api/logout", object{})
			}
		})
	}
	all.Wait()
	if s.spent() > hundredths(3) {
		t.Errorf("%v is spent", s.spent())
	}
	web.Close()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) { // all sessions end
		x, err := s.Begin(context.Background(), &wire.Login{User: "ann", Verifier: verifier, Database: "homes"})
		if err == nil {
			x.Close()
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
}
