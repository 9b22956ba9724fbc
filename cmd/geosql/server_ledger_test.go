package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger/engines"
)

// onServer begins every test here: one machine, a database that is charged to a ledger on a server.
func onServer(t *testing.T, server *pgtest.Server) (db, url string) {
	t.Helper()
	db, url = clitest.TempFile(t, "city.db"), server.Database(t)
	clitest.Query(t, "--ledger", url, db, `SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1); SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh');
		SELECT budget_limit('*', 'm', 0.05), budget_limit('ana', 'm', 5, 86400), budget_limit('*', 'kWh', 2)`)
	return db, url
}

// The walk of the README, with a ledger on a server.
func TestLedgerOnServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	db, url := onServer(t, server)
	if _, err := os.Stat(db + "-ledger"); err == nil {
		t.Error("there is a ledger in a file")
	}
	out := clitest.Query(t, "-csv", "--ledger", url, db, `SELECT lat > 48, lon > 2 FROM geoind_laplace('005', 48.85, 2.3, 0.01)`)
	if !strings.HasSuffix(out, "\n1,1\n") {
		t.Error(out)
	}
	clitest.Query(t, "--ledger", url, db, `SELECT dx_sum(who, kwh, 1, 'halfhour') FROM (SELECT 'm1' AS who, 3.5 AS kwh UNION ALL SELECT 'm2', 2)`)
	refused := clitest.Run(t, "", "--ledger", url, db, `SELECT geoind_laplace('005', 48.85, 2.3, 0.1)`)
	clitest.WantError(t, refused, 1, "account '005' has 0.04/m left of 0.05/m, 0.10/m asked, 0.06/m short")
	// Without the flag, or with another server, the database says where it belongs.
	clitest.WantError(t, clitest.Run(t, "", db, chargeAna), 1, "-ledger is missing: this database was charged to ledger ")
	_, other := onServer(t, server)
	clitest.WantError(t, clitest.Run(t, "", "--ledger", other, db, chargeAna), 1, "but this database was charged to ledger ")
	clitest.WantError(t, clitest.Run(t, "", "--ledger", server.Database(t), db, chargeAna), 1, "there is no ledger at postgres://")
	// In SQL alone.
	out = clitest.Query(t, "-csv", db, `SELECT geosql_ledger('`+url+`') = id AS same FROM geosql_ledger; `+chargeAna)
	if !strings.HasPrefix(out, "same\n1\n") {
		t.Error(out)
	}
	if r := clitest.Run(t, "", "cost", "--ledger", url, db, `SELECT geoind_laplace('005', 48.85, 2.3, 0.1)`); !strings.Contains(r.Err, "would be refused: geoind_laplace: account '005' has 0.04/m left") {
		t.Errorf("%+v", r)
	}
}

const chargeAna = `SELECT geoind_laplace('ana', 48.85, 2.3, 0.01)`

