package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// The statements of a hostile analyst are refused, with the SQLSTATE of their kind; nobody pays, no error names an account, and
// the session, or at least another one, goes on.
func TestAttacks(t *testing.T) {
	p := newPlace(t, "5")
	p.analyst("ann", "2", "--epsilon-max", "kWh=1")
	p.role("cay", "--columns", "reading.home", "--epsilon", "record=2")
	p.role("dan", "--columns", "reading.kwh", "--epsilon", "kWh=2", "--timeout", "60") // on a slow machine too, a statement meets the limit of memory first
	s := p.serve()
	for _, a := range []struct{ attack, role, sql, states string }{
		{"somebody else pays", "ann", `SELECT dx_sum('household-1', 1, 0.1, 'energy')`, "42883 42601"},
		{"somebody else pays", "ann", `SELECT dx_count('household-1', 0.1)`, "22023"},
		{"the owner's functions", "ann", `SELECT budget_limit('household-1', 'kWh', 100)`, "42883 42501"},
		{"the owner's functions", "ann", `SELECT account, spent FROM ledger_balance`, "42P01 42501"},
		{"rows repeated", "ann", `SELECT dx_sum(kwh, 0.1) FROM reading, (SELECT 1 UNION ALL SELECT 2)`, "22023"},
		{"rows repeated", "ann", `SELECT dx_sum(kwh, 0.1) FROM (SELECT kwh FROM reading UNION ALL SELECT kwh FROM reading)`, "22023"},
		{"c*x", "ann", `SELECT dx_sum(2 * kwh, 0.1) FROM reading`, "42804 22023"},
		{"built-in aggregates", "ann", `SELECT sum(kwh) FROM reading`, "42804"},
		{"built-in aggregates", "ann", `SELECT max(kwh) FROM reading`, "42804"},
		{"comparison", "ann", `SELECT count(*) FROM reading WHERE kwh > 1`, "42804"},
		{"forgery", "ann", `SELECT dx_value(zeroblob(56), 0.1)`, "22023"},
		{"forgery", "ann", `SELECT dx_sum(CAST(substr(kwh, 1, 55) || x'00' AS BLOB), 0.1) FROM reading`, "22023 42804"},
		{"another column", "ann", `SELECT dx_sum(CAST(x'00000002' || substr(kwh, 5) AS BLOB), 0.1) FROM reading`, "22023 42804"},
		{"a wide universe", "ann", `SELECT dx_sum(dx_narrow(kwh, -10, 100), 0.1) FROM reading`, "22023"},
		{"a person's sum off the grid", "ann", `SELECT dx_sum(dx_person(kwh, 0.05, 100), 0.1) FROM reading`, "22023"},
		{"a person as a single value", "ann", `SELECT dx_value(dx_person(kwh, 0, 1), 0.1) FROM reading`, "22023"},
		{"a person under d1", "ann", `SELECT dx_sum(dx_person(kwh, 0, 1), 0.1, 'd1') FROM reading`, "22023"},
		{"a person's rows repeated", "ann", `SELECT dx_sum(dx_person(kwh, 0, 1), 0.1) FROM reading, (SELECT 1 UNION ALL SELECT 2)`, "22023"},
		{"built-in aggregates", "ann", `SELECT max(dx_person(kwh, 0, 1)) FROM reading`, "42804"},
		{"no grant", "cay", `SELECT dx_sum(dx_person(kwh, 0, 1), 0.1) FROM reading`, "42501"},
		{"more than the budget", "ann", `SELECT dx_sum(dx_person(kwh, 0, 1), 3) FROM reading`, "53400"},
		{"no grant", "cay", `SELECT dx_sum(kwh, 0.1) FROM reading`, "42501"},
		{"large epsilon", "ann", `SELECT dx_sum(kwh, 1.5) FROM reading`, "42501"},
		{"large epsilon", "ann", `SELECT dx_sum(kwh, 1e300) FROM reading`, "22023 42501"},
		{"more than the budget", "ann", `SELECT dx_count(home, 3) FROM reading`, "53400"},
		{"names of accounts", "ann", `SELECT * FROM geosql_sealed_account`, "42501 42P01"},
		{"sessions", "ann", `SELECT * FROM geosql_sealed_session`, "42501 42P01"},
		{"the schema", "ann", `PRAGMA writable_schema = 1`, "42501 0A000 42601"},
		{"the schema", "ann", `PRAGMA database_list`, "42501 0A000 42601"},
		{"the schema", "ann", `SELECT * FROM pragma_database_list`, "42501 42P01"},
		{"other files", "ann", `ATTACH '/etc/passwd' AS p`, "42501 0A000 42601"},
		{"other files", "ann", `VACUUM INTO '/tmp/copy.db'`, "42501 25006 0A000 42601"},
		{"other code", "ann", `SELECT load_extension('/tmp/x')`, "42501 42883"},
		{"other code", "ann", `SELECT readfile('/etc/passwd')`, "42501 42883"},
		{"other code", "ann", `SELECT writefile('/tmp/x', 'y')`, "42501 42883"},
		{"other code", "ann", `SELECT edit('x')`, "42501 42883"},
		{"other code", "ann", `SELECT fts3_tokenizer('simple')`, "42501 42883"},
		{"writes", "ann", `DELETE FROM reading`, "25006"},
		{"writes", "ann", `UPDATE reading SET kwh = NULL`, "25006"},
		{"writes", "ann", `INSERT INTO reading(meter) VALUES ('x')`, "25006"},
		{"writes", "ann", `CREATE TABLE x(a)`, "25006 42501"},
		{"writes", "ann", `CREATE TEMP TABLE x AS SELECT 1`, "25006 42501"},
		{"writes", "ann", `CREATE VIRTUAL TABLE x USING fts5(a)`, "25006 42501"},
		{"writes", "ann", `DROP TABLE reading`, "25006 42501"},
		{"time", "ann", `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`, "57014"},
		{"time", "ann", `SELECT count(*) FROM reading a, reading b, reading c, reading d, reading e`, "57014"},
		{"time", "ann", `SELECT dx_sum(a.kwh, 0.1) FROM reading a, reading b, reading c, reading d WHERE a.hour + b.hour + c.hour + d.hour < 0`, "57014"},
		{"memory", "dan", `SELECT zeroblob(1000000000)`, "54000 53200"},
		{"memory", "dan", `SELECT hex(randomblob(900000000))`, "54000 53200"},
		{"memory", "dan", `WITH RECURSIVE n(i, t) AS (SELECT 1, 'x' UNION ALL SELECT i + 1, t || t FROM n LIMIT 60) SELECT max(length(t)) FROM n`, "54000 53200"},
		{"memory", "ann", `SELECT group_concat(a.zone || b.zone || c.zone) FROM reading a, reading b, reading c`, "54000 53200 57014"},
		{"memory", "ann", `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM (SELECT DISTINCT randomblob(10000) FROM n)`, "54000 53200 57014"},
		{"depth", "ann", `SELECT ` + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), "54001 54000 42601"},
		{"depth", "ann", `SELECT ` + strings.Repeat("1+", 5000) + "1", "54001 54000 42601"},
		{"depth", "ann", `SELECT 'a' LIKE '` + strings.Repeat("%a", 40000) + `'`, "54000 22025 22023"},
		{"depth", "ann", `SELECT 1` + strings.Repeat(" UNION ALL SELECT 1", 1000), "54001 54000"},
		{"NUL", "ann", "SELECT 1\x00; DROP TABLE reading", "08P01 22021 42601"},
		{"two statements", "ann", `SELECT 1; DELETE FROM reading`, "25006 42601"},
	} {
		session := s.session(a.role)
		rows, err := session.ask(a.sql)
		var e *pgconn.PgError
		if !errors.As(err, &e) || !strings.Contains(a.states, e.Code) {
			sql := a.sql
			if len(sql) > 200 {
				sql = sql[:200] + " .."
			}
			t.Errorf("%s: %s\ngives %.200s, %v, want an error of %s", a.attack, sql, rows, err, a.states)
		}
		if e != nil && strings.Contains(fmt.Sprint(*e), owner) {
			t.Errorf("%s: the error names an account: %+v", a.attack, *e)
		}
		session.conn.Close(context.Background())
	}
	for _, unit := range []string{"kWh", "record", "yes"} {
		if spent := p.spent(unit); spent != 0 {
			t.Errorf("accounts were charged up to %v of %s", spent, unit)
		}
	}
	s.session("ann").answers(`SELECT count(*), count(kwh) FROM reading`, fmt.Sprint(meters*hours, meters*hours))
	s.stop()
}

