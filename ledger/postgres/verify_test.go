package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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
	purse(t, one)
	return one, two
}

// purse has a role spend something.
func purse(t testing.TB, l *Ledger) {
	t.Helper()
	check(t, l.store.update(func(tr *transaction) error {
		from := new(engine.Run).Origin(tr.now, "question", "m")
		return tr.ChargePurses("analyst", from, []ledger.Item{{Account: "ana", Epsilon: 4}})
	}))
}

func verify(l *Ledger, archive string, earlier *ledger.Head) error {
	_, err := l.Verify(archive, earlier)
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
	v, err := l.Verify("", &empty)
	check(t, err)
	if v != (ledger.Verified{Head: ledger.Genesis(l.ID())}) || empty != v.Head {
		t.Errorf("an empty ledger: %+v", v)
	}
	one, two := fill(t, where)
	noted := headOfLedger(t, two)
	if again := headOfLedger(t, one); again != noted {
		t.Errorf("heads are %v and %v", noted, again)
	}
	v, err = one.Verify("", &noted)
	check(t, err)
	if v != (ledger.Verified{Entries: ask(t, where, "SELECT count(*) FROM geosql.entry"), Balances: 5, Limits: 3, Head: noted}) || v.Entries != noted.ID {
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

	// What a head stands for is evidence too.
	otherMachine(t)
	l := open(t, where+"&application_name=heads")
	check(t, verify(l, "", &noted))
	check(t, l.Charge("f", "m", items(1, "ana")))
	check(t, verify(l, "", &noted))
	for _, sql := range []string{
		"DELETE FROM geosql.head",
		"UPDATE geosql.head SET vector = replace(vector, '1', '2')",
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

// chargeSome charges until the ledger has more entries.
func chargeSome(t testing.TB, l *Ledger) {
	t.Helper()
	for range 3 {
		check(t, l.Charge("f", "m", items(1, "ana")))
	}
}

// An older copy that is restored under a process is refused at its next transaction, and by
// everybody who knows more, until the owner accepts the loss.
func TestRestoredServer(t *testing.T) {
	server := pgtest.Own(t)
	where := server.Database(t)
	here, there := t.TempDir(), t.TempDir()
	t.Setenv(state.FolderVariable, there)
	far := open(t, where+"&application_name=far") // on another machine
	check(t, far.SetLimit("*", "m", 1000, 0))
	chargeSome(t, far)
	t.Setenv(state.FolderVariable, here)
	l := open(t, where)
	chargeSome(t, l)
	dump := server.Dump(t, where)
	dumped := headOfLedger(t, l)
	chargeSome(t, l)
	chargeSome(t, far)
	noted := headOfLedger(t, l)
	server.Restore(t, where, dump)

	lacks := func(err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "geosql ledger accept") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	}
	spent := func() int64 {
		t.Helper()
		return ask(t, where, "SELECT spent FROM geosql.balance WHERE account = 'ana' AND unit = 'm'")
	}
	before := spent()
	lacks(l.Charge("f", "m", items(1, "ana")))
	lacks(l.Charge("f", "m", items(1, "ana")))
	_, err := Open(where+"&application_name=again", false)
	lacks(err)
	if err := verify(l, "", &noted); err == nil || !strings.Contains(err.Error(), "older copy") {
		t.Errorf("Verify: %v", err)
	}
	check(t, verify(l, "", &dumped))
	check(t, verify(l, "", nil))
	if now := spent(); now != before {
		t.Errorf("%d were spent, %d are", before, now)
	}

	generation, err := Accept(where)
	check(t, err)
	if generation != 2 {
		t.Errorf("generation %d", generation)
	}
	if err := l.Charge("f", "m", items(1, "ana")); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a process from before the loss was accepted goes on: %v", err)
	}
	again := open(t, where+"&application_name=again")
	chargeSome(t, again)
	if now := spent(); now != before+3 {
		t.Errorf("%d were spent, %d are", before, now)
	}
	events := 0
	for c, err := range again.Charges() {
		check(t, err)
		if c.Function == acceptFunction {
			events++
		}
	}
	if events != 1 {
		t.Errorf("%d events", events)
	}
	check(t, verify(again, "", nil))
	// The newer generation is accepted everywhere.
	t.Setenv(state.FolderVariable, there)
	if err := far.Charge("f", "m", items(1, "ana")); err == nil {
		t.Error("a process on another machine goes on")
	}
	elsewhere := open(t, where+"&application_name=elsewhere")
	chargeSome(t, elsewhere)

	// The dump has the first generation, and is older than both machines know.
	server.Restore(t, where, dump)
	for _, folder := range []string{here, there} {
		t.Setenv(state.FolderVariable, folder)
		_, err := Open(where+"&application_name="+filepath.Base(folder), false)
		lacks(err)
	}
	t.Setenv(state.FolderVariable, here)
	if generation, err = Accept(where); generation != 3 || err != nil {
		t.Errorf("generation %d, %v", generation, err)
	}
	for _, folder := range []string{here, there} {
		t.Setenv(state.FolderVariable, folder)
		last := open(t, where+"&application_name=last"+filepath.Base(folder))
		chargeSome(t, last)
		check(t, verify(last, "", nil))
	}
}

// A replica that was behind lacks what was acknowledged.
func TestAsynchronousFailover(t *testing.T) {
	otherMachine(t)
	server := pgtest.Own(t)
	where := server.Database(t)
	l := open(t, where)
	check(t, l.SetLimit("*", "m", 1000, 0))
	chargeSome(t, l)
	standby := server.Standby(t)
	server.CaughtUp(t, standby)
	replica := standby.URL(t, where)
	if _, err := Open(replica, false); err == nil || !strings.Contains(err.Error(), "recovery") || strings.Contains(err.Error(), "\n") {
		t.Errorf("a standby: %v", err)
	}
	if _, err := Accept(replica); err == nil || !strings.Contains(err.Error(), "recovery") {
		t.Errorf("a standby: %v", err)
	}
	standby.Set(t, "primary_conninfo", "")
	for ask(t, replica, "SELECT count(*) FROM pg_stat_wal_receiver") > 0 {
		time.Sleep(time.Millisecond)
	}
	chargeSome(t, l) // of which the standby learns nothing
	server.Kill(t)
	standby.Promote(t)
	if _, err := Open(replica, false); err == nil || !strings.Contains(err.Error(), "geosql ledger accept") {
		t.Errorf("a replica that is behind: %v", err)
	}
	_, err := Accept(replica)
	check(t, err)
	again := open(t, replica)
	chargeSome(t, again)
	check(t, verify(again, "", nil))
}

func TestAcceptErrors(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	if _, err := Accept(where); err == nil || !strings.Contains(err.Error(), "no ledger") {
		t.Errorf("an empty database: %v", err)
	}
	if _, err := Accept("postgres://a:b@h/d"); err == nil || !strings.Contains(err.Error(), "PGPASSFILE") {
		t.Errorf("a password: %v", err)
	}
	server := pgtest.Own(t)
	where = server.Database(t)
	check(t, open(t, where).Charge("f", "m", nil))
	server.Set(t, "fsync", "off")
	if _, err := Accept(where); err == nil || !strings.Contains(err.Error(), "fsync") {
		t.Errorf("fsync = off: %v", err)
	}
}

// standings returns what the ledger has stored of every account, whichever entry says so.
func standings(t testing.TB, where string) (all []string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, where)
	check(t, err)
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, "SELECT b::text FROM geosql.balance AS b ORDER BY account, unit")
	check(t, err)
	all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	return all
}