var whenPattern = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z`)

// A ledger on a server shows the same as one in a file.
func TestBudgetOfServer(t *testing.T) {
	t.Parallel()
	db, url := onServer(t, pgtest.Start(t))
	path := clitest.TempFile(t, "city2.db")
	clitest.Query(t, path, `SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1); SELECT dx_universe('halfhour', 0, 10, 0.001, 'kWh');
		SELECT budget_limit('*', 'm', 0.05), budget_limit('ana', 'm', 5, 86400), budget_limit('*', 'kWh', 2)`)
	clitest.Query(t, "--ledger", url, db, chargeAna)
	clitest.Query(t, path, chargeAna)
	show := func(args ...string) string {
		t.Helper()
		r := clitest.Run(t, "", append([]string{"-csv", "budget"}, args...)...)
		if slices.Contains(args, "--verify") {
			r.Err = wantVerified(t, r)
		}
		if r.Status != 0 || !strings.HasPrefix(r.Err, "ledger head ") || strings.Count(r.Err, "\n") != 1 {
			t.Fatalf("%q: %+v", args, r)
		}
		return whenPattern.ReplaceAllString(r.Out, "TIME")
	}
	for _, flags := range [][]string{nil, {"--account", "ana"}, {"--history"}} {
		want := show(append([]string{path + "-ledger"}, flags...)...)
		for _, where := range [][]string{{url}, {"--ledger", url, db}} {
			if got := show(append(where, flags...)...); got != want {
				t.Errorf("%q:\n%swant\n%s", flags, got, want)
			}
		}
	}
	head := strings.TrimPrefix(clitest.Run(t, "", "budget", url).Err, "ledger head ")
	verified := show(url, "--verify", "--head", strings.TrimSpace(head))
	if !strings.HasPrefix(verified, "entries,balances,limits,head\n") {
		t.Error(verified)
	}
	archive := clitest.TempFile(t, "old")
	if out := show(url, "--archive", archive, "--before", "2100-01-01"); !strings.HasPrefix(out, "archived\n") {
		t.Error(out)
	}
	show(url, "--verify", "--archive", archive)
}

// Commands that charge one account at a time stop exactly at its limit.
func TestCommandsChargeAtOnce(t *testing.T) {
	t.Parallel()
	db, url := onServer(t, pgtest.Start(t))
	clitest.Query(t, "--ledger", url, db, `SELECT budget_limit('ana', 'm', 0.1)`)
	results := make([]clitest.Result, 2)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			results[i] = clitest.Run(t, "", "-csv", "--no-preflight", "--ledger", url, db,
				`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT geoind_laplace('ana', 48.85, 2.3, 0.001) AS z FROM n`)
		})
	}
	all.Wait()
	rows := 0
	for _, r := range results {
		rows += strings.Count(r.Out, "\nPOINT")
	}
	if rows > 100 {
		t.Errorf("%d rows of 0.001/m, and the limit is 0.1/m", rows)
	}
	out := clitest.Query(t, "-csv", "--ledger", url, db, `SELECT spent <= 0.1, spent >= 0.001 * `+fmt.Sprint(rows)+` - 1e-9 FROM ledger_balance WHERE account = 'ana'`)
	if !strings.HasSuffix(out, "\n1,1\n") {
		t.Errorf("%d rows: %s", rows, out)
	}
}

// A server that is away is an error of one line, and charges nothing. When it is back, all goes on.
func TestServerIsAway(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	db, url := onServer(t, server)
	clitest.Query(t, "--ledger", url, db, chargeAna)
	server.Kill(t)
	for _, args := range [][]string{{"--ledger", url, db, chargeAna}, {"budget", url}, {"ledger", "move", url, clitest.TempFile(t, "to")}} {
		r := clitest.Run(t, "", args...)
		clitest.WantError(t, r, 1, "")
		if strings.Contains(r.Err, "goroutine") {
			t.Error(r.Err)
		}
	}
	server.Restart(t)
	clitest.Query(t, "--ledger", url, db, chargeAna)
	out := clitest.Query(t, "-csv", "--ledger", url, db, `SELECT spent FROM ledger_balance WHERE account = 'ana'`)
	if out != "spent\n0.02\n" {
		t.Error(out)
	}
}

func TestReleaseToServer(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	p := newPublisher(t, 200).with("--ledger", url)
	r := p.run(t, "--dry-run", "--limit", "1")
	if r.Status != 0 || !strings.Contains(r.Out, "The release would begin.") {
		t.Errorf("%+v", r)
	}
	clitest.WantError(t, clitest.Run(t, "", "budget", url), 1, "there is no ledger at postgres://") // a dry run makes none
	r = p.run(t, "--limit", "1")
	if r.Status != 0 || !strings.Contains(r.Err, "released ") {
		t.Fatalf("%+v", r)
	}
	report, err := os.ReadFile(p.path("out.csv.report.html"))
	check(t, err)
	if !strings.Contains(string(report), "postgres://") {
		t.Error("the report does not name the ledger")
	}
	if out := clitest.Query(t, "-csv", "--ledger", url, ":memory:", `SELECT count(*), sum(spent) FROM ledger_balance WHERE spent > 0`); !strings.HasSuffix(out, "\n50,2\n") {
		t.Error(out)
	}
}

// Commands for ledgers in files name the right way for one on a server.
func TestServerIsNoFile(t *testing.T) {
	t.Parallel()
	db, url := onServer(t, pgtest.Start(t))
	dir := t.TempDir()
	to := filepath.Join(dir, "to")
	clitest.WantError(t, clitest.Run(t, "", "backup", url, to), 1, "pg_dump")
	r := clitest.Run(t, "", "backup", "--ledger", url, db, to)
	if r.Status != 0 || !strings.Contains(r.Err, "its ledger is on a server, postgres://") {
		t.Errorf("%+v", r)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the backup has left %v", left)
	}
	clitest.Query(t, "--ledger", url, to, chargeAna) // the copy of the database has the same ledger
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", "--ledger", url, to), 1, "knows all charges since: copy the database with 'cp'")
	clitest.WantError(t, clitest.Run(t, "", "restore", "--yes", url), 1, "PostgreSQL's own means")
	key := filepath.Join(dir, "key")
	if r := clitest.Run(t, "", "keygen", key); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	clitest.WantError(t, clitest.Run(t, "", "seal", "--ledger", url, db, filepath.Join(dir, "out"), "--key", key+".pub", "--table", "t"), 1, "geosql ledger move -h")
	clitest.WantError(t, clitest.Run(t, "", "budget", url, "--ledger", url), 2, "is a ledger itself")
	clitest.WantError(t, clitest.Run(t, "", url, "SELECT 1"), 2, "a database is a file")
	for _, args := range [][]string{{"--ledger", "postgres:/x", db, "SELECT 1"}, {"budget", "postgres:/x"}, {"--ledger", "postgres://ana:hunter2@h/x", db, "SELECT 1"},
		{"budget", "postgres://ana:hunter2@h/x"}, {"--ledger", url, "--ledger-mode", "0640", db, "SELECT 1"}, {"ledger", "move", db, "postgres:x"}, {"ledger", "move", db},
		{"ledger", "accept", db}, {"ledger", "accept", "--force", url}, {"ledger", "merge", db}} {
		r := clitest.Run(t, "", args...)
		clitest.WantError(t, r, 2, "")
		if strings.Contains(r.Err, "hunter2") {
			t.Errorf("an error shows a password: %s", r.Err)
		}
	}
}

// A ledger moves to a server and back with its database, also a sealed one.
func TestLedgerMoves(t *testing.T) {
	t.Parallel()
	p := newSealed(t)
	url := pgtest.Start(t).Database(t)
	file := p.out + "-ledger"
	before := clitest.Query(t, "-csv", p.out, `SELECT * FROM ledger_balance`)
	r := clitest.Run(t, "", "ledger", "move", file, url)
	if r.Status != 0 || !strings.HasPrefix(r.Err, "geosql: moved ledger ") && !strings.HasPrefix(r.Err, "moved ledger ") || r.Out != "" {
		t.Fatalf("%+v", r)
	}
	clitest.WantError(t, clitest.Run(t, "", p.out, `SELECT budget_limit('ana', 'kWh', 1)`), 1, "was moved to "+engines.Label(url))
	if r := clitest.Run(t, "", "budget", p.out); r.Status != 0 || !strings.Contains(r.Err, "this ledger was moved to "+engines.Label(url)) {
		t.Errorf("%+v", r)
	}
	if after := clitest.Query(t, "-csv", "--ledger", url, p.out, `SELECT * FROM ledger_balance`); after != before {
		t.Errorf("%s, want %s", after, before)
	}
	password := clitest.WriteFile(t, "a long enough password\n")
	if r := clitest.Run(t, "", "role", "--ledger", url, p.out, "add", "ana", "--password-file", password, "--columns", "meter.kwh", "--epsilon", "kWh=1"); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	if out := clitest.Query(t, "-csv", "role", "--ledger", url, p.out, "list"); !strings.Contains(out, "ana") {
		t.Error(out)
	}
	r = clitest.Run(t, "", "ledger", "move", url, file)
	if r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	if out := clitest.Query(t, "-csv", "role", p.out, "list"); !strings.Contains(out, "ana") {
		t.Error(out)
	}
	clitest.WantError(t, clitest.Run(t, "", "--ledger", url, p.out, `SELECT budget_limit('ana', 'kWh', 1)`), 1, "was moved to ")
}

// A move that is killed at any time can be repeated. Nothing is lost, and at no time both ends can be charged.
func TestLedgerMoveIsKilled(t *testing.T) {
	t.Parallel()
	db, url := clitest.TempFile(t, "city.db"), pgtest.Start(t).Database(t)
	clitest.Query(t, db, `SELECT geo_domain('city', 48.80, 2.22, 48.91, 2.48, 1); SELECT budget_limit('*', 'm', 5);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT count(geoind_laplace('a' || (i % 2000), 48.85, 2.3, 0.01)) FROM n`)
	const show = `SELECT account, spent FROM ledger_balance WHERE account <> 'test'`
	want := clitest.Query(t, "-csv", db, show)
	from, to := db+"-ledger", url
	charges := func(where string) bool {
		t.Helper()
		r := clitest.Run(t, "", "--ledger", where, db, `SELECT geoind_laplace('test', 48.85, 2.3, 0.0001)`)
		return r.Status == 0
	}
	killed := 0
	for round := range 8 {
		cmd := clitest.Command(t, "ledger", "move", from, to)
		check(t, cmd.Start())
		time.Sleep(time.Duration(20+25*round) * time.Millisecond)
		check(t, cmd.Process.Kill())
		if cmd.Wait() != nil {
			killed++
		}
		if a, b := charges(from), charges(to); a && b {
			t.Fatalf("round %d: both ends can be charged", round)
		}
		if r := clitest.Run(t, "", "ledger", "move", from, to); r.Status != 0 {
			t.Fatalf("round %d: %+v", round, r)
		}
		if charges(from) || !charges(to) {
			t.Fatalf("round %d: after the move was repeated", round)
		}
		if got := clitest.Query(t, "-csv", "--ledger", to, db, show); got != want {
			t.Fatalf("round %d: the balances have changed", round)
		}
		from, to = to, from
	}
	if killed == 0 {
		t.Error("no move was killed")
	}
	t.Logf("%d of 8 moves were killed", killed)
}
