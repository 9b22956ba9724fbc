package main

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/pgtest"
)

// A sealed database is served whose ledger is on a server, also after that was away.
func TestServeWithLedgerOnServer(t *testing.T) {
	p := newSealed(t)
	p.append("ana,1,2.5,48.5,2.5\nbo,2,3,48.5,2.5\n")
	server := pgtest.Own(t)
	url := server.Database(t)
	p.run("ledger", "move", p.out+"-ledger", url)
	p.run("role", "--ledger", url, p.out, "add", "ana", "--password-file", clitest.WriteFile(t, "sesame\n"), "--columns", "meter.kwh", "--epsilon", "kWh=5")
	s := startReal(t, p, "--ledger", url)
	ask := func() (sum float64, err error) {
		c, err := s.connect("")
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
	if status, _ := fetch(t, http.DefaultClient, "http://"+s.httpAddr+"/healthz"); status != http.StatusServiceUnavailable {
		t.Errorf("health without a ledger: %d", status)
	}
	if _, err := ask(); err == nil {
		t.Error("an answer without a ledger")
	} else if strings.Contains(err.Error(), "postgres://") {
		t.Errorf("an analyst sees where the ledger is: %v", err)
	}
	server.Restart(t)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		again, err := ask()
		if err == nil && again == first {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v, %v", again, err)
		}
	}
}
