package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
	"github.com/geosql/geosql/ledger/internal/engine"
	"github.com/geosql/geosql/ledger/postgres/internal/state"
)

// spoil runs SQL behind the ledger's back.
func spoil(t testing.TB, where, sql string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, where)
	check(t, err)
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	check(t, err)
}

// ask returns the number that a query answers.
func ask(t testing.TB, where, sql string) (n int64) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, where)
	check(t, err)
	defer conn.Close(ctx)
	check(t, conn.QueryRow(ctx, sql).Scan(&n))
	return n
}

// otherMachine has the ledgers that are opened from now on know nothing of earlier ones.
func otherMachine(t *testing.T) {
	t.Helper()
	t.Setenv(state.FolderVariable, t.TempDir())
}

// reopen opens the ledger of a URL as another process would, that has a name. The test may close it.
func reopen(t testing.TB, where, name string) *Ledger {
	t.Helper()
	l, err := Open(where+"&application_name="+name, true)
	check(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, engine.ErrClosed) {
			t.Error(err)
		}
	})
	return l
}

// fill gives a ledger a history of every kind of entry, by two writers.
func fill(t testing.TB, where string) (one, two *Ledger) {
	t.Helper()
	one, two = reopen(t, where, "one"), reopen(t, where, "two")
	check(t, one.SetLimit("*", "m", 1000, 0))
	check(t, two.SetLimit("eve", "m", 1000, 3600))
	check(t, one.SetLimit("ana", "kWh", 1000, 0))
	for i := range 6 {
		l := []*Ledger{one, two}[i%2]
		check(t, l.Charge("f", "m", []ledger.Item{{Account: "ana", Epsilon: 10, Evaluations: 1}, {Account: "eve", Epsilon: 5, Evaluations: 1}}))
		check(t, l.Charge("f", "m", []ledger.Item{{Account: "o'neil", Epsilon: 7, Evaluations: 1}}))
	}
	check(t, two.Reserve("m", []ledger.Item{{Account: "bob", Epsilon: 50}}))
	check(t, two.Charge("f", "m", []ledger.Item{{Account: "bob", Epsilon: 20, Evaluations: 1}}))
	s := one.NewStatement()
	for range 9 {
		check(t, s.Spender("g", "kWh").Charge([]byte("ana"), 3))
	}
	check(t, s.End())
	check(t, one.SetLimit("eve", "m", 900, 7200))
	spendAsRole(t, one)
	return one, two
}

// spendAsRole charges the budget of a role.
func spendAsRole(t testing.TB, l *Ledger) {
	t.Helper()
	check(t, l.store.update(func(tr *transaction) error {
		from := new(engine.Run).Origin(tr.now, "question", "m")
		return tr.ChargeRoleBudgets("analyst", from, []ledger.Item{{Account: "ana", Epsilon: 4}})
	}))
}

func verify(l *Ledger, archive string, earlier *ledger.Head) error {
	_, err := l.Verify(archive, earlier, nil)
	return err
}

func headOfLedger(t testing.TB, l *Ledger) ledger.Head {
	t.Helper()
	h, err := l.Head()
	check(t, err)
	return h
}

func TestVerify(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	l := open(t, where)
	empty := headOfLedger(t, l)
	v, err := l.Verify("", &empty, nil)
	check(t, err)
	if v.Programs = nil; !reflect.DeepEqual(v, ledger.Verified{Head: ledger.Genesis(l.ID())}) || empty != v.Head {
		t.Errorf("an empty ledger: %+v", v)
	}
	one, two := fill(t, where)
	noted := headOfLedger(t, two)
	if again := headOfLedger(t, one); again != noted {
		t.Errorf("heads are %v and %v", noted, again)
	}
	v, err = one.Verify("", &noted, nil)
	check(t, err)
	if v.Programs = nil; !reflect.DeepEqual(v, ledger.Verified{Entries: ask(t, where, "SELECT count(*) FROM geosql.entry"), Balances: 5, Limits: 3, Head: noted}) || v.Entries != noted.ID {
		t.Errorf("%+v, head %v", v, noted)
	}
	check(t, verify(two, "", &empty))
	check(t, one.Charge("f", "m", items(1, "ana")))
	check(t, verify(two, "", &noted))
	later := headOfLedger(t, two)
	if later.ID != noted.ID+1 || later.Hash == noted.Hash {
		t.Errorf("the head went from %v to %v", noted, later)
	}
	other := headOfLedger(t, fresh(t))
	for _, h := range []ledger.Head{other, {ID: 3}, {ID: noted.ID, Hash: later.Hash}, {ID: 1000, Hash: later.Hash}} {
		if err := verify(one, "", &h); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("head %v was accepted: %v", h, err)
		}
	}
}

