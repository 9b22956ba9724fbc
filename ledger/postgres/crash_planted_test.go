//go:build unix

package postgres

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// plant is an application, or a server, that makes a mistake.
type plant struct {
	work    work                         // of all workers; nil for that of applications
	prepare func(t testing.TB, c *crash) // changes the server; may be nil
	hurt    string                       // the injury that shows the mistake
	want    string                       // a pattern of the judge's finding
}

var planted = map[string]*plant{
	"commits do not wait for the disk": {prepare: commitAsynchronously, hurt: "the server", want: "acknowledged"},
	"grants before the commit":         {work: grantEarly, hurt: "the server, then applications", want: "acknowledged"},
	"lost answers count as grants":     {work: grantLost, prepare: commitSlowly, hurt: "the server", want: "acknowledged"},
	"balances are not locked":          {prepare: lockNoBalances, hurt: "an application", want: "acknowledged|the balance is"},
	"charges what was refused":         {work: chargeRefused, hurt: "an application", want: "the limit was"},
}

// replace changes a function of the ledger.
func replace(t testing.TB, c *crash, function string, oldNew ...string) {
	t.Helper()
	text := queryText(t, c.where, "SELECT pg_get_functiondef('geosql."+function+"'::regproc)")
	for pair := range slices.Chunk(oldNew, 2) {
		if !strings.Contains(text, pair[0]) {
			t.Fatalf("function %s has no %q", function, pair[0])
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	exec(t, c.where, text)
}

// commitAsynchronously has the server say that commits wait for the disk, and has them not wait. The
// process that writes them in the background wakes up as late as it can.
func commitAsynchronously(t testing.TB, c *crash) {
	c.server.Set(t, "wal_writer_delay", "10000")
	replace(t, c, "enter", "storage := ", "PERFORM set_config('synchronous_commit', 'off', true);\n  storage := ")
}

// commitSlowly has commits wait before they are on the disk, so that a server which is killed is in the middle of one.
func commitSlowly(t testing.TB, c *crash) {
	c.server.Set(t, "commit_siblings", "0")
	c.server.Set(t, "commit_delay", "50000")
}

// lockNoBalances has transactions read balances without locks, and not look whether they were still
// there when they wrote them. They take their time in between, so that a slow machine shows it too.
func lockNoBalances(t testing.TB, c *crash) {
	replace(t, c, "enter", "FOR NO KEY UPDATE", "", "now := (extract", "PERFORM pg_sleep(0.002);\n  now := (extract")
	replace(t, c, "leave", "RAISE EXCEPTION 'a balance was not where it was locked';", "NULL;")
}

// post charges an account in a transaction whatever its limit is.
func post(tx engine.Transaction, account string, s *ledger.Standing) error {
	from := &engine.Origin{Run: new(engine.Run), Time: tx.Now(), Function: "f", Unit: chargeUnit}
	return engine.Post(tx, &engine.Change{Origin: from, Account: account, Spent: eps, Evaluations: 1}, s)
}

// need is the need of one balance.
func need(k engine.Key) engine.Needs {
	return func(yield func(engine.Key) bool) { yield(k) }
}

// grantEarly reports grants before the commit, and takes its time in between, so that a fast machine shows it too.
func grantEarly(w *worker) func() error {
	return func() error {
		k := engine.Key{Account: someone("c"), Unit: chargeUnit}
		said := false
		return w.l.store.Update(context.Background(), need(k), func(tx engine.Transaction) error {
			s, err := tx.Standing(k)
			if err != nil {
				return err
			}
			if refusal := s.Refuse(eps, 0); refusal != nil {
				return refusal
			}
			if !said {
				w.say.granted(time.Now(), k.Unit, k.Account)
				said = true
				time.Sleep(20 * time.Millisecond)
			}
			return post(tx, k.Account, &s)
		})
	}
}

// grantLost grants after a COMMIT with a lost answer, without looking up its result.
func grantLost(w *worker) func() error {
	return func() error {
		k := engine.Key{Account: someone("c"), Unit: chargeUnit}
		return w.grant(k.Unit, func() error {
			s := w.l.store
			s.turn <- struct{}{}
			defer func() { <-s.turn }()
			return retry(context.Background(), func(ctx context.Context) error { return s.chargeBlindly(ctx, k) })
		}, k.Account)
	}
}

// chargeBlindly is runOnce for a charge, and a commit that does not resolve doubts.
func (s *store) chargeBlindly(ctx context.Context, k engine.Key) error {
	t, err := s.begin(ctx, &plan{keys: []engine.Key{k}})
	if err != nil {
		return err
	}
	defer t.end()
	standing, err := t.Standing(k)
	if err != nil {
		return err
	}
	if refusal := standing.Refuse(eps, 0); refusal != nil {
		return refusal
	}
	if err := post(t, k.Account, &standing); err != nil {
		return err
	}
	batch := &pgconn.Batch{}
	leave := t.leave()
	leave.queue(batch)
	(&statement{sql: "COMMIT"}).queue(batch)
	to := position{s.writer.at.turn + 1, t.head}
	_, err = t.conn.Conn().PgConn().ExecBatch(ctx, batch).ReadAll()
	if failed, ok := errors.AsType[*pgconn.PgError](err); ok && failed.Severity == "ERROR" {
		return err
	}
	t.done()
	if err != nil {
		t.closeConn()
		return s.writer.setDoubt(to) // and nil: it is granted
	}
	t.open = false
	return s.writer.advance(to)
}

// chargeRefused charges an account that soon has nothing left, however slow the machine is.
func chargeRefused(w *worker) func() error {
	return func() error {
		k := engine.Key{Account: "c", Unit: chargeUnit}
		return w.grant(k.Unit, func() error {
			err := w.l.Charge("f", k.Unit, items(eps, k.Account))
			if !engine.Is[*ledger.RefusalError](err) {
				return err
			}
			return w.l.store.Update(context.Background(), need(k), func(tx engine.Transaction) error {
				s, err := tx.Standing(k)
				if err != nil {
					return err
				}
				return post(tx, k.Account, &s)
			})
		}, k.Account)
	}
}

// The judge must notice each of the mistakes.
func TestCrashJudgeNotices(t *testing.T) {
	const most = 20 // rounds
	for role, p := range planted {
		t.Run(role, func(t *testing.T) {
			want := regexp.MustCompile(p.want)
			i := slices.IndexFunc(injuries, func(in injury) bool { return in.name == p.hurt })
			c := newCrash(t, role)
			began := time.Now()
			for round := range most {
				for _, fault := range c.round(injuries[i]) {
					if want.MatchString(fault) {
						t.Logf("round %d, %v: %s", round+1, time.Since(began).Round(time.Millisecond), fault)
						return
					}
				}
			}
			t.Errorf("not noticed in %d rounds", most)
		})
	}
}

// It must notice what none of them does: windows that hold too little, answers that change, releases
// that charge twice.
func TestCrashJudgeNoticesRecords(t *testing.T) {
	w := engine.Key{Account: "w0", Unit: windowUnit}
	everybody := engine.Key{Account: "*", Unit: windowUnit}
	account := engine.Key{Account: releaseAccounts("r0")[0], Unit: releaseUnit}
	asked := engine.Key{Account: askedAccounts[1], Unit: questUnit}
	once := engine.Key{Account: "o", Unit: onceUnit}
	for what, c := range map[string]struct {
		spoil func(told *testimony, s *recorded)
		want  string
	}{
		"nothing":            {func(*testimony, *recorded) {}, ""},
		"less in a window":   {func(told *testimony, s *recorded) { told.grants[w] = append(told.grants[w], grant{100, 110, eps}) }, "in the window"},
		"a window too early": {func(_ *testimony, s *recorded) { s.changes[2].start = 101 }, "a window has started"},
		"a window too full":  {func(_ *testimony, s *recorded) { s.changes[2].inWindow = windowMost + 1 }, "the limit was"},
		"a lower limit":      {func(_ *testimony, s *recorded) { s.changes[0].limit = 1 }, "the limit was"},
		"a limit not set":    {func(told *testimony, _ *recorded) { told.set[w] = setting{5, 0} }, "the limit is"},
		"a second charge":    {func(_ *testimony, s *recorded) { s.balances[account] = 2 * eps }, "release r0"},
		"a lost seal":        {func(told *testimony, _ *recorded) { told.sealed["r0"] = true }, "was sealed"},
		"one role budget":    {func(_ *testimony, s *recorded) { s.roleBudgets[asked.Account] = eps }, "its role budget"},
		"one account":        {func(_ *testimony, s *recorded) { s.balances[asked] = eps }, "for the same questions"},
		"twice once":         {func(_ *testimony, s *recorded) { s.balances[once] = 2 * eps }, "charged once"},
		"a lost grant":       {func(told *testimony, _ *recorded) { told.granted[w] = 3 * eps }, "acknowledged"},
		"another answer": {func(told *testimony, _ *recorded) {
			told.hear("answered 1 a")
			told.hear("answered 1 b")
		}, "the answer was a"},
		"an older trace": {func(told *testimony, _ *recorded) {
			told.hear("saved t 5")
			told.hear("opened t 4")
		}, "was saved at point 5"},
	} {
		told := newTestimony()
		told.granted[w] = 2 * eps
		told.grants[w] = []grant{{100, 120, eps}, {100, 100 + windowLength*1e6, eps}}
		s := &recorded{
			balances:    map[engine.Key]budget.Amount{w: 2 * eps, account: eps, once: eps},
			roleBudgets: map[string]budget.Amount{},
			limits:      map[engine.Key]setting{w: {windowMost, windowLength}},
			releases:    map[string]int64{"r0": 1},
			sealed:      map[string]bool{},
			changes: []change{
				{Key: everybody, limit: windowMost, limitWindow: windowLength},
				{Key: w, change: eps, start: 100, inWindow: eps, limit: ledger.NoLimit},
				{Key: w, change: eps, start: 100 + windowLength*1e6, inWindow: eps, limit: ledger.NoLimit},
			},
		}
		for _, k := range []engine.Key{account, once} {
			s.changes = append(s.changes, change{Key: engine.Key{Account: "*", Unit: k.Unit}, limit: eps},
				change{Key: k, change: eps, limit: ledger.NoLimit})
		}
		c.spoil(told, s)
		found := append(judge(told, s), told.faults...)
		if noticed := slices.ContainsFunc(found, func(f string) bool { return strings.Contains(f, c.want) }); noticed != (c.want != "") {
			t.Errorf("%s: %q", what, found)
		}
	}
}
