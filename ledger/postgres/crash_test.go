//go:build unix

package postgres

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/internal/trials"
	"github.com/geosql/geosql/ledger"
)

// The crash harness: applications charge a ledger in every way that there is, while they, the server
// and its processes are killed at random moments. After each round everything that an application
// was told must be recorded, and nothing beyond a limit.
//
//	go test ./ledger/postgres -run Crash
//	GEOSQL_KILLS=300 go test ./ledger/postgres -run CrashKill -v -timeout 60m
//
// GEOSQL_KILLS is the number of rounds. The figures of docs/crash.md are printed at the end.

const (
	fewRounds    = 10 // without GEOSQL_KILLS: each injury once
	manyRounds   = 20 // of one server
	applications = 3  // two of them on one machine
)

// crash is a server and the applications that charge its ledger.
type crash struct {
	t        testing.TB
	server   *pgtest.Server
	where    string
	role     string
	machines []string
	apps     []*application
	told     *testimony
	ledger   *Ledger // the judge's
	head     *ledger.Head
	killed   int // applications
	losses   int // that were accepted: each has a writer of its own, and makes all others new ones
	figures  crashFigures
}

// newCrash starts a server and applications that play a role.
func newCrash(t testing.TB, role string) *crash {
	server := pgtest.Own(t)
	return newCrashAt(t, role, server, server.Database(t))
}

// newCrashAt starts applications that play a role, with the ledger that a URL leads to.
func newCrashAt(t testing.TB, role string, server *pgtest.Server, where string) *crash {
	c := &crash{t: t, server: server, where: where, role: role, told: newTestimony()}
	c.figures.errors = map[string]int{}
	east, west := t.TempDir(), t.TempDir()
	c.machines = []string{east, east, west}
	c.ledger = open(t, c.where+"&application_name=judge")
	check(t, prepareCrash(c.ledger))
	if p := planted[role]; p != nil && p.prepare != nil {
		p.prepare(t, c)
	}
	c.apps = make([]*application, applications)
	c.startMissing()
	return c
}

// startMissing starts the applications that do not run.
func (c *crash) startMissing() {
	c.t.Helper()
	for i, a := range c.apps {
		if a == nil {
			c.apps[i] = startApplication(c.t, c.role, c.machines[i], fmt.Sprintf("%s&application_name=app%d", c.where, i), i, c.told)
		}
	}
}

// killSome kills one or more applications.
func (c *crash) killSome(n int) {
	for _, i := range rand.Perm(applications)[:n] {
		c.apps[i].kill()
		c.apps[i] = nil
		c.killed++
	}
}

// injury is something that happens to the applications or to the server.
type injury struct {
	name   string
	server bool // whether the server is away for a while
	happen func(c *crash)
}

var injuries = []injury{
	{"an application", false, func(c *crash) { c.killSome(1) }},
	{"the server", true, func(c *crash) { c.server.Kill(c.t); c.server.Restart(c.t) }},
	{"the server, then applications", true, func(c *crash) {
		c.server.Kill(c.t)
		wait(20 * time.Millisecond)
		c.killSome(2)
		c.server.Restart(c.t)
	}},
	{"applications, then the server", true, func(c *crash) {
		c.killSome(2)
		wait(5 * time.Millisecond)
		c.server.Kill(c.t)
		c.server.Restart(c.t)
	}},
	{"an immediate stop", true, func(c *crash) { c.server.StopAtOnce(c.t); c.server.Restart(c.t) }},
	{"a stop in good order", true, func(c *crash) { c.server.Restart(c.t) }},
	{"a server process", true, func(c *crash) { c.server.KillBackend(c.t, c.where) }},
	{"an application stands still", false, func(c *crash) {
		a := c.apps[rand.IntN(applications)]
		a.suspend(c.t)
		time.Sleep(300 * time.Millisecond)
		a.resume(c.t)
	}},
	{"the server, while an application stands still", true, func(c *crash) {
		a := c.apps[rand.IntN(applications)]
		a.suspend(c.t)
		c.server.Kill(c.t)
		c.server.Restart(c.t)
		wait(100 * time.Millisecond)
		a.resume(c.t)
	}},
	{"all applications", false, func(c *crash) { c.killSome(applications) }},
}

// wait waits for a random time.
func wait(most time.Duration) { time.Sleep(rand.N(most)) }

// round lets the applications work, be hurt, and work, and judges the state then.
func (c *crash) round(hurt injury) faults {
	c.t.Helper()
	wait(200 * time.Millisecond)
	hurt.happen(c)
	c.startMissing()
	wait(150 * time.Millisecond)
	c.pause()
	f := c.judge(hurt)
	c.goOn()
	return f
}