// Connections that are not of the protocol, by the hundred, leave the server serving.
func TestHostileConnections(t *testing.T) {
	p := newPlace(t, "5")
	p.analyst("ann", "2")
	s := p.serve()
	var open []net.Conn
	for i := range 150 {
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		switch i % 5 {
		case 0: // half open
		case 1:
			fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		case 2:
			c.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 3, 0, 0})
		case 3:
			c.Write([]byte{0, 0, 0, 80, 0, 3, 0, 0, 'u', 's', 'e', 'r', 0}) // and never more
		case 4:
			c.Write([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3})
		}
	}
	s.session("ann").answers(`SELECT 1`, "1")
	for _, c := range open {
		c.Close()
	}
	s.session("ann").answers(`SELECT 1`, "1")
	s.stop()
}

// A client that does not read, and one that cancels all the time, hinder nobody.
func TestSlowReadersAndCancels(t *testing.T) {
	p := newPlace(t, "5")
	p.analyst("ann", "2")
	s := p.serve()
	slow := s.session("ann")
	rows, err := slow.conn.Query(context.Background(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000000) SELECT i, 'some text to fill the line' FROM n`)
	if err != nil || !rows.Next() {
		t.Fatal(err, rows.Err())
	}
	busy := s.session("ann")
	var storm sync.WaitGroup
	for range 20 {
		storm.Go(func() {
			_ = busy.conn.PgConn().CancelRequest(context.Background())
		})
	}
	storm.Wait()
	time.Sleep(100 * time.Millisecond) // a cancel that came late is for the statement that runs then
	if _, err := busy.ask(`SELECT 1`); err != nil && stateOf(err) != "57014" {
		t.Error(err)
	}
	busy.answers(`SELECT 2`, "2")
	ended, quiet := make(chan bool), make(chan bool)
	go func() {
		defer close(quiet)
		for { // a request before the statement has begun does nothing
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
				_ = busy.conn.PgConn().CancelRequest(context.Background())
			}
		}
	}()
	_, err = busy.conn.PgConn().Exec(context.Background(), `SELECT count(*) FROM reading a, reading b, reading c, reading d`).ReadAll()
	close(ended)
	<-quiet
	if stateOf(err) != "57014" || !strings.Contains(err.Error(), "user request") {
		t.Errorf("a statement that is canceled ends with %v", err)
	}
	busy.answers(`SELECT 3`, "3")
	slow.conn.Close(context.Background())
	s.stop()
}

// Of two sessions that ask for the last of a budget at a time, one gets an answer.
func TestCostRaces(t *testing.T) {
	p := newPlace(t, "1000")
	for round := range 5 {
		p.analyst(fmt.Sprint("role", round), "1")
	}
	p.analyst("ben", "1000")
	s := p.serve()
	for round := range 5 {
		var answered, refused int
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range 6 {
			session := s.session(fmt.Sprint("role", round))
			all.Go(func() {
				_, err := session.ask(fmt.Sprintf(`SELECT dx_sum(kwh, 1) FROM reading WHERE rowid <> %d`, round*100+i+1)) // all are about the same accounts
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					answered++
				case stateOf(err) == "53400":
					refused++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if answered != 1 || refused != 5 {
			t.Errorf("%d are answered and %d refused", answered, refused)
		}
	}
	if spent := p.spent("kWh"); spent != 5 {
		t.Errorf("accounts have spent %v, want 5", spent)
	}
	s.stop()
}
