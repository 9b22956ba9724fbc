package postgres

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
)

// exec runs SQL on the database that a URL names.
func exec(t testing.TB, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), sql)
	check(t, err)
}

// queryText returns the text that a query answers.
func queryText(t testing.TB, url, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	check(t, conn.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

func TestCommitsAreDurableWhateverARoleOrDatabaseSays(t *testing.T) {
	for _, setting := range []string{"off", "local"} {
		url := pgtest.Start(t).Database(t)
		name := queryText(t, url, "SELECT current_database()")
		exec(t, url, fmt.Sprintf("ALTER DATABASE %s SET synchronous_commit = %s", pgx.Identifier{name}.Sanitize(), setting))
		l := open(t, url)
		if got := queryText(t, url, "SHOW synchronous_commit"); got != setting {
			t.Fatalf("the database has synchronous_commit = %s", got)
		}
		check(t, l.store.update(func(tx *transaction) error {
			var now string
			_, err := tx.row("SHOW synchronous_commit", nil, &now)
			if err == nil && now != "on" {
				err = fmt.Errorf("a transaction has synchronous_commit = %s", now)
			}
			return err
		}))
	}
	url := pgtest.Start(t).Database(t)
	name := queryText(t, url, "SELECT current_database()")
	exec(t, url, fmt.Sprintf("ALTER DATABASE %s SET synchronous_commit = remote_apply", pgx.Identifier{name}.Sanitize()))
	check(t, open(t, url).store.update(func(tx *transaction) error {
		var now string
		_, err := tx.row("SHOW synchronous_commit", nil, &now)
		if err == nil && now != "remote_apply" {
			err = fmt.Errorf("remote_apply became %s", now)
		}
		return err
	}))
}

func TestServersThatForgetAreRefused(t *testing.T) {
	server := pgtest.Own(t)
	l := open(t, server.Database(t))
	check(t, l.SetLimit("*", unit, one, 0))
	check(t, l.Charge("f", unit, items(tenth, "anna")))
	for _, setting := range []string{"fsync", "full_page_writes"} {
		server.Set(t, setting, "off")
		err := l.Charge("f", unit, items(tenth, "anna"))
		if err == nil || !strings.Contains(err.Error(), setting+" is off; set "+setting+" = on") {
			t.Errorf("%s = off: %v", setting, err)
		}
		if _, err := Open(server.Database(t), true); err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s = off: opened: %v", setting, err)
		}
		server.Set(t, setting, "on")
		check(t, l.Charge("f", unit, items(tenth, "anna")))
	}
	b, err := l.Balance("anna", unit)
	check(t, err)
	if b.Spent != 3*tenth {
		t.Errorf("spent %v", b.Spent)
	}
}

func TestStandbyIsRefused(t *testing.T) {
	server := pgtest.Own(t)
	url := server.Database(t)
	check(t, open(t, url).SetLimit("*", unit, one, 0))
	standby := server.Standby(t)
	server.CaughtUp(t, standby)
	_, err := Open(standby.URL(t, url), false)
	if err == nil || !strings.Contains(err.Error(), "standby") {
		t.Errorf("opened: %v", err)
	}
}

func TestDatabasesThatAreNoLedger(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	if _, err := Open(url, false); !errors.Is(err, errNoLedger) {
		t.Errorf("an empty database: %v", err)
	}
	exec(t, url, "CREATE SCHEMA geosql")
	if _, err := Open(url, true); err == nil || !strings.Contains(err.Error(), "no ledger") {
		t.Errorf("somebody else's schema: %v", err)
	}
	url = server.Database(t)
	l, err := Open(url, true)
	check(t, err)
	check(t, l.Close())
	exec(t, url, "UPDATE geosql.meta SET value = '999' WHERE key = 'version'")
	if _, err := Open(url, true); err == nil || !strings.Contains(err.Error(), "newer geosql") {
		t.Errorf("a newer version: %v", err)
	}
}

func TestOpenedByManyAtOnce(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	var wait sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		wait.Go(func() {
			l, err := Open(fmt.Sprintf("%s&application_name=racer%d", url, i), true)
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = l.ID()
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("ledgers %q", ids)
		}
	}
}

// TestWritersStopExactlyAtTheLimit lets writers charge the same accounts through PgBouncer and
// without it, alone and in batches that overlap, until nothing is left.
func TestWritersStopExactlyAtTheLimit(t *testing.T) {
	server := pgtest.Start(t)
	url := server.Database(t)
	for name, through := range map[string]func(t *testing.T) string{
		"direct":    func(*testing.T) string { return url },
		"PgBouncer": func(t *testing.T) string { return server.PgBouncer(t, "transaction", url) },
	} {
		t.Run(name, func(t *testing.T) {
			const accounts, writers = 12, 4
			where := through(t)
			unit := ledgerUnit(name)
			check(t, open(t, url).SetLimit("*", unit, one, 0))
			var granted [accounts]atomic.Int64
			var wait sync.WaitGroup
			for range writers {
				l := another(t, where)
				for range 2 {
					wait.Go(func() {
						for refusals := 0; refusals < 60; {
							chosen := rand.Perm(accounts)[:1+rand.IntN(4)]
							var batch []ledger.Item
							for _, k := range chosen {
								batch = append(batch, ledger.Item{Account: fmt.Sprint("a", k), Epsilon: tenth, Evaluations: 1})
							}
							err := l.Charge("f", unit, batch)
							if _, ok := errors.AsType[*ledger.RefusalError](err); ok {
								refusals++
								continue
							}
							if err != nil {
								t.Error(err)
								return
							}
							for _, k := range chosen {
								granted[k].Add(1)
							}
						}
					})
				}
			}
			wait.Wait()
			for k := range accounts {
				account := fmt.Sprint("a", k)
				for open(t, url).Charge("f", unit, []ledger.Item{{Account: account, Epsilon: tenth, Evaluations: 1}}) == nil {
					granted[k].Add(1) // batches with another account that had nothing left have left this
				}
				b, err := open(t, url).Balance(account, unit)
				check(t, err)
				if n := granted[k].Load(); n != 10 || b.Spent != one {
					t.Errorf("account %d: granted %d times, spent %v", k, n, b.Spent)
				}
			}
		})
	}
}

// TestNewAccountsAreRaced lets writers charge accounts that nobody knows at the same time.
func TestNewAccountsAreRaced(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	l := open(t, url)
	check(t, l.SetLimit("*", unit, 3*tenth, 0))
	ledgers := []*Ledger{l, another(t, url), another(t, url), another(t, url)}
	for round := range 10 {
		var batch []ledger.Item
		for k := range 20 {
			batch = append(batch, ledger.Item{Account: fmt.Sprint(round, "/", k), Epsilon: tenth, Evaluations: 1})
		}
		var granted atomic.Int64
		var wait sync.WaitGroup
		for _, l := range ledgers {
			wait.Go(func() {
				mine := append([]ledger.Item(nil), batch...)
				rand.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
				err := l.Charge("f", unit, mine)
				if err == nil {
					granted.Add(1)
				} else if _, ok := errors.AsType[*ledger.RefusalError](err); !ok {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		if n := granted.Load(); n != 3 {
			t.Errorf("round %d: granted %d times", round, n)
		}
	}
}

// TestLimitsAreNotSetDuringCharges sets limits while others charge: no charge may count on a limit
// that was lowered before it.
func TestLimitsAreNotSetDuringCharges(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	owner := open(t, url)
	others := []*Ledger{another(t, url), another(t, url), another(t, url)}
	for round := range 15 {
		account := fmt.Sprint("a", round)
		check(t, owner.SetLimit(account, unit, one, 0))
		check(t, owner.Charge("f", unit, items(tenth, account)))
		var wait sync.WaitGroup
		for _, l := range others {
			wait.Go(func() {
				for range 12 {
					if err := l.Charge("f", unit, items(tenth, account)); err != nil {
						if _, ok := errors.AsType[*ledger.RefusalError](err); !ok {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		check(t, owner.SetLimit(account, unit, 0, 0))
		// Nothing is charged from now on: the limit is behind every charge in the order of entries.
		b, err := owner.Balance(account, unit)
		check(t, err)
		wait.Wait()
		after, err := owner.Balance(account, unit)
		check(t, err)
		if after.Spent != b.Spent {
			t.Errorf("round %d: spent %v when the limit was set, %v later", round, b.Spent, after.Spent)
		}
		late := queryText(t, url, fmt.Sprintf(`SELECT count(*)::text FROM geosql.entry WHERE account = '%s' AND spent > 0
			AND id > (SELECT max(id) FROM geosql.entry WHERE account = '%[1]s' AND epsilon_limit = 0)`, account))
		if late != "0" {
			t.Errorf("round %d: %s charges behind the limit", round, late)
		}
	}
}

// TestAccountsThatWereNotInThePlan reads standings that a transaction did not announce, while
// another one has locked them.
func TestAccountsThatWereNotInThePlan(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	a, b := open(t, url), another(t, url)
	check(t, a.SetLimit("*", unit, one, 0))
	check(t, a.Charge("f", unit, items(tenth, "anna", "berta")))
	locked, release := make(chan struct{}), make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		err := a.store.Update(t.Context(), keysOf("anna"), func(t engine.Transaction) error {
			close(locked)
			<-release
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-locked
	runs := 0
	err := b.store.Update(t.Context(), keysOf("berta"), func(tx engine.Transaction) error {
		if runs++; runs == 2 {
			return errors.New("the plan has both accounts: nobody waits for the first")
		}
		_, err := tx.Standing(engine.Key{Account: "anna", Unit: unit})
		close(release)
		return err
	})
	wait.Wait()
	if err == nil || runs != 2 {
		t.Errorf("%d runs: %v", runs, err)
	}
}

func keysOf(accounts ...string) engine.Needs {
	return func(yield func(engine.Key) bool) {
		for _, a := range accounts {
			if !yield(engine.Key{Account: a, Unit: unit}) {
				return
			}
		}
	}
}

func TestServerIsRestartedBetweenTransactions(t *testing.T) {
	server := pgtest.Own(t)
	l := open(t, server.Database(t))
	check(t, l.SetLimit("*", unit, one, 0))
	for round := range 4 {
		check(t, l.Charge("f", unit, items(tenth, "anna")))
		if round%2 == 0 {
			server.Kill(t)
		}
		server.Restart(t)
		if _, err := l.Facts(t.Context(), 0); err != nil {
			t.Error(err)
		}
		if round == 1 {
			check(t, l.Reserve(unit, items(tenth, "berta")))
			server.Restart(t)
			check(t, l.Charge("f", unit, items(tenth, "berta")))
		}
	}
	b, err := l.Balance("anna", unit)
	check(t, err)
	if b.Spent != 4*tenth {
		t.Errorf("spent %v", b.Spent)
	}
}

func TestNamesThatAServerCannotStore(t *testing.T) {
	l := fresh(t)
	check(t, l.SetLimit("*", unit, one, 0))
	for _, name := range []string{"nul\x00", "\xff", strings.Repeat("a", longest+1)} {
		if err := l.Charge("f", unit, items(tenth, "anna", name)); err == nil {
			t.Errorf("%.20q was charged", name)
		}
	}
	check(t, l.Charge("f", unit, items(tenth, strings.Repeat("é", longest/2))))
	b, err := l.Balance("anna", unit)
	check(t, err)
	if b.Spent != 0 {
		t.Errorf("spent %v", b.Spent)
	}
}

func TestRoles(t *testing.T) {
	url := pgtest.Start(t).Database(t)
	check(t, open(t, url).SetLimit("*", unit, one, 0))
	name := queryText(t, url, "SELECT current_database()")
	for role, rights := range map[string]string{
		"reader_" + name: "SELECT",
		"writer_" + name: "SELECT, INSERT, UPDATE, DELETE",
	} {
		exec(t, url, fmt.Sprintf(`CREATE ROLE %[1]s LOGIN; GRANT USAGE ON SCHEMA geosql TO %[1]s;
			GRANT %[2]s ON ALL TABLES IN SCHEMA geosql TO %[1]s; GRANT USAGE ON ALL SEQUENCES IN SCHEMA geosql TO %[1]s`, role, rights))
		l, err := Open(strings.Replace(url, "postgres@", role+"@", 1), false)
		check(t, err)
		err = l.Charge("f", unit, items(tenth, "anna"))
		if rights == "SELECT" {
			if err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("a role that may only read has charged: %v", err)
			}
		} else {
			check(t, err)
		}
		for _, err := range ledger.AllBalances(l) {
			check(t, err)
		}
		for _, err := range l.Charges() {
			check(t, err)
		}
		check(t, l.Close())
		exec(t, url, fmt.Sprintf("DROP OWNED BY %[1]s; DROP ROLE %[1]s", role))
	}
}

// TestWaitForStandbyIsEnded ends the wait of a commit for a standby that does not answer: nothing is
// granted then.
func TestWaitForStandbyIsEnded(t *testing.T) {
	server := pgtest.Own(t)
	url := server.Database(t)
	l := open(t, url)
	check(t, l.SetLimit("*", unit, 1000*one, 0))
	server.Set(t, "synchronous_standby_names", "nobody")
	done := make(chan error, 1)
	charges := budget.Amount(0)
	begin := func() {
		charges++
		go func() { done <- l.Charge("f", unit, items(tenth, "anna")) }()
	}
	begin()
	for queryText(t, url, "SELECT count(pg_cancel_backend(pid))::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "0" {
		select {
		case err := <-done: // the server's checkpointer has not told yet that commits have to wait
			check(t, err)
			begin()
		default:
		}
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "nothing is granted") {
		t.Errorf("charged: %v", err)
	}
	server.Set(t, "synchronous_standby_names", "")
	check(t, l.Charge("f", unit, items(tenth, "anna")))
	b, err := l.Balance("anna", unit)
	check(t, err)
	if want := (charges + 1) * tenth; b.Spent != want {
		t.Errorf("spent %v, want %v", b.Spent, want)
	}
}
