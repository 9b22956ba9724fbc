package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/files/filestest"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/internal/servetest"
)

// sealedOn makes a sealed database with readings of two accounts, and moves its ledger to a server.
func sealedOn(t *testing.T, server *pgtest.Server) (p sealedPlace, url string) {
	t.Helper()
	url = server.Database(t)
	return sealedAt(t, url), url
}

// sealedAt is sealedOn for an empty database.
func sealedAt(t *testing.T, url string) (p sealedPlace) {
	t.Helper()
	p = newSealed(t)
	p.append("ana,1,2.5,48.5,2.5\nbo,2,3,48.5,2.5\n")
	p.run("ledger", "move", p.out+"-ledger", url)
	return p
}

// A sealed database is served with its ledger on a server, also after that was away.
func TestServeWithLedgerOnServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	p, url := sealedOn(t, server)
	p.run("role", "--ledger", url, p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=5")
	s := startServing(t, p, "--ledger", url)
	ask := func() (sum float64, err error) {
		c, err := s.Connect("")
		if err != nil {
			return 0, err
		}
		defer c.Close(context.Background())
		err = c.QueryRow(context.Background(), "SELECT dx_sum(kwh, 1) FROM meter").Scan(&sum)
		return sum, err
	}
	first, err := ask()
	check(t, err)
	if again, err := ask(); err != nil || again != first {
		t.Errorf("%v and then %v, %v", first, again, err)
	}
	spent := clitest.Query(t, "-csv", "--ledger", url, p.out, "SELECT account, spent FROM ledger_balance WHERE spent > 0")
	if spent != "account,spent\nana,1\nbo,1\n" {
		t.Error(spent)
	}
	server.Kill(t)
	if status, _ := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != http.StatusServiceUnavailable {
		t.Errorf("health without a ledger: %d", status)
	}
	if _, err := ask(); err == nil {
		t.Error("an answer without a ledger")
	} else if strings.Contains(err.Error(), "postgres://") {
		t.Errorf("an analyst sees where the ledger is: %v", err)
	}
	server.Restart(t)
	clitest.Await(t, "earlier answer", func() bool {
		again, err := ask()
		return err == nil && again == first
	})
}

