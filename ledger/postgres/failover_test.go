//go:build unix

package postgres

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// pair is a server with a standby, and applications that look for whichever of them takes charges.
func pair(t *testing.T) (c *crash, standby *pgtest.Server) {
	server := pgtest.Own(t)
	where := server.Database(t)
	standby = server.Standby(t)
	server.CaughtUp(t, standby)
	hosts := hostOf(t, where) + "," + hostOf(t, standby.URL(t, where))
	u, err := url.Parse(where)
	check(t, err)
	u.RawQuery = "host=" + url.QueryEscape(hosts) + "&target_session_attrs=read-write"
	return newCrashAt(t, "all", server, u.String()), standby
}

func hostOf(t *testing.T, where string) string {
	u, err := url.Parse(where)
	check(t, err)
	return u.Query().Get("host")
}

// judged demands that a round has no faults.
func (c *crash) judged(hurt injury) {
	c.t.Helper()
	for _, fault := range c.round(hurt) {
		c.t.Errorf("%s: %s", hurt.name, fault)
	}
}

var nothing = injury{"nothing", false, func(*crash) {}}

// grantedAtOnce returns the sum granted to applications without reserving ahead.
func (c *crash) grantedAtOnce() (sum budget.Amount) {
	c.told.Lock()
	defer c.told.Unlock()
	for k, granted := range c.told.granted {
		if strings.HasPrefix(k.Account, "c") {
			sum += granted
		}
	}
	return sum
}

// refusals returns how often applications were told of an error.
func (c *crash) refusals(of error) (n int) {
	c.told.Lock()
	defer c.told.Unlock()
	for text, times := range c.told.errors {
		if strings.Contains(text, of.Error()) {
			n += times
		}
	}
	return n
}

// A standby that was behind when the primary died takes over while applications charge. None of them
// is granted anything there until the owner accepts the loss, and running ones have to begin anew.
func TestCrashFailoverToAStandbyThatIsBehind(t *testing.T) {
	c, standby := pair(t)
	c.judged(nothing)
	standby.Set(t, "primary_conninfo", "")
	for ask(t, standby.URL(t, c.where), "SELECT count(*) FROM pg_stat_wal_receiver") > 0 {
		time.Sleep(time.Millisecond)
	}
	before := c.grantedAtOnce()
	for _, a := range c.apps { // one that has lost nothing goes on
		a.awaitCharge(t)
	}
	c.server.Kill(t)
	granted := c.grantedAtOnce()
	for silent := 0; silent < 20; silent++ { // until all is heard, on a busy machine, too
		time.Sleep(50 * time.Millisecond)
		if now := c.grantedAtOnce(); now != granted {
			granted, silent = now, 0
		}
	}
	if granted == before {
		t.Fatal("the standby lacks nothing")
	}
	standby.Promote(t)
	c.server = standby
	refused := func(err error) {
		t.Helper()
		for end := time.Now().Add(patience); c.refusals(err) < 10*applications; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				c.told.Lock()
				defer c.told.Unlock()
				t.Fatalf("applications are not refused: %v", c.told.errors)
			}
		}
		if now := c.grantedAtOnce(); now != granted {
			t.Errorf("%v were granted while %v", now-granted, err)
		}
	}
	refused(ledger.ErrLost)
	c.killSome(1)
	t.Run("begins now", func(t *testing.T) { // and knows it from its machine
		for _, machine := range c.machines {
			t.Setenv(state.FolderVariable, machine)
			if _, err := Open(c.where+"&application_name=another", false); err == nil || !strings.Contains(err.Error(), "geosql ledger accept") {
				t.Errorf("opened: %v", err)
			}
		}
	})
	loss, err := Accept(c.where, false)
	if check(t, err); loss.Generation != 2 {
		t.Errorf("generation %d", loss.Generation)
	}
	for _, a := range c.apps {
		if a != nil {
			refused(errOtherGeneration)
		}
	}

	// Acknowledged charges are lost, and releases that were not finished begin again: others are made.
	for i, a := range c.apps {
		if a != nil {
			a.kill()
			c.apps[i] = nil
		}
	}
	begun := c.told.begun
	c.told, c.head, c.losses = newTestimony(), nil, 1
	c.told.begun = begun + 1000
	c.ledger = open(t, c.where+"&application_name=later")
	c.startMissing()
	c.judged(nothing)
	for _, hurt := range trials.Some(t, 1, injuries[:4]...) {
		c.judged(hurt)
	}
}

// A standby that commits wait for has all that was acknowledged: the applications go on.
func TestCrashFailoverToAStandbyThatCommitsWaitFor(t *testing.T) {
	c, standby := pair(t)
	c.server.Set(t, "synchronous_standby_names", "*")
	c.judged(nothing)
	c.judged(injury{"failover", true, func(c *crash) {
		c.server.Kill(c.t)
		standby.Promote(c.t)
		c.server = standby
	}})
	for _, hurt := range trials.Some(t, 1, injuries[:4]...) {
		c.judged(hurt)
	}
}