func entryTime(t testing.TB, where string, nth int) time.Time {
	t.Helper()
	return time.UnixMicro(ask(t, where, fmt.Sprintf("SELECT time FROM geosql.entry ORDER BY id OFFSET %d LIMIT 1", nth)))
}

func sums(t testing.TB, l *Ledger) string {
	t.Helper()
	all := map[string]ledger.Charge{}
	for c, err := range l.Charges() {
		check(t, err)
		k := c.Account + " " + string(c.Unit)
		s := all[k]
		s.Epsilon += c.Epsilon
		s.Evaluations += c.Evaluations
		all[k] = s
	}
	return fmt.Sprint(all)
}

func TestArchive(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	early := headOfLedger(t, l)
	chargeSome(t, l)
	path := filepath.Join(t.TempDir(), "archive")
	first := headOfLedger(t, l)
	before, charged := standings(t, where), sums(t, l)
	cut := entryTime(t, where, 12)
	moved, err := l.Archive(path, cut)
	check(t, err)
	if moved < 5 || moved > 12 {
		t.Errorf("moved %d entries", moved)
	}
	same := func() {
		t.Helper()
		if now := standings(t, where); !slices.Equal(now, before) {
			t.Errorf("balances were %v, are %v", before, now)
		}
		if now := sums(t, l); now != charged {
			t.Errorf("charges were %v, are %v", charged, now)
		}
		check(t, verify(l, "", nil))
		check(t, verify(l, path, nil))
		check(t, verify(l, path, &early))
		check(t, verify(l, path, &first))
		// Another machine knows nothing, and this one nothing wrong.
		check(t, reopen(t, where, "three").Close())
	}
	same()
	check(t, verify(l, "", &first))
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	moved, err = l.Archive(path, cut)
	check(t, err)
	if moved != 0 {
		t.Errorf("moved %d entries twice", moved)
	}
	_, err = l.Archive(path, time.Now().Add(time.Hour))
	check(t, err)
	same()
	if err := verify(l, "", &early); err == nil || !strings.Contains(err.Error(), "archive") {
		t.Errorf("a head of the archive: %v", err)
	}
	_, err = l.Archive(path, time.Now().Add(time.Hour)) // also those that carry sums over
	check(t, err)
	same()
	noted := headOfLedger(t, l)
	check(t, l.Charge("f", "m", items(1, "ana")))
	check(t, verify(l, path, &noted))

	// The archive is evidence too.
	text, err := os.ReadFile(path)
	check(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	for i := range lines {
		for name, line := range map[string]string{
			"removed": "",
			"changed": strings.Replace(lines[i], `"spent":`, `"spent":1`, 1),
			"swapped": lines[(i+1)%len(lines)],
		} {
			if i == 0 && name == "changed" {
				continue
			}
			changed := slices.Clone(lines)
			changed[i] = line
			if err := verify(l, writeFile(t, strings.Join(changed, "")), nil); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("line %d, %s: %v", i+1, name, err)
			}
		}
	}
	// So are the sums that stand for it.
	spoil(t, where, "UPDATE geosql.entry SET spent = spent - 1 WHERE function = 'ledger_archive' AND spent > 0; UPDATE geosql.balance SET spent = spent - 1 WHERE spent > 0")
	if verify(l, path, nil) == nil {
		t.Error("a changed sum was not noticed")
	}
}