// pause has the applications stand still. All that they have written is heard then.
func (c *crash) pause() {
	c.t.Helper()
	for _, a := range c.apps {
		a.tell(c.t, "pause")
	}
	for _, a := range c.apps {
		a.await(c.t, "paused")
	}
}

func (c *crash) goOn() {
	c.t.Helper()
	for _, a := range c.apps {
		a.tell(c.t, "go")
	}
}

// judge judges the state while the applications stand still.
func (c *crash) judge(hurt injury) (f faults) {
	c.told.Lock() // the applications say nothing
	defer c.told.Unlock()
	s, err := readRecorded(c.where)
	check(c.t, err)
	f = judge(c.told, s)
	c.head = judgeLedger(&f, c.told, c.ledger, c.head)
	if most := (1 + c.losses) * (applications + 1); s.writers-c.losses > most {
		f.add("%d applications and the judge are %d writers", applications, s.writers)
	}
	for text, n := range c.told.errors {
		if neverTold(text) || !hurt.server {
			f.add("after %s: %d times %s", hurt.name, n, text)
		}
	}
	f = append(f, c.told.faults...)
	c.figures.add(c, s)
	clear(c.told.errors)
	if wasted, most := c.figures.now.wastedAtOnce(), c.mostWasted(); c.losses == 0 && wasted > most {
		f.add("recorded %d that nobody acknowledged, without reserving ahead; at most %d can be", wasted, most)
	}
	return f
}

// mostWasted returns how much that was not reserved ahead may be recorded and not acknowledged: the charges that
// workers were making when they were killed, or failed.
func (c *crash) mostWasted() int64 {
	calls := int64(c.killed) * chargers
	for _, n := range c.figures.errors {
		calls += int64(n)
	}
	return calls * accounts
}

// crashFigures are the results of rounds.
type crashFigures struct {
	rounds int
	errors map[string]int // by their texts
	now    crashSums      // of the server of now
	before crashSums      // of earlier ones
}

// crashSums are amounts of everybody, in evaluations.
type crashSums struct {
	acknowledged, recorded int64
	atOnce, atOnceRecorded int64 // of accounts for which nothing is reserved ahead
}

func (s *crashSums) wastedAtOnce() int64 { return s.atOnceRecorded - s.atOnce }

func (s *crashSums) add(o crashSums) {
	s.acknowledged += o.acknowledged
	s.recorded += o.recorded
	s.atOnce += o.atOnce
	s.atOnceRecorded += o.atOnceRecorded
}

// add takes in a round.
func (f *crashFigures) add(c *crash, s *recorded) {
	f.rounds++
	for text, n := range c.told.errors {
		f.errors[text] += n
	}
	f.now = crashSums{}
	atOnce := func(account string) bool { return strings.HasPrefix(account, "c") }
	for k, got := range s.balances {
		f.now.recorded += int64(got / eps)
		if atOnce(k.Account) {
			f.now.atOnceRecorded += int64(got / eps)
		}
	}
	for k, granted := range c.told.granted {
		f.now.acknowledged += int64(granted / eps)
		if atOnce(k.Account) {
			f.now.atOnce += int64(granted / eps)
		}
	}
}

func TestCrashKill(t *testing.T) {
	rounds := trials.Count(t, "GEOSQL_KILLS", fewRounds)
	all, killed := crashFigures{errors: map[string]int{}}, 0
	for done := 0; done < rounds && !t.Failed(); {
		n := min(manyRounds, rounds-done)
		t.Run(fmt.Sprint("from round ", done), func(t *testing.T) {
			c := newCrash(t, "all")
			for i := range n {
				hurt := injuries[i%len(injuries)]
				began := time.Now()
				for _, fault := range c.round(hurt) {
					t.Errorf("round %d, %s: %s", done+i, hurt.name, fault)
				}
				t.Logf("round %d: %s, %v, %+v", done+i, hurt.name, time.Since(began).Round(time.Millisecond), c.figures.now)
				if t.Failed() {
					return
				}
			}
			all.rounds += c.figures.rounds
			killed += c.killed
			all.before.add(c.figures.now)
			for text, n := range c.figures.errors {
				all.errors[text] += n
			}
		})
		done += n
	}
	s := all.before
	t.Logf("%d rounds, %d applications killed: %d acknowledged, %d recorded, %d wasted (%.2f %%); of these without reserving ahead: %d, %d, %d",
		all.rounds, killed, s.acknowledged, s.recorded, s.recorded-s.acknowledged, 100*float64(s.recorded-s.acknowledged)/float64(max(1, s.recorded)),
		s.atOnce, s.atOnceRecorded, s.wastedAtOnce())
	for text, n := range all.errors {
		t.Logf("%d times: %s", n, text)
	}
}