// A ledger that was rewritten whole does not lead through a head of before.
func TestVerifyFindsAnotherHistory(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	var text string
	check(t, l.read(func(r *reader) error {
		all, err := r.chains()
		if err != nil {
			return err
		}
		_, text = all.combine(l.ID(), func(c *chain) ledger.Head { return ledger.Head{ID: min(3, c.end.ID), Hash: c.end.Hash} })
		return nil
	}))
	h, _ := headOf(l.ID(), text)
	spoil(t, where, fmt.Sprintf(`INSERT INTO geosql.head VALUES (%d, '\x%x', '%s', 0)`, h.ID, h.Hash, text))
	if err := verify(l, "", &h); err == nil || !strings.Contains(err.Error(), "was rewritten") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// A role that may only read is told heads that are known, and else why not.
func TestHeadOfAReader(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	one, _ := fill(t, where)
	spoil(t, where, `DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA geosql TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA geosql TO reader`)
	t.Cleanup(func() { spoil(t, where, "DROP OWNED BY reader; DROP ROLE reader") })
	reader, err := Open(strings.Replace(where, "postgres@", "reader@", 1), false)
	check(t, err)
	defer reader.Close()
	check(t, verify(reader, "", nil))
	if _, err := reader.Head(); err == nil || !strings.Contains(err.Error(), "may not write") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	noted := headOfLedger(t, one)
	if h := headOfLedger(t, reader); h != noted {
		t.Errorf("%v, want %v", h, noted)
	}
	check(t, verify(reader, "", &noted))
}

// savedTables are the tables that Verify reads.
var savedTables = []string{"meta", "writer", "entry", "balance", "budget", "purse", "head"}

// Every way to change the tables that does not write another history whole must be noticed, in
// every column.
func TestVerifyFindsTampering(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	one, two := fill(t, where)
	noted := headOfLedger(t, one)
	check(t, one.Close())
	check(t, two.Close())
	var save, restore strings.Builder
	save.WriteString("CREATE SCHEMA saved;")
	for _, table := range savedTables {
		fmt.Fprintf(&save, "CREATE TABLE saved.%s AS TABLE geosql.%[1]s;", table)
		fmt.Fprintf(&restore, "DELETE FROM geosql.%s; INSERT INTO geosql.%[1]s SELECT * FROM saved.%[1]s;", table)
	}
	spoil(t, where, save.String())

	first := "writer = (SELECT min(writer::text)::uuid FROM geosql.entry)"
	changes := []string{
		"DELETE FROM geosql.entry WHERE seq = 7 AND " + first,
		"DELETE FROM geosql.entry WHERE seq = 1 AND " + first,
		"DELETE FROM geosql.entry WHERE seq = (SELECT max(seq) FROM geosql.entry WHERE " + first + ") AND " + first,
		"DELETE FROM geosql.entry WHERE seq > 3 AND " + first,
		"DELETE FROM geosql.entry WHERE " + first,
		"DELETE FROM geosql.entry",
		"UPDATE geosql.entry SET seq = 1000 WHERE seq = 7 AND " + first,
		"UPDATE geosql.entry SET writer = gen_random_uuid() WHERE seq = 7 AND " + first,
		"UPDATE geosql.entry SET writer = gen_random_uuid() WHERE " + first,
		"INSERT INTO geosql.entry SELECT writer, 1000, 1000, statement, time, function, account, unit, 0, 0, 0, window_start, window_spent, NULL, NULL, hash FROM geosql.entry WHERE seq = 7",
		"UPDATE geosql.entry SET hash = sha256('x') WHERE seq = 7 AND " + first,
		"UPDATE geosql.entry SET hash = 'x' WHERE seq = 7 AND " + first,
		"UPDATE geosql.entry SET id = 1000 WHERE seq = 3 AND " + first,
		"DELETE FROM geosql.writer WHERE id = (SELECT min(writer::text)::uuid FROM geosql.entry)",
		"UPDATE geosql.writer SET seq = seq - 1",
		"UPDATE geosql.writer SET seq = seq + 1",
		"UPDATE geosql.writer AS w SET seq = e.seq, hash = e.hash FROM geosql.entry AS e WHERE e.writer = w.id AND e.seq = 3",
		"UPDATE geosql.writer SET hash = sha256('x')",
		"UPDATE geosql.writer SET hash = 'x'",
		"UPDATE geosql.writer SET archived = 1",
		"UPDATE geosql.writer SET archived = 1, archived_hash = sha256('x')",
		"UPDATE geosql.writer SET id = gen_random_uuid()",
		"UPDATE geosql.entry SET spent = spent - 1 WHERE spent > 0; UPDATE geosql.balance SET spent = spent - 1",
		"UPDATE geosql.balance SET spent = spent - 1, reserved = reserved + 1 WHERE account = 'ana' AND unit = 'm'",
		"DELETE FROM geosql.balance WHERE account = 'ana'",
		"INSERT INTO geosql.balance(account, unit, spent, reserved, last_charge) VALUES ('new', 'm', 0, 0, 0)",
		"DELETE FROM geosql.budget WHERE account = 'ana'",
		"INSERT INTO geosql.budget SELECT 'new', unit, epsilon, window_seconds, changed, writer, entry, revision FROM geosql.budget WHERE account = 'eve'",
		"UPDATE geosql.budget SET writer = gen_random_uuid() WHERE account = 'eve'",
		"DELETE FROM geosql.purse",
		"UPDATE geosql.purse SET spent = spent - 1",
		"UPDATE geosql.purse SET role = 'other'",
		"UPDATE geosql.purse SET account = 'other'",
		"UPDATE geosql.purse SET unit = 'other'",
		"INSERT INTO geosql.purse VALUES ('new', 'ana', 'm', 1)",
		"UPDATE geosql.meta SET value = 'other' WHERE key = 'id'",
	}
	for _, column := range []string{"statement", "time", "spent", "reserved", "evaluations", "window_spent"} {
		changes = append(changes, fmt.Sprintf("UPDATE geosql.entry SET %s = %[1]s + 1 WHERE seq = 7", column))
	}
	for _, column := range []string{"function", "account", "unit"} {
		changes = append(changes, fmt.Sprintf("UPDATE geosql.entry SET %s = %[1]s || 'x' WHERE seq = 7", column))
	}
	for _, column := range []string{"window_start", "epsilon_limit", "window_seconds"} {
		changes = append(changes, fmt.Sprintf("UPDATE geosql.entry SET %s = coalesce(%[1]s, 0) + 1 WHERE seq = 7", column))
	}
	for _, column := range []string{"spent", "reserved", "window_start", "window_spent", "last_charge"} {
		changes = append(changes, fmt.Sprintf("UPDATE geosql.balance SET %s = coalesce(%[1]s, 0) + 1 WHERE account = 'eve'", column))
	}
	for _, column := range []string{"epsilon", "window_seconds", "changed", "entry"} {
		changes = append(changes, fmt.Sprintf("UPDATE geosql.budget SET %s = coalesce(%[1]s, 0) + 1 WHERE account = 'eve'", column))
	}
	for i, sql := range changes {
		otherMachine(t) // which would not open some of them otherwise
		spoil(t, where, sql)
		l, err := Open(fmt.Sprint(where, "&application_name=tampering", i), false)
		check(t, err)
		err = verify(l, "", nil)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "ledger: ") {
			t.Errorf("%s: %v", sql, err)
		}
		check(t, l.Close())
		spoil(t, where, restore.String())
	}

	// The list of a head is evidence too.
	otherMachine(t)
	l := open(t, where+"&application_name=heads")
	check(t, verify(l, "", &noted))
	check(t, l.Charge("f", "m", items(1, "ana")))
	check(t, verify(l, "", &noted))
	for _, sql := range []string{
		"DELETE FROM geosql.head",
		"UPDATE geosql.head SET vector = replace(vector, '1', '2')",
		"UPDATE geosql.head SET vector = split_part(vector, chr(10), 1) || chr(10)", // wants less
		"UPDATE geosql.head SET hash = sha256(vector::bytea)",
		"UPDATE geosql.head SET entries = entries - 1",
	} {
		spoil(t, where, sql)
		if err := verify(l, "", &noted); err == nil {
			t.Errorf("%s was not noticed", sql)
		}
		spoil(t, where, "DELETE FROM geosql.head; INSERT INTO geosql.head SELECT * FROM saved.head")
	}
	check(t, verify(l, "", &noted))
}