func writeFile(t testing.TB, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A call that ends anywhere before entries leave the ledger leaves an archive that the next call
// goes on with.
func TestArchiveInterrupted(t *testing.T) {
	otherMachine(t)
	where := pgtest.Start(t).Database(t)
	l, _ := fill(t, where)
	path := filepath.Join(t.TempDir(), "archive")
	cut := entryTime(t, where, 12).UnixMicro()
	check(t, l.read(func(r *reader) error {
		_, err := r.copyEntries(path, cut)
		return err
	}))
	check(t, verify(l, path, nil))
	whole, err := os.ReadFile(path)
	check(t, err)
	for n := 0; n <= len(whole); n += 1 + len(whole)/60 {
		part := writeFile(t, string(whole[:n]))
		check(t, l.read(func(r *reader) error {
			_, err := r.copyEntries(part, cut)
			return err
		}))
		if got, err := os.ReadFile(part); err != nil || string(got) != string(whole) {
			t.Fatalf("after %d bytes the archive became another: %v", n, err)
		}
	}
	torn := writeFile(t, string(whole)+`{"writer":"`)
	moved, err := l.Archive(torn, time.Now().Add(time.Hour))
	check(t, err)
	if moved == 0 {
		t.Error("nothing was moved")
	}
	check(t, verify(l, torn, nil))
}

func TestArchiveErrors(t *testing.T) {
	otherMachine(t)
	server := pgtest.Start(t)
	dir := t.TempDir()
	other, _ := fill(t, server.Database(t))
	_, err := other.Archive(filepath.Join(dir, "other"), time.Now())
	check(t, err)
	where := server.Database(t)
	l, _ := fill(t, where)
	_, err = l.Archive(filepath.Join(dir, "archive"), entryTime(t, where, 9))
	check(t, err)
	old, err := os.ReadFile(filepath.Join(dir, "archive"))
	check(t, err)
	_, err = l.Archive(filepath.Join(dir, "archive"), time.Now())
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, "behind"), old, 0o600))
	for path, want := range map[string]string{
		filepath.Join(dir, "other"):              "that of ledger",
		writeFile(t, "account,epsilon\nana,1\n"): "not an archive",
		writeFile(t, "no line"):                  "not an archive",
		filepath.Join(dir, "behind"):             "are in another",
		filepath.Join(dir, "new"):                "are in another",
		dir:                                      "is a directory",
		filepath.Join(dir, "none", "x"):          "no such file",
	} {
		before := headOfLedger(t, l)
		_, err := l.Archive(path, time.Now())
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if headOfLedger(t, l) != before {
			t.Errorf("%s: the ledger was changed", path)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was left: %v", err)
	}
	check(t, verify(l, filepath.Join(dir, "archive"), nil))
	for _, path := range []string{filepath.Join(dir, "missing"), filepath.Join(dir, "behind")} {
		if verify(l, path, nil) == nil {
			t.Errorf("verified with %s", path)
		}
	}
}
