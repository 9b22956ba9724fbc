package postgres

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/geosql/geosql/budget"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger"
)

// toVersion2 puts the contents of a ledger of today into the tables of version 2, which knew no leases.
func toVersion2(t *testing.T, where string) {
	t.Helper()
	known, err := readMigrations()
	check(t, err)
	spoil(t, where, "ALTER SCHEMA geosql RENAME TO today; CREATE SCHEMA geosql;"+known[0].sql+known[1].sql+`;
TRUNCATE geosql.meta;
INSERT INTO geosql.meta SELECT * FROM today.meta;
UPDATE geosql.meta SET value = '2' WHERE key = 'version';
INSERT INTO geosql.writer SELECT * FROM today.writer;
INSERT INTO geosql.entry SELECT * FROM today.entry;
SELECT setval('geosql.entry_id', nextval('today.entry_id'));
INSERT INTO geosql.balance SELECT * FROM today.balance;
INSERT INTO geosql.budget SELECT * FROM today.budget;
INSERT INTO geosql.trace SELECT * FROM today.leased_trace;
INSERT INTO geosql.run SELECT * FROM today.run;
INSERT INTO geosql.release SELECT * FROM today.release;
DROP SCHEMA today CASCADE`)
}

// opener is a ledger or a statement.
type opener interface {
	OpenTrace(name, account string, unit budget.Unit, function string) (ledger.Trace, []byte, budget.Amount, error)
}

// walk takes a step of a trace and leaves it a state. It returns the state before, and the lost amount.
func walk(t *testing.T, of opener, name, state string) (string, budget.Amount) {
	t.Helper()
	tr, before, lost, err := of.OpenTrace(name, "ana", unit, "predictive_step")
	check(t, err)
	check(t, tr.Reserve(hundredth, hundredth))
	tr.Add(ledger.Point{Time: time.Unix(1, 0), Hard: true, Spent: hundredth})
	check(t, tr.Close([]byte(state)))
	return string(before), lost
}

// A program that was connected when another one has converted the ledger charges nothing.
func TestConvertedByAnother(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	l := open(t, where)
	check(t, l.SetLimit("*", unit, one, 0))
	check(t, l.Charge("f", unit, items(tenth, "ana")))
	spoil(t, where, "UPDATE geosql.meta SET value = '5' WHERE key = 'version'")
	if err := l.Charge("f", unit, items(tenth, "ana")); err == nil || !strings.Contains(err.Error(), "converted by another geosql (ledger version 5, this is 4)") {
		t.Errorf("got %v", err)
	}
	spoil(t, where, "UPDATE geosql.meta SET value = '4' WHERE key = 'version'")
	check(t, l.Charge("f", unit, items(tenth, "ana")))
}

func TestVersionIsOfTheLastMigration(t *testing.T) {
	known, err := readMigrations()
	if check(t, err); int64(len(known)) != version {
		t.Errorf("the version is %d after %d migrations", version, len(known))
	}
}

// A ledger of version 2 is brought to this version when it is opened, with all that it has. A program of that version takes
// no steps of traces any more, whether it is connected already or comes later.
func TestVersion2(t *testing.T) {
	where := pgtest.Start(t).Database(t)
	l := open(t, where)
	check(t, l.SetLimit("*", unit, one, 0))
	check(t, l.Charge("f", unit, items(tenth, "ana", "bob")))
	for _, name := range []string{"walk", "left"} {
		walk(t, l, name, "state of "+name)
	}
	check(t, l.Reserve(unit, items(tenth, "ana"))) // and this process goes on, as if it had crashed
	before, err := l.Balance("ana", unit)
	check(t, err)
	head, err := l.Head()
	check(t, err)
	toVersion2(t, where)
	spoil(t, where, `UPDATE geosql.trace SET "user" = '\x01', held = 7 WHERE trace = 'left'`)
	old, err := pgx.Connect(t.Context(), where)
	check(t, err)
	defer old.Close(t.Context())
	const oldStep = `UPDATE geosql.trace SET "user" = $1 WHERE trace = 'none'`
	_, err = old.Exec(t.Context(), oldStep, []byte("old"))
	check(t, err)

	now := another(t, where)
	if v := queryText(t, where, "SELECT value FROM geosql.meta WHERE key = 'version'"); v != "4" {
		t.Errorf("version %s", v)
	}
	if _, err := old.Exec(t.Context(), oldStep, []byte("old")); err == nil || !strings.Contains(err.Error(), `"geosql.trace" does not exist`) {
		t.Errorf("an older program that is connected: %v", err)
	}
	_, err = schemaVersion(t.Context(), old, 2)
	if err == nil || err.Error() != "written by a newer geosql (ledger version 4, this is 2)" {
		t.Errorf("an older program that comes later: %v", err)
	}
	if b, err := now.Balance("ana", unit); err != nil || b != before || b.Reserved != tenth || b.Spent != tenth+2*hundredth {
		t.Errorf("%+v, %v; it was %+v", b, err, before)
	}
	_, err = now.Verify("", &head, nil)
	check(t, err)

	check(t, now.Reserve(unit, items(tenth, "ana")))
	s := now.NewStatement()
	for _, name := range []string{"new", "walk", "newer"} {
		state, lost := walk(t, s, name, "later state")
		if want := map[string]string{"walk": "state of walk"}[name]; state != want || lost != 0 {
			t.Errorf("%s: state %q, lost %d", name, state, int64(lost))
		}
	}
	if queryText(t, where, "SELECT count(*)::text FROM geosql.lease") != "1" {
		t.Error("nothing was leased")
	}
	check(t, s.End())
	restarted, err := now.RestartTrace("left", "ana", unit)
	check(t, err)
	if state, lost := walk(t, now, "left", ""); !restarted || state != "state of left" || lost != 7 {
		t.Errorf("restarted %v: state %q, lost %d", restarted, state, int64(lost))
	}
	points, err := now.TraceRun("left")
	check(t, err)
	if gap := func(p ledger.Point) bool { return p.Gap }; len(points) != 3 || slices.IndexFunc(points, gap) != 1 {
		t.Errorf("run %+v", points)
	}
	_, err = now.Verify("", &head, nil)
	check(t, err)
}