// While the disk of the ledger's server is full, health says so within seconds, nobody is charged, and earlier answers are given again.
func TestServeFullDiskOfServer(t *testing.T) {
	t.Parallel()
	folder := filestest.SmallDisk(t, 32)
	server := pgtest.Own(t)
	url := server.DatabaseIn(t, folder)
	p := sealedAt(t, url)
	p.run("role", "--ledger", url, p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=50")
	s := startServing(t, p, "--ledger", url)
	c := s.MustConnect("")
	asked := 0
	ask := func(n int) (state string) { // for an epsilon of n millionths
		var sum float64
		err := c.QueryRow(t.Context(), fmt.Sprintf("SELECT dx_sum(kwh, 0.%06d) FROM meter", n)).Scan(&sum)
		if err != nil {
			return servetest.SQLState(err)
		}
		return "00000"
	}
	askAnother := func() string { asked++; return ask(asked) }
	health := func(want string) {
		t.Helper()
		said, end := "", time.Now().Add(30*time.Second)
		for said != want && time.Now().Before(end) {
			_, said = servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz")
			time.Sleep(100 * time.Millisecond)
		}
		if said != want {
			t.Errorf("health: %s, want %s", said, want)
		}
	}
	spent := func() string {
		return clitest.Query(t, "-csv", "--ledger", url, p.out, "SELECT max(spent) FROM ledger_balance")
	}
	if state := askAnother(); state != "00000" {
		t.Fatal(state)
	}
	health("ok")
	filler := filestest.Fill(t, folder)
	health("nobody can be charged: the disk of the ledger is full")
	state := ""
	for state = askAnother(); state == "00000" && asked < 2000; state = askAnother() { // while pages have room
	}
	if state != "53100" {
		t.Fatalf("question %d: %s", asked, state)
	}
	before := spent()
	if state := askAnother(); state != "53100" {
		t.Errorf("on a full disk: %s", state)
	}
	if state := ask(1); state != "00000" {
		t.Errorf("the first question again: %s", state)
	}
	if now := spent(); now != before {
		t.Errorf("%s is spent, after %s", now, before)
	}
	check(t, os.Remove(filler))
	health("ok")
	if state := askAnother(); state != "00000" {
		t.Errorf("with room: %s", state)
	}
	p.run("budget", url, "--verify")
}

// While the ledger says nothing, statements end with their time or when they are canceled, health says so, and logins and
// statements that cost nothing work. Nobody pays for an answer twice.
func TestServeSilentLedger(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	p, url := sealedOn(t, server)
	p.run("role", "--ledger", url, p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=50")
	link, over := server.Link(t, url)
	s := startServing(t, p, "--ledger", over)
	c := s.MustConnect("")
	ask := func(ctx context.Context, epsilon int) (state string) {
		var sum float64
		err := c.QueryRow(ctx, fmt.Sprintf("SELECT dx_sum(kwh, 0.%d) FROM meter", epsilon)).Scan(&sum)
		if err == nil {
			return "00000"
		}
		return servetest.SQLState(err)
	}
	promptly := func(what string, do func()) {
		t.Helper()
		began := time.Now()
		do()
		took := time.Since(began)
		t.Logf("%s: %v", what, took)
		if took > 20*time.Second { // on a busy machine; a ledger is waited for a minute
			t.Errorf("%s took %v", what, took)
		}
	}
	if state := ask(t.Context(), 1); state != "00000" {
		t.Fatal(state)
	}
	_, err := c.Exec(t.Context(), "SET statement_timeout = '1s'")
	check(t, err)
	link.Stop()
	promptly("a statement with a second", func() {
		if state := ask(t.Context(), 2); state != "57014" {
			t.Errorf("a statement out of time: %s", state)
		}
	})
	promptly("health", func() {
		if status, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != http.StatusServiceUnavailable {
			t.Errorf("health: %d %s", status, text)
		}
	})
	promptly("a login", func() {
		other := s.MustConnect("")
		defer other.Close(context.Background())
		var n int
		check(t, other.QueryRow(t.Context(), "SELECT count(*) FROM meter").Scan(&n))
	})
	_, err = c.Exec(t.Context(), "SET statement_timeout = 0")
	check(t, err)
	cancel := func() { check(t, c.PgConn().CancelRequest(t.Context())) }
	promptly("a canceled statement", func() {
		time.AfterFunc(time.Second, cancel)
		if state := ask(t.Context(), 3); state != "57014" {
			t.Errorf("a canceled statement: %s", state)
		}
	})
	link.Go()
	promptly("service", func() {
		clitest.Await(t, "good health", func() bool {
			_, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz")
			return text == "ok"
		})
		for _, epsilon := range []int{2, 3, 2} {
			if state := ask(t.Context(), epsilon); state != "00000" {
				t.Errorf("with the link: %s", state)
			}
		}
	})
	spent := clitest.Query(t, "-csv", "--ledger", url, p.out, "SELECT account, spent FROM ledger_balance WHERE spent > 0")
	if spent != "account,spent\nana,0.6\nbo,0.6\n" {
		t.Error(spent)
	}
}

// A server over a ledger that has lost charges says so to everybody who looks, and goes on by itself once the owner has
// accepted the loss.
func TestServeLostLedger(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	p, url := sealedOn(t, server)
	addRole := func(name string) {
		p.run("role", "--ledger", url, p.out, "add", name, "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=50")
	}
	addRole("ana")
	s := startServing(t, p, "--ledger", url)
	c := s.MustConnect("")
	ask := func(epsilon int) (state string) {
		t.Helper()
		var sum float64
		err := c.QueryRow(context.Background(), fmt.Sprintf("SELECT dx_sum(kwh, 0.%d) FROM meter", epsilon)).Scan(&sum)
		if failed, ok := errors.AsType[*pgconn.PgError](err); ok {
			return failed.Code
		}
		check(t, err)
		return "00000"
	}
	health := func() string {
		_, text := servetest.Fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz")
		return text
	}
	want := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("first", ask(1), "00000")
	dump := server.Dump(t, url)
	want("second", ask(2), "00000")
	addRole("bo")
	clitest.WantError(t, clitest.Run(t, "", "ledger", "accept", "--yes", url), 1, "nothing was changed")
	want("after an acceptance without a loss", ask(3), "00000")
	server.Restore(t, url, dump)
	for range 2 {
		want("with a loss", ask(4), "LG001")
	}
	clitest.Await(t, "bad health", func() bool { return health() == "nobody can be charged: the ledger has lost charges" })
	r := clitest.Run(t, "", "ledger", "accept", "--dry-run", url)
	if r.Status != 0 || !strings.Contains(r.Err, "a process noted at ") || !strings.Contains(r.Err, "accepting forgets no release") {
		t.Errorf("%+v", r)
	}
	want("after a dry run", ask(4), "LG001")
	r = clitest.Run(t, "", "ledger", "accept", "--yes", url)
	if r.Status != 0 || !strings.Contains(r.Err, "the ledger is in generation 2") {
		t.Errorf("%+v", r)
	}
	if state := ask(4); state != "40001" {
		want("after the acceptance", state, "00000") // the look at its health was first
	}
	want("asked again", ask(4), "00000")
	clitest.Await(t, "good health", func() bool { return health() == "ok" })
	addRole("cleo") // has the number of bo's fact
	s.MustConnect("user=cleo").Close(context.Background())
	if c, err := s.Connect("user=bo"); err == nil {
		c.Close(context.Background())
		t.Error("a role that was lost logs in")
	}
}

// A server answers nothing that costs after its ledger was replaced by an older one.
func TestServeOlderLedger(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	p.append("ana,1,2.5,48.5,2.5\nbo,2,3,48.5,2.5\n")
	p.run("role", p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=50")
	older := filepath.Join(t.TempDir(), "older.db")
	p.run("backup", p.out, older)
	c := startServing(t, p).MustConnect("")
	ask := func(epsilon int) error {
		var sum float64
		return c.QueryRow(context.Background(), fmt.Sprintf("SELECT dx_sum(kwh, %d) FROM meter", epsilon)).Scan(&sum)
	}
	check(t, ask(3))
	check(t, os.Rename(older+"-ledger", p.out+"-ledger"))
	if err := ask(2); err == nil {
		t.Error("an answer is charged to an older ledger")
	} else if strings.Contains(err.Error(), p.out) {
		t.Errorf("an analyst sees where the ledger is: %v", err)
	}
}

// Servers of copies of a database that share a ledger spend one budget, and give one answer to one question. Rows that were added to
// a copy are another question.
func TestServersShareALedger(t *testing.T) {
	t.Parallel()
	p, url := sealedOn(t, pgtest.Start(t))
	p.run("role", "--ledger", url, p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=50")
	other := p
	other.out = filepath.Join(t.TempDir(), "out.db")
	text, err := os.ReadFile(p.out)
	check(t, err)
	check(t, os.WriteFile(other.out, text, 0o600))
	servers := []*serving{startServing(t, p, "--ledger", url), startServing(t, other, "--ledger", url)}
	ask := func(s *serving, sql string) (answer float64, err error) {
		c, err := s.Connect("")
		if err != nil {
			return 0, err
		}
		defer c.Close(context.Background())
		err = c.QueryRow(context.Background(), sql).Scan(&answer)
		return answer, err
	}
	wantSpent := func(want string) {
		t.Helper()
		got := clitest.Query(t, "-csv", "--ledger", url, p.out, "SELECT account, spent FROM ledger_balance WHERE spent > 0")
		if got != "account,spent\n"+want {
			t.Errorf("spent: %s", got)
		}
	}
	const first = "SELECT dx_sum(kwh, 1) FROM meter"
	one, err := ask(servers[0], first)
	check(t, err)
	if two, err := ask(servers[1], first); err != nil || two != one {
		t.Errorf("the servers answer %v and %v, %v", one, two, err)
	}
	wantSpent("ana,1\nbo,1\n")

	in := clitest.WriteFile(t, "who,room,kwh,lat,lon\nana,3,1,48.5,2.5\n")
	p.run("append", "--ledger", url, other.out, "meter", in, "--key", p.pub)
	_, err = ask(servers[1], first)
	check(t, err)
	wantSpent("ana,2\nbo,2\n")

	var granted atomic.Int64
	var all sync.WaitGroup
	for i := range 8 { // questions at once: the limit pays for three
		all.Go(func() {
			switch _, err := ask(servers[i%2], fmt.Sprintf("SELECT dx_percentile(kwh, %d, 1) FROM meter", 10*i)); {
			case err == nil:
				granted.Add(1)
			case servetest.SQLState(err) != "53400":
				t.Error(err)
			}
		})
	}
	all.Wait()
	if granted.Load() != 3 {
		t.Errorf("%d answers are granted, want 3", granted.Load())
	}
	wantSpent("ana,5\nbo,5\n")
}
